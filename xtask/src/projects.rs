//! `cargo xtask projects`: does triage find what is broken in the compiler of a real
//! project?

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use optsleuth_bench::projects::{Figures, Found, ProjectFigures, ProjectsPlan, measure_projects};
use optsleuth_model::Progress;

/// Build real projects with a clang that is broken on purpose, and triage them
#[derive(Debug, Args)]
pub(crate) struct Projects {
    /// Which LLVM is broken
    #[arg(long, default_value_t = 19)]
    llvm: u32,
    /// Where the random numbers start
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many faults are tried on each project at most
    #[arg(long, default_value_t = 500)]
    tries: usize,
    /// Only this source package; may be given several times
    #[arg(long = "package", value_name = "NAME")]
    packages: Vec<String>,
    /// How many faults each project gets
    #[arg(long, default_value_t = 3)]
    per_project: usize,
    /// Seconds for each triage
    #[arg(long, default_value_t = 60)]
    budget: u64,
    /// Where trees, records and cases go; sources that are there are not fetched again
    #[arg(long, value_name = "FOLDER", default_value = "target/projects")]
    work: PathBuf,
    /// The program that is measured
    #[arg(long, value_name = "FILE", default_value = "target/release/optsleuth")]
    optsleuth: PathBuf,
    /// Where figures and table go; what is there is not measured again
    #[arg(short, value_name = "FOLDER", default_value = "docs/evaluation/projects")]
    output: PathBuf,
}

/// Says each step in a line.
struct Lines;

impl Progress for Lines {
    fn step(&self, what: &str) {
        println!("{what}");
    }

    fn count(&self, _: usize, _: usize) {}
}

impl Projects {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        std::fs::create_dir_all(&self.work)?;
        let plan = ProjectsPlan {
            llvm: self.llvm,
            seed: self.seed,
            tries: self.tries,
            packages: self.packages,
            per_project: self.per_project,
            budget: Duration::from_secs(self.budget),
            work: self.work.canonicalize()?,
            output: self.output,
            optsleuth: self.optsleuth.canonicalize()?,
        };
        let figures = measure_projects(&plan, &Lines)?;
        let text = table(&figures);
        std::fs::write(plan.output.join("projects.md"), &text)?;
        print!("{text}");
        Ok(())
    }
}

fn table(figures: &Figures) -> String {
    let mut text = String::from(
        "| project | units | faults that change no object | that break the compilation | that do no harm | with which its check fails | without a fault | build, recorded / plain |\n\
         |---|---:|---:|---:|---:|---:|---|---:|\n",
    );
    for project in &figures.projects {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {:.2} |",
            project.folder,
            project.n_units,
            project.no_effect,
            project.not_compiled,
            project.harmless,
            project.broken.len(),
            project.without_fault,
            ratio(project),
        );
    }
    text += "\n| project | broken in LLVM | guilty unit | guilty function | guilty invocation | rank of the file | of the function | links | checks | s, unit and function | s, all |\n\
             |---|---|---|---|---|---:|---:|---:|---:|---:|---:|\n";
    for project in &figures.projects {
        for broken in &project.broken {
            let file = broken.file.rsplit('/').next().unwrap_or_default();
            let _ = writeln!(
                text,
                "| {} | {file}, `{}` {} |",
                project.package,
                broken.function,
                row(&broken.found),
            );
        }
    }
    text
}

fn row(found: &Found) -> String {
    let names = |all: &[String]| match all {
        [] => "-".to_owned(),
        _ => format!("`{}`", all.join("`, `")),
    };
    let rank = |rank: Option<usize>| rank.map_or("-".to_owned(), |rank| rank.to_string());
    let guilty = found.guilty.as_deref().or(found.complaint.as_deref()).unwrap_or("-");
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {:.0} | {:.0}",
        names(&found.units),
        names(&found.functions),
        guilty.lines().next().unwrap_or_default(),
        rank(found.file_rank),
        rank(found.function_rank),
        found.links,
        found.checks,
        found.search_seconds,
        found.seconds,
    )
}

/// The time of recorded builds to that of plain ones, by their medians.
fn ratio(project: &ProjectFigures) -> f64 {
    let median = |seconds: &[f64]| {
        let mut sorted = seconds.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    };
    median(&project.recorded_build) / median(&project.plain_build)
}
