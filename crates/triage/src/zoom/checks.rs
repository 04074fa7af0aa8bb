//! The failing run once more, with zoomed files that check themselves: LLVM's
//! assertions, and the address sanitizer.
//!
//! **Invariant:** a check that cannot be made says why, and costs nothing else.

use optsleuth_case::loaded::LoadedCase;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{LeftOut, Provisioned, SourceTree, Variant, Zoomed};
use optsleuth_model::{
    AssertionCheck, CodePlace, CrashCause, FailedAssertion, MemoryCheck, Outcome, Progress,
    RunResult, in_words,
};

use super::memory_error;
use crate::TriageError;

/// How LLVM words that it came to where it should not.
const UNREACHABLE: &str = "UNREACHABLE executed at ";

/// So many functions of an assertion's stack are told.
const DEPTH: usize = 6;

/// Compiles files for a variant and links a worker with them.
type Zoom<'a> = &'a dyn Fn(&[String], Variant) -> Result<Zoomed, CompilerError>;
/// Starts such a worker, with the case loaded.
type Start<'a> = &'a dyn Fn(Provisioned) -> Result<LoadedCase, TriageError>;

/// What checks have in common.
pub(super) struct Checks<'a> {
    pub(super) zoom: Zoom<'a>,
    pub(super) start: Start<'a>,
    pub(super) tree: &'a SourceTree,
    pub(super) files: &'a [String],
    pub(super) progress: &'a dyn Progress,
}

/// A run of the failing pipeline on a worker that checks itself.
struct Checked {
    run: RunResult,
    worker: Provisioned,
    /// Some files could not be compiled in time.
    is_part: bool,
}

impl Checks<'_> {
    /// Whether an assertion of the files fails.
    pub(super) fn assertions(&self) -> AssertionCheck {
        match self.run(Variant::Assertions, "checking assertions") {
            Err(error) => AssertionCheck::Unknown { why: in_words(&error) },
            Ok(None) => AssertionCheck::NotTried,
            Ok(Some(checked)) => match failed_assertion(self.tree, &checked.run) {
                Some(failed) => AssertionCheck::Fails(failed),
                None if checked.is_part => AssertionCheck::NotTried,
                None => AssertionCheck::Hold,
            },
        }
    }

    /// Whether the files access memory that is not theirs.
    pub(super) fn memory(&self) -> MemoryCheck {
        match self.run(Variant::Addresses, "checking memory accesses") {
            Err(error) => MemoryCheck::Unknown { why: in_words(&error) },
            Ok(None) => MemoryCheck::Unknown { why: LeftOut::Late.why().to_owned() },
            Ok(Some(Checked { run, worker, is_part })) => {
                let functions = |stack: &[u64]| worker.functions_at(stack);
                match memory_error::read(&run.said, &functions) {
                    Some(error) => MemoryCheck::Fails(error),
                    None if is_part => MemoryCheck::Unknown { why: LeftOut::Late.why().to_owned() },
                    None => MemoryCheck::Clean,
                }
            }
        }
    }

    /// `None` if there was no time to compile any file.
    fn run(&self, variant: Variant, step: &str) -> Result<Option<Checked>, TriageError> {
        let Zoomed { provisioned, files, .. } = (self.zoom)(self.files, variant)?;
        let Some(worker) = provisioned else { return Ok(None) };
        self.progress.step(step);
        let mut loaded = (self.start)(worker.clone())?;
        let request = loaded.request.clone();
        let run = loaded.workers.pool.first().run(&request)?;
        Ok(Some(Checked { run, worker, is_part: files.len() < self.files.len() }))
    }
}

/// The assertion that a run does not survive, if any.
pub(crate) fn failed_assertion(tree: &SourceTree, run: &RunResult) -> Option<FailedAssertion> {
    let Outcome::Crash(crash) = &run.outcome else { return None };
    let text = crash.message.as_ref()?;
    let is_one = crash.cause == CrashCause::Assertion || text.contains(UNREACHABLE);
    let place = place(tree, run.asserted_at.as_deref().unwrap_or(text));
    // Paths as people know them.
    let shown = text.replace(&format!("{}/", tree.folder()), "llvm/");
    let functions = crash.frames.iter().take(DEPTH).cloned().collect();
    is_one.then_some(FailedAssertion { place, text: shown, functions })
}

/// The first `file:line` in a text that is LLVM's.
fn place(tree: &SourceTree, text: &str) -> Option<CodePlace> {
    text.split([' ', ',']).find_map(|word| {
        let (file, line) = word.trim_end_matches(['!', '.']).rsplit_once(':')?;
        let path = tree.known_as(file)?;
        Some(CodePlace { path, line: line.parse().ok()?, column: 0 })
    })
}
