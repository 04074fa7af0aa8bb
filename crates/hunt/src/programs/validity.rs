//! Is a program fit to accuse a compiler with? C or IR -> what it does, or why
//! nobody can say.
//!
//! It has to compile, to end soon, to do the same by compilers and code
//! generators that have little in common and whatever unused memory holds, to
//! keep the promises of its IR (`worker/guard.cpp`), and to run under clang's
//! sanitizers.
//!
//! **Invariant:** nothing here says that a behaviour is defined; only that none
//! of these found it not to be. A program is executed behind a worker's fence
//! only, whoever compiled it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::oracle::{behaviour, describe, is_limit, same_behaviour};
use optsleuth_case::sanitizers::{Watched, watch};
use optsleuth_compiler::clang::{self, Markers, ProgramError};
use optsleuth_compiler::driver::{Compiled, Driver, Family};
use optsleuth_compiler::llvm::{self, Install, RunError, Worker};
use optsleuth_compiler::sanitize::{self, Sanitizer, TELLING_WARNINGS};
use optsleuth_compiler::spawn::Tool;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    CodegenLevel, Emit, Execute, Execution, Language, Limits, OptLevel, Outcome, Program,
    ProgramEnd, RunRequest, nameless,
};

use super::rejection::Rejection;
use crate::HuntError;

/// Changes whenever the same program may get another verdict.
pub(super) const CHECK_VERSION: u32 = 2;

/// Programs that need more are left out. CPU time: how busy the machine is must
/// not decide what is used.
const LIMITS: Limits =
    Limits { execute: Duration::from_secs(1), output: 1 << 20, ..Limits::STANDARD };

/// The name of every module, so that nothing of this machine is in it.
const MODULE: &str = "program.ll";

/// A program that may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Valid {
    /// C that includes nothing; `None` if it was IR to begin with.
    pub(super) text: Option<String>,
    pub(super) program: Program,
    pub(super) expected: Execution,
}

/// Why there is no valid program.
#[derive(Debug)]
pub(super) enum Unfit {
    Rejected(Rejection, String),
    Trouble(HuntError),
}

/// Where a C program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// Its programs give none of the telling warnings; so nobody looks.
    Csmith,
    Somebody,
}

/// Everything that has a say.
#[derive(Debug)]
pub(super) struct Checker {
    install: Install,
    clang: String,
    gcc: Option<Driver>,
    /// Those that work here, and whose clang has each.
    sanitizers: Vec<(Sanitizer, Install)>,
}

/// What every sanitizer has to be able to watch.
const PROBE: &str = "int main(void) { return 0; }\n";

impl Checker {
    /// Finds out what there is.
    pub(super) fn new(install: &Install, worker: &mut Worker) -> Result<Checker, HuntError> {
        let clang = install.tool("clang").ok_or(ProgramError::NoClang(install.major))?;
        let said = Tool::new(clang).arg("--version").text()?;
        let clang = said.lines().next().unwrap_or_default().to_owned();
        let sanitizers = working_sanitizers(install, worker)?;
        // A clang that is called gcc is refused: one opinion twice is one.
        let gcc = Driver::find(Family::Gcc.name()).ok();
        Ok(Checker { install: install.clone(), clang, gcc, sanitizers })
    }

    /// What a verdict depends on besides the program.
    pub(super) fn identity(&self) -> String {
        let gcc = self.gcc.as_ref().map_or("none", |gcc| &gcc.said);
        let watch = |(sanitizer, by): &(Sanitizer, Install)| {
            format!("{} of clang {}", sanitizer.name(), by.version)
        };
        let watched: Vec<String> = self.sanitizers.iter().map(watch).collect();
        format!(
            "check {CHECK_VERSION}\nLLVM {}\n{}\ngcc {gcc}\n{}\n",
            self.install.version,
            self.clang,
            watched.join("\n")
        )
    }

    /// What is missing on this machine, in sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.gcc.is_none() {
            notes.push("there is no gcc: programs are compared by clang alone".to_owned());
        }
        let has = |sought| self.sanitizers.iter().any(|&(known, _)| known == sought);
        for sanitizer in Sanitizer::ALL.into_iter().filter(|&sought| !has(sought)) {
            let name = sanitizer.name();
            notes.push(format!("the {name} does not work here: programs are not run under it"));
        }
        notes
    }

    /// C -> C that includes nothing, written to `whole`.
    pub(super) fn preprocess(&self, original: &Path, whole: &Path) -> Result<String, Unfit> {
        let flags = relative_names(original);
        Ok(clang::preprocess(&self.install, original, &flags, Markers::Dropped, whole)?)
    }

    /// Checks a C program. `whole` holds `text`, which is `original` without
    /// its includes: gcc has headers of its own.
    pub(super) fn check_c(
        &self,
        worker: &mut Worker,
        author: Author,
        original: &Path,
        whole: &Path,
        text: String,
    ) -> Result<Valid, Unfit> {
        let program = clang::read_program(&self.install, whole, &[])?;
        let ir = nameless(&String::from_utf8_lossy(&program.ir)).into_bytes();
        let program = Program { name: MODULE.to_owned(), ir };
        if author == Author::Somebody {
            let given = sanitize::warnings(&self.install, original, &[], &TELLING_WARNINGS)?;
            if !given.is_empty() {
                return Err(undefined(format!("clang warns: {}", given.join(", "))));
            }
        }
        worker.load(&program, &[], LIMITS)?;
        let expected = references(worker)?;
        self.ask_gcc(worker, original, whole, &expected)?;
        for (sanitizer, clang) in &self.sanitizers {
            // csmith writes all its memory; looking costs as much as the rest.
            if author == Author::Csmith && *sanitizer == Sanitizer::Memory {
                continue;
            }
            let watched = watch(*sanitizer, clang, whole, &[], worker, &expected)?;
            // It works here: what it did not let end was not right.
            if watched != Watched::Right {
                return Err(undefined(format!("stopped by the {}", sanitizer.name())));
            }
        }
        Ok(Valid { text: Some(text), program, expected })
    }

    /// Checks IR: what C compilers can tell does not apply.
    pub(super) fn check_ir(
        &self,
        worker: &mut Worker,
        language: Language,
        ir: &[u8],
    ) -> Result<Valid, Unfit> {
        let named = |ir| Program { name: MODULE.to_owned(), ir };
        let mut program = named(ir.to_vec());
        worker.load(&program, &[], LIMITS)?;
        if language == Language::Bitcode {
            let request = RunRequest { emit: Emit::Text, ..RunRequest::new(None) };
            program = named(worker.run(&request)?.emitted);
        }
        if let Ok(text) = std::str::from_utf8(&program.ir) {
            program = named(nameless(text).into_bytes());
        }
        worker.load(&program, &[], LIMITS)?;
        let expected = references(worker)?;
        Ok(Valid { text: None, program, expected })
    }

    fn ask_gcc(
        &self,
        worker: &mut Worker,
        original: &Path,
        whole: &Path,
        expected: &Execution,
    ) -> Result<(), Unfit> {
        let Some(gcc) = &self.gcc else { return Ok(()) };
        let file = whole.with_extension("gcc");
        let names = relative_names(original);
        let compiled = gcc.compile(original, OptLevel::O0, &names, &file, LIMITS);
        let why = match compiled.map_err(HuntError::from)? {
            Compiled::Program => None,
            Compiled::Refused(why) => Some(without_folder(&why, original)),
            Compiled::Crash(crash) => Some(crash.signature.to_string()),
            Compiled::Hang => Some("it does not end".to_owned()),
            Compiled::Memory => Some("it uses up its memory".to_owned()),
        };
        if let Some(why) = why {
            return Err(Unfit::Rejected(Rejection::DoesNotCompile, format!("gcc: {why}")));
        }
        let execution = worker.execute(&file, LIMITS)?;
        if is_limit(execution.end) {
            let what = format!("compiled by gcc, it {}", behaviour(&execution));
            return Err(Unfit::Rejected(Rejection::DoesNotEnd, what));
        }
        agree("by gcc", &execution, expected)
    }
}

/// Ways to execute an unoptimized program that have little in common. With a
/// byte for unused memory, and stopped where it breaks a promise of its IR.
const WAYS: [(&str, CodegenLevel, Execute, Option<u8>, bool); 4] = [
    ("unoptimized", CodegenLevel::O0, Execute::InChild, Some(0x00), false),
    ("stopped where its IR is undefined", CodegenLevel::O0, Execute::InChild, Some(0xa5), true),
    ("optimized by the code generator", CodegenLevel::O2, Execute::InChild, Some(0x5a), false),
    ("as a process", CodegenLevel::O0, Execute::AsProcess, None, false),
];

/// What the loaded program does, by every way.
fn references(worker: &mut Worker) -> Result<Execution, Unfit> {
    let mut expected: Option<Execution> = None;
    for (way, codegen, execute, fill, guarded) in WAYS {
        let request =
            RunRequest { codegen, execute, fill, guarded, limits: LIMITS, ..RunRequest::new(None) };
        let execution = match worker.run(&request)?.outcome {
            Outcome::Ok(Some(execution)) if is_limit(execution.end) => {
                let what = format!("{way}, it {}", behaviour(&execution));
                return Err(Unfit::Rejected(Rejection::DoesNotEnd, what));
            }
            Outcome::Ok(Some(execution)) => execution,
            other => {
                return Err(Unfit::Rejected(Rejection::DoesNotCompile, describe(&other)));
            }
        };
        match &expected {
            Some(expected) if guarded && !same_behaviour(expected, &execution) => {
                let what = format!("{way}, it {}", behaviour(&execution));
                return Err(undefined(what));
            }
            Some(expected) => agree(way, &execution, expected)?,
            None => expected = Some(execution),
        }
    }
    let expected = expected.ok_or_else(|| undefined("it was never executed".to_owned()))?;
    match expected.end {
        // Nothing but undefined behaviour ends so.
        ProgramEnd::Signaled(signal) if signal != SIGABRT => {
            Err(undefined(format!("it {}", behaviour(&expected))))
        }
        _ => Ok(expected),
    }
}

const SIGABRT: i32 = 6;

fn agree(way: &str, execution: &Execution, expected: &Execution) -> Result<(), Unfit> {
    if same_behaviour(execution, expected) {
        return Ok(());
    }
    let what = format!("{way}, it {}; else it {}", behaviour(execution), behaviour(expected));
    Err(Unfit::Rejected(Rejection::CompilersDisagree, what))
}

fn undefined(what: String) -> Unfit {
    Unfit::Rejected(Rejection::Undefined, what)
}

/// The sanitizers that can watch anything here. What is watched is a program,
/// so any LLVM's clang will do.
fn working_sanitizers(
    install: &Install,
    worker: &mut Worker,
) -> Result<Vec<(Sanitizer, Install)>, HuntError> {
    let folder = workdir()?;
    let path = folder.file("probe.c");
    fs::write(&path, PROBE).map_err(unwritten)?;
    let expected = Execution { end: ProgramEnd::Exited(0), stdout: Vec::new(), stderr: Vec::new() };
    let others = llvm::discover().into_iter().rev().filter_map(|(_, found)| found.ok());
    let others = others.filter(|other| other.version != install.version);
    let mut clangs: Vec<Install> = std::iter::once(install.clone()).chain(others).collect();
    clangs.retain(|clang| clang.tool("clang").is_some());
    let mut working = Vec::new();
    for sanitizer in Sanitizer::ALL {
        for place in 0..clangs.len() {
            let clang = clangs[place].clone();
            if watch(sanitizer, &clang, &path, &[], worker, &expected)? == Watched::Right {
                // Who has one sanitizer's library has the next one's, too.
                clangs[..=place].rotate_right(1);
                working.push((sanitizer, clang));
                break;
            }
        }
    }
    Ok(working)
}

/// Has `__FILE__`, as in failed assertions, say nothing of this machine.
fn relative_names(original: &Path) -> Vec<String> {
    let folder = original.parent().unwrap_or(Path::new(""));
    match folder.as_os_str().is_empty() {
        true => Vec::new(),
        false => vec![format!("-fmacro-prefix-map={}/=", folder.display())],
    }
}

/// A complaint as people read it.
fn without_folder(text: &str, file: &Path) -> String {
    let folder: PathBuf = file.parent().map(Path::to_owned).unwrap_or_default();
    text.replace(&format!("{}/", folder.display()), "")
}

pub(super) fn workdir() -> Result<Workdir, HuntError> {
    Ok(Workdir::new()?)
}

pub(super) fn unwritten(source: std::io::Error) -> HuntError {
    source.into()
}

impl From<CaseError> for Unfit {
    fn from(error: CaseError) -> Unfit {
        Unfit::Trouble(error.into())
    }
}

impl From<HuntError> for Unfit {
    fn from(error: HuntError) -> Unfit {
        Unfit::Trouble(error)
    }
}

/// A compiler that does not take a program, against one that is not there.
impl From<ProgramError> for Unfit {
    fn from(error: ProgramError) -> Unfit {
        match error {
            ProgramError::DoesNotCompile { path, source } => {
                let said = source.to_string();
                let complaint = said.lines().find(|line| line.contains("error:"));
                let what = without_folder(complaint.unwrap_or(&said).trim(), &path);
                Unfit::Rejected(Rejection::DoesNotCompile, what)
            }
            ProgramError::Unreadable { .. }
            | ProgramError::UnknownLanguage(_)
            | ProgramError::NoClang(_)
            | ProgramError::NoRoom(_) => Unfit::Trouble(error.into()),
        }
    }
}

/// What is wrong with the program, against what is wrong with the harness.
impl From<RunError> for Unfit {
    fn from(error: RunError) -> Unfit {
        match error {
            RunError::BadModule { .. }
            | RunError::ForeignTarget { .. }
            | RunError::DoesNotCompile(_)
            | RunError::DoesNotLink(_)
            | RunError::TooLarge { .. } => {
                let said = error.to_string();
                let line = said.lines().next().unwrap_or_default().to_owned();
                Unfit::Rejected(Rejection::DoesNotCompile, line)
            }
            RunError::BadOptions(_)
            | RunError::BadPipeline(_)
            | RunError::BadEdit(_)
            | RunError::NoShape(_)
            | RunError::NoSandbox
            | RunError::NotInstrumented
            | RunError::NoClang(_)
            | RunError::Lost { .. }
            | RunError::Protocol(_)
            | RunError::Trouble(_)
            | RunError::Registry(_)
            | RunError::Io { .. } => Unfit::Trouble(error.into()),
        }
    }
}
