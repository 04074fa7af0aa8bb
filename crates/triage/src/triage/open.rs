//! A program and a pipeline -> a case's folder: how does it fail, if it does?
//!
//! **Invariant:** a folder is made only of something that was seen to fail, and
//! of a program whose behaviour is defined where that decides.

use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::definedness::{Asked, FailingRun, UnderTest, ask, disagreement};
use optsleuth_case::folder::open_case;
use optsleuth_case::loaded::{LoadedCase, checkers, execution_limit, failing_request};
use optsleuth_case::oracle::{Oracle, describe, same_behaviour};
use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_case::write::write_case_with;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::clang::{self, Markers};
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_compiler::surroundings::Surroundings;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Case, CaseKind, CheckStatus, CompilerSpec, Conditions, Definedness, Execution, Limits,
    Objection, ObjectionKind, OptLevel, Outcome, Pipeline, Progress, RunRequest, Trust, is_source,
};

use crate::TriageError;

/// A program that is said to make a compiler fail.
#[derive(Clone, Debug)]
pub struct Suspicion {
    /// A `.c`, `.cpp`, `.ll` or `.bc` file.
    pub program: PathBuf,
    pub llvm: LlvmChoice,
    /// What it is told to do.
    pub pipeline: Pipeline,
    pub options: Vec<String>,
    /// For clang.
    pub c_flags: Vec<String>,
    /// What the program gets when it is executed; its paths are the user's.
    pub conditions: Conditions,
    /// Whether a script that judges the program runs without a fence.
    pub trust: Trust,
    /// Where the case's folder is to be.
    pub folder: PathBuf,
    /// A case that is there may go.
    pub force: bool,
}

impl Suspicion {
    /// What clang's front end is told.
    fn front_end(&self) -> OptLevel {
        match is_source(&self.program) {
            true => self.pipeline.front_end(),
            false => OptLevel::O0,
        }
    }

    /// What the clang that makes IR of the program gets.
    pub(super) fn clang_flags(&self) -> Vec<String> {
        self.front_end().clang_flags(&self.c_flags)
    }

    /// What LLVM gets with the program.
    pub(super) fn llvm_options(&self) -> Vec<String> {
        self.front_end().llvm_options(&self.c_flags, &self.options)
    }
}

/// Whose word a case is that this command writes: its flags are the user's own.
pub(super) fn written_with(trust: Trust) -> Trust {
    match trust {
        Trust::Data | Trust::Written => Trust::Written,
        Trust::Author => Trust::Author,
    }
}

/// Makes a case of it, loaded into the workers that saw it fail.
pub(super) fn open(
    suspicion: &Suspicion,
    flavor: Flavor,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<LoadedCase, TriageError> {
    let open_for = |targets| {
        let workers = Workers::set_up(&suspicion.llvm, targets, flavor, None, progress)?;
        open_in(workers, suspicion, limits, progress)
    };
    match open_for(Targets::Native) {
        Err(TriageError::Case(CaseError::Compiler(CompilerError::ForeignTarget { .. }))) => {
            open_for(Targets::All)
        }
        other => other,
    }
}

/// The same in workers that run already.
pub(super) fn open_in(
    workers: Workers,
    suspicion: &Suspicion,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<LoadedCase, TriageError> {
    let observed = observe(workers, suspicion, limits, progress)?;
    let Observed { workers, kind, what, definedness } = observed;
    let name = suspicion.folder.file_name().unwrap_or_default().to_string_lossy();
    let Contained { name: input, text, c_flags } = self_contained(suspicion)?;
    let (execution, copies) = suspicion.conditions.for_case();
    let case = Case {
        id: name.into_owned(),
        title: None,
        source: None,
        compiler: match &suspicion.llvm {
            LlvmChoice::Config(path) => CompilerSpec::LlvmConfig(path.display().to_string()),
            LlvmChoice::Version(_) | LlvmChoice::Newest => {
                CompilerSpec::Llvm(workers.install.major.to_string())
            }
        },
        fault: None,
        input,
        pipeline: suspicion.pipeline.clone(),
        front_end: None,
        flags: suspicion.options.clone(),
        cflags: c_flags,
        kind,
        signature: None,
        expected: None,
        observed: Some(what),
        fails_in: Vec::new(),
        fixed_in: None,
        execution,
        truth: None,
    };
    write_case_with(&suspicion.folder, &case, &text, &copies, suspicion.force)?;
    let case = open_case(&suspicion.folder, written_with(suspicion.trust))?;
    let mut loaded = LoadedCase::load_into(workers, None, case, limits, progress)?;
    if let Some(definedness) = definedness {
        loaded.remember(fs::read(&suspicion.program)?, definedness);
    }
    Ok(loaded)
}

/// How a program fails, and the workers that saw it.
struct Observed {
    workers: Workers,
    kind: CaseKind,
    /// In a line.
    what: String,
    /// Of wrong code: whether the program is defined.
    definedness: Option<Definedness>,
}

fn observe(
    mut workers: Workers,
    suspicion: &Suspicion,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<Observed, TriageError> {
    progress.step("looking for the failure");
    let is_free = suspicion.trust == Trust::Author;
    let surroundings = Surroundings::find(&suspicion.conditions, Path::new("."), is_free)?;
    workers.pool.surround(surroundings);
    let Suspicion { program, c_flags, pipeline, .. } = suspicion;
    let (clang_flags, options) = (suspicion.clang_flags(), suspicion.llvm_options());
    let loaded = workers.load(program, &clang_flags, &options, limits)?;
    let passes = workers.passes_of(pipeline)?;
    let request = |kind| RunRequest { limits, ..failing_request(kind, pipeline, passes.clone()) };
    let run = workers.pool.first().run(&request(CaseKind::Crash))?;
    let kind = match &run.outcome {
        Outcome::Crash(_) => CaseKind::Crash,
        Outcome::InvalidIr { .. } => CaseKind::InvalidIr,
        Outcome::Timeout { .. } => CaseKind::Hang,
        Outcome::OutOfMemory { .. } => CaseKind::Memory,
        Outcome::CodegenFailure { .. } => CaseKind::Codegen,
        Outcome::Ok(_) => {
            let at_o0 = match suspicion.front_end() {
                OptLevel::O0 => None,
                _ => Some(clang::read_program(&workers.install, program, c_flags)?),
            };
            let request = request(CaseKind::WrongCode);
            let under_test = UnderTest {
                program: &loaded,
                at_o0: at_o0.as_ref(),
                options: &options,
                accuses_codegen: pipeline.is_codegen(),
            };
            let wrong = execute(&mut workers, &under_test, &request, limits)?;
            // Nothing is written about a program that may do anything.
            let failing =
                FailingRun { clang_flags: &clang_flags, options: &options, request: &request };
            let asked = Asked {
                source: program,
                c_flags,
                loaded: Some((at_o0.as_ref().unwrap_or(&loaded), &options)),
                expected: &wrong.expected,
                failing: at_o0.is_some().then_some(failing),
                limits,
            };
            let Workers { install, pool, .. } = &mut workers;
            if let Some(at_o0) = &at_o0 {
                pool.first().load(at_o0, &options, limits)?;
            }
            let said = ask(checkers(program), &asked, install, pool.first(), progress)?;
            let status = CheckStatus::Unstable;
            return match (said.objection(), wrong.what) {
                (Some(objection), Wrong::Code(_)) => {
                    Err(TriageError::NoFailure { status, what: objection.acquits() })
                }
                (Some(objection), Wrong::Disputed(_))
                    if objection.kind == ObjectionKind::Undefined =>
                {
                    Err(TriageError::NoFailure { status, what: objection.acquits() })
                }
                (_, Wrong::Disputed(what)) => Err(TriageError::NoFailure { status, what }),
                (None, Wrong::Code(what)) => {
                    let (kind, definedness) = (CaseKind::WrongCode, Some(said));
                    Ok(Observed { workers, kind, what, definedness })
                }
            };
        }
    };
    Ok(Observed { workers, kind, what: describe(&run.outcome), definedness: None })
}

/// Something that is wrong with a program's behaviour.
struct WrongBehaviour {
    what: Wrong,
    /// What the unoptimized program does.
    expected: Execution,
}

/// What is wrong, in a line.
enum Wrong {
    /// The optimized program does something else than the unoptimized one.
    Code(String),
    /// Unoptimized programs differ among each other.
    Disputed(String),
}

/// What is wrong with the program's behaviour. That nothing is, or that the
/// program cannot be executed, is an error.
fn execute(
    workers: &mut Workers,
    under_test: &UnderTest<'_>,
    request: &RunRequest,
    limits: Limits,
) -> Result<WrongBehaviour, TriageError> {
    let not = |status, what: String| Err(TriageError::NoFailure { status, what });
    let (references, time) = match under_test.references(&mut workers.pool, limits) {
        Ok(references) => references,
        Err(CaseError::NoReference { way, what, ends: false }) => {
            let what = format!("{way}, {what}");
            let objection = Objection::new(ObjectionKind::DoesNotEnd, what);
            return not(CheckStatus::Unstable, objection.acquits());
        }
        Err(CaseError::NoReference { way, what, .. }) => {
            let what = format!(
                "LLVM compiles it without complaint, and the program cannot be executed ({way}: {what})"
            );
            return not(CheckStatus::Passes, what);
        }
        Err(CaseError::Compiler(CompilerError::DoesNotLink(_))) => {
            let what =
                "LLVM compiles it without complaint, and this is no program that can be executed";
            return not(CheckStatus::Passes, what.to_owned());
        }
        Err(error) => return Err(error.into()),
    };
    let disputed = disagreement(&references);
    let Some((_, expected)) = references.into_iter().next() else {
        return not(CheckStatus::Passes, "the program was never executed".to_owned());
    };
    if let Some(why) = disputed {
        return Ok(WrongBehaviour { what: Wrong::Disputed(why), expected });
    }
    let mut request = request.clone();
    request.limits.execute = limits.execute.min(execution_limit(time));
    let run = workers.pool.first().run(&request)?;
    let Some(found) = run.outcome.execution() else {
        return not(CheckStatus::FailsOtherwise, describe(&run.outcome));
    };
    if same_behaviour(found, &expected) {
        return not(CheckStatus::Passes, "the program does what it should".to_owned());
    }
    let has_check = workers.pool.first().surroundings().has_check();
    let oracle =
        Oracle::new(CaseKind::WrongCode, Some(expected.clone())).judged_by_script(has_check);
    Ok(WrongBehaviour { what: Wrong::Code(oracle.describe(&run.outcome)), expected })
}

/// A program that needs nothing but what is in its folder.
struct Contained {
    name: String,
    text: Vec<u8>,
    c_flags: Vec<String>,
}

/// C that includes files of the user's is preprocessed; what the preprocessor was told
/// is left out then.
fn self_contained(suspicion: &Suspicion) -> Result<Contained, TriageError> {
    let Suspicion { program: path, c_flags, .. } = suspicion;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read(path)?;
    if !is_source(path) || !includes_of_user(&String::from_utf8_lossy(&text), c_flags) {
        return Ok(Contained { name, text, c_flags: c_flags.clone() });
    }
    let folder = Workdir::new()?;
    let whole = folder.file(&name);
    let install = suspicion.llvm.find()?;
    let text =
        clang::preprocess(&install, path, &suspicion.clang_flags(), Markers::Dropped, &whole)?;
    let c_flags = clang::after_preprocessing(c_flags);
    Ok(Contained { name, text: text.into_bytes(), c_flags })
}

/// Whether a program may include files that only this user has.
pub(super) fn includes_of_user(text: &str, c_flags: &[String]) -> bool {
    let begins = |line: &str, with: &str| line.trim_start().starts_with(with);
    let has_folders = c_flags.iter().any(|flag| clang::is_of_preprocessor(flag));
    let includes = if has_folders { "#include" } else { "#include \"" };
    c_flags.iter().any(|flag| flag == "-include" || flag == "-imacros")
        || text.lines().any(|line| begins(line, includes))
}
