//! A case of gcc or of clang's driver: a smaller C program with which it fails
//! in the same way.
//!
//! For wrong code, every candidate has to do the same unoptimized, by both
//! families, and to be as clean as the original: see [`super::source`].
//!
//! **Invariant:** the level and the flags stay as they are.

use optsleuth_case::CaseError;
use optsleuth_case::driver::{LoadedDriverCase, Tried, include_folder};
use optsleuth_case::oracle::Oracle;
use optsleuth_model::{
    CheckStatus, Outcome, ProgramReduction, ProgramSize, Progress, REDUCTION_VERSION, Reduction,
    ReductionEnd, RunRequest, SequenceReduction,
};

use super::c::{note_sanitizers, shrink_c};
use super::judge::{Judge, Patience};
use super::keeper::Keeper;
use super::question::Question;
use super::source::Source;
use super::{HANG, Part, Work, read_file};
use crate::TriageError;
use crate::reduce::Reducing;

/// A driver's case that was seen to fail, and how far it is reduced.
#[derive(Debug)]
pub(super) struct OfDriver<'a> {
    loaded: &'a mut LoadedDriverCase,
    oracle: Oracle,
    /// What the failing run came to.
    first: Outcome,
    keeper: Keeper,
    reduction: Reduction,
}

impl<'a> OfDriver<'a> {
    pub(super) fn new(
        loaded: &'a mut LoadedDriverCase,
        earlier: Option<Reduction>,
        progress: &dyn Progress,
    ) -> Result<OfDriver<'a>, TriageError> {
        let reproduction = loaded.reproduce(progress)?;
        let (status, what) = (reproduction.status, reproduction.what);
        let first = match reproduction.first {
            Tried::Ran(first) if status == CheckStatus::Reproduces => first,
            Tried::Ran(_) | Tried::Refused(_) => {
                return Err(CaseError::NotReproduced { status, what }.into());
            }
        };
        let keeper = Keeper::open(&loaded.case)?;
        let reduction = match earlier {
            Some(earlier) => Reduction { what, ..earlier },
            None => untouched(loaded, what)?,
        };
        Ok(OfDriver { loaded, oracle: reproduction.oracle, first, keeper, reduction })
    }
}

impl Work for OfDriver<'_> {
    fn reduce(&mut self, how: &Reducing, patience: Patience<'_>) -> Result<(), TriageError> {
        if how.part == Part::Passes || self.reduction.program.finished {
            return Ok(());
        }
        let OfDriver { loaded, oracle, first, keeper, reduction } = self;
        let input = loaded.case.input();
        let whole = String::from_utf8_lossy(&read_file(&input)?).into_owned();
        let request = RunRequest { limits: loaded.limits, ..RunRequest::new(None) };
        let mut question = Question::new(request, &[], oracle.clone(), first);
        question.hang_within(HANG);
        let flags = loaded.flags_elsewhere();
        let mut tested = loaded.tested.clone();
        tested.flags.push(include_folder(&loaded.case.folder));
        let source = Source::of_driver(&loaded.fence.install, &input, &flags, tested);
        let mut judge = Judge::new((&mut loaded.fence.pool, None), question, patience);
        judge.source = Some(source);
        judge.hold_to_source(&whole)?;
        note_sanitizers(&judge, reduction);
        if !judge.accepts_source(&whole)? {
            let what = "the program does not fail any more outside of its folder".to_owned();
            return Err(
                CaseError::NotReproduced { status: CheckStatus::FailsOtherwise, what }.into()
            );
        }
        let shrunk = shrink_c(&mut judge, how, whole, keeper, reduction);
        reduction.runs += judge.n_runs();
        shrunk
    }

    fn state(&mut self) -> (&Keeper, &mut Reduction) {
        (&self.keeper, &mut self.reduction)
    }
}

/// A case before anything was done to it.
fn untouched(loaded: &LoadedDriverCase, what: String) -> Result<Reduction, TriageError> {
    let LoadedDriverCase { case, tested, .. } = loaded;
    let file = read_file(&case.input())?;
    let level = format!("-{}", tested.level.name());
    // No IR, no instructions.
    let size = ProgramSize::of(&file, "");
    Ok(Reduction {
        version: REDUCTION_VERSION,
        case: case.case.id.clone(),
        llvm: tested.driver.version.clone(),
        what,
        sequence: SequenceReduction {
            before: level.clone(),
            after: level,
            n_before: 0,
            n_after: 0,
            finished: true,
        },
        program: ProgramReduction {
            input_before: case.case.input.clone(),
            input_after: case.case.input.clone(),
            before: size,
            after: size,
            finished: false,
        },
        tools: Vec::new(),
        runs: 0,
        seconds: 0.0,
        end: ReductionEnd::Unfinished,
        notes: Vec::new(),
    })
}
