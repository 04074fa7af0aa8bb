//! Which unit's optimization makes the check fail, and which function's?
//!
//! ```text
//! as built: fails ┐
//! all at -O0: passes ┴─► units: delta debugging over objects ──► sanitizers
//!                           └──► functions: optimization off for all others ──► IR
//! ```
//! Every question costs the links that the changed objects go into, and one check.
//!
//! **Invariant:** nothing is found guilty unless the check fails with it optimized and
//! everything else not, and passes with nothing optimized. What is found depends on the
//! answers alone, not on time.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::workers::{LlvmChoice, Workers, llvm_of_tool};
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Fault, GuiltyUnit, Limits, OptLevel, Outcome, PROJECT_VERSION, Program, Progress,
    ProjectFinding, SanitizerWord,
};
use optsleuth_search::Minimizer;

use crate::ProjectError;
use crate::faulty::{front_end_flags, llvm_options, object_request, optimizing};
use crate::functions::{defined_functions, without_optimization};
use crate::project::{Project, Unit};
use crate::tree::{Judged, Objects, Tree};

/// What is to be found out.
#[derive(Clone, Debug)]
pub struct GuiltyPlan {
    /// Any command line; status 0 means that the project is right.
    pub check: String,
}

/// The guilty unit's IR, of which a case can be made.
#[derive(Clone, Debug)]
pub struct GuiltyIr {
    /// Which of the project's units.
    pub unit: usize,
    pub llvm: LlvmChoice,
    pub fault: Option<Fault>,
    pub level: OptLevel,
    /// With optimization off for all functions but the guilty ones.
    pub ir: String,
    /// What LLVM is told beside it.
    pub options: Vec<String>,
    /// Units that have to be optimized besides.
    pub beside: Vec<usize>,
    /// What a check may take.
    pub limit: Duration,
}

/// Units that make the check fail by themselves are looked for so many times.
const MAX_CULPRITS: usize = 5;
/// What a sanitizer's report is cut to, in lines.
const SHOWN: usize = 30;

/// Finds the guilty units and functions of a project whose check fails.
pub fn find_guilty(
    project: &Project,
    plan: &GuiltyPlan,
    progress: &dyn Progress,
) -> Result<(ProjectFinding, Option<GuiltyIr>), ProjectError> {
    let begun = Instant::now();
    progress.step("running the check as the project was built");
    let mut tree = Tree::new(project, &plan.check);
    let Judged::Fails(what) = tree.judge(&Objects::new())? else {
        return Err(ProjectError::NothingFails);
    };
    progress.step("compiling without optimization");
    project.compile_unoptimized(progress)?;
    progress.step("running the check without optimization");
    let mut search = Search { project, tree, progress, known: BTreeMap::new() };
    let passing = Instant::now();
    if let Judged::Fails(what) = search.judge(&BTreeSet::new())? {
        return Err(ProjectError::FailsUnoptimized(what));
    }
    search.tree.limit_by(passing.elapsed());
    let everything: BTreeSet<usize> = (0..project.units.len()).collect();
    if search.judge(&everything)? == Judged::Passes {
        let what = "as built, it failed once and passed another time".to_owned();
        return Err(ProjectError::Unstable(what));
    }
    let mut finding = ProjectFinding {
        version: PROJECT_VERSION,
        project: project.head.dir.display().to_string(),
        check: plan.check.clone(),
        what: format!("the check {what}"),
        n_units: project.units.len(),
        units: Vec::new(),
        several: Vec::new(),
        sanitizers: None,
        links: 0,
        checks: 0,
        seconds: 0.0,
        notes: Vec::new(),
    };
    progress.step("looking for the guilty unit");
    let guilty = search.minimal(&everything)?;
    finding.several = search.others(&everything, &guilty)?;
    for &number in &guilty {
        finding.units.push(GuiltyUnit::new(project.name(&project.units[number])));
    }
    progress.step("asking sanitizers about the guilty unit");
    match search.sanitizers(&guilty) {
        Ok(said) => finding.sanitizers = said,
        Err(error) => finding.notes.push(format!("sanitizers could not be asked: {error}")),
    }
    let mut ir = None;
    if let Some(&last) = guilty.last() {
        let beside: BTreeSet<usize> = guilty.iter().copied().filter(|&unit| unit != last).collect();
        match search.functions(last, &beside)? {
            Ok((found, functions, n_functions)) => {
                if let Some(unit) = finding.units.last_mut() {
                    (unit.functions, unit.n_functions) = (functions, Some(n_functions));
                    unit.level = Some(found.level.name().to_owned());
                }
                ir = Some(found);
            }
            Err(why) => finding.notes.push(why),
        }
    }
    search.tree.install(&Objects::new())?;
    (finding.links, finding.checks) = (search.tree.n_links, search.tree.n_checks);
    finding.seconds = begun.elapsed().as_secs_f64();
    Ok((finding, ir))
}

struct Search<'a> {
    project: &'a Project,
    tree: Tree<'a>,
    progress: &'a dyn Progress,
    /// What was asked already: the units that are optimized, and the verdict.
    known: BTreeMap<BTreeSet<usize>, Judged>,
}

/// A unit's IR with its guilty functions, which those are, and how many it has. Or why
/// it cannot be looked into.
type Functions = Result<(GuiltyIr, Vec<String>, usize), String>;

impl Search<'_> {
    /// What the check says where these are as built and the others unoptimized.
    fn judge(&mut self, optimized: &BTreeSet<usize>) -> Result<Judged, ProjectError> {
        if let Some(known) = self.known.get(optimized) {
            return Ok(known.clone());
        }
        let objects = self.project.unoptimized_but(|number| optimized.contains(&number))?;
        let judged = self.tree.judge(&objects)?;
        self.known.insert(optimized.clone(), judged.clone());
        Ok(judged)
    }

    /// Units of which none can be left out, so that the check fails.
    fn minimal(&mut self, from: &BTreeSet<usize>) -> Result<BTreeSet<usize>, ProjectError> {
        let from: Vec<usize> = from.iter().copied().collect();
        let chosen = |kept: &[usize]| kept.iter().map(|&place| from[place]).collect();
        let mut minimizer = Minimizer::new(from.len());
        while !minimizer.is_done() {
            let asked = minimizer.ask(1);
            let fails = match asked.first() {
                Some(kept) => self.judge(&chosen(kept))? != Judged::Passes,
                None => false,
            };
            minimizer.tell(&[fails]);
            self.progress.count(from.len() - minimizer.kept().len(), from.len());
        }
        Ok(chosen(minimizer.kept()))
    }

    /// Units that make the check fail without the guilty ones.
    fn others(
        &mut self,
        everything: &BTreeSet<usize>,
        guilty: &BTreeSet<usize>,
    ) -> Result<Vec<Vec<String>>, ProjectError> {
        let mut left: BTreeSet<usize> = everything.difference(guilty).copied().collect();
        let mut found = Vec::new();
        while found.len() < MAX_CULPRITS && self.judge(&left)? != Judged::Passes {
            let next = self.minimal(&left)?;
            left.retain(|unit| !next.contains(unit));
            let name = |&unit: &usize| self.project.name(&self.project.units[unit]);
            found.push(next.iter().map(name).collect());
        }
        Ok(found)
    }

    /// What sanitizers say about the guilty units, which alone are compiled with them,
    /// and not optimized: a compiler that is wrong must not be taken for a program that
    /// is.
    fn sanitizers(
        &mut self,
        guilty: &BTreeSet<usize>,
    ) -> Result<Option<SanitizerWord>, ProjectError> {
        let folder = Workdir::new()?;
        let mut objects = self.project.unoptimized_but(|_| false)?;
        let flags = ["-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
        for &number in guilty {
            let (unit, object) = (&self.project.units[number], folder.file("sanitized.o"));
            self.project.compile(unit, &flags.map(str::to_owned), &object)?;
            objects.insert(number, fs::read(&object)?);
        }
        let log = folder.file("log");
        fs::create_dir(&log)?;
        let (judged, written) = self.tree.judge_sanitized(&objects, &log)?;
        Ok(match (judged, written.is_empty()) {
            (_, false) => {
                let lines: Vec<&str> = written.lines().filter(|line| !line.is_empty()).collect();
                Some(SanitizerWord { text: lines[..lines.len().min(SHOWN)].join("\n") })
            }
            (Judged::Passes, true) => None,
            // Perhaps it does not bear sanitizers; that is no word about the program.
            (Judged::Fails(_), true) => None,
        })
    }

    /// The functions of a unit that have to be optimized, so that the check fails.
    fn functions(
        &mut self,
        number: usize,
        beside: &BTreeSet<usize>,
    ) -> Result<Functions, ProjectError> {
        let unit = &self.project.units[number];
        let name = self.project.name(unit);
        let Some(level) = optimizing(&unit.command.args) else {
            return Ok(Err(format!("{name} is not compiled with optimization")));
        };
        if !is_clang(unit) {
            return Ok(Err(format!("{name} is not compiled by clang: no function is looked for")));
        }
        let folder = Workdir::new()?;
        let file = folder.file("unit.ll");
        let flags = [front_end_flags(), vec!["-S".to_owned()]].concat();
        self.project.compile(unit, &flags, &file)?;
        let whole = fs::read_to_string(&file)?;
        let fault: Option<Fault> = match &self.project.head.fault {
            Some(text) => Some(text.parse().map_err(CaseError::from)?),
            None => None,
        };
        let llvm = match &self.project.head.llvm {
            Some(config) => LlvmChoice::Config(config.clone()),
            None => llvm_of_tool(&unit.command.program)?,
        };
        let (targets, flavor, one) = (Targets::Native, Flavor::Plain, NonZero::new(1));
        let workers = match &fault {
            Some(fault) => {
                Workers::set_up_faulty(&llvm, fault, targets, flavor, one, self.progress)?
            }
            None => Workers::set_up(&llvm, targets, flavor, one, self.progress)?,
        };
        let options = llvm_options(level, &unit.command.args);
        let mut trial = Trial { workers, level, options, number, beside: beside.clone() };
        if !self.fails_with(&mut trial, &whole)? {
            let why = format!(
                "a worker's object of {name} does not make the check fail: no function is looked for"
            );
            return Ok(Err(why));
        }
        self.progress.step("looking for the guilty function");
        let functions = defined_functions(&whole);
        let mut minimizer = Minimizer::new(functions.len());
        while !minimizer.is_done() {
            let asked = minimizer.ask(1);
            let fails = match asked.first() {
                Some(kept) => {
                    let kept = kept.iter().map(|&place| functions[place]).collect();
                    self.fails_with(&mut trial, &without_optimization(&whole, &kept))?
                }
                None => false,
            };
            minimizer.tell(&[fails]);
            self.progress.count(functions.len() - minimizer.kept().len(), functions.len());
        }
        let kept: Vec<&str> = minimizer.kept().iter().map(|&place| functions[place]).collect();
        // What fails with no function optimized at all is not told apart by them.
        let ir = match kept.is_empty() {
            true => whole.clone(),
            false => without_optimization(&whole, &kept.iter().copied().collect()),
        };
        let (options, beside) = (trial.options, beside.iter().copied().collect());
        let limit = self.tree.limit;
        let found = GuiltyIr { unit: number, llvm, fault, level, ir, options, beside, limit };
        let names = kept.into_iter().map(str::to_owned).collect();
        Ok(Ok((found, names, functions.len())))
    }

    /// Whether the check fails with what a worker makes of the unit's IR. What cannot
    /// be compiled says nothing about the check, and counts as passing.
    fn fails_with(&mut self, trial: &mut Trial, ir: &str) -> Result<bool, ProjectError> {
        let Some(object) = trial.object(ir)? else { return Ok(false) };
        let beside = &trial.beside;
        let mut objects = self.project.unoptimized_but(|number| beside.contains(&number))?;
        objects.insert(trial.number, object);
        Ok(self.tree.judge(&objects)? != Judged::Passes)
    }
}

/// A worker that makes objects of a unit.
struct Trial {
    workers: Workers,
    level: OptLevel,
    options: Vec<String>,
    number: usize,
    beside: BTreeSet<usize>,
}

impl Trial {
    fn object(&mut self, ir: &str) -> Result<Option<Vec<u8>>, ProjectError> {
        let program = Program { name: "unit.ll".to_owned(), ir: ir.as_bytes().to_vec() };
        self.workers.pool.load(&program, &self.options, Limits::STANDARD)?;
        let request = object_request(&self.workers, self.level)?;
        let run = self.workers.pool.first().run(&request)?;
        Ok(matches!(run.outcome, Outcome::Ok(_)).then_some(run.emitted))
    }
}

fn is_clang(unit: &Unit) -> bool {
    unit.command.program.file_name().is_some_and(|name| name.to_string_lossy().contains("clang"))
}
