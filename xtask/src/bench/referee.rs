//! How fast the referee is: instructions of IR in a second, and a definedness
//! check from C to verdict beside clang's sanitizers.

use std::num::NonZero;
use std::path::Path;

use anyhow::{Context as _, ensure};
use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::csmith;
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_compiler::sanitize::{self, Form, Sanitizer};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Execute, Interpret, Limits, ProgramEnd, Ruling, RunRequest, Silent};

use super::raw::Referee;
use super::{ok, time};

/// csmith's program of about 2,500 lines: it ends, and it is defined.
const SEED: u64 = 16;

/// Loads, stores, calls, branches and arithmetic, long enough that starting is
/// nothing beside it.
const LOOP: &str = "\
static unsigned table[4096];
static unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 2654435761u >> 7; }
int main(void) {
  unsigned sum = 1;
  for (unsigned round = 0; round < 200; ++round)
    for (unsigned i = 0; i < 4096; ++i) {
      table[i] = mix(table[sum & 4095], sum + i);
      if (table[i] & 1)
        sum += table[i];
      else
        sum ^= i << 3;
    }
  return (int)(sum & 127);
}
";

pub(super) fn measure(llvm: u32, rounds: usize) -> anyhow::Result<Referee> {
    let choice = LlvmChoice::Version(llvm);
    let one = NonZero::new(1);
    let mut workers = Workers::set_up(&choice, Targets::Native, Flavor::Plain, one, &Silent)?;
    let folder = Workdir::new()?;
    let (long, program) = (folder.file("long.c"), folder.file("program.c"));
    std::fs::write(&long, LOOP)?;
    csmith::generate(SEED, &[], &program)?;
    let text = std::fs::read(&program)?;
    let executable = folder.file("program");
    let install = workers.install.clone();
    let machine = RunRequest { execute: Execute::InChild, ..RunRequest::new(None) };
    let mut found = Referee {
        llvm: workers.install.version.clone(),
        seed: SEED,
        lines: String::from_utf8_lossy(&text).lines().count(),
        ..Referee::default()
    };
    for _ in 0..rounds.div_ceil(3) {
        load(&mut workers, &long)?;
        time(&mut found.long_interpreted, || steps(&mut workers, &mut found.long_steps))?;
        time(&mut found.long_executed, || ok(&mut workers, &machine))?;
        time(&mut found.check, || {
            load(&mut workers, &program)?;
            steps(&mut workers, &mut found.steps)
        })?;
        time(&mut found.interpreted, || steps(&mut workers, &mut found.steps))?;
        time(&mut found.sanitizers, || {
            let both = (Sanitizer::UndefinedAndAddress, Form::Quick);
            ensure!(
                sanitize::compile(&install, &program, &[], &[], both, &executable)?,
                "no sanitizers"
            );
            let limits = Limits { with_shadows: true, ..Limits::STANDARD };
            let execution = workers.pool.first().execute(&executable, limits)?;
            ensure!(execution.end == ProgramEnd::Exited(0), "{:?}", execution.end);
            Ok(())
        })?;
    }
    Ok(found)
}

fn load(workers: &mut Workers, file: &Path) -> anyhow::Result<()> {
    workers.load(file, &[], &[], Limits::STANDARD)?;
    Ok(())
}

/// Interprets what is loaded, which has to be defined.
fn steps(workers: &mut Workers, n_steps: &mut u64) -> anyhow::Result<()> {
    let request = RunRequest { interpret: Some(Interpret::main()), ..RunRequest::new(None) };
    let result = workers.pool.first().run(&request)?;
    let interpretation = result.interpretation.context("no interpretation")?;
    let is_defined = matches!(interpretation.ruling, Ruling::Defined { .. });
    ensure!(is_defined, "{:?}", interpretation.ruling);
    *n_steps = interpretation.n_steps;
    Ok(())
}
