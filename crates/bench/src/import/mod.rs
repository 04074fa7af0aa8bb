//! `optsleuth case import`: a file of a public data set -> its tests -> the
//! installed LLVMs -> cases for those that fail there.
//!
//! **Invariant:** what is said to fail was seen to fail here, five times;
//! and every test of a file is in the report, with what became of it.

mod bug;
mod command;

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::loaded::{LoadedCase, WorkerPlan};
use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_case::write::{is_free, write_case};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{self, Flavor, Targets};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Attempt, BugType, Case, CaseFolder, CaseKind, CheckStatus, CompilerSpec, Conditions,
    ImportReport, ImportedTest, Limits, Outcome, Pipeline, Progress, Seen, TestStatus, Trust,
    UsableLlvms,
};

use crate::BenchError;
use bug::{Bug, BugTest};
use command::{OptCommand, opt_command};

/// The program's name in a case's folder.
const INPUT: &str = "repro.ll";
/// What the repetitions of a hang get, after it used up all of its time twice.
const REPEATED_HANG: Duration = Duration::from_secs(1);

/// What is to be imported.
#[derive(Clone, Debug)]
pub struct ImportPlan {
    /// A file of the data set.
    pub file: PathBuf,
    /// The folder for the cases' folders.
    pub out: PathBuf,
    /// The LLVMs to try, by their numbers.
    pub llvms: Vec<u32>,
    pub limits: Limits,
    /// Write tests that fail nowhere, too.
    pub keep_all: bool,
    /// Replace cases that are there.
    pub force: bool,
}

/// Makes workers of all installed LLVMs. It is an error if there is none.
pub fn usable_llvms(progress: &dyn Progress) -> Result<UsableLlvms, BenchError> {
    let mut usable = UsableLlvms { numbers: Vec::new(), left_out: Vec::new() };
    let mut first_error = None;
    for (major, _) in llvm::discover() {
        let choice = LlvmChoice::Version(major);
        match Workers::set_up(&choice, Targets::Native, Flavor::Plain, NonZero::new(1), progress) {
            Ok(_) => usable.numbers.push(major),
            Err(error) => {
                usable.left_out.push((major, error.to_string()));
                first_error.get_or_insert(error);
            }
        }
    }
    match usable.numbers.is_empty() {
        false => Ok(usable),
        true => Err(first_error.unwrap_or(CompilerError::NoLlvmAtAll.into()).into()),
    }
}

/// Imports a file.
pub fn import(plan: &ImportPlan, progress: &dyn Progress) -> Result<ImportReport, BenchError> {
    let text = fs::read_to_string(&plan.file).map_err(BenchError::Unreadable)?;
    let bug = Bug::parse(&plan.file, &text)?;
    // Said before the work is done, not after.
    is_free(&plan.out.join(&bug.id), plan.force)?;
    let mut llvms = plan.llvms.clone();
    llvms.sort_unstable_by(|a, b| b.cmp(a));
    llvms.dedup();
    let mut candidates = candidates(&bug);
    let n_candidates = candidates.len();
    for (i, candidate) in candidates.iter_mut().enumerate() {
        let within = format!("{}, test {} of {n_candidates}", bug.id, i + 1);
        candidate.try_on(&bug, &llvms, plan.limits, &Within { what: within, progress })?;
    }
    // Those that fail come first, so that their names do not depend on others.
    let rank = |candidate: &Candidate| match candidate.test.status {
        TestStatus::Reproduces => 0,
        TestStatus::ReproducesNowhere | TestStatus::NotExecutable if plan.keep_all => 1,
        _ => 2,
    };
    let mut order: Vec<usize> = (0..n_candidates).filter(|&i| rank(&candidates[i]) < 2).collect();
    order.sort_by_key(|&i| (rank(&candidates[i]), i));
    let mut cases = Vec::new();
    for (n_before, &i) in order.iter().enumerate() {
        let id = match n_before {
            0 => bug.id.clone(),
            n => format!("{}-{}", bug.id, n + 1),
        };
        let case = candidates[i].case(&bug, id, &llvms);
        let folder = plan.out.join(&case.id);
        is_free(&folder, plan.force)?;
        cases.push((i, CaseFolder { folder, case, trust: Trust::Data }));
    }
    for (i, case) in cases {
        let candidate = &mut candidates[i];
        write_case(&case.folder, &case.case, candidate.source.body.as_bytes(), plan.force)?;
        candidate.test.written = Some(case);
    }
    let tests = candidates.into_iter().map(|candidate| candidate.test).collect();
    Ok(ImportReport { id: bug.id, bug_type: bug.bug_type, tests })
}

/// A test with one of its commands.
struct Candidate<'a> {
    source: &'a BugTest,
    /// What the command says, where a case can say it.
    command: Option<OptCommand>,
    test: ImportedTest,
}

fn candidates(bug: &Bug) -> Vec<Candidate<'_>> {
    let mut all: Vec<Candidate<'_>> = Vec::new();
    for source in &bug.tests {
        let none = [String::new()];
        let commands = if source.commands.is_empty() { &none[..] } else { &source.commands };
        for line in commands {
            let command = opt_command(line);
            let status = match &command {
                Err(why) => TestStatus::NotExpressible(why.clone()),
                Ok(command) => {
                    let same = |other: &&Candidate<'_>| {
                        other.source.body == source.body && other.command.as_ref() == Some(command)
                    };
                    match bug.bug_type {
                        _ if all.iter().any(|other| same(&other)) => TestStatus::Repeated,
                        BugType::Miscompilation if !source.has_main() => TestStatus::NotExecutable,
                        BugType::Miscompilation | BugType::Crash | BugType::Hang => {
                            TestStatus::ReproducesNowhere // Until it was tried.
                        }
                    }
                }
            };
            let test = ImportedTest {
                file: source.file.clone(),
                name: source.name.clone(),
                command: line.clone(),
                status,
                attempts: Vec::new(),
                written: None,
            };
            all.push(Candidate { source, command: command.ok(), test });
        }
    }
    all
}

impl Candidate<'_> {
    /// Tries it on these LLVMs, if it can be tried.
    fn try_on(
        &mut self,
        bug: &Bug,
        llvms: &[u32],
        limits: Limits,
        progress: &dyn Progress,
    ) -> Result<(), BenchError> {
        if self.test.status != TestStatus::ReproducesNowhere {
            return Ok(());
        }
        let folder = Workdir::new()?;
        fs::write(folder.file(INPUT), &self.source.body)?;
        for &llvm in llvms {
            let case = self.case(bug, bug.id.clone(), &[llvm]);
            let case = CaseFolder { folder: folder.path().to_owned(), case, trust: Trust::Data };
            self.test.attempts.push(attempt(case, llvm, limits, progress)?);
        }
        if self.test.attempts.iter().any(|attempt| attempt.seen.kind().is_some()) {
            self.test.status = TestStatus::Reproduces;
        }
        Ok(())
    }

    /// The case: about the newest LLVM on which it fails, and failing as it
    /// does there; where it fails nowhere, about the newest that was tried.
    fn case(&self, bug: &Bug, id: String, llvms: &[u32]) -> Case {
        let attempts = &self.test.attempts;
        let fails = attempts.iter().find(|attempt| attempt.seen.kind().is_some());
        let kind = fails.and_then(|fails| fails.seen.kind());
        let same_kind = |attempt: &&Attempt| kind.is_some() && attempt.seen.kind() == kind;
        let llvm = fails.map(|fails| fails.llvm).or(llvms.first().copied()).unwrap_or_default();
        let command = self.command.clone();
        let OptCommand { passes, flags } =
            command.unwrap_or(OptCommand { passes: String::new(), flags: Vec::new() });
        let printed = self.source.expected.clone();
        Case {
            id,
            title: bug.title.clone(),
            source: bug.source.clone(),
            compiler: CompilerSpec::Llvm(llvm.to_string()),
            fault: None,
            input: INPUT.to_owned(),
            pipeline: Pipeline::Passes(passes),
            flags,
            front_end: None,
            cflags: Vec::new(),
            kind: kind.unwrap_or(match bug.bug_type {
                BugType::Crash => CaseKind::Crash,
                BugType::Miscompilation => CaseKind::WrongCode,
                BugType::Hang => CaseKind::Hang,
            }),
            signature: None,
            expected: printed.or_else(|| fails.and_then(|fails| fails.expected.clone())),
            observed: fails.map(|fails| fails.what.clone()),
            // Attempts begin with the newest.
            fails_in: attempts.iter().rev().filter(same_kind).map(|a| a.llvm.to_string()).collect(),
            fixed_in: None,
            execution: Conditions::default(),
            truth: bug.truth.clone(),
        }
    }
}

/// Tries a case on one LLVM. How a crash of the data set shows is seen here;
/// wrong code has to show as that.
fn attempt(
    case: CaseFolder,
    llvm: u32,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<Attempt, BenchError> {
    let within = Within { what: format!("LLVM {llvm}"), progress };
    let cannot = |error: BenchError| match is_about_the_input(&error) {
        true => {
            let what = first_line(&error.to_string());
            Ok(Attempt { llvm, seen: Seen::CannotTry, what, expected: None })
        }
        false => Err(error),
    };
    let choice = LlvmChoice::Version(llvm);
    let worker_plan = WorkerPlan { llvm: Some(&choice), flavor: Flavor::Plain, n_workers: None };
    let mut loaded = match LoadedCase::set_up(case, &worker_plan, limits, &within) {
        Ok(loaded) => loaded,
        Err(error) => return cannot(error.into()),
    };
    if loaded.case.case.kind != CaseKind::WrongCode {
        within.step("running");
        let outcome = match loaded.workers.pool.first().run(&loaded.request) {
            Ok(result) => result.outcome,
            Err(error) => return cannot(error.into()),
        };
        if let Some(kind) = kind_of(&outcome) {
            loaded.case.case.kind = kind;
        }
        loaded.repeat_hangs_within(REPEATED_HANG);
    }
    let reproduction = match loaded.reproduce(&within) {
        Ok(reproduction) => reproduction,
        Err(error) => return cannot(error.into()),
    };
    let seen = match reproduction.status {
        CheckStatus::Reproduces => Seen::Fails(loaded.case.case.kind),
        other => Seen::Otherwise(other),
    };
    let expected = reproduction.oracle.expected_output();
    Ok(Attempt { llvm, seen, what: first_line(&reproduction.what), expected })
}

/// How a failing run fails.
fn kind_of(outcome: &Outcome) -> Option<CaseKind> {
    match outcome {
        Outcome::Ok(_) => None,
        Outcome::Crash(_) => Some(CaseKind::Crash),
        Outcome::InvalidIr { .. } => Some(CaseKind::InvalidIr),
        Outcome::Timeout { .. } => Some(CaseKind::Hang),
        Outcome::OutOfMemory { .. } => Some(CaseKind::Memory),
        Outcome::CodegenFailure { .. } => Some(CaseKind::Codegen),
    }
}

/// Whether an error says something about a test on an LLVM, and not about us.
fn is_about_the_input(error: &BenchError) -> bool {
    match error {
        BenchError::Case(CaseError::Compiler(error)) => {
            let is_refused = matches!(
                error,
                CompilerError::NoClang(_)
                    | CompilerError::UnreadableProgram { .. }
                    | CompilerError::UnknownLanguage(_)
                    | CompilerError::BadOptions(_)
                    | CompilerError::RefusedOption { .. }
                    | CompilerError::BadPipeline(_)
            );
            is_refused || error.is_programs_fault()
        }
        BenchError::Case(
            CaseError::Syntax { .. } | CaseError::Passes(_) | CaseError::NoReference { .. },
        ) => true,
        _ => false,
    }
}

fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().to_owned()
}

/// Says which part of a longer job a step belongs to.
struct Within<'a> {
    what: String,
    progress: &'a dyn Progress,
}

impl Progress for Within<'_> {
    fn step(&self, what: &str) {
        self.progress.step(&format!("{}: {what}", self.what));
    }

    fn count(&self, done: usize, total: usize) {
        self.progress.count(done, total);
    }

    fn stop_requested(&self) -> bool {
        self.progress.stop_requested()
    }
}
