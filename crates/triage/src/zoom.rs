//! A first ranking -> its top files compiled anew -> the ranking once more, on a
//! worker where nothing of them is inlined and every block has a line.
//!
//! ```text
//! ranking ─► files ─► zoomed worker: fails, too? ─► ranking with lines
//!               └───► the same with assertions: does one fail?
//! ```
//! `docs/zoom.md` has the reasons and the costs.
//!
//! **Invariant:** a zoomed worker that does not fail as the distribution's code
//! does is not used, and a zoom that comes to nothing costs nothing but its time.

mod checks;
mod memory_error;

use std::num::NonZero;
use std::time::{Duration, Instant};

use optsleuth_case::loaded::{FailingCase, LoadedCase};
use optsleuth_case::workers::{Workers, steps};
use optsleuth_compiler::llvm::{
    self, LeftOut, Provisioned, SourceChoice, SourceTree, Variant, Zoomed,
};
use optsleuth_model::{
    AssertionCheck, CaseKind, LeftOutFile, Localization, Outcome, Progress, StopReason, ZoomReport,
    in_words,
};

use crate::TriageError;
use crate::culprit::{CulpritInput, CulpritPlan, find_culprit};
use crate::localize::{CoveredFailure, Stop};
use checks::Checks;
pub(crate) use checks::failed_assertion;

/// How many files are zoomed into unless a number is given. The true file is
/// among the first five nearly always (docs/evaluation.md).
pub const AUTO: usize = 5;
/// The innermost functions of a crash's stack whose files are zoomed into,
/// whatever their ranks.
const FRAMES: usize = 2;

/// How far to zoom.
#[derive(Clone, Debug)]
pub struct ZoomPlan {
    pub n_files: usize,
    pub source: SourceChoice,
    /// When no more files are to be begun.
    pub deadline: Option<Instant>,
    /// When the second ranking is to end, if it has begun by then.
    pub end: Option<Instant>,
    /// CPU time for a candidate's run.
    pub candidate_time: Duration,
    /// Whether the files are compiled once more, with assertions.
    pub assertions: bool,
}

/// A case that fails on a zoomed worker.
#[derive(Debug)]
pub struct ZoomedFailure {
    pub failure: CoveredFailure,
    pub report: ZoomReport,
}

/// A ranking with zoom.
#[derive(Debug)]
pub struct ZoomedRanking {
    /// The second one; the first where there is no second.
    pub found: Localization,
    /// What keeps it from zooming, as a clause.
    pub not_zoomed: Option<String>,
    /// What ranking, zooming and ranking again took.
    pub seconds: Vec<(&'static str, f64)>,
}

/// Ranks, zooms into what is most suspect, and ranks again.
pub fn find_culprit_zoomed(
    failure: &mut CoveredFailure,
    known: &CulpritInput,
    plans: [&CulpritPlan; 2],
    zoom: &ZoomPlan,
    progress: &dyn Progress,
) -> Result<ZoomedRanking, TriageError> {
    let mut begun = Instant::now();
    let mut seconds = Vec::new();
    let mut took = |name: &'static str| {
        seconds.push((name, begun.elapsed().as_secs_f64()));
        begun = Instant::now();
    };
    let first = find_culprit(failure, known, plans[0], progress)?;
    took("rank");
    if first.stopped == StopReason::Interrupted {
        return Ok(ZoomedRanking { found: first, not_zoomed: None, seconds });
    }
    let mut again = || -> Result<Localization, TriageError> {
        let zoomed = zoom_in(failure, &first, zoom, progress);
        let known = zoomed.and_then(|zoomed| {
            let known = known.of_zoomed(&zoomed.failure, progress)?;
            Ok((zoomed, known))
        });
        took("zoom");
        let (ZoomedFailure { failure: mut zoomed, report }, known) = known?;
        let second = find_culprit(&mut zoomed, &known, &until(zoom.end, plans[1]), progress)?;
        took("rank again");
        Ok(Localization { zoom: Some(report), ..second })
    };
    Ok(match again() {
        Ok(found) => ZoomedRanking { found, not_zoomed: None, seconds },
        Err(error) => ZoomedRanking { found: first, not_zoomed: Some(in_words(&error)), seconds },
    })
}

/// The same, with what is left of the time. With nothing it would find nothing.
fn until(end: Option<Instant>, plan: &CulpritPlan) -> CulpritPlan {
    const LEAST: Duration = Duration::from_secs(2);
    let left = end.map(|end| end.saturating_duration_since(Instant::now()).max(LEAST));
    let budget = match (plan.stop.budget, left) {
        (Some(budget), Some(left)) => Some(budget.min(left)),
        (budget, _) => budget,
    };
    CulpritPlan { stop: Stop { budget, ..plan.stop }, ..*plan }
}

/// Compiles the most suspect files anew, and sees the case fail on a worker with
/// them.
pub fn zoom_in(
    failure: &CoveredFailure,
    ranking: &Localization,
    plan: &ZoomPlan,
    progress: &dyn Progress,
) -> Result<ZoomedFailure, TriageError> {
    let loaded = &failure.failing.loaded;
    let fault = loaded.case.case.fault.as_ref();
    if fault.is_some_and(|fault| !fault.object.zoomed) {
        return Err(TriageError::ZoomOfFault);
    }
    let install = &loaded.workers.install;
    let mut report = steps(install, progress);
    let tree = SourceTree::find(install, &plan.source, &mut report)?;
    let mut files = files(failure, ranking, plan.n_files);
    // Without it the compiler is not broken.
    if let Some(broken) = fault.map(|fault| llvm::file_of(&fault.object))
        && !files.contains(&broken)
    {
        files.push(broken);
    }
    let zoom = |files: &[String], variant| {
        let targets = loaded.workers.provisioned.targets;
        let plan = llvm::ZoomPlan { tree: &tree, files, variant, deadline: plan.deadline, fault };
        llvm::zoom(install, targets, &failure.input.map, &plan, &mut steps(install, progress))
    };
    let Zoomed { provisioned, files, left_out } = zoom(&files, Variant::Lines)?;
    let Some(provisioned) = provisioned else {
        return Err(TriageError::NothingToZoom(in_a_line(&left_out)));
    };
    let n_workers = NonZero::new(loaded.workers.pool.size());
    let start = |provisioned: Provisioned| -> Result<LoadedCase, TriageError> {
        Ok(loaded.in_workers(Workers::start(provisioned, n_workers, progress)?, progress)?)
    };
    progress.step("seeing it fail on the zoomed worker");
    let failing = FailingCase::see(start(provisioned)?, progress)
        .map_err(|error| TriageError::NotZoomed(Box::new(error)))?;
    let zoomed = CoveredFailure::of(failing, plan.candidate_time, progress)?;
    // A fault is in machine code: compiled in another way, a file is without it.
    let is_checked = plan.assertions && fault.is_none();
    let is_crash = loaded.case.case.kind == CaseKind::Crash;
    let checks = Checks { zoom: &zoom, start: &start, tree: &tree, files: &files, progress };
    let assertions = match is_checked {
        true => checks.assertions(),
        false => AssertionCheck::NotTried,
    };
    let memory = (is_checked && is_crash).then(|| checks.memory());
    let left_out = reasons(left_out);
    let report = ZoomReport { source: tree.origin, files, left_out, assertions, memory };
    Ok(ZoomedFailure { failure: zoomed, report })
}

/// The files to zoom into, most suspect first: those of a crash's innermost
/// functions, then those of the ranking.
fn files(failure: &CoveredFailure, ranking: &Localization, n_files: usize) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    if let Outcome::Crash(crash) = &failure.failing.reproduction.first.outcome {
        let map = &failure.input.map;
        let on_stack = map.functions_on_stack(&crash.frames);
        let paths = on_stack.iter().map(|id| map.file(map.function(*id).file));
        files.extend(paths.take(FRAMES).map(str::to_owned));
    }
    files.extend(ranking.files.iter().map(|suspect| suspect.path.clone()));
    let mut chosen: Vec<String> = Vec::new();
    for file in files {
        if chosen.len() < n_files && is_source(&file) && !chosen.contains(&file) {
            chosen.push(file);
        }
    }
    chosen
}

/// Whether a file can be compiled by itself. Code of targets needs files that
/// LLVM's build generates.
pub(crate) fn is_source(path: &str) -> bool {
    path.starts_with("llvm/lib/") && !path.starts_with("llvm/lib/Target/")
}

pub(crate) fn reasons(left_out: Vec<(String, LeftOut)>) -> Vec<LeftOutFile> {
    let reason = |(path, why): (String, LeftOut)| LeftOutFile { path, why: why.why().to_owned() };
    left_out.into_iter().map(reason).collect()
}

pub(crate) fn in_a_line(left_out: &[(String, LeftOut)]) -> String {
    let each = left_out.iter().map(|(path, why)| format!("{path}: {}", why.why()));
    each.collect::<Vec<_>>().join("; ")
}
