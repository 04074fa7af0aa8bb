//! What a triage finds out about a failure, from all of its steps.

use crate::{Bisection, CaseFolder, CheckReport, Localization, Reduction};

/// The folder of the single-pass form, in a case's folder: a case by itself.
pub const SINGLE_PASS: &str = "single-pass";

/// What was found.
#[derive(Debug)]
pub struct Triage {
    /// The case, reduced.
    pub case: CaseFolder,
    /// How it failed when it was last looked at.
    pub check: CheckReport,
    /// What was left out of it.
    pub reduction: Option<Reduction>,
    /// Which invocations it comes from.
    pub bisection: Option<Bisection>,
    /// The case of its single-pass form, where there is one.
    pub single: Option<SingleCase>,
    /// The reduced program, where a report shows it: of a gcc's case, which has no
    /// single-pass form.
    pub program: Option<String>,
    /// It is clang's front end that fails, before there is any IR.
    pub in_front_end: bool,
    /// The suspects.
    pub localization: Option<Localization>,
    /// What could not be done, in sentences.
    pub notes: Vec<String>,
    /// The user pressed Ctrl-C.
    pub interrupted: bool,
    /// What each step took.
    pub seconds: Vec<(&'static str, f64)>,
}

/// A single-pass form as a case of its own.
#[derive(Debug)]
pub struct SingleCase {
    /// The case, reduced.
    pub case: CaseFolder,
    /// How it fails.
    pub check: CheckReport,
    pub module: String,
    /// What its pass does to it, as far as that could be found out.
    pub bisection: Option<Bisection>,
    /// How many passes it takes; one, unless that is not enough.
    pub n_passes: usize,
}

#[derive(Clone, Debug)]
pub struct ReduceReport {
    /// The case as it is now.
    pub case: CaseFolder,
    pub reduction: Reduction,
    /// Whether there was nothing to do: it was finished before.
    pub was_finished: bool,
}
