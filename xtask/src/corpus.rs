//! `cargo xtask corpus`: LocSeq and its variants on a folder of cases with known
//! culprits. One line of JSON per search, appended as it comes, and a table.
//!
//! Every case in the folder is in the table: one that does not reproduce or has
//! no witness is listed as that.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use optsleuth_lab::{CaseFolder, LabError, Scene, ScenePlan, SearchPlan, Silent, Stop};
use optsleuth_model::{HistoryEntry, Limits, Localization, TruthRanks};
use optsleuth_rank::Recipe;
use optsleuth_search::Method;
use serde::{Deserialize, Serialize};

/// LocSeq and its variants on a folder of cases with known culprits
#[derive(Debug, Args)]
pub(crate) struct Corpus {
    /// A folder of cases
    folder: PathBuf,
    /// Seconds for each search
    #[arg(long, default_value_t = 10.0)]
    budget: f64,
    /// How many seeds for LocSeq; its variants get the first
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// The raw data; what is there already is not done again
    #[arg(long, default_value = "target/localize-corpus.jsonl")]
    out: PathBuf,
    /// Only print the table of what is there
    #[arg(long)]
    table: bool,
}

/// One search.
#[derive(Serialize, Deserialize)]
struct Line {
    case: String,
    kind: String,
    method: String,
    seed: u64,
    /// Why there is no result.
    error: Option<String>,
    result: Option<Found>,
}

/// What is kept of a localization.
#[derive(Serialize, Deserialize)]
struct Found {
    llvm: String,
    runs: usize,
    witnesses: usize,
    failing: usize,
    discarded: usize,
    seconds: Option<f64>,
    best_similarity: f64,
    failing_blocks: usize,
    n_files: usize,
    n_functions: usize,
    truth: Option<TruthRanks>,
    top_files: Vec<String>,
    top_functions: Vec<String>,
    history: Vec<HistoryEntry>,
}

impl From<Localization> for Found {
    fn from(whole: Localization) -> Found {
        let (step, last) = (whole.history.len().div_ceil(20).max(1), whole.history.last().cloned());
        Found {
            llvm: whole.llvm,
            runs: whole.runs,
            witnesses: whole.witnesses,
            failing: whole.failing,
            discarded: whole.discarded,
            seconds: whole.seconds,
            best_similarity: whole.best_similarity,
            failing_blocks: whole.failure.blocks,
            n_files: whole.files.len(),
            n_functions: whole.functions.len(),
            truth: whole.truth,
            top_files: whole.files.into_iter().take(5).map(|suspect| suspect.path).collect(),
            top_functions: whole
                .functions
                .into_iter()
                .take(5)
                .map(|suspect| suspect.name)
                .collect(),
            history: whole.history.into_iter().step_by(step).chain(last).collect(),
        }
    }
}

impl Corpus {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut cases: Vec<PathBuf> = std::fs::read_dir(&self.folder)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        cases.retain(|path| path.join("case.toml").is_file());
        cases.sort();
        if !self.table {
            let done = self.done()?;
            for case in &cases {
                self.one(case, &done)?;
            }
        }
        let is_weak = |line: &Line| {
            let case = CaseFolder::open(&self.folder.join(&line.case)).ok();
            let truth = case.and_then(|case| case.case.truth);
            truth.and_then(|truth| truth.confidence).is_some_and(|how| how == "weak")
        };
        let (weak, sure): (Vec<Line>, Vec<Line>) = read(&self.out)?.into_iter().partition(is_weak);
        println!("\n### Cases whose culprit is known");
        print_cases(&sure);
        print_summary(&sure);
        println!("\n### Cases of which only the pass under test is known");
        print_cases(&weak);
        Ok(())
    }

    fn done(&self) -> anyhow::Result<BTreeSet<(String, String, u64)>> {
        let lines = if self.out.is_file() { read(&self.out)? } else { Vec::new() };
        Ok(lines.into_iter().map(|line| (line.case, line.method, line.seed)).collect())
    }

    fn one(&self, folder: &Path, done: &BTreeSet<(String, String, u64)>) -> anyhow::Result<()> {
        let case = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let wanted: Vec<(Method, u64)> = (1..=self.seeds)
            .map(|seed| (Method::Locseq, seed))
            .chain(Method::ALL.into_iter().skip(1).map(|method| (method, 1)))
            .filter(|(method, seed)| !done.contains(&(case.clone(), method.to_string(), *seed)))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let plan = ScenePlan {
            folder: folder.to_owned(),
            llvm: None,
            limits: Limits::STANDARD,
            candidate_time: Duration::from_secs(1),
            n_workers: None,
        };
        let mut scene = Scene::open(&plan, &Silent);
        for (method, seed) in wanted {
            let budget = Some(Duration::from_secs_f64(self.budget));
            let search = SearchPlan {
                method,
                seed,
                stop: Stop { budget, ..Stop::default() },
                recipe: Recipe::default(),
            };
            let (kind, found) = match &mut scene {
                Ok(scene) => (scene.case().case.kind.name(), scene.localize(&search, &Silent)),
                Err(error) => (
                    "",
                    Err(LabError::Io {
                        doing: format!("open the case: {error}"),
                        source: std::io::Error::other("see above"),
                    }),
                ),
            };
            let (error, result) = match found {
                Ok(found) => (None, Some(Found::from(found.localization))),
                Err(error) => (Some(error.to_string()), None),
            };
            let line = Line {
                case: case.clone(),
                kind: kind.to_owned(),
                method: method.to_string(),
                seed,
                error,
                result,
            };
            self.append(&line)?;
            println!("{}", row(&line));
        }
        Ok(())
    }

    fn append(&self, line: &Line) -> anyhow::Result<()> {
        if let Some(folder) = self.out.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.out)?;
        writeln!(file, "{}", serde_json::to_string(line)?)?;
        Ok(())
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<Line>> {
    let text = std::fs::read_to_string(path)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// One search in a line, for whoever is watching.
fn row(line: &Line) -> String {
    let Line { case, method, seed, .. } = line;
    match &line.result {
        None => format!("{case} {method} {seed}: {}", line.error.as_deref().unwrap_or_default()),
        Some(found) => format!(
            "{case} {method} {seed}: file {}, function {}, {} runs, {} witnesses",
            rank(found.truth.as_ref().and_then(TruthRanks::best_file), found.n_files),
            rank(found.truth.as_ref().and_then(TruthRanks::best_function), found.n_functions),
            found.runs,
            found.witnesses,
        ),
    }
}

/// `3/120`; `–/120` for a culprit that is not among the suspects.
fn rank(rank: Option<usize>, of: usize) -> String {
    rank.map_or_else(|| format!("–/{of}"), |rank| format!("{rank}/{of}"))
}

fn columns(lines: &[Line]) -> Vec<(String, u64)> {
    let mut columns: Vec<(String, u64)> = Vec::new();
    for line in lines {
        let column = (line.method.clone(), line.seed);
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

fn heads(columns: &[(String, u64)]) -> Vec<String> {
    columns.iter().map(|(method, seed)| format!("{method} #{seed}")).collect()
}

/// A row for each case.
fn print_cases(lines: &[Line]) {
    let columns = columns(lines);
    let heads = heads(&columns);
    println!("\n| case | kind | {} |", heads.join(" | "));
    println!("|---|---|{}", "---|".repeat(columns.len()));
    let cases: BTreeSet<&str> = lines.iter().map(|line| line.case.as_str()).collect();
    for case in cases {
        let of_case = |column: &(String, u64)| {
            lines.iter().find(|l| l.case == case && l.method == column.0 && l.seed == column.1)
        };
        let cells: Vec<String> =
            columns.iter().map(|column| of_case(column).map_or(String::new(), cell)).collect();
        let kind = lines.iter().find(|line| line.case == case).map_or("", |line| &line.kind);
        println!("| {case} | {kind} | {} |", cells.join(" | "));
    }
}

/// A row for each search.
fn print_summary(lines: &[Line]) {
    let columns = columns(lines);
    println!(
        "\n| search | cases | with witness | file Top-1/5/10/20 | function Top-1/5/10/20 | median runs | median witnesses |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (column, head) in columns.iter().zip(heads(&columns)) {
        println!("| {head} | {} |", summary(lines, column));
    }
}

fn cell(line: &Line) -> String {
    let Some(found) = &line.result else {
        let error = line.error.as_deref().unwrap_or_default();
        let tried = error.split(' ').nth(2).unwrap_or_default();
        let is_no_witness = error.starts_with("no witness");
        return if is_no_witness { format!("no witness; {tried}") } else { error.to_owned() };
    };
    let short = |rank: Option<usize>| rank.map_or("–".to_owned(), |rank| rank.to_string());
    format!(
        "{} / {}; {}, {}, {:.1}",
        short(found.truth.as_ref().and_then(TruthRanks::best_file)),
        short(found.truth.as_ref().and_then(TruthRanks::best_function)),
        found.runs,
        found.witnesses,
        found.seconds.unwrap_or_default(),
    )
}

fn summary(lines: &[Line], column: &(String, u64)) -> String {
    let of_column: Vec<&Line> =
        lines.iter().filter(|line| line.method == column.0 && line.seed == column.1).collect();
    let found: Vec<&Found> = of_column.iter().filter_map(|line| line.result.as_ref()).collect();
    let top = |best: fn(&TruthRanks) -> Option<usize>| {
        [1, 5, 10, 20].map(|n| {
            let is_within =
                |found: &&&Found| found.truth.as_ref().and_then(best).is_some_and(|rank| rank <= n);
            found.iter().filter(is_within).count().to_string()
        })
    };
    let median = |value: fn(&Found) -> usize| {
        let mut values: Vec<usize> = found.iter().map(|found| value(found)).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    format!(
        "{} | {} | {} | {} | {} | {}",
        of_column.len(),
        found.len(),
        top(TruthRanks::best_file).join("/"),
        top(TruthRanks::best_function).join("/"),
        median(|found| found.runs),
        median(|found| found.witnesses),
    )
}
