//! What a localization found: the suspects, why they are suspects, and how the
//! search for witnesses went. Plain data; its JSON form is the file that
//! `optsleuth localize` prints and keeps, and that `optsleuth report` reads.
//!
//! **Invariant:** files and functions stand in the order of their ranks. No
//! time is in here unless time was the budget: then two searches with the same
//! seed give the same bytes.

use serde::{Deserialize, Serialize};

use crate::{CodePlace, FunctionName, HEADERS};

/// The number in `version`; goes up when a field changes its meaning.
pub const LOCALIZATION_VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Localization {
    /// [`LOCALIZATION_VERSION`].
    pub version: u32,
    /// The case's `id`.
    pub case: String,
    /// `19.1.7`; of a gcc, `12.2.0`.
    pub llvm: String,
    /// It is gcc that fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_gcc: bool,
    /// `locseq` and so on.
    pub method: String,
    /// Where the random numbers came from.
    pub seed: u64,
    /// How many candidates were run.
    pub runs: usize,
    /// How many of them were witnesses.
    pub witnesses: usize,
    /// How many failed as the case does.
    pub failing: usize,
    /// How many did something else, and count as neither.
    pub discarded: usize,
    /// What became of programs that are no witnesses, where programs were tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramCounts>,
    /// How long the search took; `None` where only the number of runs ended it.
    pub seconds: Option<f64>,
    pub stopped: StopReason,
    /// `ochiai` and so on.
    pub formula: String,
    /// `mean` and so on.
    pub aggregation: String,
    /// `equal` or `similarity`.
    pub weights: String,
    pub failure: Failure,
    /// The best witness's similarity; 0 if there is none.
    pub best_similarity: f64,
    /// The true culprits, where the case names them.
    pub truth: Option<TruthRanks>,
    /// Files, most suspect first.
    pub files: Vec<FileSuspect>,
    /// Functions, most suspect first.
    pub functions: Vec<FunctionSuspect>,
    /// Lines of the compiler's source, most suspect first: the top of them, where
    /// lines are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineSuspect>,
    /// Which of the compiler's files were compiled anew for this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zoom: Option<ZoomReport>,
    /// The nearest witnesses, and those that suspects refer to; nearest first.
    pub witness_list: Vec<WitnessEntry>,
    /// How the search went, one entry after every fifty runs or so.
    pub history: Vec<HistoryEntry>,
}

impl Localization {
    /// `LLVM 19.1.7`, `gcc 12.2.0`.
    pub fn compiler(&self) -> String {
        format!("{} {}", if self.of_gcc { "gcc" } else { "LLVM" }, self.llvm)
    }
}

/// Programs that a search for witness programs tried in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramCounts {
    /// They are none: they do not compile or link.
    pub invalid: usize,
    /// They pass, and add nothing to the witnesses there are.
    pub unneeded: usize,
    /// They pass although the compiler does with them what it does wrong, and
    /// are suspected to hide it; `None` where that cannot be told.
    pub fakes: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// All runs were made.
    Runs,
    /// The time was up.
    Budget,
    /// The top of the ranking did not change any more.
    Stable,
    /// There was nothing new to try.
    Exhausted,
    /// The user pressed Ctrl-C.
    Interrupted,
}

/// The failing run that everything is compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// `crash`, `wrong-code` and so on.
    pub kind: String,
    /// What happened, in a line.
    pub what: String,
    /// The sequence, as LLVM got it.
    pub passes: String,
    /// How many blocks of the compiler it executed.
    pub blocks: usize,
    /// The distribution's commands that show it; none where it lacks the tools.
    pub commands: Vec<String>,
}

/// Why something is a suspect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// How many of its blocks the failing run executed.
    pub blocks: usize,
    /// How many of those no witness executed.
    pub unwitnessed: usize,
    /// In how many witnesses any of those was executed.
    pub witnesses: usize,
    /// The nearest witness that did not execute all of those, by its place in
    /// [`Localization::witness_list`].
    pub nearest: Option<usize>,
    /// What came of deciding its conditions the other way, where that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cures: Option<Cures>,
}

/// Blocks whose conditions were decided the other way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cures {
    /// In how many of them that makes the failure vanish.
    pub blocks: usize,
    /// In how many it was tried.
    pub tried: usize,
}

/// A file of the compiler and how suspect it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileSuspect {
    /// Its place; those that tie share the last one.
    pub rank: usize,
    /// As in `llvm/lib/Transforms/Scalar/GVN.cpp`.
    pub path: String,
    /// The higher, the more suspect.
    pub score: f64,
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// A function of the compiler and how suspect it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionSuspect {
    /// Its place; those that tie share the last one.
    pub rank: usize,
    /// Demangled, with its parameters.
    pub name: String,
    /// The file it stands in.
    pub path: String,
    /// The higher, the more suspect.
    pub score: f64,
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// A line of the compiler's source and how suspect it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineSuspect {
    /// Its place; those that tie share the last one.
    pub rank: usize,
    #[serde(flatten)]
    pub place: CodePlace,
    /// The function that it is compiled into; demangled.
    pub function: String,
    /// The higher, the more suspect.
    pub score: f64,
    /// How many conditions of this line were decided the other way, and how many
    /// of those made the failure vanish.
    pub cures: Cures,
    /// Its depth on the stack of a crash, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_stack: Option<usize>,
    /// How many of the guilty invocation's changes to the IR it makes by a call.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub writes: usize,
    pub excerpt: Excerpt,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Lines of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The number of the first.
    pub first: u32,
    pub lines: Vec<String>,
}

/// Source files of the compiler that were compiled anew, without inlining and
/// with lines, and took the place of what the distribution built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ZoomReport {
    /// What they were compiled from: `llvm-toolchain-19 1:19.1.7-3`.
    pub source: String,
    /// In the order in which they were suspect.
    pub files: Vec<String>,
    /// Those that could not be zoomed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutFile>,
    /// What the same files say with assertions on.
    pub assertions: AssertionCheck,
    /// What they say with the address sanitizer, where that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryCheck>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutFile {
    pub path: String,
    /// Why, as a clause.
    pub why: String,
}

/// What came of a run whose zoomed files check their assertions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssertionCheck {
    /// It was not tried.
    #[default]
    NotTried,
    /// No assertion fails.
    Hold,
    Fails(FailedAssertion),
    /// There is no such worker, or it does something else.
    Unknown {
        /// Why, as a clause.
        why: String,
    },
}

/// What came of a run whose zoomed files check their memory accesses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryCheck {
    /// They do nothing wrong.
    Clean,
    Fails(MemoryError),
    /// There is no such worker.
    Unknown {
        /// Why, as a clause.
        why: String,
    },
}

/// An access to memory that is not the compiler's to access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryError {
    /// `heap-use-after-free`, in the sanitizer's word.
    pub what: String,
    pub stacks: Vec<MemoryStack>,
}

/// Where memory was accessed, freed or allocated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryStack {
    /// `READ of size 8`, `freed by`, `previously allocated by`.
    pub title: String,
    /// Demangled, innermost first.
    pub functions: Vec<String>,
}

/// An assertion of the compiler that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedAssertion {
    /// The whole text, as LLVM words it.
    pub text: String,
    /// Where it stands, where that is known.
    pub place: Option<CodePlace>,
    /// Who came there; demangled, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
}

/// A passing run close to the failing one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WitnessEntry {
    /// The sequence, as LLVM got it.
    pub passes: String,
    /// What was changed in the program, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<String>,
    /// Formula (4) of the LocSeq paper: 1 is the failing run itself.
    pub similarity: f64,
}

/// Where the true culprits stand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TruthRanks {
    /// The files the fix changed.
    pub files: Vec<TrueCulprit>,
    /// The functions the fix changed.
    pub functions: Vec<TrueCulprit>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrueCulprit {
    /// As the case names it.
    pub name: String,
    /// The best rank of what goes by that name; `None` if the failing run
    /// executed nothing of it that has a symbol of its own.
    pub rank: Option<usize>,
}

impl TruthRanks {
    /// Whether a file is one of the true ones.
    pub fn names_file(&self, path: &str) -> bool {
        self.files.iter().any(|culprit| culprit.name == path)
    }

    /// Whether a function is one of the true ones: it goes by such a name, and
    /// stands in a true file or in a header.
    pub fn names_function(&self, name: &str, path: &str) -> bool {
        let name = FunctionName::parse(name);
        let is_meant =
            |culprit: &TrueCulprit| name.is_meant_by(&FunctionName::parse(&culprit.name));
        (path == HEADERS || self.names_file(path)) && self.functions.iter().any(is_meant)
    }

    /// The best-ranked true file.
    pub fn best_file(&self) -> Option<usize> {
        self.files.iter().filter_map(|culprit| culprit.rank).min()
    }

    /// The best-ranked true function.
    pub fn best_function(&self) -> Option<usize> {
        self.functions.iter().filter_map(|culprit| culprit.rank).min()
    }
}

/// The state of a search when its ranking was made anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// Runs so far.
    pub runs: usize,
    /// Since the search began; `None` where only the number of runs ends it.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Witnesses so far.
    pub witnesses: usize,
    /// The best witness's similarity so far.
    pub best_similarity: f64,
    /// The mean similarity of the witnesses since the entry before; `None` if
    /// there were none.
    pub batch_similarity: Option<f64>,
    /// The best rank of a true file, where the truth is known.
    pub true_file: Option<usize>,
    /// The best rank of a true function, where the truth is known.
    pub true_function: Option<usize>,
}
