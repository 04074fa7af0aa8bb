//! Rankings without a search, to measure others by: what a person would look at first,
//! then whatever the failing run executed most of.
//!
//! **Invariant:** no program is run here.

use std::fmt;
use std::str::FromStr;

use optsleuth_model::{
    CodeMap, Coverage, FileId, Localization, Outcome, RecipeName, StopReason, Truth,
};
use optsleuth_rank::{Culprits, Precedence, Ranker, Ranking, Spectrum};

use crate::covered_gcc::GccFailure;
use crate::localize::{Account, Measured, Top, ranked_truth};

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plain {
    /// Nothing.
    BySize,
    /// The file of the last pass, of gcc the guilty one's.
    PassName,
    /// The functions and files of the crash's stack.
    TopFrame,
}

impl Plain {
    /// In the order of tables.
    pub const ALL: [Plain; 3] = [Plain::BySize, Plain::PassName, Plain::TopFrame];

    pub fn name(self) -> &'static str {
        match self {
            Plain::BySize => "by-size",
            Plain::PassName => "pass-name",
            Plain::TopFrame => "top-frame",
        }
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Plain {
    type Err = ();

    fn from_str(text: &str) -> Result<Plain, ()> {
        Plain::ALL.into_iter().find(|plain| plain.name() == text).ok_or(())
    }
}

/// What a plain ranking puts first in a failure of gcc.
pub fn first_of_gcc(plain: Plain, failure: &GccFailure) -> Precedence {
    let map = &failure.gcc.map;
    match plain {
        Plain::BySize => Precedence::default(),
        Plain::PassName => {
            let files = failure.bisection.gcc.iter().flat_map(|gcc| &gcc.files);
            let id = |path: &String| map.files.iter().position(|known| known == path);
            let first = files.filter_map(id).next().and_then(|place| u32::try_from(place).ok());
            first.map_or_else(Precedence::default, |id| Precedence::of_file(map, FileId(id)))
        }
        Plain::TopFrame => of_top_frame(map, &failure.gcc.outcome),
    }
}

/// The functions of the crash's stack; nothing for other failures.
pub fn of_top_frame(map: &CodeMap, failure: &Outcome) -> Precedence {
    match failure {
        Outcome::Crash(crash) => Precedence::of_frames(map, &crash.frames),
        Outcome::Ok(_)
        | Outcome::InvalidIr { .. }
        | Outcome::Timeout { .. }
        | Outcome::OutOfMemory { .. }
        | Outcome::CodegenFailure { .. } => Precedence::default(),
    }
}

/// Ranks gcc's code.
pub fn localize_gcc_plainly(failure: &GccFailure, plain: Plain) -> Localization {
    let gcc = &failure.gcc;
    let ranked = Ranked::new(&gcc.map, &gcc.failing, &first_of_gcc(plain, failure));
    let truth = gcc.described.case.truth.as_ref();
    let truth = truth.map(|truth| Culprits::find(&gcc.map, truth).ranks(&ranked.ranking));
    Account {
        method: plain.name(),
        seed: 0,
        recipe: recipe_name(plain),
        runs: 1,
        failing: 1,
        discarded: 0,
        programs: None,
        seconds: None,
        stopped: StopReason::Exhausted,
        map: &gcc.map,
        ranker: &ranked.ranker,
        ranking: &ranked.ranking,
        spectrum: &ranked.spectrum,
        sources: Vec::new(),
        cures: None,
        lines: Vec::new(),
        truth,
        history: Vec::new(),
    }
    .localization(&gcc.described)
}

/// Where a plain ranking of a failing run has the true culprits.
pub fn measure_plainly(
    plain: Plain,
    first: &Precedence,
    map: &CodeMap,
    failing: &Coverage,
    truth: Option<&Truth>,
) -> Measured {
    let Ranked { ranking, .. } = Ranked::new(map, failing, first);
    let truth = Culprits::find(map, &truth.cloned().unwrap_or_default()).ranks(&ranking);
    let rankings = vec![ranked_truth(recipe_name(plain), &truth)];
    Measured { rankings, own: Top::of(map, &ranking), ..Measured::default() }
}

struct Ranked {
    ranker: Ranker,
    spectrum: Spectrum,
    ranking: Ranking,
}

impl Ranked {
    fn new(map: &CodeMap, failing: &Coverage, first: &Precedence) -> Ranked {
        let spectrum = Spectrum::new(std::slice::from_ref(failing));
        let ranker = Ranker::new(map, spectrum.universe());
        let ranking = ranker.rank_by_size(first);
        Ranked { ranker, spectrum, ranking }
    }
}

fn recipe_name(plain: Plain) -> RecipeName {
    let (aggregation, weights) = (String::new(), String::new());
    RecipeName { formula: plain.name().to_owned(), aggregation, weights }
}
