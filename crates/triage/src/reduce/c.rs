//! Our own reduction of C and C++ programs: pieces are cut out, large ones first.

use optsleuth_case::oracle::Oracle;
use optsleuth_compiler::reducers;
use optsleuth_model::{CaseKind, Reduction};

use super::c_text::{Cut, Grain, depth, without};
use super::external::reduce_with;
use super::judge::Judge;
use super::keeper::Keeper;
use super::question::Candidate;
use super::{Reducer, Reducing, note, with};
use crate::TriageError;

/// Notes which sanitizers are missing on this machine, where they would be asked.
pub(super) fn note_sanitizers(judge: &Judge<'_>, reduction: &mut Reduction) {
    let Some(source) = &judge.source else { return };
    if judge.question.oracle.kind() != CaseKind::WrongCode {
        return;
    }
    for sanitizer in source.sanitizers.missing() {
        let name = sanitizer.name();
        note(reduction, &format!("the {name} cannot be used here, so it was not asked"));
    }
}

/// Makes a C or C++ program smaller, by our own cuts first and then by an external
/// reducer, and keeps what is reached.
pub(super) fn shrink_c(
    judge: &mut Judge<'_>,
    how: &Reducing,
    whole: String,
    keeper: &mut Keeper,
    reduction: &mut Reduction,
) -> Result<(), TriageError> {
    let reduced = judge.source.as_ref().map_or("reduced.c", |source| source.file);
    let reducer = match how.tool {
        Reducer::Auto => reducers::Reducer::of_c(),
        Reducer::BuiltIn => None,
        Reducer::Cvise => Some(reducers::Reducer::of_c().ok_or(TriageError::NoReducer("cvise"))?),
        Reducer::LlvmReduce => return Err(TriageError::NoReducer("llvm-reduce for C")),
    };
    let patience = judge.patience;
    let keep = &mut |text: &str, oracle: &Oracle| {
        keeper.keep_program(reduced, text.as_bytes(), oracle.expected_output())?;
        let after = &mut reduction.program.after;
        (after.bytes, after.lines) = (text.len(), text.lines().count());
        reduced.clone_into(&mut reduction.program.input_after);
        keeper.keep_state(reduction)
    };
    // Others' reducers know more of C, but ours is quick to begin with.
    let fineness = if reducer.is_some() { Fineness::Coarse } else { Fineness::Fine };
    if reducer.is_some() {
        judge.patience = patience.half();
    }
    let (mut text, mut finished) = reduce_c(judge, whole, fineness, keep)?;
    judge.patience = patience;
    let mut tools = vec!["built-in reduction of C"];
    if let Some(reducer) = reducer.filter(|_| !patience.is_over()) {
        tools.push(reducer.name());
        let coarse = text.clone();
        (text, finished) =
            reduce_with(judge, &reducer, &how.callback_binary, (reduced, &text), keep)?;
        if !judge.accepts_source(&text)? {
            judge.accepts_source(&coarse)?;
            keep(&coarse, &judge.question.oracle)?;
        }
    }
    reduction.program.finished = finished;
    for tool in tools {
        reduction.tools = with(&reduction.tools, tool);
    }
    Ok(())
}

/// Cuts pieces out of a program, large ones first, until none can go. `fine`
/// goes down to single tokens. `keep` is told of every step. Says whether it is
/// finished, too.
fn reduce_c(
    judge: &mut Judge<'_>,
    text: String,
    fine: Fineness,
    keep: &mut dyn FnMut(&str, &Oracle) -> Result<(), TriageError>,
) -> Result<(String, bool), TriageError> {
    let mut best = text;
    loop {
        let before = best.len();
        for grain in grains(&best, fine) {
            let cuts = grain.cuts(&best);
            let rest = |kept: &[usize]| {
                let is_cut = |(place, _): &(usize, &Cut)| kept.binary_search(place).is_err();
                let gone: Vec<&Cut> =
                    cuts.iter().enumerate().filter(is_cut).map(|(_, cut)| cut).collect();
                without(&best, &gone)
            };
            let kept = judge
                .minimize(cuts.len(), grain.name(), &|kept| Some(Candidate::Source(rest(kept))))?;
            if kept.len() == cuts.len() {
                continue;
            }
            let smaller = rest(&kept);
            if judge.accepts_source(&smaller)? {
                keep(&smaller, &judge.question.oracle)?;
                best = smaller;
            }
            if judge.patience.is_over() {
                return Ok((best, false));
            }
        }
        if judge.patience.is_over() {
            return Ok((best, false));
        }
        if best.len() == before {
            return Ok((best, true));
        }
    }
}

/// How small the pieces get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fineness {
    /// Statements.
    Coarse,
    /// Tokens.
    Fine,
}

fn grains(text: &str, fine: Fineness) -> Vec<Grain> {
    let mut grains: Vec<Grain> = (0..=depth(text)).map(Grain::Statements).collect();
    grains.insert(1, Grain::Lines);
    grains.push(Grain::Blocks);
    if fine == Fineness::Fine {
        grains.push(Grain::Tokens);
    }
    grains
}
