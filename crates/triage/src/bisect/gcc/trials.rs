//! Choices of invocations -> compilations by gcc on all cores -> verdicts: the
//! compiler that an inquiry asks.
//!
//! **Invariant:** programs are executed behind a worker's fence only. A trial differs
//! from the failing run in the skipped passes, and in nothing that decides.

use std::collections::BTreeSet;
use std::mem::take;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use optsleuth_case::CaseError;
use optsleuth_case::driver::{DriverUnderTest, LoadedDriverCase, Reproduction, Tried};
use optsleuth_case::oracle::Verdict;
use optsleuth_compiler::driver::{PluginLog, PluginOrders};
use optsleuth_compiler::llvm::Worker;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    CaseKind, CheckStatus, Execution, IndexSet, Invocation, Limits, Outcome, Progress,
};
use optsleuth_search::Minimizer;

use super::super::choices::{Answer, Attempt, Choices};
use super::super::inquiry::{Choice, Compiler, Reach};
use super::super::trials::{Halt, number_in};
use super::access::Access;
use super::required::{ALWAYS, is_among};
use crate::TriageError;

/// A run that takes so much longer than the failing one does something else.
const PATIENCE: u32 = 10;
/// So many passes are added to those that gcc cannot do without.
const MOST_REQUIRED: usize = 8;
/// Candidates that a minimizer is asked for at a time; fixed, so that the answer
/// does not depend on the number of cores.
const WIDTH: usize = 4;

/// Compilations of the case with some of its invocations.
pub(super) struct GccTrials<'a> {
    loaded: &'a mut LoadedDriverCase,
    reproduction: &'a Reproduction,
    progress: &'a dyn Progress,
    access: Access,
    tested: DriverUnderTest,
    source: PathBuf,
    limits: Limits,
    /// What the failing run comes to.
    pub(super) log: Vec<Invocation>,
    required: Vec<String>,
    choices: Choices,
    deadline: Instant,
    pub(super) n_runs: usize,
}

/// One compilation, and what came of its program.
pub(super) struct Run {
    pub(super) verdict: Verdict,
    pub(super) log: Vec<Invocation>,
    changed: Vec<Option<bool>>,
    printed: (Option<String>, Option<String>),
    /// gcc itself did not come to its end, and says where it was.
    ended_inside: bool,
    execution: Option<Execution>,
}

impl Run {
    /// The invocation in which gcc failed, where it failed in one.
    pub(super) fn failed_in(&self) -> Option<u32> {
        let last = self.log.last().filter(|_| self.ended_inside);
        last.map(|invocation| invocation.index)
    }
}

impl<'a> GccTrials<'a> {
    /// Sees the case fail once more, and what it comes to on the way.
    pub(super) fn open(
        loaded: &'a mut LoadedDriverCase,
        reproduction: &'a Reproduction,
        access: Access,
        deadline: Instant,
        progress: &'a dyn Progress,
    ) -> Result<GccTrials<'a>, TriageError> {
        progress.step("listing the invocations");
        let mut tested = loaded.tested.clone();
        if loaded.case.case.kind != CaseKind::WrongCode {
            // What compiles has passed, whether it links or not.
            tested.flags.push("-S".to_owned());
        }
        let (source, limits) = (loaded.case.input(), loaded.repeat_limits());
        let required = ALWAYS.iter().map(|&name| name.to_owned()).collect();
        let mut trials = GccTrials {
            loaded,
            reproduction,
            progress,
            access,
            tested,
            source,
            limits,
            log: Vec::new(),
            required,
            choices: Choices::default(),
            deadline,
            n_runs: 0,
        };
        let begun = Instant::now();
        let run = trials.run_one(&IndexSet::none())?;
        let patient = (begun.elapsed() * PATIENCE).max(Duration::from_secs(1));
        trials.limits.execute = trials.limits.execute.min(patient);
        if run.verdict != Verdict::Fails {
            let what = "it failed, and then it did not any more".to_owned();
            return Err(CaseError::NotReproduced { status: CheckStatus::Flaky, what }.into());
        }
        trials.log = run.log;
        Ok(trials)
    }

    /// Finds out which passes gcc cannot do without on this program, besides those
    /// that are known.
    pub(super) fn learn_required(&mut self) -> Result<(), Halt> {
        let mut names: Vec<String> = Vec::new();
        let mut seen = BTreeSet::new();
        for invocation in self.log.iter().filter(|invocation| !invocation.required) {
            if seen.insert(invocation.pass.clone()) {
                names.push(invocation.pass.clone());
            }
        }
        for _ in 0..MOST_REQUIRED {
            names.retain(|name| !is_among(name, &self.required));
            if !self.breaks(&[names.clone()])?[0] {
                break;
            }
            let mut minimizer = Minimizer::new(names.len());
            while !minimizer.is_done() {
                let candidates = minimizer.ask(WIDTH);
                let sets: Vec<Vec<String>> = candidates
                    .iter()
                    .map(|kept| kept.iter().map(|&place| names[place].clone()).collect())
                    .collect();
                minimizer.tell(&self.breaks(&sets)?);
            }
            let together: Vec<String> =
                minimizer.kept().iter().map(|&place| names[place].clone()).collect();
            let Some(chosen) = self.not_needed(&together)? else { break };
            self.required.push(chosen);
        }
        for invocation in &mut self.log {
            invocation.required |= is_among(&invocation.pass, &self.required);
        }
        Ok(())
    }

    /// Whether gcc fails in another way without each of these sets of passes.
    fn breaks(&mut self, sets: &[Vec<String>]) -> Result<Vec<bool>, Halt> {
        let orders: Vec<PluginOrders> = sets.iter().map(|names| self.without(names)).collect();
        let runs = self.run(&orders)?;
        Ok(runs.iter().map(|run| run.verdict == Verdict::Other).collect())
    }

    /// The one of these passes that the failure does not need: it can be required
    /// without getting out of suspicion. The last one, if there is none.
    fn not_needed(&mut self, together: &[String]) -> Result<Option<String>, Halt> {
        let alone: Vec<PluginOrders> =
            together.iter().map(|name| self.without(std::slice::from_ref(name))).collect();
        let runs = self.run(&alone)?;
        let harmless = runs.iter().position(|run| run.verdict == Verdict::Fails);
        Ok(harmless.map(|place| &together[place]).or(together.last()).cloned())
    }

    /// Skips these passes wherever they come.
    fn without(&self, names: &[String]) -> PluginOrders {
        let others = self.log.iter().map(|invocation| &invocation.pass);
        let others: BTreeSet<&String> = others.filter(|pass| !names.contains(pass)).collect();
        let required = others.into_iter().cloned().chain(self.required.iter().cloned()).collect();
        PluginOrders { skips: IndexSet::from(0), required, ..PluginOrders::default() }
    }

    /// One run with these skipped.
    pub(super) fn run_one(&mut self, skips: &IndexSet) -> Result<Run, TriageError> {
        let orders = self.orders(skips);
        self.n_runs += 1;
        let trial = self.trial();
        trial.run(&orders, &[], self.loaded.fence.pool.first())
    }

    /// The function before and after an invocation of the failing run.
    pub(super) fn printed(
        &mut self,
        number: u32,
    ) -> Result<(Option<String>, Option<String>), TriageError> {
        let orders = PluginOrders { dump: Some(number), ..self.orders(&IndexSet::none()) };
        self.n_runs += 1;
        let trial = self.trial();
        Ok(trial.run(&orders, &[], self.loaded.fence.pool.first())?.printed)
    }

    /// What comes of the failing run with more flags.
    pub(super) fn with_flags(&mut self, flags: &[Vec<String>]) -> Result<Vec<Verdict>, Halt> {
        let orders = self.orders(&IndexSet::none());
        let jobs: Vec<_> = flags.iter().map(|flags| (orders.clone(), flags.clone())).collect();
        Ok(self.run_jobs(&jobs)?.into_iter().map(|run| run.verdict).collect())
    }

    /// The debug counters of this gcc.
    pub(super) fn counters(&self) -> Result<Vec<String>, TriageError> {
        Ok(self.tested.driver.counters()?)
    }

    fn orders(&self, skips: &IndexSet) -> PluginOrders {
        PluginOrders {
            skips: skips.clone(),
            required: self.required.clone(),
            ..PluginOrders::default()
        }
    }

    fn trial(&self) -> Trial {
        Trial {
            access: self.access.clone(),
            tested: self.tested.clone(),
            source: self.source.clone(),
            limits: self.limits,
            oracle: self.reproduction.oracle.clone(),
        }
    }

    fn run(&mut self, orders: &[PluginOrders]) -> Result<Vec<Run>, Halt> {
        let jobs: Vec<_> = orders.iter().map(|orders| (orders.clone(), Vec::new())).collect();
        self.run_jobs(&jobs)
    }

    /// Runs on all cores.
    fn run_jobs(&mut self, jobs: &[(PluginOrders, Vec<String>)]) -> Result<Vec<Run>, Halt> {
        let (progress, deadline) = (self.progress, self.deadline);
        let go_on = || !progress.stop_requested() && Instant::now() < deadline;
        let trial = self.trial();
        let work = |worker: &mut Worker, _: Option<&mut Worker>, job: &(_, Vec<String>)| {
            trial.run(&job.0, &job.1, worker)
        };
        let results = self.loaded.fence.pool.each_while(None, jobs, &go_on, &work);
        let results = results.into_iter().collect::<Result<Vec<Run>, TriageError>>()?;
        self.n_runs += results.len();
        self.progress.step(&format!("bisecting: {} runs", self.n_runs));
        match results.len() == jobs.len() {
            true => Ok(results),
            false if progress.stop_requested() => Err(Halt::Interrupted),
            false => Err(Halt::OutOfTime),
        }
    }

    /// With everything skipped that can be, gcc may make a program that is broken in a
    /// way of its own. That fails as the case does only if it does the very same.
    fn judged(&self, attempt: &Attempt, run: &Run) -> Verdict {
        let as_seen = match &self.reproduction.first {
            Tried::Ran(outcome) => outcome.execution(),
            Tried::Refused(_) => None,
        };
        match (run.verdict, &run.execution) {
            (Verdict::Fails, Some(execution))
                if attempt.skips == IndexSet::from(0)
                    && as_seen.is_some_and(|seen| seen != execution) =>
            {
                Verdict::Other
            }
            (verdict, _) => verdict,
        }
    }
}

/// Everything that one compilation needs, for any thread.
struct Trial {
    access: Access,
    tested: DriverUnderTest,
    source: PathBuf,
    limits: Limits,
    oracle: optsleuth_case::oracle::Oracle,
}

impl Trial {
    fn run(
        &self,
        orders: &PluginOrders,
        flags: &[String],
        worker: &mut Worker,
    ) -> Result<Run, TriageError> {
        let folder = Workdir::new().map_err(CaseError::from)?;
        let mut tested = self.tested.clone();
        tested.flags.extend(self.access.flags(orders, folder.path())?);
        tested.flags.extend(flags.iter().cloned());
        let tried = tested.run(&self.source, worker, self.limits)?;
        let PluginLog { invocations, changed, before, after, .. } =
            self.access.log(orders, folder.path()).map_err(CaseError::from)?;
        let ended_inside = self.access.logs_as_it_goes()
            && matches!(
                &tried,
                Tried::Ran(
                    Outcome::Crash(_) | Outcome::Timeout { .. } | Outcome::OutOfMemory { .. }
                )
            );
        Ok(Run {
            verdict: tried.verdict(&self.oracle),
            log: invocations,
            changed,
            printed: (before, after),
            ended_inside,
            execution: match tried {
                Tried::Ran(Outcome::Ok(execution)) => execution,
                Tried::Ran(_) | Tried::Refused(_) => None,
            },
        })
    }
}

impl Compiler for GccTrials<'_> {
    type Halt = Halt;

    fn reach(&mut self, without: &[u32]) -> Result<Reach, Halt> {
        let run = self.run_one(&IndexSet::of(without.iter().copied()))?;
        let n = u32::try_from(run.log.len()).unwrap_or(u32::MAX);
        Ok(Reach { n, failed_in: run.failed_in() })
    }

    fn is_slow(&self) -> bool {
        self.loaded.case.case.kind == CaseKind::Hang
    }

    fn judge(&mut self, choices: &[Choice]) -> Result<Vec<Verdict>, Halt> {
        let (mut known, log) = (take(&mut self.choices), take(&mut self.log));
        let judged = known.judge(choices, &log, &mut |attempts: &[Attempt]| {
            let orders: Vec<PluginOrders> =
                attempts.iter().map(|attempt| self.orders(&attempt.skips)).collect();
            let runs = self.run(&orders)?;
            let answer = |(attempt, run): (&Attempt, Run)| -> Answer {
                (self.judged(attempt, &run), run.log)
            };
            Ok(attempts.iter().zip(runs).map(answer).collect())
        });
        (self.choices, self.log) = (known, log);
        judged
    }

    fn changes(&mut self, _certain_after: u32) -> Result<Vec<Option<bool>>, Halt> {
        let orders = PluginOrders { watch: true, ..self.orders(&IndexSet::none()) };
        let mut run = self.run(&[orders])?.remove(0);
        for (changed, invocation) in run.changed.iter_mut().zip(&run.log) {
            // What passes over the whole program find out is in no function's text.
            if invocation.pass.starts_with("ipa-") {
                *changed = changed.filter(|&changed| changed);
            }
        }
        run.changed.resize(self.log.len(), None);
        Ok(run.changed)
    }

    fn original(&mut self, number: u32, without: &[u32]) -> Result<Option<u32>, Halt> {
        let run = self.run_one(&IndexSet::of(without.iter().copied()))?;
        Ok(number_in(&self.log, &run.log, number))
    }
}
