//! Do two optimizers print the same module? Byte for byte, on csmith's programs
//! under default pipelines and random sequences: a plain worker against `opt`,
//! an instrumented one against a plain one.

use std::num::NonZero;

use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::distribution::Job;
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_compiler::{clang, csmith};
use optsleuth_model::{
    Emit, Limits, Outcome, PassRegistry, PassSequence, Program, Progress, RunRequest,
};
use optsleuth_search::TABLE_I;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::BenchError;

/// What every program is optimized with.
const PIPELINES: [&str; 5] =
    ["default<O1>", "default<O2>", "default<O3>", "default<Os>", "default<Oz>"];
const SEQUENCE_LENGTH: usize = 20;

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A plain worker with the distribution's `opt`.
    WorkerWithOpt,
    /// A worker with probes with a plain one.
    CoveredWithPlain,
}

/// How to compare.
#[derive(Clone, Debug)]
pub struct IdentityPlan {
    pub subject: Subject,
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

/// What the first optimizer is measured by.
enum Reference {
    Opt,
    Worker(Box<Workers>),
}

/// Compares all pairs.
pub fn compare(plan: &IdentityPlan, progress: &dyn Progress) -> Result<Vec<Pair>, BenchError> {
    let set_up =
        |flavor| Workers::set_up(&plan.llvm, Targets::Native, flavor, NonZero::new(1), progress);
    let (mut workers, mut reference) = match plan.subject {
        Subject::WorkerWithOpt => (set_up(Flavor::Plain)?, Reference::Opt),
        Subject::CoveredWithPlain => {
            let plain = Box::new(set_up(Flavor::Plain)?);
            (set_up(Flavor::Covered)?, Reference::Worker(plain))
        }
    };
    let folder = Workdir::new()?;
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let mut pairs = Vec::new();
    progress.step("comparing");
    for program_index in 0..plan.n_programs {
        let program_seed = plan.seed + program_index as u64;
        let source = folder.file("program.c");
        csmith::generate(program_seed, &[], &source)?;
        let mut program = clang::read_program(&workers.install, &source, &[])?;
        "program.ll".clone_into(&mut program.name);
        workers.pool.load(&program, &[], Limits::STANDARD)?;
        if let Reference::Worker(plain) = &mut reference {
            plain.pool.load(&program, &[], Limits::STANDARD)?;
        }
        let texts = PIPELINES.iter().map(|text| (*text).to_owned());
        let sequences = (0..plan.n_sequences).map(|_| random_sequence(&workers.registry, &mut rng));
        for text in texts.chain(sequences).collect::<Vec<String>>() {
            let passes = workers.passes(&text)?;
            let (verdict, bytes) = compare_one(&mut workers, &mut reference, &program, &passes)?;
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
    let lenient = registry.takes_parameter("instcombine", "no-verify-fixpoint");
    let passes = (0..SEQUENCE_LENGTH).filter_map(|_| TABLE_I.choose(rng).copied());
    let spelled = passes.map(|pass| match pass {
        "instcombine" if lenient => "instcombine<no-verify-fixpoint>",
        other => other,
    });
    spelled.collect::<Vec<_>>().join(",")
}

fn compare_one(
    workers: &mut Workers,
    reference: &mut Reference,
    program: &Program,
    passes: &PassSequence,
) -> Result<(PairVerdict, usize), BenchError> {
    let request = RunRequest { emit: Emit::Text, ..RunRequest::new(Some(passes.clone())) };
    let ours = workers.pool.first().run(&request)?;
    // The module, or `None` for a failure.
    let theirs = match reference {
        Reference::Worker(plain) => {
            let result = plain.pool.first().run(&request)?;
            matches!(result.outcome, Outcome::Ok(_)).then_some(result.emitted)
        }
        Reference::Opt => {
            let job = Job {
                install: &workers.install,
                program,
                options: &[],
                passes: Some(passes),
                verify_each: false,
                codegen: None,
                link: false,
                link_words: &[],
                limits: request.limits,
            };
            let answer = job.run()?;
            answer.failure.is_none().then_some(answer.module)
        }
    };
    let is_fine = matches!(ours.outcome, Outcome::Ok(_));
    let verdict = match (is_fine, theirs) {
        (true, Some(module)) if ours.emitted == module => PairVerdict::Identical,
        (true, Some(_)) => PairVerdict::Different,
        (false, None) => PairVerdict::BothFail,
        (true, None) | (false, Some(_)) => PairVerdict::OneFails,
    };
    Ok((verdict, ours.emitted.len()))
}
