//! Which unit's optimization makes the check fail, and which function's?
//!
//! ```text
//! as built: fails ┐
//! all at -O0: passes ┴─► units: delta debugging over objects ──► sanitizers
//!                           └──► functions: optimization off for all others ──► IR
//!                                (of a gcc: its preprocessed source)
//! ```
//! Every question costs the links that the changed objects go into, and one check.
//!
//! **Invariant:** nothing is found guilty unless the check fails with it optimized and
//! everything else not, and passes with nothing optimized. What is found depends on the
//! answers alone, not on time.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::workers::{LlvmChoice, Workers, llvm_of_tool};
use optsleuth_compiler::driver::{Compiled, Driver, Family};
use optsleuth_compiler::llvm::{Flavor, Targets, demangle};
use optsleuth_compiler::sanitize::is_finding;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Answer, Checker, Fault, GuiltyUnit, Limits, Objection, ObjectionKind, OptLevel, Outcome,
    PROJECT_VERSION, Progress, ProjectFinding, Said, SanitizerWord, in_words, is_cxx,
};
use optsleuth_search::Minimizer;

use crate::ProjectError;
use crate::command::{without_inputs, without_preprocessing};
use crate::faulty::{UnitProgram, optimizing};
use crate::functions::{defined_functions, without_optimization};
use crate::project::{Project, Unit};
use crate::tree::{Judged, Objects, Tree};

/// What is to be found out.
#[derive(Clone, Debug)]
pub struct GuiltyPlan {
    /// Any command line; status 0 means that the project is right.
    pub check: String,
}

/// The guilty unit's code, of which a case can be made.
#[derive(Clone, Debug)]
pub struct GuiltyCode {
    /// Which of the project's units.
    pub unit: usize,
    pub level: OptLevel,
    /// Units that have to be optimized besides.
    pub beside: Vec<usize>,
    /// What a check may take.
    pub limit: Duration,
    pub form: CodeForm,
}

/// What the compiler gets of the guilty unit.
#[derive(Clone, Debug)]
pub enum CodeForm {
    /// IR, with optimization off for all functions but the guilty ones; and what LLVM is
    /// told beside it.
    Ir { llvm: LlvmChoice, fault: Option<Fault>, ir: String, options: Vec<String> },
    /// Preprocessed source for a gcc, and its flags.
    Source { gcc: PathBuf, is_cxx: bool, text: Vec<u8>, flags: Vec<String> },
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
) -> Result<(ProjectFinding, Option<GuiltyCode>), ProjectError> {
    let begun = Instant::now();
    progress.step("running the check as the project was built");
    let mut tree = Tree::new(project, &plan.check, progress);
    let Judged::Fails(what) = tree.judge(&Objects::new())? else {
        return Err(ProjectError::NothingFails);
    };
    progress.step("compiling without optimization");
    project.compile_unoptimized(progress)?;
    progress.step("running the check without optimization");
    let mut search = Search { project, tree, progress, known: BTreeMap::new() };
    let passing = Instant::now();
    if let Judged::Fails(what) = search.tree.judge(&project.unoptimized_but(|_| false)?)? {
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
        asked: Answer {
            who: Checker::ProjectSanitizers,
            by: None,
            said: Said::NoVerdict("they were not asked".to_owned()),
        },
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
        Ok(Sanitized::Objects(word)) => {
            let what = word.text.lines().next().unwrap_or_default();
            let objection = Objection::new(ObjectionKind::Undefined, what);
            finding.asked.said = Said::Objects(objection);
            finding.sanitizers = Some(word);
        }
        Ok(Sanitized::NothingFound) => finding.asked.said = Said::NothingFound,
        Ok(Sanitized::NoVerdict(why)) => finding.asked.said = Said::NoVerdict(why),
        Err(error) => finding.asked.said = Said::NoVerdict(in_words(&error)),
    }
    let mut code = None;
    if let Some(&last) = guilty.last() {
        let beside: BTreeSet<usize> = guilty.iter().copied().filter(|&unit| unit != last).collect();
        match search.code(last, &beside)? {
            Ok(Narrowed { code: found, functions }) => {
                if let Some(unit) = finding.units.last_mut() {
                    unit.level = Some(found.level.name().to_owned());
                    if let Some((names, of)) = functions {
                        (unit.functions, unit.n_functions) = (names, Some(of));
                    }
                }
                code = Some(found);
            }
            Err(why) => finding.notes.push(why),
        }
    }
    search.tree.install(&Objects::new())?;
    (finding.links, finding.checks) = (search.tree.n_links, search.tree.n_checks);
    finding.seconds = begun.elapsed().as_secs_f64();
    Ok((finding, code))
}

struct Search<'a> {
    project: &'a Project,
    tree: Tree<'a>,
    progress: &'a dyn Progress,
    /// What was asked already: the units that are optimized, and the verdict.
    known: BTreeMap<BTreeSet<usize>, Judged>,
}

impl Search<'_> {
    /// What the check says where these are as built and the others unoptimized. What does
    /// not link says nothing about the check, and counts as passing.
    fn judge(&mut self, optimized: &BTreeSet<usize>) -> Result<Judged, ProjectError> {
        if let Some(known) = self.known.get(optimized) {
            return Ok(known.clone());
        }
        let objects = self.project.unoptimized_but(|number| optimized.contains(&number))?;
        let judged = match self.tree.judge(&objects) {
            Err(ProjectError::DoesNotLink(_)) => Judged::Passes,
            other => other?,
        };
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
    fn sanitizers(&mut self, guilty: &BTreeSet<usize>) -> Result<Sanitized, ProjectError> {
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
        Ok(match judged {
            _ if is_finding(&written) => {
                let lines: Vec<&str> = written.lines().filter(|line| !line.is_empty()).collect();
                let text = lines[..lines.len().min(SHOWN)].join("\n");
                Sanitized::Objects(SanitizerWord { text })
            }
            Judged::Passes => Sanitized::NothingFound,
            // Perhaps it does not bear sanitizers; that is no word about the program.
            Judged::Fails(what) => {
                let what = format!("with them, the check {what}");
                let complaint = written.lines().find(|line| !line.trim().is_empty());
                Sanitized::NoVerdict(complaint.map_or(what, str::to_owned))
            }
        })
    }

    /// What a case of a unit needs; for LLVM with the functions that have to be
    /// optimized. Why there is none, where there is none.
    fn code(
        &mut self,
        number: usize,
        beside: &BTreeSet<usize>,
    ) -> Result<Result<Narrowed, String>, ProjectError> {
        let project = self.project;
        let unit = &project.units[number];
        let name = project.name(unit);
        let Some(level) = optimizing(&unit.command.args) else {
            return Ok(Err(format!("{name} is not compiled with optimization")));
        };
        let compiler = unit.command.program.display().to_string();
        match Driver::find(&compiler).map(|driver| driver.family) {
            Ok(Family::Clang) => self.functions(unit, &name, level, beside),
            Ok(Family::Gcc) => self.gcc_source(unit, &name, level, beside),
            Err(error) => Ok(Err(format!("{name}: no pass is looked for: {error}"))),
        }
    }

    /// A unit of gcc, preprocessed.
    fn gcc_source(
        &mut self,
        unit: &Unit,
        name: &str,
        level: OptLevel,
        beside: &BTreeSet<usize>,
    ) -> Result<Result<Narrowed, String>, ProjectError> {
        let is_cxx = is_cxx(&unit.source);
        let folder = Workdir::new()?;
        let ending = if is_cxx { "cpp" } else { "c" };
        let (source, object) = (folder.file(&format!("unit.{ending}")), folder.file("unit.o"));
        self.project.compile(unit, &["-E".to_owned()], &source)?;
        let flags = without_preprocessing(&without_inputs(&unit.command.args));
        let gcc = Driver::find(&unit.command.program.display().to_string())?;
        let alone = [&flags[..], &["-c".to_owned()]].concat();
        let compiled = gcc.compile(&source, level, &alone, &object, Limits::STANDARD)?;
        let whole = match compiled {
            Compiled::Program => fs::read(&object)?,
            Compiled::Refused(why) => {
                return Ok(Err(format!("gcc does not take {name}, preprocessed: {why}")));
            }
            Compiled::Crash(_) | Compiled::Hang | Compiled::Memory => {
                return Ok(Err(format!("gcc fails on {name}, preprocessed, and not in the build")));
            }
        };
        if !self.fails_with(unit.number, beside, whole)? {
            let why = format!("{name}, compiled by itself, does not make the check fail");
            return Ok(Err(why));
        }
        let form = CodeForm::Source { gcc: gcc.path, is_cxx, text: fs::read(&source)?, flags };
        Ok(Ok(Narrowed { code: self.guilty_code(unit, level, beside, form), functions: None }))
    }

    fn guilty_code(
        &self,
        unit: &Unit,
        level: OptLevel,
        beside: &BTreeSet<usize>,
        form: CodeForm,
    ) -> GuiltyCode {
        let (beside, limit) = (beside.iter().copied().collect(), self.tree.limit);
        GuiltyCode { unit: unit.number, level, beside, limit, form }
    }

    /// The IR of a unit, and its functions that have to be optimized, so that the check
    /// fails.
    fn functions(
        &mut self,
        unit: &Unit,
        name: &str,
        level: OptLevel,
        beside: &BTreeSet<usize>,
    ) -> Result<Result<Narrowed, String>, ProjectError> {
        let program = self.project.unit_program(unit, level)?;
        let whole = program.ir.clone();
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
        let mut trial = Trial { workers, program, beside };
        if !self.fails_as(&mut trial, whole.clone())? {
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
                    self.fails_as(&mut trial, without_optimization(&whole, &kept))?
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
        let form = CodeForm::Ir { llvm, fault, ir, options: trial.program.options };
        let names = kept.into_iter().map(demangle).collect();
        let code = self.guilty_code(unit, level, beside, form);
        Ok(Ok(Narrowed { code, functions: Some((names, functions.len())) }))
    }

    /// Whether the check fails with what a worker makes of the unit's IR. What cannot
    /// be compiled says nothing about the check, and counts as passing.
    fn fails_as(&mut self, trial: &mut Trial<'_>, ir: String) -> Result<bool, ProjectError> {
        trial.program.ir = ir;
        let run = trial.program.run(&mut trial.workers, false)?;
        match run.outcome {
            Outcome::Ok(_) => self.fails_with(trial.program.number, trial.beside, run.emitted),
            _ => Ok(false),
        }
    }

    /// Whether the check fails with this object of a unit. With one that does not link, it
    /// does not.
    fn fails_with(
        &mut self,
        number: usize,
        beside: &BTreeSet<usize>,
        object: Vec<u8>,
    ) -> Result<bool, ProjectError> {
        let mut objects = self.project.unoptimized_but(|number| beside.contains(&number))?;
        objects.insert(number, object);
        match self.tree.judge(&objects) {
            Err(ProjectError::DoesNotLink(_)) => Ok(false),
            other => Ok(other? != Judged::Passes),
        }
    }
}

/// What sanitizers say of the guilty units.
enum Sanitized {
    Objects(SanitizerWord),
    NothingFound,
    /// The check fails, and they found nothing: what they said, else how it ended.
    NoVerdict(String),
}

/// What was found out about a guilty unit.
struct Narrowed {
    code: GuiltyCode,
    /// Those that have to be optimized, and how many there are.
    functions: Option<(Vec<String>, usize)>,
}

/// A worker that makes objects of a unit.
struct Trial<'a> {
    workers: Workers,
    program: UnitProgram,
    beside: &'a BTreeSet<usize>,
}
