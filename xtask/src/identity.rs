//! `cargo xtask identity`: do two optimizers print the same modules, and do a worker
//! and clang make the same objects?

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::Args;
use optsleuth_bench::as_clang::{AsClangPlan, LEVELS, compare_levels};
use optsleuth_bench::as_gcc::{AsGcc, AsGccPlan, compare_with_gcc};
use optsleuth_bench::identity::{IdentityPlan, Pair, PairVerdict, Subject, compare};
use optsleuth_case::workers::LlvmChoice;
use optsleuth_compiler::driver::Driver;
use optsleuth_compiler::llvm::{self, Flavor, Targets};
use optsleuth_model::Silent;
use optsleuth_triage::covered_gcc::covered_cc1;

/// Compare workers with `opt`, byte for byte, on csmith's programs
#[derive(Debug, Args)]
pub(crate) struct Identity {
    /// Compare a worker with probes with a plain one, instead of a plain one with `opt`
    #[arg(long)]
    covered: bool,
    /// Compare a worker's objects at -O1 -O2 -O3 -Os -Oz with those of clang
    #[arg(long, conflicts_with_all = ["covered", "sequences"])]
    clang: bool,
    /// Compare assembly of this gcc's cc1 with probes with that of the same objects without,
    /// and with the installed gcc's, at -O0 to -O3
    #[arg(long, value_name = "N", conflicts_with_all = ["covered", "clang", "sequences"])]
    gcc: Option<u32>,
    /// Which LLVM
    #[arg(long, default_value_t = 19)]
    llvm: u32,
    /// How many csmith programs
    #[arg(long, default_value_t = 25)]
    programs: usize,
    /// How many random sequences for each program, besides -O1 -O2 -O3 -Os -Oz
    #[arg(long, default_value_t = 3)]
    sequences: usize,
    /// Where the random numbers start
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write every pair to this CSV file
    #[arg(long)]
    csv: Option<PathBuf>,
}

impl Identity {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        if let Some(gcc) = self.gcc {
            return self.of_gcc(gcc);
        }
        let pairs = if self.clang { self.with_clang()? } else { self.of_passes()? };
        if let Some(path) = &self.csv {
            std::fs::write(path, csv(&pairs)).with_context(|| format!("{}", path.display()))?;
        }
        let count = |verdict| pairs.iter().filter(|pair| pair.verdict == verdict).count();
        let identical = count(PairVerdict::Identical);
        let bytes: usize = pairs.iter().map(|pair| pair.bytes).sum();
        println!(
            "LLVM {}, {}: {} pairs, {identical} identical, {} different, {} fail in both, {} fail in one; {bytes} bytes compared",
            self.llvm,
            match (self.covered, self.clang) {
                (true, _) => "with probes and without",
                (false, true) => "objects of worker and clang",
                (false, false) => "worker and opt",
            },
            pairs.len(),
            count(PairVerdict::Different),
            count(PairVerdict::BothFail),
            count(PairVerdict::OneFails),
        );
        for pair in pairs.iter().filter(|pair| pair.verdict != PairVerdict::Identical) {
            println!("  csmith --seed {} with {}: {:?}", pair.program, pair.passes, pair.verdict);
        }
        let wrong = count(PairVerdict::Different) + count(PairVerdict::OneFails);
        ensure!(wrong == 0, "{wrong} pairs are not the same");
        Ok(())
    }

    fn of_gcc(&self, gcc: u32) -> anyhow::Result<()> {
        let driver = Driver::find(&format!("gcc-{gcc}"))?;
        let cc1 = covered_cc1(&driver)?;
        let plan =
            AsGccPlan { driver: &driver, cc1: &cc1, n_programs: self.programs, seed: self.seed };
        let found = compare_with_gcc(&plan, &Silent)?;
        if let Some(path) = &self.csv {
            std::fs::write(path, csv(&found.installed))?;
        }
        let mut wrong = 0;
        for (with, pairs) in
            [("without probes", &found.without_probes), ("the installed gcc", &found.installed)]
        {
            let is_other = |pair: &&Pair| pair.verdict != PairVerdict::Identical;
            let others: Vec<&Pair> = pairs.iter().filter(is_other).collect();
            let bytes: usize = pairs.iter().map(|pair| pair.bytes).sum();
            println!(
                "gcc {}, with probes and {with}: {} of {} the same; {bytes} bytes compared",
                driver.version,
                pairs.len() - others.len(),
                pairs.len(),
            );
            for pair in &others {
                println!("  csmith --seed {} at {}: {:?}", pair.program, pair.passes, pair.verdict);
            }
            wrong += others.len();
        }
        let AsGcc { seconds_covered, seconds_without_probes, seconds_installed, .. } = found;
        println!(
            "covered compilations take {:.2} of the time without probes, {:.2} of the installed gcc's; {:.1} per second",
            seconds_covered / seconds_without_probes,
            seconds_covered / seconds_installed,
            found.installed.len() as f64 / seconds_covered,
        );
        ensure!(wrong == 0, "{wrong} pairs are not the same");
        Ok(())
    }

    fn with_clang(&self) -> anyhow::Result<Vec<Pair>> {
        let plan = AsClangPlan {
            llvm: LlvmChoice::Version(self.llvm),
            levels: &LEVELS,
            n_programs: self.programs,
            csmith_flags: &[],
            seed: self.seed,
        };
        Ok(compare_levels(&plan, &Silent)?)
    }

    fn of_passes(&self) -> anyhow::Result<Vec<Pair>> {
        let plan = IdentityPlan {
            subject: match self.covered {
                true => Subject::CoveredWithPlain,
                false => Subject::WorkerWithOpt,
            },
            llvm: LlvmChoice::Version(self.llvm),
            n_programs: self.programs,
            n_sequences: self.sequences,
            seed: self.seed,
        };
        Ok(compare(&plan, &Silent)?)
    }
}

/// A sample of both comparisons on every LLVM that is installed.
pub(crate) fn all_llvms() -> anyhow::Result<()> {
    let mut failed = Vec::new();
    for (llvm, found) in llvm::discover() {
        let install = found?;
        for covered in [false, true] {
            let sample = Identity {
                covered,
                clang: false,
                gcc: None,
                llvm,
                programs: 3,
                sequences: 3,
                seed: 500,
                csv: None,
            };
            if let Err(error) = sample.run() {
                println!("LLVM {llvm}: {error:#}");
                failed.push(llvm);
            }
        }
        let quiet = &mut |_| {};
        let worker = llvm::provision(&install, Targets::Native, Flavor::Covered, quiet)?;
        let summary = worker.summary()?;
        println!(
            "LLVM {llvm}: {} of {} members have probes, {} blocks, {:.1} s for rewriting, {:.1} s for linking",
            summary.n_instrumented,
            summary.n_members,
            summary.n_blocks,
            summary.rewrite_seconds,
            summary.link_seconds,
        );
    }
    ensure!(failed.is_empty(), "not the same on LLVM {failed:?}");
    Ok(())
}

fn csv(pairs: &[Pair]) -> String {
    let mut out = String::from("csmith_seed,passes,verdict,bytes\n");
    for pair in pairs {
        let Pair { program, passes, verdict, bytes } = pair;
        let _ = writeln!(out, "{program},\"{passes}\",{verdict:?},{bytes}");
    }
    out
}
