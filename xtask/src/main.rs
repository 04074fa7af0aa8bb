//! Jobs for people who work on OptSleuth itself; `make` calls them.
#![expect(clippy::print_stdout, reason = "these are command-line tools")]

mod bench;
mod identity;
#[cfg(test)]
mod module_graph;
mod mutants;
mod projects;
mod referee;
mod select;
#[cfg(test)]
mod tidy;

use clap::Parser;

/// Jobs for people who work on OptSleuth itself.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Measure speed as ratios, in one run, and keep the raw data
    Bench(bench::Bench),
    /// Make the table and the plots of the newest raw data anew
    Plots(bench::Plots),
    /// Compare vectors of pass sequences with Gensim's, and time a selection
    Doc2vec(select::Doc2vec),
    /// Compare workers with `opt`, byte for byte, on csmith's programs
    Identity(identity::Identity),
    /// Measure how many mutants of C programs compile, by rule
    Mutants(mutants::Mutants),
    /// Break the compiler of real projects, and triage them
    Projects(projects::Projects),
    /// Compare the referee with machine code, or with the constant folder
    Referee(referee::Referee),
    /// Provision every installed LLVM and compare a sample on each
    AllLlvms,
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Bench(bench) => bench.run(),
        Task::Plots(plots) => plots.run(),
        Task::Doc2vec(doc2vec) => doc2vec.run(),
        Task::Identity(identity) => identity.run(),
        Task::Mutants(mutants) => mutants.run(),
        Task::Projects(projects) => projects.run(),
        Task::Referee(referee) => referee.run(),
        Task::AllLlvms => identity::all_llvms(),
    }
}
