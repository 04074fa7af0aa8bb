//! Is a program fit to accuse a compiler with? C or IR -> what it does, or why
//! that cannot be told.
//!
//! It has to compile, to end soon, to do the same by compilers and code
//! generators that have little in common, to keep the promises of its IR (by the
//! referee), and to run under clang's sanitizers: all of this is asked of
//! [`optsleuth_case::definedness`].
//!
//! **Invariant:** a program is executed behind a worker's fence only, whoever
//! compiled it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use optsleuth_case::CaseError;
use optsleuth_case::definedness::{
    AS_PROCESS, BY_CODEGEN, PLAIN, Promises, Sanitizers, Way, agreed, executed,
};
use optsleuth_case::driver::{Tried, try_level};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::clang::{self, Markers};
use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_compiler::llvm::{Install, Worker};
use optsleuth_compiler::sanitize::{self, Sanitizer, TELLING_WARNINGS};
use optsleuth_compiler::spawn::Tool;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Emit, Execution, Language, Limits, Objection, ObjectionKind, OptLevel, Program, RunRequest,
    nameless,
};

use super::rejection::Rejection;
use crate::HuntError;

/// Changes whenever the same program may get another verdict.
pub(super) const CHECK_VERSION: u32 = 4;

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
    /// Its programs give none of the telling warnings; so they are not looked for.
    Csmith,
    User,
}

/// Everything that has a say.
#[derive(Debug)]
pub(super) struct Checker {
    install: Install,
    clang: String,
    gcc: Option<Driver>,
    sanitizers: Sanitizers,
}

/// Passes get IR that says nothing of types in memory, so those are not looked at.
const SANITIZERS: [Sanitizer; 3] = [Sanitizer::Undefined, Sanitizer::Address, Sanitizer::Memory];

/// Ways to execute an unoptimized program that have little in common.
const WAYS: [Way; 3] = [PLAIN, BY_CODEGEN, AS_PROCESS];
/// The referee is heard for some tenths of a second.
const PROMISES: Promises = Promises { steps: 5_000_000 };

impl Checker {
    /// Finds out what there is.
    pub(super) fn new(install: &Install, worker: &mut Worker) -> Result<Checker, HuntError> {
        let clang = install.tool("clang").ok_or(CompilerError::NoClang(install.major))?;
        let said = Tool::new(clang).arg("--version").text()?;
        let clang = said.lines().next().unwrap_or_default().to_owned();
        let sanitizers = Sanitizers::find(install, &SANITIZERS, worker)?;
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
        let watched: Vec<String> = self.sanitizers.working().iter().map(watch).collect();
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
        for sanitizer in self.sanitizers.missing() {
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
        if author == Author::User {
            let given = sanitize::warnings(&self.install, original, &[], &TELLING_WARNINGS)?;
            if !given.is_empty() {
                let what = format!("clang warns: {}", given.join(", "));
                return Err(Objection::new(ObjectionKind::Undefined, what).into());
            }
        }
        worker.load(&program, &[], LIMITS)?;
        let expected = defined(worker)?;
        self.ask_gcc(worker, original, &expected)?;
        // csmith writes all its memory; looking costs as much as the rest.
        let sanitizers = match author {
            Author::Csmith => self.sanitizers.without(Sanitizer::Memory),
            Author::User => self.sanitizers.clone(),
        };
        if let Some(objection) = sanitizers.objection(whole, &[], &expected, worker)? {
            return Err(objection.into());
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
        let expected = defined(worker)?;
        Ok(Valid { text: None, program, expected })
    }

    fn ask_gcc(
        &self,
        worker: &mut Worker,
        original: &Path,
        expected: &Execution,
    ) -> Result<(), Unfit> {
        let Some(gcc) = &self.gcc else { return Ok(()) };
        let names = relative_names(original);
        let why = match try_level(gcc, original, OptLevel::O0, &names, worker, LIMITS)? {
            Tried::Ran(outcome) => {
                let by_gcc = Way { name: "compiled by gcc", ..PLAIN };
                executed(&by_gcc, outcome, Some(expected))?;
                return Ok(());
            }
            Tried::Refused(why) => without_folder(&why, original),
        };
        Err(Unfit::Rejected(Rejection::DoesNotCompile, format!("gcc: {why}")))
    }
}

/// What the loaded program does, as all ways agree, where it keeps the promises of
/// its IR.
fn defined(worker: &mut Worker) -> Result<Execution, Unfit> {
    let expected = agreed(worker, &WAYS, LIMITS)??;
    PROMISES.kept(worker, None, &expected, LIMITS)??;
    Ok(expected)
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

impl From<Objection> for Unfit {
    fn from(Objection { kind, what }: Objection) -> Unfit {
        let rejection = match kind {
            ObjectionKind::NoProgram => Rejection::DoesNotCompile,
            ObjectionKind::DoesNotEnd => Rejection::DoesNotEnd,
            ObjectionKind::Disagreement => Rejection::CompilersDisagree,
            // A sanitizer that works here, and does not let the program end.
            ObjectionKind::Undefined
            | ObjectionKind::ProbablyUndefined
            | ObjectionKind::Undecided => Rejection::Undefined,
        };
        Unfit::Rejected(rejection, what)
    }
}

impl From<CaseError> for Unfit {
    fn from(error: CaseError) -> Unfit {
        match error {
            CaseError::Compiler(error) => error.into(),
            error => Unfit::Trouble(error.into()),
        }
    }
}

impl From<HuntError> for Unfit {
    fn from(error: HuntError) -> Unfit {
        Unfit::Trouble(error)
    }
}

/// What is wrong with the program, against what is wrong with the harness.
impl From<CompilerError> for Unfit {
    fn from(error: CompilerError) -> Unfit {
        let what = match &error {
            CompilerError::DoesNotCompile { path, source } => {
                let said = source.to_string();
                let complaint = said.lines().find(|line| line.contains("error:"));
                without_folder(complaint.unwrap_or(&said).trim(), path)
            }
            error if error.is_programs_fault() => {
                error.to_string().lines().next().unwrap_or_default().to_owned()
            }
            _ => return Unfit::Trouble(error.into()),
        };
        Unfit::Rejected(Rejection::DoesNotCompile, what)
    }
}
