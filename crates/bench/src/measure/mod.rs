//! `optsleuth bench`: cases × methods × seeds -> measurements.
//!
//! ```text
//! cases ──► lanes, one per core ──► CoveredFailure ──► one measurement at a time ──► raw files
//! ```
//!
//! A lane is a core with a worker of its own: it opens a case, measures all that
//! is missing of it, one after the other, and takes the next case. So the same
//! wall time means the same for every search, however many lanes there are.
//!
//! **Invariant:** what was measured is on disk before anything else is begun,
//! and is never measured again. A case that cannot be measured is named with
//! its reason.

mod baseline;
mod contender;
mod of_gcc;
mod one;
mod store;

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fs_err as fs;
use optsleuth_case::folder::{llvm_of, open_case};
use optsleuth_compiler::cores;
use optsleuth_model::{
    Benched, Budget, CASE_FILE, Case, CaseFolder, CompilerSpec, Language, Limits, Measurement,
    Outlook, Progress, Quiet, Trust, Unmeasured, in_words,
};
use optsleuth_triage::bisect::gcc_of;
use optsleuth_triage::c_programs::c_files;
use optsleuth_triage::covered_gcc::{GccFailure, GccFailurePlan, covered_cc1};
use optsleuth_triage::localize::{CoveredFailure, FailurePlan, Stop};

use crate::BenchError;
pub use contender::Contender;
use of_gcc::GccSubject;
use one::{Subject, Trial};
use store::Store;
pub use store::measured_budget;

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct BenchPlan {
    /// Folders of cases, or cases.
    pub cases: Vec<PathBuf>,
    /// In the order of the tables.
    pub methods: Vec<Contender>,
    /// A method without chance gets the first.
    pub seeds: Vec<u64>,
    /// When each search ends.
    pub stop: Stop,
    /// How many cases at the same time; one for each core if nothing is said.
    pub lanes: Option<NonZero<usize>>,
    /// Where the raw data is.
    pub out: PathBuf,
    /// A folder of C programs, for methods that take from other programs.
    pub pool: Option<PathBuf>,
    /// Measure nothing; take what is there.
    pub only_what_is_there: bool,
    /// Of all cases.
    pub trust: Trust,
    /// For the failing runs.
    pub limits: Limits,
    /// CPU time for a candidate.
    pub candidate_time: Duration,
}

/// One case and what of it is to be measured.
struct Job {
    folder: PathBuf,
    name: String,
    /// See [`Measurement::setup`].
    setup: String,
    missing: Vec<(Contender, u64)>,
}

/// How many searches the busiest lane has to make, one after the other.
fn n_searches_in_a_row(jobs: &[Job], lanes: usize) -> u32 {
    let mut busy = vec![0; lanes.max(1)];
    for job in jobs {
        let n_timed = job.missing.iter().filter(|(method, _)| method.is_random()).count() as u32;
        if let Some(first_free) = busy.iter_mut().min() {
            *first_free += n_timed;
        }
    }
    busy.into_iter().max().unwrap_or_default()
}

impl Job {
    /// What has neither a measurement nor a reason why not.
    fn still_missing(
        &self,
        measurements: &[Measurement],
        unmeasured: &[Unmeasured],
    ) -> Vec<Unmeasured> {
        let is_here = |entry: &&Unmeasured| entry.case == self.name;
        let reasons: Vec<&Unmeasured> = unmeasured.iter().filter(is_here).collect();
        if reasons.iter().any(|entry| entry.search.is_none()) {
            return Vec::new();
        }
        let is_missing = |(method, seed): &&(Contender, u64)| {
            let is_it = |name: &str, other: u64| method.name() == name && *seed == other;
            let is_measured =
                |found: &Measurement| found.case == self.name && is_it(&found.method, found.seed);
            let has_reason = |entry: &&Unmeasured| {
                entry.search.as_ref().is_some_and(|(name, seed)| is_it(name, *seed))
            };
            !measurements.iter().any(is_measured) && !reasons.iter().any(has_reason)
        };
        let entry = |search| Unmeasured {
            case: self.name.clone(),
            search,
            why: "not measured yet".to_owned(),
        };
        let missing: Vec<&(Contender, u64)> = self.missing.iter().filter(is_missing).collect();
        let is_all = reasons.is_empty() && !measurements.iter().any(|m| m.case == self.name);
        match is_all && !missing.is_empty() {
            true => vec![entry(None)],
            false => {
                let search = |(method, seed): &&(Contender, u64)| Some((method.to_string(), *seed));
                missing.iter().map(search).map(entry).collect()
            }
        }
    }
}

/// Says what a bench would do.
pub fn outlook(plan: &BenchPlan) -> Result<Outlook, BenchError> {
    let store = plan.store();
    let (jobs, done) = jobs(plan, &store)?;
    let lanes = plan.lanes().len();
    let n_missing: usize = jobs.iter().map(|job| job.missing.len()).sum();
    Ok(Outlook {
        cases: jobs.iter().map(|job| job.name.clone()).collect(),
        searches: n_missing + done.len(),
        done: done.len(),
        time: plan.stop.budget.map(|budget| budget * n_searches_in_a_row(&jobs, lanes)),
        lanes,
    })
}

/// Measures what is missing.
pub fn bench(plan: &BenchPlan, progress: &dyn Progress) -> Result<Benched, BenchError> {
    let store = plan.store();
    let (jobs, done) = jobs(plan, &store)?;
    let total = done.len() + jobs.iter().map(|job| job.missing.len()).sum::<usize>();
    let hall = Hall {
        plan,
        store: &store,
        jobs: &jobs,
        next: AtomicUsize::new(0),
        ledger: Mutex::new(Ledger { measurements: done, unmeasured: Vec::new(), trouble: None }),
        total,
        progress,
    };
    if !plan.only_what_is_there {
        progress.step("measuring");
        std::thread::scope(|scope| {
            for core in plan.lanes() {
                let hall = &hall;
                scope.spawn(move || hall.lane(core));
            }
        });
    }
    let ledger = hall.ledger.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(trouble) = ledger.trouble {
        return Err(trouble);
    }
    let Ledger { mut measurements, mut unmeasured, .. } = ledger;
    for job in &jobs {
        unmeasured.extend(job.still_missing(&measurements, &unmeasured));
    }
    let place =
        |found: &Measurement| plan.methods.iter().position(|method| method.name() == found.method);
    measurements.sort_by(|a, b| (&a.case, place(a), a.seed).cmp(&(&b.case, place(b), b.seed)));
    unmeasured.sort_by(|a, b| (&a.case, &a.search).cmp(&(&b.case, &b.search)));
    Ok(Benched { measurements, unmeasured, interrupted: progress.stop_requested() })
}

impl BenchPlan {
    /// Each once, in the order of the tables.
    pub fn methods(&self) -> Vec<Contender> {
        let mut methods: Vec<Contender> = Vec::new();
        for method in &self.methods {
            if !methods.contains(method) {
                methods.push(*method);
            }
        }
        methods
    }

    /// What each search is given.
    pub fn budget(&self) -> Budget {
        one::budget(self.stop)
    }

    /// A hash of everything that a case's runs depend on.
    fn setup(&self, folder: &Path) -> Result<String, BenchError> {
        let mut hash = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(&fs::read(folder.join(CASE_FILE))?);
        // What cannot be read or is not installed is listed as that later.
        if let Ok(case) = open_case(folder, self.trust) {
            add(&fs::read(case.input())?);
            let install = llvm_of(&case.case).ok().and_then(|llvm| llvm.find().ok());
            let gcc = || gcc_identity(&case.case);
            add(install.map(|install| install.version).or_else(gcc).unwrap_or_default().as_bytes());
        }
        for file in self.pool.iter().flat_map(|folder| c_files(folder)).flatten() {
            add(&fs::read(&file)?);
        }
        let Limits { compile, execute, memory, output, .. } = self.limits;
        let limits = [compile, execute, self.candidate_time].map(|time| time.as_micros());
        add(format!("{limits:?} {memory} {output}").as_bytes());
        Ok(hash.finalize().to_hex()[..16].to_owned())
    }

    fn store(&self) -> Store {
        Store::new(self.out.clone(), self.budget())
    }

    /// The cores to measure on; where there are more lanes than cores, some
    /// lanes stay on none.
    fn lanes(&self) -> Vec<Option<usize>> {
        let cores = cores::available();
        let n_lanes = self.lanes.map_or(cores.len(), NonZero::get).max(1);
        match n_lanes <= cores.len() {
            true => cores.into_iter().take(n_lanes).map(Some).collect(),
            false => vec![None; n_lanes],
        }
    }
}

fn is_of_gcc(case: &Case) -> bool {
    matches!(case.compiler, CompilerSpec::Gcc(_))
}

/// The gcc of a case, and its cc1 with probes.
fn gcc_identity(case: &Case) -> Option<String> {
    let driver = gcc_of(case, None).ok()??;
    let cc1 = covered_cc1(&driver).ok()?.beside("").ok()?;
    Some(format!("{} {}", driver.said, cc1.file_name()?.to_string_lossy()))
}

/// The last component of a case's folder.
fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What is missing, case by case, and what is there.
fn jobs(plan: &BenchPlan, store: &Store) -> Result<(Vec<Job>, Vec<Measurement>), BenchError> {
    let folders = match store::case_folders(&plan.cases) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Vec::new()
        }
        other => other?,
    };
    if folders.is_empty() {
        return Err(BenchError::NoCases(plan.cases.clone()));
    }
    let (mut jobs, mut done) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    for folder in folders {
        let name = name_of(&folder);
        if !names.insert(name.clone()) {
            return Err(BenchError::SameName(name));
        }
        let setup = plan.setup(&folder)?;
        let mut missing = Vec::new();
        // A case that cannot be read is listed as that later.
        let is_c = |case: CaseFolder| Language::of_path(&case.input()) == Some(Language::C);
        let opened = open_case(&folder, plan.trust).ok();
        let of_gcc = opened.as_ref().is_some_and(|case| is_of_gcc(&case.case));
        let is_other = opened.is_some_and(|case| !is_c(case));
        let applies =
            |method: &&Contender| method.is_for(of_gcc) && !(method.needs_c() && is_other);
        for &method in plan.methods().iter().filter(applies) {
            let n_seeds = if method.is_random() { plan.seeds.len() } else { 1 };
            for &seed in plan.seeds.iter().take(n_seeds) {
                match store.read(&name, method.name(), seed, &setup)? {
                    Some(found) => done.push(found),
                    None => missing.push((method, seed)),
                }
            }
        }
        jobs.push(Job { folder, name, setup, missing });
    }
    Ok((jobs, done))
}

/// A case to measure methods on, of whichever compiler.
enum Opened {
    Llvm(Box<Subject>),
    Gcc(Box<GccSubject>),
}

impl Opened {
    fn measure(
        &mut self,
        trial: &Trial<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<Measurement>, BenchError> {
        match self {
            Opened::Llvm(subject) => subject.measure(trial, progress),
            Opened::Gcc(subject) => subject.measure(trial, progress),
        }
    }
}

/// Sees a case fail.
fn open(plan: &FailurePlan, progress: &dyn Progress) -> Result<Opened, BenchError> {
    let case = open_case(&plan.folder, plan.trust)?;
    if case.case.truth.is_none() {
        return Err(BenchError::NoTruth);
    }
    let Some(driver) = gcc_of(&case.case, None)? else {
        let failure = CoveredFailure::open(plan, progress)?;
        return Ok(Opened::Llvm(Box::new(Subject::new(failure))));
    };
    let FailurePlan { limits, candidate_time, n_workers, .. } = *plan;
    let plan = GccFailurePlan { case, driver, limits, candidate_time, n_workers };
    let failure = GccFailure::open(plan, progress)?;
    Ok(Opened::Gcc(Box::new(GccSubject::new(failure))))
}

/// What the lanes share.
struct Hall<'a> {
    plan: &'a BenchPlan,
    store: &'a Store,
    jobs: &'a [Job],
    next: AtomicUsize,
    ledger: Mutex<Ledger>,
    total: usize,
    progress: &'a dyn Progress,
}

/// What has been found.
struct Ledger {
    measurements: Vec<Measurement>,
    unmeasured: Vec<Unmeasured>,
    /// What ends everything: the raw data cannot be written.
    trouble: Option<BenchError>,
}

impl Hall<'_> {
    /// Works on one case after the other, on one core if there is one for it.
    fn lane(&self, core: Option<usize>) {
        if let Some(core) = core {
            cores::stay_on(core);
        }
        while !self.progress.stop_requested() && self.ledger(|ledger| ledger.trouble.is_none()) {
            let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) else { break };
            if job.missing.is_empty() {
                continue;
            }
            if let Err(trouble) = self.case(job) {
                self.ledger(|ledger| ledger.trouble = Some(trouble));
            }
        }
    }

    /// Measures what is missing of a case.
    fn case(&self, job: &Job) -> Result<(), BenchError> {
        let quiet = Quiet(self.progress);
        let plan = FailurePlan {
            folder: job.folder.clone(),
            trust: self.plan.trust,
            llvm: None,
            limits: self.plan.limits,
            candidate_time: self.plan.candidate_time,
            n_workers: NonZero::new(1),
        };
        let mut subject = match cores::alone(|| open(&plan, &quiet)) {
            Ok(subject) => subject,
            Err(error) => {
                self.unmeasured(job, None, &error);
                return Ok(());
            }
        };
        for &(contender, seed) in &job.missing {
            let trial = Trial {
                contender,
                seed,
                stop: self.plan.stop,
                pool: self.plan.pool.as_deref(),
                candidate_time: self.plan.candidate_time,
                limits: self.plan.limits,
                setup: &job.setup,
            };
            match subject.measure(&trial, &quiet) {
                Ok(None) => return Ok(()), // Interrupted.
                Ok(Some(found)) => {
                    self.store.write(&found)?;
                    let n_done = self.ledger(|ledger| {
                        ledger.measurements.push(found);
                        ledger.measurements.len()
                    });
                    self.progress.count(n_done, self.total);
                }
                Err(error) => self.unmeasured(job, Some((contender.to_string(), seed)), &error),
            }
        }
        Ok(())
    }

    fn unmeasured(&self, job: &Job, search: Option<(String, u64)>, error: &BenchError) {
        let why = in_words(error);
        let entry = Unmeasured { case: job.name.clone(), search, why };
        self.ledger(|ledger| ledger.unmeasured.push(entry));
    }

    fn ledger<T>(&self, with: impl FnOnce(&mut Ledger) -> T) -> T {
        with(&mut self.ledger.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
