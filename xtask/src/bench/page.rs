//! Raw data -> `docs/benchmarks/README.md`. Pure.

use std::fmt::Write as _;

use super::figures::{Figure, count, figures, middle};
use super::plots::{RATES, SEARCH, SPREAD};
use super::raw::Raw;

/// The page; `file` is the raw data's name.
pub(super) fn page(raw: &Raw, file: &str) -> String {
    let mut out = format!(
        "# Benchmarks\n\n\
         Made by `cargo xtask plots` of [{file}]({file}); `make bench` measures anew and calls it.\n\
         {}\n\n\
         ![Runs per second]({RATES})\n\n",
        machine(raw)
    );
    out.push_str(&table(&figures(raw)));
    let _ = write!(
        out,
        "\n{}\n\n![How long a run takes]({SPREAD})\n\n![Where a search's time goes]({SEARCH})\n\n{}\n",
        method(raw),
        search(raw)
    );
    out
}

/// All figures as one table.
pub(super) fn table(figures: &[Figure]) -> String {
    let mut out =
        String::from("| what | OptSleuth | compared with | ratio | bar |\n|---|---|---|---|---|\n");
    for figure in figures {
        let Figure { what, ours, theirs, ratio, bar } = figure;
        let bar = match bar {
            Some(bar) if bar.is_met => bar.text.clone(),
            Some(bar) => format!("**missed:** {}", bar.text),
            None => String::new(),
        };
        let _ = writeln!(out, "| {what} | {ours} | {theirs} | {ratio} | {bar} |");
    }
    out
}

fn machine(raw: &Raw) -> String {
    let machine = &raw.machine;
    let busy = machine.busy().map_or(String::new(), |busy| {
        format!(
            "\n**The machine was busy ({busy}): times are several times too long, and ratios to processes too good. Not to be quoted; measure anew when it is quiet.**"
        )
    });
    format!(
        "Measured on {}: {}, {} cores, {:.1} GiB of memory, {}, LLVM {}; cores at work before it began: {:.2}.{busy}",
        raw.date,
        machine.cpu,
        machine.cores,
        machine.memory_mib as f64 / 1024.0,
        machine.kernel,
        machine.llvms.join(", "),
        machine.load
    )
}

fn method(raw: &Raw) -> String {
    format!(
        "Times are medians with their quartiles; runs per second are of one worker or process at a time, on one core.\n\
         A worker and what it is compared with are measured in turn, round by round ({} rounds): their ratio depends less on what else the machine does than a time.\n\
         Passes are `{}` of LLVM {}; `opt` gets bitcode and `-disable-output`, its fastest form.\n\
         On a big program nearly all of the time is LLVM's own work, and no harness can save that.\n\
         The seconds for making a worker are those of the day it was made.",
        raw.rounds, raw.passes, raw.llvm
    )
}

fn search(raw: &Raw) -> String {
    let Some(search) = middle(&raw.locseq.searches) else { return String::new() };
    format!(
        "The loop is search, run, coverage, fitness, spectrum and ranking; the median of {} searches of {} sequences ({} of them witnesses) on {} workers with LLVM {}, and the least and the greatest rate.\n\
         A worker is without a request while the loop does its own work and at the end of a batch, which late generations make short, because most of their sequences are known.\n\
         Outside LLVM is that, and what a request takes besides the child: the way there and back, and reading the coverage.\n\
         The paper's figure is of its authors' machine and programs.",
        raw.locseq.searches.len(),
        count(search.runs),
        count(search.witnesses),
        search.workers,
        raw.locseq.llvm
    )
}
