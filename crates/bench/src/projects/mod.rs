//! `cargo xtask projects`: real projects, built by a clang that is broken on purpose.
//! Does triage find what is broken?
//!
//! ```text
//! source package ──► recorded build ──► nothing fails
//!                          │ units with a broken LLVM, fault after fault
//!                          ▼
//!                    its check fails ──► built anew with the fault ──► triage ──► a row
//! ```
//! What is measured is what a user would type: `optsleuth build` and `optsleuth triage`.
//!
//! **Invariant:** which faults are tried, and in which order, depends on the seed, the LLVM
//! and the project alone. What was measured is in the output before the next fault is
//! tried.

mod recipes;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::llvm::{FaultyBuilder, Flavor, Targets};
use optsleuth_compiler::source_package;
use optsleuth_compiler::spawn::{Tool, ToolEnd, ToolOutput};
use optsleuth_model::{Fault, Localization, Outcome, Progress, Silent, Truth};
use optsleuth_project::{Objects, Project, UnitProgram};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::BenchError;
use crate::plant::baseline::Baseline;
pub use recipes::{RECIPES, Recipe};

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct ProjectsPlan {
    pub llvm: u32,
    /// Where the random numbers start.
    pub seed: u64,
    /// Only these packages; all if empty.
    pub packages: Vec<String>,
    /// How many faults that break its check a project gets.
    pub per_project: usize,
    /// So many faults are tried at most.
    pub tries: usize,
    /// For each triage.
    pub budget: Duration,
    /// Trees, records and cases, which take up room; what is there is used again.
    pub work: PathBuf,
    /// Where the figures go.
    pub output: PathBuf,
    /// The program that is measured.
    pub optsleuth: PathBuf,
}

/// The file with the figures.
pub const FIGURES: &str = "projects.json";
/// Parts of LLVM whose wrong decisions show in programs rather than in crashes, as far as
/// is known; in the others, some hundred faults broke no check.
const TELLING: [&str; 24] = [
    "BasicAliasAnalysis",
    "ConstantFolding",
    "ConstraintElimination",
    "CorrelatedValuePropagation",
    "DeadStoreElimination",
    "DemandedBits",
    "EarlyCSE",
    "GVN",
    "IndVarSimplify",
    "InstCombine",
    "InstructionSimplify",
    "LICM",
    "LoopUnroll",
    "LoopVectorize",
    "MemCpyOptimizer",
    "MemoryDependenceAnalysis",
    "MemorySSA",
    "Reassociate",
    "SCCPSolver",
    "SROA",
    "ScalarEvolution",
    "SimplifyCFG",
    "SLPVectorizer",
    "ValueTracking",
];
/// Builds take minutes.
const LONG: Duration = Duration::from_secs(3600);
/// Builds are timed so many times, with us and without us in turn.
const ROUNDS: usize = 3;

/// Everything that was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    pub llvm: String,
    pub projects: Vec<ProjectFigures>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProjectFigures {
    pub package: String,
    /// As it was unpacked: with the version.
    pub folder: String,
    pub n_units: usize,
    /// What triage says of the build without a fault.
    pub without_fault: String,
    /// Seconds of the build without us, and recorded.
    pub plain_build: Vec<f64>,
    pub recorded_build: Vec<f64>,
    /// Faults that change no object, with which a unit does not compile, and with which
    /// the check passes.
    pub no_effect: usize,
    pub not_compiled: usize,
    pub harmless: usize,
    /// Those with which it fails.
    pub broken: Vec<Broken>,
}

/// A fault with which a project's check fails.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Broken {
    pub fault: String,
    /// The file and function of LLVM that are broken.
    pub file: String,
    pub function: String,
    pub found: Found,
}

/// What triage said.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Found {
    pub exit: Option<i32>,
    pub units: Vec<String>,
    pub functions: Vec<String>,
    pub guilty: Option<String>,
    pub files: Vec<String>,
    pub file_rank: Option<usize>,
    pub function_rank: Option<usize>,
    pub links: u64,
    pub checks: u64,
    /// Until the unit and the function were known.
    pub search_seconds: f64,
    /// All of `optsleuth triage`.
    pub seconds: f64,
    pub notes: Vec<String>,
    /// What it said where it gave up.
    pub complaint: Option<String>,
}

/// Measures one project after the other.
pub fn measure_projects(
    plan: &ProjectsPlan,
    progress: &dyn Progress,
) -> Result<Figures, BenchError> {
    let file = plan.output.join(FIGURES);
    fs::create_dir_all(&plan.output)?;
    let mut figures: Figures = match fs::read(&file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(std::io::Error::from)?,
        Err(_) => Figures::default(),
    };
    figures.llvm = LlvmChoice::Version(plan.llvm).find()?.version;
    let is_asked = |recipe: &&Recipe| {
        plan.packages.is_empty() || plan.packages.iter().any(|name| name == recipe.package)
    };
    for recipe in RECIPES.iter().filter(is_asked) {
        if figures.projects.iter().any(|known| known.package == recipe.package) {
            continue;
        }
        let measuring = Measuring { plan, recipe, progress };
        let mut so_far = figures.clone();
        let found = measuring.measure(&mut |found: &ProjectFigures| {
            so_far.projects.retain(|known| known.package != found.package);
            so_far.projects.push(found.clone());
            let text = serde_json::to_string_pretty(&so_far).map_err(std::io::Error::from)?;
            Ok(fs::write(&file, text + "\n")?)
        })?;
        figures.projects.push(found);
    }
    Ok(figures)
}

struct Measuring<'a> {
    plan: &'a ProjectsPlan,
    recipe: &'a Recipe,
    progress: &'a dyn Progress,
}

impl Measuring<'_> {
    fn place(&self, name: &str) -> PathBuf {
        self.plan.work.join(self.recipe.package).join(name)
    }

    /// The source as the distribution has it, with its patches.
    fn source(&self) -> Result<PathBuf, BenchError> {
        let folder = self.place("source");
        if !folder.is_dir() {
            self.progress.step(&format!("fetching {}", self.recipe.package));
            let part = self.place("source.part");
            let _ = fs::remove_dir_all(&part);
            fs::create_dir_all(&part)?;
            source_package::unpack(self.recipe.package, &part)?;
            fs::rename(part, &folder)?;
        }
        let folders = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
        let tree = folders.into_iter().find(|path| path.is_dir());
        let none = || std::io::Error::other(format!("{} is empty", folder.display()));
        Ok(tree.ok_or_else(none)?)
    }

    /// A tree that is ready to be built.
    fn tree(&self, name: &str) -> Result<PathBuf, BenchError> {
        let (source, tree) = (self.source()?, self.place(name));
        let _ = fs::remove_dir_all(&tree);
        Tool::new("cp").arg("-a").arg(source).arg(&tree).check()?;
        self.shell(&tree, self.recipe.prepare).check()?;
        Ok(tree)
    }

    fn shell(&self, tree: &Path, line: &str) -> Tool {
        Tool::new("sh").args(["-c", line]).directory(tree).time(LONG).memory(u64::MAX)
    }

    /// A recorded build of a fresh tree: where its record lies, and how long it took.
    fn build(&self, name: &str, more: &[String]) -> Result<(PathBuf, ToolOutput), BenchError> {
        let (tree, record) = (self.tree(name)?, self.place(&format!("{name}.project")));
        let _ = fs::remove_dir_all(&record);
        let tool = Tool::new(&self.plan.optsleuth).arg("build").args(more).arg("-o").arg(&record);
        let tool = tool.args(["--", "sh", "-c", self.recipe.build]);
        let output = tool.directory(&tree).time(LONG).memory(u64::MAX).output()?;
        Ok((record, output))
    }

    /// The project as the real LLVM builds it.
    fn without_fault(&self) -> Result<(Project, ProjectFigures), BenchError> {
        self.progress.step(&format!("building {}", self.recipe.package));
        let (mut plain_build, mut recorded_build) = (Vec::new(), Vec::new());
        let mut record = PathBuf::new();
        let llvm = ["--llvm".to_owned(), self.plan.llvm.to_string()];
        for _ in 0..ROUNDS {
            let tree = self.tree("plain")?;
            let tool = self.shell(&tree, self.recipe.build);
            // The same clang, under the names that the build uses.
            let bin = self.clang_as_cc()?;
            let path = std::env::var("PATH").unwrap_or_default();
            let tool = tool
                .env("PATH", format!("{}:{path}", bin.display()))
                .env("CC", bin.join("cc"))
                .env("CXX", bin.join("c++"));
            plain_build.push(tool.check()?.wall.as_secs_f64());
            let (place, output) = self.build("tree", &llvm)?;
            recorded_build.push(output.wall.as_secs_f64());
            record = place;
        }
        let project = Project::open(&record)?;
        let output = self.triage(&record, &self.place("no-case"))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let without_fault = match output.end {
            ToolEnd::Exited(6) => "nothing fails".to_owned(),
            other => format!("{other:?}: {said}"),
        };
        let folder = self.source()?.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let figures = ProjectFigures {
            package: self.recipe.package.to_owned(),
            folder,
            n_units: project.units.len(),
            without_fault,
            plain_build,
            recorded_build,
            no_effect: 0,
            not_compiled: 0,
            harmless: 0,
            broken: Vec::new(),
        };
        Ok((project, figures))
    }

    /// A folder in which cc and c++ are this clang.
    fn clang_as_cc(&self) -> Result<PathBuf, BenchError> {
        let bin = self.place("bin");
        fs::create_dir_all(&bin)?;
        let install = self.llvm().find()?;
        for (names, tool) in [(["cc", "gcc"], "clang"), (["c++", "g++"], "clang++")] {
            let real = install.tool(tool);
            for (name, real) in names.iter().zip(std::iter::repeat(real)) {
                let link = bin.join(name);
                if let Some(real) = real.filter(|_| !link.exists()) {
                    fs::os::unix::fs::symlink(real, link)?;
                }
            }
        }
        Ok(bin)
    }

    fn triage(&self, record: &Path, case: &Path) -> Result<ToolOutput, BenchError> {
        let budget = format!("{}s", self.plan.budget.as_secs());
        let tool = Tool::new(&self.plan.optsleuth).arg("triage").arg(record);
        let tool = tool.args(["--check", self.recipe.check, "--json", "--force", "--zoom", "off"]);
        let tool = tool.args(["--budget", &budget, "-o"]).arg(case);
        Ok(tool.directory(&self.plan.work).time(LONG).memory(u64::MAX).output()?)
    }

    fn llvm(&self) -> LlvmChoice {
        LlvmChoice::Version(self.plan.llvm)
    }

    fn measure(
        &self,
        save: &mut dyn FnMut(&ProjectFigures) -> Result<(), BenchError>,
    ) -> Result<ProjectFigures, BenchError> {
        let (project, mut figures) = self.without_fault()?;
        let units = project.unit_programs()?;
        let (baseline, rights) = self.baseline(&units)?;
        let mut candidates = baseline.candidates(self.plan.seed, None);
        candidates.retain(|(component, _)| TELLING.contains(&component.as_str()));
        let builder = FaultyBuilder::new(&self.llvm().find()?, Targets::Native, &mut |_| ())?;
        for (number, (component, candidate)) in candidates.iter().enumerate() {
            let enough = figures.broken.len() >= self.plan.per_project;
            if enough || number >= self.plan.tries || self.progress.stop_requested() {
                break;
            }
            let fault = baseline.fault(*candidate, self.plan.seed, number)?;
            let Some(fault) = fault else { continue };
            let n_broken = figures.broken.len();
            let step = format!(
                "{}: fault {number}, {n_broken} break it · {component}",
                self.recipe.package
            );
            self.progress.step(&step);
            let reaching = units.iter().zip(&rights).enumerate();
            let programs = baseline.programs_of(*candidate);
            let reaching = reaching.filter(|(place, _)| programs.contains(place));
            let reaching: Vec<_> = reaching.map(|(_, unit)| unit).collect();
            match self.objects(&builder, &fault, &reaching)? {
                None => figures.not_compiled += 1,
                Some(objects) if objects.is_empty() => figures.no_effect += 1,
                Some(objects) if !project.breaks(&objects, self.recipe.check)? => {
                    figures.harmless += 1;
                }
                Some(_) => match self.triage_fault(&fault, &baseline.truth(*candidate))? {
                    Some(broken) => figures.broken.push(broken),
                    None => figures.not_compiled += 1,
                },
            }
            save(&figures)?;
        }
        Ok(figures)
    }

    /// What the real LLVM does with every unit: which blocks it executes, and the object.
    fn baseline(&self, units: &[UnitProgram]) -> Result<(Baseline, Vec<Vec<u8>>), BenchError> {
        let (targets, flavor) = (Targets::Native, Flavor::Covered);
        let mut covered =
            Workers::set_up(&self.llvm(), targets, flavor, NonZero::new(1), self.progress)?;
        let mut plain =
            Workers::set_up(&self.llvm(), targets, Flavor::Plain, NonZero::new(1), self.progress)?;
        let (mut runs, mut objects) = (Vec::new(), Vec::new());
        for unit in units {
            runs.push(unit.run(&mut covered, true)?.coverage.unwrap_or_default());
            objects.push(unit.run(&mut plain, false)?.emitted);
        }
        Ok((Baseline::of_runs(covered.provisioned.code_map()?, runs), objects))
    }

    /// Objects that are not what they should be; `None` where a unit does not compile.
    fn objects(
        &self,
        builder: &FaultyBuilder,
        fault: &Fault,
        units: &[(&UnitProgram, &Vec<u8>)],
    ) -> Result<Option<Objects>, BenchError> {
        let provisioned = builder.build(fault, Flavor::Plain, &mut |_| ())?;
        let started = Workers::start(provisioned, NonZero::new(1), &Silent);
        // Broken on purpose, it may not even start.
        let Ok(mut faulty) = started else { return Ok(None) };
        let mut objects = Objects::new();
        for (unit, right) in units {
            match unit.run(&mut faulty, false) {
                Ok(run) if !matches!(run.outcome, Outcome::Ok(_)) => return Ok(None),
                Ok(run) if run.emitted != **right => {
                    objects.insert(unit.number, run.emitted);
                }
                Ok(_) => {}
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(objects))
    }

    /// The whole way of a user whose compiler has this fault; `None` if it does not build.
    fn triage_fault(&self, fault: &Fault, truth: &Truth) -> Result<Option<Broken>, BenchError> {
        let more = ["--llvm".to_owned(), self.plan.llvm.to_string()];
        let more = [&more[..], &["--fault".to_owned(), fault.to_string()]].concat();
        let (record, output) = self.build("broken", &more)?;
        if output.end != ToolEnd::Exited(0) {
            return Ok(None);
        }
        let begun = Instant::now();
        let case = self.place("case");
        let output = self.triage(&record, &case)?;
        let found = found(&output, &case, truth, begun.elapsed().as_secs_f64());
        let (file, function) = (truth.files.concat(), truth.functions.concat());
        Ok(Some(Broken { fault: fault.to_string(), file, function, found }))
    }
}

/// What triage said, as far as it is compared.
fn found(output: &ToolOutput, case: &Path, truth: &Truth, seconds: f64) -> Found {
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let texts = |value: &Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten();
        all.filter_map(|one| one.as_str().map(str::to_owned)).collect()
    };
    let units = said["units"].as_array().cloned().unwrap_or_default();
    let ranking = fs::read(case.join("localize/culprit.json")).ok();
    let ranking: Option<Localization> =
        ranking.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let file_rank = ranking.as_ref().and_then(|found| {
        found.files.iter().find(|file| truth.files.contains(&file.path)).map(|file| file.rank)
    });
    let function_rank = ranking.as_ref().and_then(|found| {
        let is_true = |name: &str| truth.functions.iter().any(|own| name.starts_with(own.as_str()));
        found.functions.iter().find(|one| is_true(&one.name)).map(|one| one.rank)
    });
    Found {
        exit: match output.end {
            ToolEnd::Exited(status) => Some(status),
            ToolEnd::Signaled(_) | ToolEnd::Timeout => None,
        },
        units: units.iter().filter_map(|unit| unit["name"].as_str().map(str::to_owned)).collect(),
        functions: units.iter().flat_map(|unit| texts(&unit["functions"])).collect(),
        guilty: said["triage"]["guilty"].as_str().map(str::to_owned),
        files: texts(&said["triage"]["files"]),
        file_rank,
        function_rank,
        links: said["links"].as_u64().unwrap_or_default(),
        checks: said["checks"].as_u64().unwrap_or_default(),
        search_seconds: said["seconds"].as_f64().unwrap_or_default(),
        seconds,
        notes: [texts(&said["notes"]), texts(&said["triage"]["notes"])].concat(),
        complaint: said
            .is_null()
            .then(|| String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
