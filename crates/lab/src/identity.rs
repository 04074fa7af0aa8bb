//! Is a worker's module the one that `opt` prints? Byte for byte, on csmith's
//! programs under default pipelines and random sequences.

use std::num::NonZero;

use optsleuth_compiler::clang;
use optsleuth_compiler::csmith;
use optsleuth_compiler::distribution::Job;
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Emit, Limits, Outcome, PassRegistry, PassSequence, RunRequest};
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::Progress;
use crate::setup::{Bench, LabError, LlvmChoice};

/// What every program is optimized with.
const PIPELINES: [&str; 5] =
    ["default<O1>", "default<O2>", "default<O3>", "default<Os>", "default<Oz>"];
/// Passes of the default pipelines that exist in every LLVM from 14 on: those
/// of Table I of the LocSeq paper.
const PASSES: [&str; 32] = [
    "adce",
    "argpromotion",
    "bdce",
    "correlated-propagation",
    "constmerge",
    "dse",
    "early-cse",
    "early-cse<memssa>",
    "globaldce",
    "globalopt",
    "gvn",
    "indvars",
    "instcombine",
    "instsimplify",
    "ipsccp",
    "lcssa",
    "licm",
    "loop-deletion",
    "loop-distribute",
    "loop-idiom",
    "loop-load-elim",
    "loop-rotate",
    "loop-simplify",
    "loop-sink",
    "loop-unroll",
    "simple-loop-unswitch",
    "loop-vectorize",
    "reassociate",
    "sccp",
    "simplifycfg",
    "slp-vectorizer",
    "sroa",
];
const SEQUENCE_LENGTH: usize = 20;

/// How to compare.
#[derive(Clone, Debug)]
pub struct IdentityPlan {
    /// Which LLVM.
    pub llvm: LlvmChoice,
    /// How many csmith programs.
    pub n_programs: usize,
    /// How many random sequences for each, besides the default pipelines.
    pub n_sequences: usize,
    /// Where the random numbers start.
    pub seed: u64,
}

/// One pair that was compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// csmith's seed.
    pub program: u64,
    /// The passes.
    pub passes: String,
    /// What came of it.
    pub verdict: PairVerdict,
    /// Bytes of the worker's module.
    pub bytes: usize,
}

/// Whether a pair is identical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairVerdict {
    /// To the byte.
    Identical,
    /// Both print a module, but not the same.
    Different,
    /// Both fail.
    BothFail,
    /// One of them fails.
    OneFails,
}

/// Compares all pairs; each worker result with one process of `opt`.
pub fn compare(plan: &IdentityPlan, progress: &dyn Progress) -> Result<Vec<Pair>, LabError> {
    let mut bench =
        Bench::set_up(&plan.llvm, Targets::Native, Flavor::Plain, NonZero::new(1), progress)?;
    let folder = Workdir::new()
        .map_err(|source| LabError::Io { doing: "make a directory".into(), source })?;
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let mut pairs = Vec::new();
    progress.step("comparing");
    for program_index in 0..plan.n_programs {
        let program_seed = plan.seed + program_index as u64;
        let source = folder.file("program.c");
        csmith::generate(program_seed, &[], &source)?;
        let mut program = clang::read_program(&bench.install, &source, &[])?;
        "program.ll".clone_into(&mut program.name);
        bench.pool.load(&program, &[], Limits::STANDARD)?;
        let texts = PIPELINES.iter().map(|text| (*text).to_owned());
        let sequences = (0..plan.n_sequences).map(|_| random_sequence(&bench.registry, &mut rng));
        for text in texts.chain(sequences).collect::<Vec<String>>() {
            let passes = bench.passes(&text)?;
            let (verdict, bytes) = compare_one(&mut bench, &program, &passes)?;
            pairs.push(Pair { program: program_seed, passes: passes.to_string(), verdict, bytes });
        }
        progress.count(program_index + 1, plan.n_programs);
    }
    Ok(pairs)
}

/// A flat list. From LLVM 17 on, plain `instcombine` ends with an error where
/// it needs a second iteration; the variant that does not is what the default
/// pipelines use.
fn random_sequence(registry: &PassRegistry, rng: &mut ChaCha8Rng) -> String {
    let takes_parameter = |name: &str, parameter: &str| {
        registry
            .passes()
            .iter()
            .any(|pass| pass.name == name && pass.params.iter().any(|known| known == parameter))
    };
    let lenient = takes_parameter("instcombine", "no-verify-fixpoint");
    let passes = (0..SEQUENCE_LENGTH).filter_map(|_| PASSES.choose(rng).copied());
    let spelled = passes.map(|pass| match pass {
        "instcombine" if lenient => "instcombine<no-verify-fixpoint>",
        other => other,
    });
    spelled.collect::<Vec<_>>().join(",")
}

fn compare_one(
    bench: &mut Bench,
    program: &optsleuth_model::Program,
    passes: &PassSequence,
) -> Result<(PairVerdict, usize), LabError> {
    let request = RunRequest { emit: Emit::Text, ..RunRequest::new(Some(passes.clone())) };
    let ours = bench.pool.first().run(&request)?;
    let theirs = Job {
        install: &bench.install,
        program,
        options: &[],
        passes: Some(passes),
        verify_each: false,
        codegen: None,
        limits: request.limits,
    }
    .run()?;
    let worker_is_fine = matches!(ours.outcome, Outcome::Ok(_));
    let verdict = match (worker_is_fine, theirs.failure.is_none()) {
        (true, true) if ours.emitted == theirs.module => PairVerdict::Identical,
        (true, true) => PairVerdict::Different,
        (false, false) => PairVerdict::BothFail,
        _ => PairVerdict::OneFails,
    };
    Ok((verdict, ours.emitted.len()))
}
