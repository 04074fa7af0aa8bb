//! A smaller program that fails in the same way: our own reduction of IR.
//!
//! The worker edits the program it has loaded (see `optsleuth_model::Edit`), so
//! a candidate costs a fork and no parsing. For each kind of edit, delta
//! debugging finds the items that have to stay; the others' edit is adopted,
//! and the next kind works on what is left, until a round changes nothing.
//!
//! **Invariant:** an adopted program was loaded from its own text and seen to
//! fail from there.

use optsleuth_case::oracle::Oracle;
use optsleuth_model::{
    CaseKind, Edit, EditKind, Emit, Execute, IndexSet, Outcome, Program, RunRequest, nameless,
};

use super::judge::Judge;
use super::question::Candidate;
use crate::TriageError;

/// Promises of a program that an edit may break without anybody seeing it. They
/// go first where wrong code is at stake.
const PROMISES: [EditKind; 3] = [EditKind::Flags, EditKind::Attributes, EditKind::Metadata];

/// How a reduction of IR ended.
#[derive(Clone, Debug)]
pub(crate) struct ReducedIr {
    /// The smallest program found.
    pub(crate) program: Program,
    /// Whether nothing more can be taken away, as far as is known here.
    pub(crate) finished: bool,
}

/// Makes the program that the judge has loaded smaller. `keep` is told of every
/// program on the way that is the best so far, and of what it should do. In the end the judge has the
/// smallest one loaded.
pub(crate) fn reduce_ir(
    judge: &mut Judge<'_>,
    program: Program,
    keep: &mut dyn FnMut(&Program, &Oracle) -> Result<(), TriageError>,
) -> Result<ReducedIr, TriageError> {
    let mut best = program;
    let kinds = kinds(judge.question.oracle.kind());
    // A kind that found nothing is not asked again until another one did.
    let mut n_fruitless = 0;
    for &kind in kinds.iter().cycle() {
        if judge.patience.is_over() {
            return Ok(ReducedIr { program: best, finished: false });
        }
        match one_kind(judge, &best, kind)? {
            Some(smaller) => {
                keep(&smaller, &judge.question.oracle)?;
                best = smaller;
                n_fruitless = 0;
            }
            None => n_fruitless += 1,
        }
        if n_fruitless >= kinds.len() {
            break;
        }
    }
    Ok(ReducedIr { program: best, finished: !judge.patience.is_over() })
}

fn kinds(kind: CaseKind) -> Vec<EditKind> {
    let mut kinds = EditKind::REDUCING.to_vec();
    if kind == CaseKind::WrongCode {
        kinds.sort_by_key(|kind| !PROMISES.contains(kind));
    }
    kinds
}

/// The program with everything of one kind edited that can be; `None` if
/// nothing can.
fn one_kind(
    judge: &mut Judge<'_>,
    best: &Program,
    kind: EditKind,
) -> Result<Option<Program>, TriageError> {
    let n_items = count(judge, kind)?;
    if n_items == 0 {
        return Ok(None);
    }
    let edit = |kept: &[usize]| {
        let items = (0..n_items).filter(|item| kept.binary_search(&(*item as usize)).is_err());
        Edit { kind, items: IndexSet::of(items) }
    };
    let kept = judge
        .minimize(n_items as usize, kind.name(), &|kept| Some(Candidate::Edited(edit(kept))))?;
    if kept.len() == n_items as usize {
        return Ok(None);
    }
    let Some(smaller) = edited(judge, best, edit(&kept))? else { return Ok(None) };
    judge.load(&smaller)?;
    if judge.accepts_loaded()? {
        return Ok(Some(smaller));
    }
    // It fails only as it is in memory, or not as a process.
    judge.load(best)?;
    Ok(None)
}

impl Judge<'_> {
    /// The loaded program's text.
    pub(super) fn text(&mut self) -> Result<Vec<u8>, TriageError> {
        let request = RunRequest { emit: Emit::Text, ..RunRequest::new(None) };
        Ok(unoptimized(self, &request)?.map(|(_, text)| text).unwrap_or_default())
    }
}

fn count(judge: &mut Judge<'_>, kind: EditKind) -> Result<u32, TriageError> {
    let counting = Edit { kind, items: IndexSet::none() };
    let request = RunRequest { edit: Some(counting), ..RunRequest::new(None) };
    let result = unoptimized(judge, &request)?;
    Ok(result.map_or(0, |(n_items, _)| n_items))
}

fn edited(
    judge: &mut Judge<'_>,
    program: &Program,
    edit: Edit,
) -> Result<Option<Program>, TriageError> {
    let request = RunRequest { edit: Some(edit), emit: Emit::Text, ..RunRequest::new(None) };
    let emitted = unoptimized(judge, &request)?.map(|(_, emitted)| emitted);
    Ok(emitted.map(|text| {
        let ir = nameless(&String::from_utf8_lossy(&text)).into_bytes();
        Program { name: program.name.clone(), ir }
    }))
}

/// How many items there are, and the program's text.
fn unoptimized(
    judge: &mut Judge<'_>,
    request: &RunRequest,
) -> Result<Option<(u32, Vec<u8>)>, TriageError> {
    debug_assert_eq!(request.execute, Execute::No, "this only edits");
    let Judge { lanes, tally, .. } = judge;
    let Some(lane) = lanes.first_mut() else { return Ok(None) };
    let result = tally.run(lane.reference(), request)?;
    let done = result.filter(|result| result.outcome == Outcome::Ok(None));
    Ok(done.map(|result| (result.n_items, result.emitted)))
}
