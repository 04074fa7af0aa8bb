//! Programs on which faults are tried: small, valid, and complete in one text.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::definedness::{disagreement, references};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::clang::{self, Markers};
use optsleuth_compiler::csmith;
use optsleuth_compiler::llvm::{Install, Pool};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Execution, Limits, Program, Progress, nameless};
use optsleuth_triage::TriageError;

use crate::BenchError;

/// A program and what it does.
#[derive(Debug)]
pub(super) struct PlantProgram {
    /// C that includes nothing.
    pub(super) text: String,
    pub(super) program: Program,
    /// What it does when it is compiled rightly.
    pub(super) expected: Execution,
}

/// IR of other sizes is left out: nothing happens in it, or it takes too long.
const IR_BYTES: std::ops::Range<usize> = 12_000..50_000;
/// Programs are given up after so many attempts for each.
const ATTEMPTS: u64 = 40;

/// Programs that need more are left out. CPU time: how busy the machine is must
/// not decide what is made.
const LIMITS: Limits = Limits { execute: Duration::from_secs(1), ..Limits::STANDARD };

/// Programs from csmith: the first valid ones from this seed on.
pub(super) fn generate(
    install: &Install,
    pool: &mut Pool,
    seed: u64,
    count: usize,
    progress: &dyn Progress,
) -> Result<Vec<PlantProgram>, BenchError> {
    let folder = workdir()?;
    let file = folder.file("generated.c");
    let mut programs = Vec::new();
    progress.step("generating programs");
    for attempt in 0..ATTEMPTS * count as u64 {
        if programs.len() == count || progress.stop_requested() {
            break;
        }
        let csmith_seed = seed.wrapping_mul(1_000_003).wrapping_add(attempt) % (1 << 31);
        match csmith::generate(csmith_seed, &csmith::SMALL_PROGRAMS, &file) {
            Ok(()) => {}
            Err(error) if attempt == 0 => {
                return Err(TriageError::NoPrograms(error.to_string()).into());
            }
            Err(_) => continue, // It does not find an end for every seed.
        }
        if let Some(program) = take(install, pool, &file, true)? {
            programs.push(program);
            progress.count(programs.len(), count);
        }
    }
    Ok(programs)
}

/// The valid ones of a folder's C programs, by name.
pub(super) fn read(
    install: &Install,
    pool: &mut Pool,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Vec<PlantProgram>, BenchError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    progress.step("reading programs");
    let mut programs = Vec::new();
    for (index, file) in files.iter().enumerate() {
        programs.extend(take(install, pool, file, false)?);
        progress.count(index + 1, files.len());
    }
    Ok(programs)
}

/// A program, if it compiles, ends soon, and does the same however it is
/// compiled without passes.
fn take(
    install: &Install,
    pool: &mut Pool,
    file: &Path,
    only_small: bool,
) -> Result<Option<PlantProgram>, BenchError> {
    let folder = workdir()?;
    // Always under the same name: it becomes a part of the IR.
    let whole = folder.file("program.c");
    let compiled = clang::preprocess(install, file, &[], Markers::Dropped, &whole)
        .and_then(|text| Ok((text, clang::read_program(install, &whole, &[])?)));
    let (text, program) = match compiled {
        Err(CompilerError::DoesNotCompile { .. }) => return Ok(None),
        other => other?,
    };
    if only_small && !IR_BYTES.contains(&program.ir.len()) {
        return Ok(None);
    }
    // The folder has another name every time, and LLVM would notice.
    let ir = nameless(&String::from_utf8_lossy(&program.ir)).into_bytes();
    let program = Program { name: "program.ll".to_owned(), ir };
    pool.load(&program, &[], LIMITS)?;
    match references(pool, LIMITS) {
        Ok((references, _)) if disagreement(&references).is_none() => {
            let expected = references.into_iter().next().map(|(_, execution)| execution);
            Ok(expected.map(|expected| PlantProgram { text, program, expected }))
        }
        Ok(_)
        | Err(CaseError::NoReference { .. } | CaseError::Compiler(CompilerError::DoesNotLink(_))) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn workdir() -> Result<Workdir, BenchError> {
    Ok(Workdir::new()?)
}
