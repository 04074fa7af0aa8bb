//! `cargo xtask mutants`: how many mutants of C programs compile, by rule and
//! by structural operator.
//!
//! **Invariant:** every application is counted; a program that cannot be read is
//! listed with its reason, and never left out silently.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use optsleuth_compiler::csmith;
use optsleuth_compiler::llvm::{self, Install};
use optsleuth_compiler::spawn::{Tool, ToolEnd};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::in_words;
use optsleuth_mutate::{Family, Insertion, Mutant, Pool, Program, Rule};
use optsleuth_triage::c_programs::read_c;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde::Serialize;

/// Measure how many mutants of C programs compile, by rule
#[derive(Debug, Args)]
pub(crate) struct Mutants {
    /// Folders with C programs, and everything below them
    #[arg(long, value_name = "FOLDER", num_args = 1..)]
    programs: Vec<PathBuf>,
    /// How many csmith programs on top
    #[arg(long, default_value_t = 0)]
    csmith: u64,
    /// How many applications of each family and each structural operator
    #[arg(long, default_value_t = 1000)]
    applications: usize,
    /// Which LLVM's clang compiles
    #[arg(long, default_value_t = 19)]
    llvm: u32,
    /// Where the random numbers start
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the raw data to this file
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What came of one rule.
#[derive(Clone, Debug, Default, Serialize)]
struct Count {
    applications: usize,
    compile: usize,
    /// Tries on top in which an operator found no place or nothing to insert.
    found_nothing: usize,
}

#[derive(Debug, Serialize)]
struct Measured {
    llvm: String,
    seed: u64,
    n_programs: usize,
    /// Programs that could not be read, and why.
    unread: BTreeMap<String, String>,
    rules: BTreeMap<String, Count>,
    /// What did not compile: program, rule, change, and what clang says.
    broken: Vec<[String; 4]>,
}

/// A program, and what it is compiled with.
struct Subject {
    name: String,
    flags: Vec<String>,
    program: Program,
}

impl Mutants {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let install = llvm::find(self.llvm)?;
        let folder = Workdir::new()?;
        let mut measured = Measured {
            llvm: install.version.clone(),
            seed: self.seed,
            n_programs: 0,
            unread: BTreeMap::new(),
            rules: BTreeMap::new(),
            broken: Vec::new(),
        };
        let subjects = self.subjects(&install, &folder, &mut measured)?;
        ensure!(!subjects.is_empty(), "no program could be read");
        measured.n_programs = subjects.len();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut take = |subject: &Subject, by: &str, made: Option<Mutant>| -> anyhow::Result<()> {
            let count = measured.rules.entry(by.to_owned()).or_default();
            let Some(mutant) = made else {
                count.found_nothing += 1;
                return Ok(());
            };
            count.applications += 1;
            match complaint(&install, &folder, &mutant.text, &subject.flags)? {
                None => count.compile += 1,
                Some(said) => {
                    let what = format!("line {}: {}", mutant.line, mutant.what);
                    measured.broken.push([subject.name.clone(), mutant.by, what, said]);
                }
            }
            Ok(())
        };
        for family in Family::ALL {
            // First a rule, then a program: rare operators count as others do. A
            // rule may have no place in any of them.
            let by_rule: Vec<(Rule, Vec<&Subject>)> = family
                .rules()
                .map(|rule| {
                    let has_place = |subject: &&Subject| subject.program.count(rule) > 0;
                    (rule, subjects.iter().filter(has_place).collect())
                })
                .filter(|(_, fitting): &(Rule, Vec<&Subject>)| !fitting.is_empty())
                .collect();
            for number in 0..self.applications {
                let Some((rule, fitting)) = by_rule.get(number % by_rule.len().max(1)) else {
                    break;
                };
                let Some(subject) = fitting.choose(&mut rng) else { continue };
                take(subject, &rule.name(), subject.program.mutate(*rule, &mut rng))?;
            }
        }
        // What is C only in its old form fits into programs of that form alone.
        let pool_of = |old: bool| {
            let alike = subjects.iter().filter(|subject| subject.flags.is_empty() != old);
            Pool::gather(alike.map(|subject| &subject.program))
        };
        let (pool, old_pool) = (pool_of(false), pool_of(true));
        for insertion in Insertion::ALL {
            for _ in 0..self.applications {
                let Some(subject) = subjects.choose(&mut rng) else { break };
                let pool = if subject.flags.is_empty() { &pool } else { &old_pool };
                let inserted = subject.program.insert(insertion, pool, &|_| true, &mut rng);
                take(subject, insertion.name(), inserted)?;
            }
        }
        if let Some(path) = &self.output {
            let json = serde_json::to_string_pretty(&measured)? + "\n";
            std::fs::write(path, json).with_context(|| format!("{}", path.display()))?;
        }
        print!("{}", table(&measured));
        Ok(())
    }

    fn subjects(
        &self,
        install: &Install,
        folder: &Workdir,
        measured: &mut Measured,
    ) -> anyhow::Result<Vec<Subject>> {
        let mut files = Vec::new();
        for root in &self.programs {
            let label = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for path in c_files(root)? {
                let name = path.strip_prefix(root)?.display().to_string();
                files.push((format!("{label}/{name}"), path));
            }
        }
        for seed in 1..=self.csmith {
            let path = folder.file(&format!("csmith-{seed}.c"));
            csmith::generate(seed, &[], &path)?;
            files.push((format!("csmith --seed {seed}"), path));
        }
        let mut subjects = Vec::new();
        for (name, path) in files {
            // Some programs are older than what clang takes without a word.
            let tries = [Vec::new(), vec!["-std=gnu89".to_owned()]];
            let mut why = String::new();
            let read = tries.into_iter().find_map(|flags| match read_c(install, &path, &flags) {
                Ok(program) => Some((flags, program)),
                Err(error) => {
                    why = in_words(&error);
                    None
                }
            });
            match read {
                Some((flags, program)) => subjects.push(Subject { name, flags, program }),
                None => {
                    measured.unread.insert(name, why);
                }
            }
        }
        Ok(subjects)
    }
}

fn c_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        entries.push(entry?.path());
    }
    entries.sort();
    let mut files = Vec::new();
    for path in entries {
        if path.is_dir() {
            files.extend(c_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "c") {
            files.push(path);
        }
    }
    Ok(files)
}

/// What clang has against a mutant; `None` if it takes it.
fn complaint(
    install: &Install,
    folder: &Workdir,
    text: &str,
    flags: &[String],
) -> anyhow::Result<Option<String>> {
    let source = folder.file("mutant.c");
    std::fs::write(&source, text)?;
    let clang = install.tool("clang").context("no clang")?;
    let tool = Tool::new(clang).args(["-fsyntax-only", "-w"]).args(flags).arg(&source);
    let output = tool.output()?;
    match output.end {
        ToolEnd::Exited(0) => Ok(None),
        ToolEnd::Exited(_) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let error = said.lines().find_map(|line| line.split_once("error: "));
            Ok(Some(error.map_or(String::new(), |(_, what)| what.to_owned())))
        }
        // Says something about clang, and nothing about the mutant.
        end @ (ToolEnd::Signaled(_) | ToolEnd::Timeout) => {
            bail!(
                "clang did not judge a mutant: {end:?}; look at it with `--seed` and fewer programs"
            )
        }
    }
}

/// The figures of every family, and of every rule with a mutant that does not
/// compile.
fn table(measured: &Measured) -> String {
    let share = |count: &Count| match count.applications {
        0 => "-".to_owned(),
        n => format!("{:.2} %", 100.0 * count.compile as f64 / n as f64),
    };
    let row = |name: &str, n_rules: usize, count: &Count| {
        format!(
            "| {name} | {n_rules} | {} | {} | {} | {} |\n",
            count.applications,
            count.compile,
            share(count),
            count.found_nothing
        )
    };
    let mut all = Count::default();
    let mut out = String::from(
        "| family | rules seen | applications | compile | share | found nothing |\n|---|---|---|---|---|---|\n",
    );
    for family in Family::ALL {
        let mut sum = Count::default();
        let mut n_rules = 0;
        for count in family.rules().filter_map(|rule| measured.rules.get(&rule.name())) {
            n_rules += 1;
            sum.applications += count.applications;
            sum.compile += count.compile;
            sum.found_nothing += count.found_nothing;
        }
        all.applications += sum.applications;
        all.compile += sum.compile;
        all.found_nothing += sum.found_nothing;
        out += &row(family.name(), n_rules, &sum);
    }
    for insertion in Insertion::ALL {
        let count = measured.rules.get(insertion.name()).cloned().unwrap_or_default();
        all.applications += count.applications;
        all.compile += count.compile;
        all.found_nothing += count.found_nothing;
        out += &row(insertion.name(), 1, &count);
    }
    out += &row("all", measured.rules.len(), &all);
    let worse = measured.rules.iter().filter(|(_, count)| count.compile < count.applications);
    let worse: Vec<String> = worse
        .map(|(name, count)| format!("`{name}` {} of {}", count.compile, count.applications))
        .collect();
    let less = if worse.is_empty() { "none".to_owned() } else { worse.join(", ") };
    out += &format!("\nRules with a mutant that does not compile: {less}.\n\n");
    let one = |(name, count): (&String, &Count)| {
        format!("`{name}` {}/{}", count.compile, count.applications)
    };
    let by_rule: Vec<String> = measured.rules.iter().map(one).collect();
    out + &format!("By rule, compile / applications: {}.\n", by_rule.join(", "))
}
