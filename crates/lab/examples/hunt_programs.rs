//! How long programs for a hunt take to make, how many are rejected, how large
//! they are, and how long a random sequence takes on them.
//!
//! `cargo run --release -p optsleuth-lab --example hunt_programs -- SOURCE SIZE
//! COUNT SEED`, where SOURCE is `default`, `on-off`, `graded` or a folder.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::time::Instant;

use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_lab::hunt::programs::{
    ProgramPlan, ProgramSource, Programs, Rejected, Rejection, Rejections, SizeProfile,
};
use optsleuth_lab::{Bench, LabError, LlvmChoice, Silent};
use optsleuth_model::{Execute, Limits, RunRequest};
use optsleuth_search::TABLE_I;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// As in the CTOS paper's sequences.
const PASSES: usize = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, size, count, seed] = &arguments[..] else {
        return Err("give SOURCE SIZE COUNT SEED".into());
    };
    let source = match source.parse() {
        Ok(swarm) => ProgramSource::Csmith(swarm),
        Err(_) => ProgramSource::Folder(source.into()),
    };
    let (size, count, seed): (SizeProfile, u64, u64) =
        (size.parse()?, count.parse()?, seed.parse()?);
    let llvm = LlvmChoice::Version(19);
    let mut bench = Bench::set_up(&llvm, Targets::Native, Flavor::Plain, None, &Silent)?;
    let plan = ProgramPlan { source, size, min_bytes: None, seed };
    let begun = Instant::now();
    let programs = Programs::open(plan, &mut bench)?;
    println!("open: {:.2} s; {}", begun.elapsed().as_secs_f64(), programs.notes().join("; "));
    let begun = Instant::now();
    let made = programs.make(&mut bench.pool, 0..count, &Silent)?;
    let taken: Vec<_> = made.iter().filter_map(|made| made.program.as_ref()).collect();
    println!("{} programs: {:.2} s", taken.len(), begun.elapsed().as_secs_f64());
    let mut rejections = Rejections::default();
    made.iter().for_each(|made| rejections.add(&made.rejected));
    println!("rejected: {} ({rejections})", rejections.total());
    for one in made.iter().flat_map(|made| &made.rejected).filter(is_telling) {
        println!("  {}: {}: {}", one.name, one.reason, one.what);
    }
    let (mut instructions, mut times) = (Vec::new(), Vec::new());
    let mut ends = std::collections::BTreeMap::<&str, usize>::new();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for program in taken {
        let worker = bench.pool.first();
        worker.load(&program.program, &[], Limits::STANDARD)?;
        let shape = worker.shape()?;
        let blocks = shape.functions.iter().flat_map(|function| &function.blocks);
        instructions.push(blocks.map(|block| block.opcodes.len()).sum::<usize>());
        let text = sequence(&bench, &mut rng)?;
        let request = RunRequest { execute: Execute::InChild, ..RunRequest::new(Some(text)) };
        let result = bench.pool.first().run(&request)?;
        let wrong = result.outcome.execution().is_some_and(|e| *e != program.expected);
        *ends.entry(if wrong { "different" } else { result.outcome.kind() }).or_default() += 1;
        times.push(result.wall.as_secs_f64() * 1e3);
    }
    instructions.sort_unstable();
    times.sort_by(f64::total_cmp);
    let middle = |n: usize| n / 2;
    if let (Some(least), Some(most)) = (instructions.first(), instructions.last()) {
        let median = instructions[middle(instructions.len())];
        println!("instructions: {least} / {median} / {most}");
        let (least, most) = (times[0], times[times.len() - 1]);
        println!("{PASSES} passes: {least:.0} / {:.0} / {most:.0} ms", times[middle(times.len())]);
        println!("{ends:?}");
    }
    Ok(())
}

/// What a person would like to look into.
fn is_telling(one: &&Rejected) -> bool {
    !matches!(one.reason, Rejection::CsmithFailed | Rejection::TooSmall)
}

fn sequence(
    bench: &Bench,
    rng: &mut ChaCha8Rng,
) -> Result<optsleuth_model::PassSequence, LabError> {
    let known: Vec<&str> =
        TABLE_I.iter().copied().filter(|name| bench.passes(name).is_ok()).collect();
    let drawn: Vec<&str> = (0..PASSES).filter_map(|_| known.choose(rng).copied()).collect();
    bench.passes(&drawn.join(","))
}
