//! A driver's case with all its judges, and whether it fails as it says:
//! folder -> references, repetitions, checkers -> an answer with its
//! reason.
//!
//! **Invariant:** no case counts as reproduced on the word of one run, and no
//! wrong code of a program that anybody finds undefined.

use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_compiler::llvm::{self, Flavor, Install, Targets};
use optsleuth_compiler::spawn::quote;
use optsleuth_model::{
    CaseFolder, CaseKind, CheckReport, CheckStatus, Definedness, DriverUse, Execution, Limits,
    Outcome, Progress,
};

use super::{DriverUnderTest, NoReference, Tried};
use crate::CaseError;
use crate::definedness::{Asked, OF_CLANG, OF_GCC, ask, disagreement};
use crate::folder::{kept_definedness, surroundings};
use crate::oracle::{Oracle, Verdict, behaviour};
use crate::repetition::{REPETITIONS, conclude, unexpected_output};
use crate::workers::{LlvmChoice, Workers};

/// A driver's case, its compiler, and workers to execute programs with.
#[derive(Debug)]
pub struct LoadedDriverCase {
    pub case: CaseFolder,
    pub tested: DriverUnderTest,
    /// Of any LLVM: what counts is the fence, and the clang beside it.
    pub fence: Workers,
    pub limits: Limits,
    repeat_limits: Limits,
}

/// How a case's failing run went.
#[derive(Debug)]
pub struct Reproduction {
    pub status: CheckStatus,
    pub what: String,
    pub references: Vec<(&'static str, String)>,
    pub n_failing: usize,
    /// The first of the repetitions.
    pub first: Tried,
    /// Knows this failure from others.
    pub oracle: Oracle,
    /// Of wrong code: whether the program is defined.
    pub definedness: Definedness,
}

/// A driver's case that was seen to fail, every time.
#[derive(Debug)]
pub struct FailingDriverCase {
    pub loaded: LoadedDriverCase,
    pub reproduction: Reproduction,
}

impl FailingDriverCase {
    /// Sees it fail; an error if it does not, or not always.
    pub fn see(
        mut loaded: LoadedDriverCase,
        progress: &dyn Progress,
    ) -> Result<FailingDriverCase, CaseError> {
        let reproduction = loaded.reproduce(progress)?;
        match reproduction.status {
            CheckStatus::Reproduces => Ok(FailingDriverCase { loaded, reproduction }),
            status => Err(CaseError::NotReproduced { status, what: reproduction.what }),
        }
    }

    /// Goes on with another form of it; an error if that does not fail.
    pub fn reopen(&mut self, case: CaseFolder, progress: &dyn Progress) -> Result<(), CaseError> {
        self.loaded.fence.pool.surround(surroundings(&case)?);
        self.loaded.case = case;
        let reproduction = self.loaded.reproduce(progress)?;
        if reproduction.status != CheckStatus::Reproduces {
            let Reproduction { status, what, .. } = reproduction;
            return Err(CaseError::NotReproduced { status, what });
        }
        self.reproduction = reproduction;
        Ok(())
    }

    /// What is known about it.
    pub fn report(&self) -> Result<CheckReport, CaseError> {
        self.loaded.report(&self.reproduction)
    }
}

impl LoadedDriverCase {
    /// Finds who contradicts the compiler, and starts workers.
    pub fn set_up(
        case: CaseFolder,
        driver: Driver,
        limits: Limits,
        progress: &dyn Progress,
    ) -> Result<LoadedDriverCase, CaseError> {
        LoadedDriverCase::set_up_on(case, driver, limits, None, progress)
    }

    /// The same with so many workers.
    pub fn set_up_on(
        case: CaseFolder,
        driver: Driver,
        limits: Limits,
        n_workers: Option<NonZero<usize>>,
        progress: &dyn Progress,
    ) -> Result<LoadedDriverCase, CaseError> {
        let tested = DriverUnderTest::find(&case.case, driver)?;
        let mut fence = fence(n_workers, progress)?;
        fence.pool.surround(surroundings(&case)?);
        Ok(LoadedDriverCase { case, tested, fence, limits, repeat_limits: limits })
    }

    /// Whether the case fails as it says.
    pub fn check(mut self, progress: &dyn Progress) -> Result<CheckReport, CaseError> {
        let reproduction = self.reproduce(progress)?;
        self.report(&reproduction)
    }

    /// What is known about a case after its failing run was repeated.
    fn report(&self, reproduction: &Reproduction) -> Result<CheckReport, CaseError> {
        let LoadedDriverCase { case, tested, .. } = self;
        Ok(CheckReport {
            llvm: tested.driver.version.clone(),
            passes: String::new(),
            driver: Some(self.driver_use()?),
            note: unexpected_output(&case.case, &reproduction.oracle),
            case: case.clone(),
            status: reproduction.status,
            what: reproduction.what.clone(),
            references: reproduction.references.clone(),
            n_failing: reproduction.n_failing,
            n_repetitions: REPETITIONS,
            frames: match &reproduction.first {
                Tried::Ran(Outcome::Crash(crash)) => crash.frames.clone(),
                Tried::Ran(_) | Tried::Refused(_) => Vec::new(),
            },
            // The distribution's own tool is what was checked.
            confirmation: None,
            unmodified: None,
            definedness: reproduction.definedness.clone(),
        })
    }

    /// All repetitions of a hang but the first get this much time: each costs
    /// all of it.
    pub fn repeat_hangs_within(&mut self, time: Duration) {
        if self.case.case.kind == CaseKind::Hang {
            self.repeat_limits.compile = time;
        }
    }

    /// The limits of all repetitions but the first.
    pub fn repeat_limits(&self) -> Limits {
        self.repeat_limits
    }

    /// Runs the failing run several times, and what it is measured by.
    pub fn reproduce(&mut self, progress: &dyn Progress) -> Result<Reproduction, CaseError> {
        let (path, kind) = (self.case.input(), self.case.case.kind);
        let references = match kind {
            CaseKind::WrongCode => {
                progress.step("running the unoptimized program");
                self.tested.settle_second_opinion(&path, self.limits)?;
                let worker = self.fence.pool.first();
                let found = self.tested.references(&path, worker, self.limits)?;
                found.map_err(|NoReference { way, what, ends }| CaseError::NoReference {
                    way,
                    what,
                    ends,
                })?
            }
            _ => Vec::new(),
        };
        let expected = references.first().map(|(_, execution)| execution.clone());
        let surroundings = self.fence.pool.first().surroundings();
        if let Some(expected) = &expected
            && let Some(objection) = surroundings.objection(expected)
        {
            return Err(CaseError::Unexpected(objection));
        }
        let mut oracle = Oracle::new(kind, expected).judged_by_script(surroundings.has_check());
        if let Some(signature) = &self.case.case.signature {
            oracle = oracle.with_signature(signature);
        }
        progress.step("repeating the failure");
        let mut all = Vec::new();
        for done in 0..REPETITIONS {
            progress.count(done, REPETITIONS);
            let limits = if done == 0 { self.limits } else { self.repeat_limits };
            all.push(self.tested.run(&path, self.fence.pool.first(), limits)?);
        }
        if let Tried::Ran(outcome) = &all[0] {
            oracle = oracle.like(outcome);
        }
        let verdicts: Vec<Verdict> = all.iter().map(|tried| tried.verdict(&oracle)).collect();
        let said: Vec<String> = all.iter().map(|tried| tried.describe(&oracle)).collect();
        let n_failing = verdicts.iter().filter(|verdict| **verdict == Verdict::Fails).count();
        let disagreement = disagreement(&references);
        let is_disputed = disagreement.is_some();
        let (mut status, mut what) = match disagreement {
            Some(why) => (CheckStatus::Unstable, why),
            None => conclude(&oracle, &said, &verdicts),
        };
        let mut definedness = Definedness::default();
        if let Some((_, expected)) = references.first()
            && (is_disputed || status == CheckStatus::Reproduces)
        {
            definedness = self.definedness(expected, progress)?;
            if let Some(why) = definedness.acquittal(is_disputed) {
                (status, what) = (CheckStatus::Unstable, why);
            }
        }
        let references =
            references.into_iter().map(|(way, execution)| (way, behaviour(&execution))).collect();
        let first = all.swap_remove(0);
        Ok(Reproduction { status, what, references, n_failing, first, oracle, definedness })
    }

    /// Whether the program is defined. Of a part of something larger, that was asked when
    /// the whole was judged.
    fn definedness(
        &mut self,
        expected: &Execution,
        progress: &dyn Progress,
    ) -> Result<Definedness, CaseError> {
        if self.case.case.execution.unlinked {
            return Ok(kept_definedness(&self.case)?.unwrap_or_default());
        }
        let list = match self.tested.driver.family {
            Family::Clang => OF_CLANG,
            Family::Gcc => OF_GCC,
        };
        let (source, c_flags) = (self.case.input(), self.flags_elsewhere());
        let asked = Asked {
            source: &source,
            c_flags: &c_flags,
            failing: None,
            loaded: None,
            expected,
            limits: self.limits,
        };
        ask(list, &asked, &self.fence.install, self.fence.pool.first(), progress)
    }

    /// The portable flags of the case for a program that lies elsewhere.
    pub fn flags_elsewhere(&self) -> Vec<String> {
        let mut flags = self.tested.portable_flags();
        flags.push(include_folder(&self.case.folder));
        flags
    }

    /// What a person types in the case's folder to see it fail.
    pub fn driver_use(&self) -> Result<DriverUse, CaseError> {
        let path = self.case.input();
        let text = fs::read(&path)?;
        let DriverUnderTest { driver, level, flags, .. } = &self.tested;
        let (input, program) = (Path::new(&self.case.case.input), Path::new("program"));
        let mut commands =
            vec![driver.command(input, &text, *level, flags, program).command_line()];
        if self.case.case.kind == CaseKind::WrongCode {
            commands.push(self.case.case.execution.command_line(quote));
        }
        let compiler = format!("{} {}", driver.family, driver.version);
        Ok(DriverUse { compiler, level: *level, commands })
    }
}

/// What a program needs that includes files of the case's folder from elsewhere.
pub fn include_folder(folder: &Path) -> String {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    format!("-I{}", folder.display())
}

/// Workers of the newest LLVM that can have some.
fn fence(n_workers: Option<NonZero<usize>>, progress: &dyn Progress) -> Result<Workers, CaseError> {
    let installs = llvm::discover().into_iter().rev().filter_map(|(_, found)| found.ok());
    let mut last = CaseError::from(CompilerError::NoLlvmAtAll);
    for Install { llvm_config, .. } in installs {
        let choice = LlvmChoice::Config(llvm_config);
        match Workers::set_up(&choice, Targets::Native, Flavor::Plain, n_workers, progress) {
            Ok(workers) => return Ok(workers),
            Err(error) => last = error,
        }
    }
    Err(last)
}
