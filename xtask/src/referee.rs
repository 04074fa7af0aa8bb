//! `cargo xtask referee`: does the referee agree with machine code, and with
//! LLVM's constant folder?

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::csmith;
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Execute, Execution, Interpret, Interpretation, Language, Limits, Outcome, ProgramEnd, Ruling,
    RunRequest, Silent,
};

/// Compare the referee with machine code, or with the constant folder
#[derive(Debug, Args)]
pub(crate) struct Referee {
    /// Which LLVM
    #[arg(long, default_value_t = 19)]
    llvm: u32,
    /// How many csmith programs
    #[arg(long, default_value_t = 0)]
    programs: u64,
    /// csmith's first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Small csmith programs
    #[arg(long)]
    small: bool,
    /// C programs of this folder, too
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Optimize before interpreting; may be given several times
    #[arg(long, default_value = "O0", value_parser = ["O0", "O1", "O2", "O3", "Os", "Oz"])]
    level: Vec<String>,
    /// A flag for clang; may be given several times
    #[arg(long, allow_hyphen_values = true)]
    cflag: Vec<String>,
    /// Write a line for each program and level to this CSV file
    #[arg(long)]
    csv: Option<PathBuf>,
    /// Compare integers of 4, 8 and 16 bits with the constant folder instead
    #[arg(long)]
    self_test: bool,
}

/// A C program with `main`, for a worker that only computes.
const EMPTY: &str = "int main(void) { return 0; }\n";

impl Referee {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let choice = LlvmChoice::Version(self.llvm);
        let one = NonZero::new(1);
        let mut workers = Workers::set_up(&choice, Targets::Native, Flavor::Plain, one, &Silent)?;
        if self.self_test {
            return self_test(&mut workers);
        }
        let scratch = Workdir::new()?;
        let mut tally = Tally::default();
        // Written as it goes: what a killed run saw is not lost.
        let mut csv = match &self.csv {
            Some(path) => Some(File::create(path).with_context(|| format!("{}", path.display()))?),
            None => None,
        };
        if let Some(file) = &mut csv {
            writeln!(file, "program,level,verdict,steps,cpu_ms,reason")?;
        }
        let folder = self.folder.as_deref().map_or(Ok(Vec::new()), c_files)?;
        let seeds = (self.seed..self.seed + self.programs).map(Subject::Seed);
        for subject in seeds.chain(folder.into_iter().map(Subject::File)) {
            let flags: &[&str] = if self.small { &csmith::SMALL_PROGRAMS } else { &[] };
            let (name, file) = match subject {
                Subject::Seed(seed) => {
                    let file = scratch.file("program.c");
                    csmith::generate(seed, flags, &file)?;
                    (format!("csmith --seed {seed}"), file)
                }
                Subject::File(file) => {
                    let within = self.folder.as_deref().and_then(|f| file.strip_prefix(f).ok());
                    (within.unwrap_or(&file).display().to_string(), file)
                }
            };
            let verdicts = judge(&mut workers, &file, &self.cflag, &self.level)?;
            for (level, verdict) in self.level.iter().zip(verdicts) {
                let Verdict { kind, reason, steps, cpu } = &verdict;
                let cpu_ms = cpu.as_secs_f64() * 1000.0;
                if let Some(file) = &mut csv {
                    writeln!(
                        file,
                        "{name},{level},{kind:?},{steps},{cpu_ms:.1},{}",
                        quoted(reason)
                    )?;
                }
                if matches!(kind, Kind::Different | Kind::Undefined) {
                    println!("{name} at {level}: {kind:?}: {reason}");
                }
                tally.add(level, &verdict);
            }
        }
        print!("{}", tally.text());
        let wrong = tally.count(Kind::Different);
        ensure!(wrong == 0, "the referee and machine code differ on {wrong} programs");
        Ok(())
    }
}

/// A field of a CSV file.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

enum Subject {
    Seed(u64),
    File(PathBuf),
}

/// Every C file below a folder, sorted.
fn c_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if Language::of_path(&path) == Some(Language::C) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Equal,
    Different,
    Undefined,
    NoVerdict,
    /// Not compared: it does not compile, does not end, or is no program.
    Skipped,
}

struct Verdict {
    kind: Kind,
    reason: String,
    steps: u64,
    cpu: Duration,
}

impl Verdict {
    fn skipped(reason: &str) -> Verdict {
        Verdict { kind: Kind::Skipped, reason: reason.to_owned(), steps: 0, cpu: Duration::ZERO }
    }
}

fn judge(
    workers: &mut Workers,
    file: &Path,
    flags: &[String],
    levels: &[String],
) -> anyhow::Result<Vec<Verdict>> {
    let limits = Limits {
        compile: Duration::from_secs(30),
        execute: Duration::from_secs(2),
        ..Limits::STANDARD
    };
    let all_skipped = |why: &str| Ok(levels.iter().map(|_| Verdict::skipped(why)).collect());
    // Implicit functions and the like, which newer clangs refuse.
    let old_c = [flags, &["-std=gnu89".to_owned()]].concat();
    if workers.load(file, flags, &[], limits).is_err()
        && workers.load(file, &old_c, &[], limits).is_err()
    {
        return all_skipped("it does not compile");
    }
    let machine = RunRequest { execute: Execute::InChild, limits, ..RunRequest::new(None) };
    let execution = match workers.pool.first().run(&machine) {
        Ok(result) => match result.outcome {
            Outcome::Ok(Some(execution)) => execution,
            other => return all_skipped(other.kind()),
        },
        Err(CompilerError::DoesNotLink(_)) => return all_skipped("it does not link"),
        Err(error) => return Err(error.into()),
    };
    if !matches!(execution.end, ProgramEnd::Exited(_) | ProgramEnd::Signaled(_)) {
        return all_skipped("it does not end");
    }
    let mut interpret = |level: &str| -> anyhow::Result<Verdict> {
        let passes = match level {
            "O0" => None,
            level => Some(workers.passes(&format!("default<{level}>"))?),
        };
        let limits = Limits { execute: Duration::from_secs(60), ..limits };
        let request =
            RunRequest { interpret: Some(Interpret::main()), limits, ..RunRequest::new(passes) };
        let result = workers.pool.first().run(&request)?;
        Ok(match result.interpretation {
            Some(interpretation) => compare(&execution, &interpretation, result.cpu),
            None => Verdict::skipped(result.outcome.kind()),
        })
    };
    // An optimizer may do anything to a program that is not defined.
    let plain = interpret("O0")?;
    let is_defined = plain.kind == Kind::Equal;
    let mut plain = Some(plain);
    let of_level = |level: &String| match level.as_str() {
        "O0" => Ok(plain.take().unwrap_or_else(|| Verdict::skipped("O0 is given twice"))),
        level if is_defined => interpret(level),
        _ => Ok(Verdict::skipped("not known to be defined at O0")),
    };
    levels.iter().map(of_level).collect()
}

fn compare(machine: &Execution, referee: &Interpretation, cpu: Duration) -> Verdict {
    let (kind, reason) = match &referee.ruling {
        Ruling::Defined { end, .. } => {
            let said = |stream: &[u8]| String::from_utf8_lossy(stream).trim_end().to_owned();
            if *end == machine.end
                && referee.stdout == machine.stdout
                && referee.stderr == machine.stderr
            {
                (Kind::Equal, String::new())
            } else {
                let (theirs, ours) = (said(&machine.stdout), said(&referee.stdout));
                let ends = format!("{:?} instead of {:?}", end, machine.end);
                (Kind::Different, format!("{ends}, {ours:?} instead of {theirs:?}"))
            }
        }
        Ruling::Undefined { end, history } => {
            let first = history.last().map_or(String::new(), |step| format!(" <- {}", step.what));
            let place = end.place.as_ref().map_or("", |place| &place.instruction);
            (Kind::Undefined, format!("{}{first}: {place}", end.what))
        }
        Ruling::NoVerdict { end } => (Kind::NoVerdict, end.what.clone()),
    };
    Verdict { kind, reason, steps: referee.n_steps, cpu }
}

#[derive(Default)]
struct Tally {
    counts: BTreeMap<(String, Kind), u64>,
    reasons: BTreeMap<(Kind, String), u64>,
    steps: u64,
    cpu: Duration,
}

impl Tally {
    fn add(&mut self, level: &str, verdict: &Verdict) {
        *self.counts.entry((level.to_owned(), verdict.kind)).or_default() += 1;
        if !verdict.reason.is_empty() && verdict.kind != Kind::Different {
            *self.reasons.entry((verdict.kind, verdict.reason.clone())).or_default() += 1;
        }
        self.steps += verdict.steps;
        self.cpu += verdict.cpu;
    }

    fn count(&self, kind: Kind) -> u64 {
        self.counts.iter().filter(|((_, its), _)| *its == kind).map(|(_, count)| count).sum()
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for ((level, kind), count) in &self.counts {
            let _ = writeln!(out, "{level}: {count} {kind:?}");
        }
        for ((kind, reason), count) in &self.reasons {
            let _ = writeln!(out, "  {count} x {kind:?}: {reason}");
        }
        let seconds = self.cpu.as_secs_f64();
        let millions = self.steps as f64 / 1e6;
        let _ = writeln!(
            out,
            "{millions:.1} million instructions in {seconds:.1} s of CPU time, compiling and all"
        );
        out
    }
}

/// Widths of which every value is tried; of 16 bits, single operands only.
const WIDTHS: [u32; 3] = [4, 8, 16];

fn self_test(workers: &mut Workers) -> anyhow::Result<()> {
    let scratch = Workdir::new()?;
    let file = scratch.file("empty.c");
    std::fs::write(&file, EMPTY)?;
    let limits = Limits { execute: Duration::from_secs(600), ..Limits::STANDARD };
    workers.load(&file, &[], &[], limits)?;
    for width in WIDTHS {
        let interpret = Some(Interpret { self_test: Some(width), ..Interpret::main() });
        let request = RunRequest { interpret, limits, ..RunRequest::new(None) };
        let result = workers.pool.first().run(&request)?;
        let text = String::from_utf8_lossy(&result.emitted).into_owned();
        println!("i{width}: {text}");
        ensure!(text.contains(" 0 failures"), "the referee is wrong about i{width}");
    }
    Ok(())
}
