//! What a bisection found: which invocations of passes a failure comes from.
//! Plain data; its JSON form is the file that `optsleuth bisect` prints and
//! keeps, and that `optsleuth report` reads. docs/bisect.md says how it is found.
//!
//! **Invariant:** a number of an invocation is its place in
//! [`Bisection::invocations`], the log of the failing run, and no list of
//! numbers names one that is not there.

use serde::{Deserialize, Serialize};

use crate::{AuthorKind, Invocation, IrPlace, OptLevel};

/// The number in `version`; goes up when a field changes its meaning.
pub const BISECTION_VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bisection {
    /// [`BISECTION_VERSION`].
    pub version: u32,
    /// The case's `id`.
    pub case: String,
    /// `19.1.7`.
    pub llvm: String,
    /// `crash`, `wrong-code` and so on.
    pub kind: String,
    /// What happens, in a line.
    pub what: String,
    /// The sequence, as LLVM got it.
    pub passes: String,
    /// The distribution's commands that show it; none where it lacks the tools.
    pub commands: Vec<String>,
    /// All invocations of the failing run, in their order.
    pub invocations: Vec<BisectedInvocation>,
    /// The first invocation after which the failure is certain: with it and all
    /// before it, the run fails, and so it does with any more of them.
    pub certain_after: Option<u32>,
    /// Some run with fewer invocations fails although one with more does not:
    /// something is masked.
    pub masked: bool,
    /// Invocations without any one of which the run passes.
    pub needed: Vec<u32>,
    /// A set of invocations that fails with all others left out, and of which
    /// none can be left out.
    pub minimal: Vec<u32>,
    /// What all of this means.
    pub verdict: BisectionVerdict,
    /// The first wrong step, by the referee's word: of programs that are executed.
    #[serde(default)]
    pub first_wrong: FirstWrongStep,
    /// What LLVM's own verifiers find before the failure, if they were asked
    /// and do.
    pub broken_earlier: Option<BrokenEarlier>,
    /// The culprit's unit before and after it.
    pub change: Option<UnitChange>,
    /// One pass on one module that fails in the same way.
    pub single_pass: SinglePassForm,
    /// Of a case of gcc: what is found there alone. [`Bisection::llvm`] is gcc's
    /// version then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gcc: Option<GccBisection>,
    /// Whether it was done to its end.
    pub ended: BisectionEnd,
    /// How many runs it took.
    pub runs: usize,
    pub seconds: f64,
}

/// What is found of a gcc alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GccBisection {
    /// How passes were skipped.
    #[serde(flatten)]
    pub by: GccAccess,
    /// What `gcc -v` says, which GCC's bug tracker asks for.
    pub version: String,
    /// The files that the culprit's pass is in, its own first; none where they are not
    /// known.
    pub files: Vec<String>,
    /// Single transformations without any one of which nothing fails.
    pub transformations: Vec<Transformation>,
}

/// How passes of a gcc are skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by")]
pub enum GccAccess {
    /// By OptSleuth's plug-in: one pass on one function.
    Plugin,
    /// By gcc's own options: one pass on all functions.
    Options {
        /// The package without which there is no plug-in.
        missing: String,
    },
}

/// One transformation, as gcc's debug counters number them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transformation {
    /// `match`, `dse`.
    pub counter: String,
    /// Its number, from 1: the failure shows with so many of them, and not with one
    /// fewer.
    pub number: u32,
    /// The option that allows all up to this one.
    pub option: String,
}

/// One pass applied to one unit, in the failing run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BisectedInvocation {
    /// Its number, from 0.
    pub index: u32,
    /// The pass as a pipeline names it.
    pub pass: String,
    /// What it was applied to.
    pub unit: String,
    /// LLVM runs it, whether it is to be skipped or not.
    pub required: bool,
    /// It was kept away, as by `optnone`.
    pub skipped: bool,
    /// The IR was another afterwards; `None` where that is not known.
    pub changed: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "says")]
pub enum BisectionVerdict {
    /// One invocation makes the failure; without it nothing fails as the case
    /// does.
    Guilty {
        invocation: u32,
        /// What has to come before it.
        needs_also: Vec<u32>,
    },
    /// Not one single culprit: without the first of these the next makes the
    /// same failure, and so on.
    SeveralCulprits {
        /// In the order in which they are found.
        invocations: Vec<u32>,
        /// What has to come before the first of them.
        needs_also: Vec<u32>,
        /// There are more of them than were looked for.
        more: bool,
    },
    /// It fails with everything skipped that can be: a pass that LLVM always
    /// runs does it.
    RequiredPass {
        /// Which one, where that is known.
        invocation: Option<u32>,
    },
    /// No pass is needed: the code generator fails on the program as it is.
    InCodegen,
    /// No pass is needed, nor the code generator: reading, verifying or
    /// printing the program fails.
    BeforeAnyPass,
    /// It ended before anything could be said.
    Unfinished,
}

/// The earliest invocation after which the program is wrong, whether that shows by
/// then or not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "step")]
pub enum FirstWrongStep {
    /// There is no program to interpret, or no pass to blame.
    #[default]
    NotAsked,
    Found(Box<FirstWrong>),
    /// The referee finds the program right after all passes.
    NoPass,
    /// The referee cannot say, and why.
    Unknown {
        why: String,
    },
}

/// Before this invocation the referee finds the program right, after it wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstWrong {
    pub invocation: u32,
    pub value: WrongValue,
}

/// The first observable at which the runs before and after an invocation differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongValue {
    /// `argument 2 of printf`, `the exit status`, `the program's end`.
    pub observable: String,
    /// What it is before the invocation.
    pub before: String,
    /// What it is after it; of an undefined program, what is undefined.
    pub after: String,
    /// The instruction that computes it, before the invocation and after it.
    pub place_before: Option<IrPlace>,
    pub place_after: Option<IrPlace>,
}

/// What a verifier of LLVM found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenEarlier {
    /// As in `verify-each`.
    pub verifier: String,
    /// The earliest invocation after which it complains.
    pub invocation: u32,
    /// Its words, in a line.
    pub message: String,
}

/// What the culprit did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitChange {
    /// The functions concerned, as LLVM assembly, before it.
    pub before: String,
    /// After it; `None` where it did not come to that.
    pub after: Option<String>,
    /// Which functions of LLVM made the change; only a covered worker can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authors: Option<ChangeAuthors>,
}

/// Who in LLVM wrote the lines of a change, and who removed them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeAuthors {
    /// Of lines of [`UnitChange::before`], in their order; one may have several.
    pub before: Vec<LineAuthor>,
    /// The same of [`UnitChange::after`].
    pub after: Vec<LineAuthor>,
    /// What was done is not known in full: there was too much of it.
    #[serde(default)]
    pub cut: bool,
}

/// What a function of LLVM did to the instruction of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineAuthor {
    /// The line's number, from 0.
    pub line: usize,
    pub did: AuthorKind,
    /// As people write it: `llvm::InstCombinerImpl::visitAdd`.
    pub function: String,
    /// Its source file.
    pub file: String,
    /// Who called it, the innermost first, without what every pass uses.
    pub called_by: Vec<String>,
}

/// The failure with one pass, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "form")]
pub enum SinglePassForm {
    /// It was seen to fail.
    Found(SinglePass),
    Missing {
        why: String,
    },
}

/// A module and the passes that fail on it: one, unless that is not enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinglePass {
    /// As LLVM got them.
    pub passes: String,
    pub n_passes: usize,
    /// No pass is needed: code is generated for the module at this level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codegen: Option<OptLevel>,
    /// The module, as LLVM assembly.
    pub ir: String,
    /// The distribution's commands that show it, where the module lies as
    /// [`SINGLE_PASS_FILE`].
    pub commands: Vec<String>,
    /// What happens, in a line.
    pub what: String,
}

/// The name of a single-pass form's module in a case's folder.
pub const SINGLE_PASS_FILE: &str = "single-pass.ll";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BisectionEnd {
    /// Everything was found out.
    Complete,
    /// It took too long: what is not known is left out.
    OutOfTime,
    /// The user pressed Ctrl-C.
    Interrupted,
}

impl Bisection {
    /// The invocation that is to blame, where there is one to name: the first
    /// wrong step, or what LLVM's verifiers caught, if the failure comes of it;
    /// else the guilty one, in which it shows.
    pub fn culprit(&self) -> Option<&BisectedInvocation> {
        let guilty = self.guilty()?;
        // Where the time was up, what the failure needs may not be known.
        let is_needed = |number: &u32| self.minimal.is_empty() || self.minimal.contains(number);
        let caught = self.broken_earlier.as_ref().map(|broken| broken.invocation);
        let wrong = self.first_wrong().map(|first| first.invocation);
        let earlier = wrong.filter(is_needed).or(caught.filter(is_needed));
        self.invocation(earlier.unwrap_or(guilty))
    }

    /// Whose passes they are: `LLVM` or `gcc`.
    pub fn compiler(&self) -> &'static str {
        match self.gcc {
            Some(_) => "gcc",
            None => "LLVM",
        }
    }

    pub fn first_wrong(&self) -> Option<&FirstWrong> {
        match &self.first_wrong {
            FirstWrongStep::Found(first) => Some(first),
            FirstWrongStep::NotAsked | FirstWrongStep::NoPass | FirstWrongStep::Unknown { .. } => {
                None
            }
        }
    }

    /// The guilty invocation's number; of several, the first one's.
    pub fn guilty(&self) -> Option<u32> {
        match &self.verdict {
            BisectionVerdict::Guilty { invocation, .. } => Some(*invocation),
            BisectionVerdict::SeveralCulprits { invocations, .. } => invocations.first().copied(),
            BisectionVerdict::RequiredPass { invocation } => *invocation,
            BisectionVerdict::InCodegen
            | BisectionVerdict::BeforeAnyPass
            | BisectionVerdict::Unfinished => None,
        }
    }

    pub fn invocation(&self, number: u32) -> Option<&BisectedInvocation> {
        self.invocations.get(usize::try_from(number).ok()?)
    }
}

impl From<&Invocation> for BisectedInvocation {
    fn from(invocation: &Invocation) -> BisectedInvocation {
        BisectedInvocation {
            index: invocation.index,
            pass: invocation.pass.clone(),
            unit: invocation.unit.clone(),
            required: invocation.required,
            skipped: invocation.skipped,
            changed: None,
        }
    }
}

impl std::fmt::Display for BisectedInvocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{} {} on {}", self.index, self.pass, self.unit)
    }
}
