//! Does a cc1 with probes do what gcc does? The assembly that it makes of a program at a
//! level, covered, against that of the same objects without probes, and against the
//! installed gcc's, on csmith's programs.
//!
//! **Invariant:** nothing is left out of a comparison but the line that says which gcc it
//! was.

use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_compiler::csmith;
use optsleuth_compiler::driver::{Compiled, CoveredCc1, Driver, GccPlugin, PluginOrders};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Limits, OptLevel, Progress};

use crate::BenchError;
use crate::identity::{Pair, PairVerdict};

/// The levels that are compared.
pub const LEVELS: [OptLevel; 4] = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3];

/// How to compare.
#[derive(Clone, Debug)]
pub struct AsGccPlan<'a> {
    pub driver: &'a Driver,
    pub cc1: &'a CoveredCc1,
    /// How many csmith programs.
    pub n_programs: usize,
    /// csmith's seed for the first of them.
    pub seed: u64,
}

/// What came of it: a pair's `passes` is its level.
#[derive(Clone, Debug, Default)]
pub struct AsGcc {
    /// Where the objects without probes are there: with probes and without.
    pub without_probes: Vec<Pair>,
    /// With probes, and the installed gcc.
    pub installed: Vec<Pair>,
    /// How long each was at all of it, in turn.
    pub seconds_covered: f64,
    pub seconds_without_probes: f64,
    pub seconds_installed: f64,
}

/// Compares each program at each level.
pub fn compare_with_gcc(
    plan: &AsGccPlan<'_>,
    progress: &dyn Progress,
) -> Result<AsGcc, BenchError> {
    let plugin = GccPlugin::of_cc1(plan.cc1);
    let bare = plan.cc1.without_probes();
    let orders = PluginOrders { coverage: true, ..PluginOrders::default() };
    let folder = Workdir::new()?;
    let source = folder.file("program.c");
    let mut found = AsGcc::default();
    progress.step("comparing");
    for index in 0..plan.n_programs {
        let seed = plan.seed + index as u64;
        csmith::generate(seed, &csmith::SMALL_PROGRAMS, &source)?;
        for level in LEVELS {
            let compile = |flags: &[String]| -> Result<(Option<String>, Duration), BenchError> {
                let run = Workdir::new()?;
                let output = run.file("program.s");
                let flags = [flags, &["-S".to_owned()]].concat();
                let begun = Instant::now();
                let limits = Limits::STANDARD;
                let compiled = plan.driver.compile(&source, level, &flags, &output, limits)?;
                let took = begun.elapsed();
                Ok(match compiled {
                    Compiled::Program => (Some(assembly(&fs::read_to_string(&output)?)), took),
                    _ => (None, took),
                })
            };
            let run = Workdir::new()?;
            let (covered, took) = compile(&plugin.flags(&orders, run.path())?)?;
            found.seconds_covered += took.as_secs_f64();
            let (installed, took) = compile(&[])?;
            found.seconds_installed += took.as_secs_f64();
            found.installed.push(pair(seed, level, &covered, &installed));
            if let Some(flag) = &bare {
                let (without, took) = compile(std::slice::from_ref(flag))?;
                found.seconds_without_probes += took.as_secs_f64();
                found.without_probes.push(pair(seed, level, &covered, &without));
            }
        }
        progress.count(index + 1, plan.n_programs);
    }
    Ok(found)
}

/// Without `.ident "GCC: (Debian 12.2.0-14) 12.2.0"`.
fn assembly(text: &str) -> String {
    text.lines().filter(|line| !line.contains(".ident")).collect::<Vec<_>>().join("\n")
}

fn pair(program: u64, level: OptLevel, one: &Option<String>, other: &Option<String>) -> Pair {
    let verdict = match (one, other) {
        (Some(one), Some(other)) if one == other => PairVerdict::Identical,
        (Some(_), Some(_)) => PairVerdict::Different,
        (None, None) => PairVerdict::BothFail,
        (Some(_), None) | (None, Some(_)) => PairVerdict::OneFails,
    };
    let bytes = one.as_ref().map_or(0, String::len);
    Pair { program, passes: format!("-{}", level.name()), verdict, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_the_gcc_may_differ() {
        let text = |ident: &str, code: &str| {
            Some(assembly(&format!("main:\n\t{code}\n\t.ident\t\"{ident}\"\n")))
        };
        let check = |one, other, expected| {
            assert_eq!(pair(1, OptLevel::O2, &one, &other).verdict, expected);
        };
        check(text("GCC: 12.2.0", "ret"), text("GCC: (Debian)", "ret"), PairVerdict::Identical);
        check(text("GCC: 12.2.0", "ret"), text("GCC: 12.2.0", "nop"), PairVerdict::Different);
        check(None, text("GCC: 12.2.0", "nop"), PairVerdict::OneFails);
    }
}
