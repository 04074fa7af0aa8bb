//! How many tests a hunt makes: the first round's, by a worker and by processes
//! in turn.

use std::num::NonZero;
use std::time::Duration;

use anyhow::Context as _;
use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_compiler::spawn::Tool;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_hunt::passes::{PassChoice, PassRecipe, ProgramSelection, sample_tests};
use optsleuth_hunt::programs::{ProgramPlan, ProgramSource, SizeProfile, Swarm};
use optsleuth_model::{PassSequence, RunRequest, SequenceChoice, Silent};

use super::raw::Hunt;
use super::time;

const N_PROGRAMS: usize = 6;
const N_SEQUENCES: usize = 40;
/// Processes are slow: one test in so many is enough.
const BY_PROCESSES: usize = 4;
/// As for a test of a hunt: a process that takes longer counts with this.
const LIMIT: Duration = Duration::from_secs(4);

/// Makes the tests of a round.
pub(super) fn measure(llvm: u32) -> anyhow::Result<Hunt> {
    let choice = LlvmChoice::Version(llvm);
    let one = NonZero::new(1);
    let mut bench = Workers::set_up(&choice, Targets::Native, Flavor::Covered, one, &Silent)?;
    let tests = sample_tests(&recipe(choice), &mut bench, &Silent)?;
    let folder = Workdir::new()?;
    let (module, bitcode, program) =
        (folder.file("program.ll"), folder.file("program.bc"), folder.file("program"));
    let opt = bench.install.tool("opt").context("no opt")?;
    let clang = bench.install.tool("clang").context("no clang")?;
    let (mut worker, mut processes) = (Vec::new(), Vec::new());
    for (test_program, requests) in &tests {
        std::fs::write(&module, &test_program.program.ir)?;
        bench.pool.load(&test_program.program, &[], optsleuth_hunt::passes::TEST_LIMITS)?;
        for (index, request) in requests.iter().enumerate() {
            time(&mut worker, || Ok(bench.pool.first().run(request).map(|_| ())?))?;
            if index % BY_PROCESSES != 0 {
                continue;
            }
            let passes = request.passes.as_ref().map(PassSequence::to_string).unwrap_or_default();
            let optimize = Tool::new(&opt)
                .arg(format!("-passes={passes}"))
                .args(["-o".as_ref(), bitcode.as_os_str(), module.as_os_str()])
                .time(LIMIT);
            let compile = Tool::new(&clang)
                .args(["-O0", "-w", "-o"])
                .args([program.as_os_str(), bitcode.as_os_str()])
                .arg("-lm")
                .time(LIMIT);
            time(&mut processes, || {
                // Some crash, some do not end: as with workers.
                let _ = optimize
                    .check()
                    .and_then(|_| compile.check())
                    .and_then(|_| Tool::new(&program).time(LIMIT).check());
                Ok(())
            })?;
        }
    }
    let lines = tests
        .iter()
        .map(|(program, _)| program.program.ir.iter().filter(|byte| **byte == b'\n').count());
    let n_passes = |request: &RunRequest| request.passes.as_ref().map_or(0, PassSequence::n_passes);
    let passes = tests.iter().flat_map(|(_, requests)| requests.iter().map(n_passes));
    Ok(Hunt {
        llvm: bench.install.version.clone(),
        programs: tests.len(),
        lines: middle(lines),
        passes: middle(passes),
        worker,
        processes,
    })
}

fn middle(values: impl Iterator<Item = usize>) -> usize {
    let mut sorted: Vec<usize> = values.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn recipe(llvm: LlvmChoice) -> PassRecipe {
    PassRecipe {
        llvm,
        seed: 1,
        sequences: SequenceChoice::Random,
        selection: ProgramSelection::All,
        programs: ProgramPlan {
            source: ProgramSource::Csmith(Swarm::Default),
            size: SizeProfile::Small,
            min_bytes: None,
            seed: 1,
        },
        passes: PassChoice::All,
        length: (50, 200),
        sequence_pool: (N_SEQUENCES, N_SEQUENCES),
        program_pool: (N_PROGRAMS, N_PROGRAMS),
        exclusions: Vec::new(),
        auto_exclude: false,
        shard: (1, 1),
        coverage_every: 8,
    }
}
