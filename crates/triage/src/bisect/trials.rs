//! Choices of invocations -> runs on all workers -> verdicts: the compiler
//! that an inquiry asks.
//!
//! **Invariant:** the pool has the case's own program loaded, before and after.

use std::collections::HashMap;
use std::mem::take;
use std::time::{Duration, Instant};

use optsleuth_case::CaseError;
use optsleuth_case::loaded::{LoadedCase, Reproduction, candidate_request};
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_compiler::CompilerError;
use optsleuth_model::{
    Authorship, CaseKind, CheckStatus, Emit, IndexSet, Interpretation, Invocation, Limits, Outcome,
    Program, Progress, RunRequest, RunResult, SINGLE_PASS_FILE,
};

use super::choices::{Answer, Attempt, Choices};
use super::inquiry::{Choice, Compiler, Reach};
use super::names::names;
use crate::TriageError;

/// To print the IR before and after every invocation takes long, and is worth
/// so much: what is not known is taken for a change.
const WATCHING: Duration = Duration::from_secs(5);
/// What a run that records authors may take at least.
const RECORDING: Duration = Duration::from_secs(10);
/// A run that takes so much longer than the failing one does something else.
const PATIENCE: u32 = 10;

/// Why an inquiry does not go on.
#[derive(Debug)]
pub(super) enum Halt {
    /// The time is up.
    OutOfTime,
    /// The user interrupted it.
    Interrupted,
    /// It cannot.
    Failed(TriageError),
}

impl From<TriageError> for Halt {
    fn from(error: TriageError) -> Halt {
        Halt::Failed(error)
    }
}

/// Runs of the case with some of its invocations.
pub(super) struct Trials<'a> {
    pub(super) loaded: &'a mut LoadedCase,
    pub(super) oracle: &'a Oracle,
    pub(super) progress: &'a dyn Progress,
    /// How the case fails, in a line.
    pub(super) what: String,
    /// The failing run, with nothing that the failure does not need.
    pub(super) template: RunRequest,
    /// What it comes to.
    pub(super) log: Vec<Invocation>,
    choices: Choices,
    /// Pipelines' names of passes that LLVM logs by their classes.
    pass_names: HashMap<String, String>,
    deadline: Instant,
    pub(super) n_runs: usize,
}

impl<'a> Trials<'a> {
    /// Sees the case fail once more, and what it comes to on the way.
    pub(super) fn open(
        loaded: &'a mut LoadedCase,
        reproduction: &'a Reproduction,
        deadline: Instant,
        progress: &'a dyn Progress,
    ) -> Result<Trials<'a>, TriageError> {
        progress.step("listing the invocations");
        let mut trials = Trials::of_log(loaded, reproduction, Vec::new(), deadline, progress);
        // What the failure does not seem to need may be needed after all.
        let whole = RunRequest { coverage: false, window: None, ..trials.loaded.request.clone() };
        for template in [trials.template.clone(), whole] {
            let listed = RunRequest { list_invocations: true, ..template.clone() };
            let result = trials.run_one(&listed)?;
            if trials.oracle.judge(&result.outcome) == Verdict::Fails {
                (trials.template, trials.log) = (template, result.invocations);
                trials.learn_pass_names()?;
                trials.log = renamed(trials.log, &trials.pass_names);
                return Ok(trials);
            }
        }
        let what = "it failed, and then it did not any more".to_owned();
        Err(CaseError::NotReproduced { status: CheckStatus::Flaky, what }.into())
    }

    /// For a failing run whose invocations are known.
    pub(super) fn of_log(
        loaded: &'a mut LoadedCase,
        reproduction: &'a Reproduction,
        log: Vec<Invocation>,
        deadline: Instant,
        progress: &'a dyn Progress,
    ) -> Trials<'a> {
        let time = match loaded.case.case.kind {
            CaseKind::Hang => loaded.repeat_limits().compile,
            CaseKind::Crash
            | CaseKind::WrongCode
            | CaseKind::InvalidIr
            | CaseKind::Memory
            | CaseKind::Codegen => {
                let patient = reproduction.first.wall * PATIENCE;
                patient.max(Duration::from_secs(1)).min(loaded.request.limits.compile)
            }
        };
        let request = RunRequest { coverage: false, window: None, ..loaded.request.clone() };
        let template = candidate_request(time, &request, reproduction);
        let (choices, pass_names) = (Choices::default(), HashMap::new());
        let oracle = &reproduction.oracle;
        let (what, n_runs) = (reproduction.what.clone(), 0);
        Trials {
            loaded,
            oracle,
            progress,
            what,
            template,
            log,
            choices,
            pass_names,
            deadline,
            n_runs,
        }
    }

    /// Goes on for this long at least.
    pub(super) fn extend_by(&mut self, time: Duration) {
        self.deadline = self.deadline.max(Instant::now() + time);
    }

    /// Up to LLVM 16, invocations are logged by the classes of their passes,
    /// unless an option needs the names. This one does, and then does nothing.
    pub(super) fn learn_pass_names(&mut self) -> Result<(), TriageError> {
        const OPTION: &str = "-print-after=none";
        // What is skipped is logged as well, and takes no time.
        let skips = IndexSet::from(0);
        let listed = RunRequest { list_invocations: true, skips, ..plain(&self.template) };
        let by_class = self.run_one(&listed)?.invocations;
        let registry = &self.loaded.workers.registry;
        if by_class.iter().all(|entry| !registry.levels(&entry.pass).is_empty()) {
            return Ok(());
        }
        let program = self.loaded.program.clone();
        match self.loaded.load(&program, &[OPTION.to_owned()]) {
            Err(CompilerError::BadOptions(_)) => {}
            other => {
                other?;
                let by_name = self.run_one(&listed)?.invocations;
                let pairs = by_class.into_iter().zip(by_name).map(|(a, b)| (a.pass, b.pass));
                self.pass_names = pairs.filter(|(class, name)| class != name).collect();
            }
        }
        self.restore()
    }

    /// One run that differs from the failing one in some way.
    pub(super) fn run_one(&mut self, request: &RunRequest) -> Result<RunResult, TriageError> {
        self.n_runs += 1;
        let result = self.loaded.workers.pool.first().run(request)?;
        let invocations = renamed(result.invocations, &self.pass_names);
        Ok(RunResult { invocations, ..result })
    }

    /// Runs like the failing one, on all workers.
    pub(super) fn run(&mut self, requests: &[RunRequest]) -> Result<Vec<Answer>, Halt> {
        let (oracle, pass_names) = (self.oracle, self.pass_names.clone());
        self.digested(requests, &|result| {
            (oracle.judge(&result.outcome), renamed(result.invocations, &pass_names))
        })
    }

    /// What the referee says of each of these runs; nothing of one that the passes
    /// do not end.
    pub(super) fn interpret(
        &mut self,
        requests: &[RunRequest],
    ) -> Result<Vec<Option<Interpretation>>, Halt> {
        self.digested(requests, &|result| result.interpretation)
    }

    /// Runs on all workers, and what is kept of each.
    fn digested<T: Send>(
        &mut self,
        requests: &[RunRequest],
        keep: &(dyn Fn(RunResult) -> T + Sync),
    ) -> Result<Vec<T>, Halt> {
        let (progress, deadline) = (self.progress, self.deadline);
        let go_on = || !progress.stop_requested() && Instant::now() < deadline;
        let digest = |result: RunResult, _| keep(result);
        let results = self.loaded.workers.pool.run_while(requests, &go_on, &digest);
        let results =
            results.into_iter().collect::<Result<Vec<_>, _>>().map_err(TriageError::from)?;
        self.n_runs += results.len();
        match results.len() == requests.len() {
            true => Ok(results),
            false if progress.stop_requested() => Err(Halt::Interrupted),
            false => Err(Halt::OutOfTime),
        }
    }

    /// The skips that stand for a choice; `None` where none could be found.
    pub(super) fn skips_of(&mut self, choice: &Choice) -> Result<Option<IndexSet>, Halt> {
        let verdict = self.judge(std::slice::from_ref(choice))?[0];
        let known = self.choices.skips_of(choice).cloned();
        Ok(known.filter(|_| verdict != Verdict::Other))
    }

    /// The module before an invocation of this number, of a run with these
    /// skips; `None` where that run does not come to an end.
    pub(super) fn module_before(
        &mut self,
        number: u32,
        skips: &IndexSet,
    ) -> Result<Option<String>, TriageError> {
        let rest = [(number, u32::MAX)];
        let skips = IndexSet::of_ranges(skips.ranges().iter().copied().chain(rest));
        let request = RunRequest { skips, ..printing(&self.template) };
        let result = self.run_one(&request)?;
        let is_sound = matches!(result.outcome, Outcome::Ok(_)) && !result.emitted.is_empty();
        Ok(is_sound.then(|| String::from_utf8_lossy(&result.emitted).into_owned()))
    }

    /// Who wrote what in one invocation of the failing run. `after` is the module
    /// that it leaves, if it comes to that; authors of another are not told.
    pub(super) fn authorship(
        &mut self,
        number: u32,
        after: Option<&str>,
    ) -> Result<Option<Authorship>, TriageError> {
        let end = number.saturating_add(1);
        // To record each change takes longer than to make it.
        let compile = self.template.limits.compile.max(RECORDING);
        let limits = match self.loaded.case.case.kind {
            CaseKind::Hang => self.template.limits,
            _ => Limits { compile, ..self.template.limits },
        };
        let request = RunRequest {
            skips: IndexSet::from(end),
            window: Some((number, end)),
            authors: true,
            limits,
            ..printing(&self.template)
        };
        let result = self.run_one(&request)?;
        let is_the_same = after.is_none_or(|after| after.as_bytes() == result.emitted);
        Ok(result.authorship.filter(|_| is_the_same))
    }

    /// The case's own program and options, for whoever comes next.
    pub(super) fn restore(&mut self) -> Result<(), TriageError> {
        Ok(self.loaded.load(&self.loaded.program.clone(), &[])?)
    }

    /// Another module, under the case's options.
    pub(super) fn load_ir(&mut self, ir: &str) -> Result<(), TriageError> {
        let ir = ir.as_bytes().to_vec();
        let program = Program { name: SINGLE_PASS_FILE.to_owned(), ir };
        Ok(self.loaded.load(&program, &[])?)
    }
}

impl Compiler for Trials<'_> {
    type Halt = Halt;

    fn reach(&mut self, without: &[u32]) -> Result<Reach, Halt> {
        let skips = IndexSet::of(without.iter().copied());
        let result = self.run_one(&RunRequest { skips, ..self.template.clone() })?;
        let failed_in = invocation_of(&result.outcome).map(|invocation| invocation.index);
        Ok(Reach { n: result.n_invocations, failed_in })
    }

    fn is_slow(&self) -> bool {
        self.loaded.case.case.kind == CaseKind::Hang
    }

    fn judge(&mut self, choices: &[Choice]) -> Result<Vec<Verdict>, Halt> {
        let (mut known, log) = (take(&mut self.choices), take(&mut self.log));
        let template = self.template.clone();
        let judged = known.judge(choices, &log, &mut |attempts: &[Attempt]| {
            let request = |attempt: &Attempt| RunRequest {
                skips: attempt.skips.clone(),
                list_invocations: attempt.listed,
                ..template.clone()
            };
            self.run(&attempts.iter().map(request).collect::<Vec<_>>())
        });
        (self.choices, self.log) = (known, log);
        let verdicts = judged?;
        self.progress.step(&format!("bisecting: {} runs", self.n_runs));
        Ok(verdicts)
    }

    fn changes(&mut self, certain_after: u32) -> Result<Vec<Option<bool>>, Halt> {
        let skips = match self.loaded.case.case.kind {
            // Such an invocation does not come to its end.
            CaseKind::Crash | CaseKind::Hang | CaseKind::Memory => IndexSet::from(certain_after),
            CaseKind::WrongCode | CaseKind::InvalidIr | CaseKind::Codegen => {
                IndexSet::from(certain_after.saturating_add(1))
            }
        };
        let limits = Limits { compile: WATCHING, ..self.template.limits };
        let watching = RunRequest {
            watch_changes: true,
            list_invocations: true,
            skips,
            limits,
            ..plain(&self.template)
        };
        let result = self.run_one(&watching)?;
        let ended_in = invocation_of(&result.outcome).map(|invocation| invocation.index);
        let known = |invocation: &Invocation| {
            let is_known = !invocation.skipped && Some(invocation.index) != ended_in;
            is_known.then_some(invocation.changed)
        };
        let mut changed: Vec<Option<bool>> = result.invocations.iter().map(known).collect();
        changed.resize(self.log.len(), None);
        Ok(changed)
    }

    fn original(&mut self, number: u32, without: &[u32]) -> Result<Option<u32>, Halt> {
        let skips = IndexSet::of(without.iter().copied());
        let listed = RunRequest { skips, list_invocations: true, ..self.template.clone() };
        let result = self.run_one(&listed)?;
        Ok(number_in(&self.log, &result.invocations, number))
    }
}

/// A log with the passes' names where their classes stood.
fn renamed(mut log: Vec<Invocation>, names: &HashMap<String, String>) -> Vec<Invocation> {
    for entry in &mut log {
        if let Some(name) = names.get(&entry.pass) {
            entry.pass.clone_from(name);
        }
    }
    log
}

/// The number that an invocation of another run has in this log.
pub(super) fn number_in(log: &[Invocation], other: &[Invocation], number: u32) -> Option<u32> {
    let name = *names(other).get(usize::try_from(number).ok()?)?;
    let place = names(log).iter().position(|known| *known == name)?;
    u32::try_from(place).ok()
}

/// Where LLVM was when it failed.
pub(super) fn invocation_of(outcome: &Outcome) -> Option<&Invocation> {
    match outcome {
        Outcome::Crash(crash) => crash.invocation.as_ref(),
        Outcome::InvalidIr { invocation, .. }
        | Outcome::Timeout { invocation }
        | Outcome::OutOfMemory { invocation } => invocation.as_ref(),
        Outcome::Ok(_) | Outcome::CodegenFailure { .. } => None,
    }
}

/// The same passes, and nothing else.
pub(super) fn plain(request: &RunRequest) -> RunRequest {
    RunRequest { limits: request.limits, ..RunRequest::new(request.passes.clone()) }
}

/// The same passes, and the module they make.
fn printing(request: &RunRequest) -> RunRequest {
    RunRequest { emit: Emit::Text, ..plain(request) }
}
