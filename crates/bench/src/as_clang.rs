//! Does a level mean what it means to clang? The object that a worker makes of a
//! program at a level against clang's own, byte for byte, on csmith's programs.
//!
//! Stands beside `identity.rs`, which compares passes with `opt`: here clang's front
//! end and the code generator are part of it.
//!
//! **Invariant:** but for one difference between clang and LLVM at `Oz`, clang gets no
//! flag that changes code.

use std::num::NonZero;

use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_compiler::{clang, csmith};
use optsleuth_model::{Emit, Limits, OptLevel, Outcome, Pipeline, Progress, RunRequest};

use crate::BenchError;
use crate::identity::{Pair, PairVerdict};

/// The levels at which clang optimizes.
pub const LEVELS: [OptLevel; 5] =
    [OptLevel::O1, OptLevel::O2, OptLevel::O3, OptLevel::Os, OptLevel::Oz];

/// How to compare.
#[derive(Clone, Debug)]
pub struct AsClangPlan<'a> {
    pub llvm: LlvmChoice,
    pub levels: &'a [OptLevel],
    /// How many csmith programs.
    pub n_programs: usize,
    /// csmith's, about their size.
    pub csmith_flags: &'a [&'a str],
    /// csmith's seed for the first of them.
    pub seed: u64,
}

/// What clang is told: the level. At `Oz` its own pipeline has the SLP vectorizer,
/// which `default<Oz>` does not have, in `opt` or anywhere else.
fn flags_of(level: OptLevel) -> Vec<String> {
    let mut flags = vec![format!("-{}", level.name())];
    if level == OptLevel::Oz {
        flags.push("-fno-slp-vectorize".to_owned());
    }
    flags
}

/// Compares each program at each level.
pub fn compare_levels(
    plan: &AsClangPlan<'_>,
    progress: &dyn Progress,
) -> Result<Vec<Pair>, BenchError> {
    let (targets, flavor) = (Targets::Native, Flavor::Plain);
    let mut workers = Workers::set_up(&plan.llvm, targets, flavor, NonZero::new(1), progress)?;
    let folder = Workdir::new()?;
    let source = folder.file("program.c");
    let mut pairs = Vec::new();
    progress.step("comparing");
    for index in 0..plan.n_programs {
        let seed = plan.seed + index as u64;
        csmith::generate(seed, plan.csmith_flags, &source)?;
        for &level in plan.levels {
            let pipeline = Pipeline::Level(level);
            let (flags, options) = (level.clang_flags(&[]), level.llvm_options(&[], &[]));
            workers.load(&source, &flags, &options, Limits::STANDARD)?;
            let passes = workers.passes(&pipeline.passes())?;
            let request = RunRequest {
                emit: Emit::Object,
                codegen: pipeline.codegen(),
                ..RunRequest::new(Some(passes))
            };
            let ours = workers.pool.first().run(&request)?;
            let theirs = clang::object(&workers.install, &source, &flags_of(level));
            let verdict = match (matches!(ours.outcome, Outcome::Ok(_)), theirs) {
                (true, Ok(object)) if ours.emitted == object => PairVerdict::Identical,
                (true, Ok(_)) => PairVerdict::Different,
                (false, Err(_)) => PairVerdict::BothFail,
                (true, Err(_)) | (false, Ok(_)) => PairVerdict::OneFails,
            };
            let (passes, bytes) = (pipeline.passes(), ours.emitted.len());
            pairs.push(Pair { program: seed, passes, verdict, bytes });
        }
        progress.count(index + 1, plan.n_programs);
    }
    Ok(pairs)
}
