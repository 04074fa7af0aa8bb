//! What a search has found so far: counts, spectrum, ranking, history; and in
//! the end, all of it as a [`Localization`].

use std::time::Duration;

use optsleuth_case::oracle::Verdict;
use optsleuth_model::{
    CodeMap, Coverage, HistoryEntry, Localization, ProgramCounts, RankedTruth, RecipeName,
    SearchStatus, StopReason, Truth, TruthRanks,
};
use optsleuth_rank::{Culprits, Ranker, Ranking, Recipe, Row, Spectrum};

use super::account::{Account, Described};
use super::{Judged, Stop};
use crate::TriageError;

/// What counts as the top when a search waits for it to settle.
const TOP: usize = 10;
/// After how many runs the ranking is made anew: a generation's worth, of which
/// late ones bring few sequences that are new.
const RANK_EVERY: usize = 50;

/// A witness's passes, and what was changed in its program.
pub type Source = (String, Option<String>);

pub struct Tally<'a> {
    map: &'a CodeMap,
    recipe: Recipe,
    truth: Option<Culprits>,
    ranker: Ranker,
    spectrum: Spectrum,
    /// In the order of the spectrum's witnesses.
    sources: Vec<Source>,
    ranking: Ranking,
    history: Vec<HistoryEntry>,
    runs: usize,
    failing: usize,
    discarded: usize,
    programs: Option<ProgramCounts>,
    best_similarity: f64,
    worked: Duration,
    occupied: Duration,
    /// When the last batch came in; `None` where time has no say.
    elapsed: Option<Duration>,
    /// Of the witnesses since the ranking was made.
    similarities: Vec<f64>,
    /// How many runs there were when the ranking was made.
    ranked_at: usize,
    top: (Vec<u32>, Vec<u32>),
    /// How many witnesses there were when the top last changed.
    top_since: usize,
}

impl<'a> Tally<'a> {
    pub fn new(
        map: &'a CodeMap,
        failing: &[Coverage],
        recipe: Recipe,
        truth: Option<&Truth>,
    ) -> Tally<'a> {
        let spectrum = Spectrum::new(failing);
        let ranker = Ranker::new(map, spectrum.universe());
        let ranking = ranker.rank(&spectrum, &recipe);
        Tally {
            map,
            recipe,
            truth: truth.map(|truth| Culprits::find(map, truth)),
            ranker,
            spectrum,
            sources: Vec::new(),
            ranking,
            history: Vec::new(),
            runs: 0,
            failing: 0,
            discarded: 0,
            programs: None,
            best_similarity: 0.0,
            worked: Duration::ZERO,
            occupied: Duration::ZERO,
            elapsed: None,
            similarities: Vec::new(),
            ranked_at: 0,
            top: (Vec::new(), Vec::new()),
            top_since: 0,
        }
    }

    /// What a run has in common with the failing one. For any thread.
    pub fn project(&self, coverage: &Coverage) -> Row {
        self.spectrum.project(coverage)
    }

    pub fn runs(&self) -> usize {
        self.runs
    }

    pub fn witnesses(&self) -> usize {
        self.sources.len()
    }

    /// How long LLVM was at work, and how long workers were occupied.
    pub fn worked(&self) -> (Duration, Duration) {
        (self.worked, self.occupied)
    }

    /// For how many witnesses the top has stayed the same.
    pub fn unchanged_for(&self) -> usize {
        self.witnesses() - self.top_since
    }

    /// Says what became of programs that are no witnesses.
    pub fn set_programs(&mut self, counts: ProgramCounts) {
        self.programs = Some(counts);
    }

    /// Takes a batch of runs in, in the order in which they were asked for.
    /// `elapsed` goes into the history.
    pub fn take(&mut self, runs: Vec<(Source, Judged)>, elapsed: Option<Duration>) {
        self.elapsed = elapsed;
        for (source, judged) in runs {
            self.runs += 1;
            self.worked += judged.wall;
            self.occupied += judged.occupied;
            match judged.verdict {
                Verdict::Passes => {}
                Verdict::Fails => self.failing += 1,
                Verdict::Other => self.discarded += 1,
            }
            if let Some((similarity, row)) = judged.witness {
                self.similarities.push(similarity.statements);
                self.best_similarity = self.best_similarity.max(similarity.statements);
                self.spectrum.push_row(row, similarity.statements);
                self.sources.push(source);
            }
        }
        if self.runs - self.ranked_at >= RANK_EVERY {
            self.rank();
        }
    }

    /// Makes the ranking anew.
    fn rank(&mut self) {
        self.ranked_at = self.runs;
        self.ranking = self.ranker.rank(&self.spectrum, &self.recipe);
        let top = self.current_top();
        if top != self.top {
            self.top = top;
            self.top_since = self.witnesses();
        }
        let truth = self.truth_ranks();
        self.history.push(HistoryEntry {
            runs: self.runs,
            seconds: self.elapsed.map(|elapsed| elapsed.as_secs_f64()),
            witnesses: self.witnesses(),
            best_similarity: self.best_similarity,
            batch_similarity: mean(&std::mem::take(&mut self.similarities)),
            true_file: truth.as_ref().and_then(TruthRanks::best_file),
            true_function: truth.as_ref().and_then(TruthRanks::best_function),
        });
    }

    fn current_top(&self) -> (Vec<u32>, Vec<u32>) {
        let files = self.ranking.files.iter().take(TOP).map(|suspect| suspect.id.0);
        let functions = self.ranking.functions.iter().take(TOP).map(|suspect| suspect.id.0);
        (files.collect(), functions.collect())
    }

    fn truth_ranks(&self) -> Option<TruthRanks> {
        self.truth.as_ref().map(|culprits| culprits.ranks(&self.ranking))
    }

    pub fn status(&self, elapsed: Duration) -> SearchStatus {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let top = self.ranking.files.iter().take(3).map(|suspect| name(self.map.file(suspect.id)));
        SearchStatus {
            runs: self.runs,
            witnesses: self.witnesses(),
            best_similarity: self.best_similarity,
            elapsed,
            top: if self.witnesses() == 0 { Vec::new() } else { top.collect() },
        }
    }

    pub fn no_witness(&self, stopped: StopReason) -> TriageError {
        let (runs, failing, discarded) = (self.runs, self.failing, self.discarded);
        let interrupted = stopped == StopReason::Interrupted;
        TriageError::NoWitness { runs, failing, discarded, interrupted }
    }

    /// Where each of these recipes has the true culprits in the same runs; what
    /// is most suspect by the search's own; and the counts.
    pub fn measure(mut self, recipes: &[Recipe]) -> Measured {
        if self.ranked_at < self.runs {
            self.rank();
        }
        let rank = |recipe: &Recipe| {
            let ranking = self.ranker.rank(&self.spectrum, recipe);
            let truth = self.truth.as_ref().map(|culprits| culprits.ranks(&ranking));
            ranked_truth(recipe_name(recipe), &truth.unwrap_or_default())
        };
        Measured {
            runs: self.runs,
            witnesses: self.witnesses(),
            failing: self.failing,
            discarded: self.discarded,
            programs: self.programs,
            best_similarity: self.best_similarity,
            rankings: recipes.iter().map(rank).collect(),
            own: Top::of(self.map, &self.ranking),
            history: self.history,
        }
    }

    /// Everything, as a result.
    pub fn conclude(
        mut self,
        (method, seed, stop): (&str, u64, Stop),
        described: &Described,
        stopped: StopReason,
        wall: Duration,
    ) -> Localization {
        if self.ranked_at < self.runs {
            self.rank();
        }
        let truth = self.truth_ranks();
        Account {
            method,
            seed,
            recipe: recipe_name(&self.recipe),
            runs: self.runs,
            failing: self.failing,
            discarded: self.discarded,
            programs: self.programs,
            seconds: stop.is_timed().then_some(wall.as_secs_f64()),
            stopped,
            map: self.map,
            ranker: &self.ranker,
            ranking: &self.ranking,
            spectrum: &self.spectrum,
            sources: self.sources,
            cures: None,
            lines: Vec::new(),
            truth,
            history: self.history,
        }
        .localization(described)
    }

    /// The witnesses, what they cover, and how many runs there were: all, those
    /// that fail as the case does, and those that count as neither.
    pub fn into_witnesses(self) -> (Spectrum, Vec<Source>, [usize; 3]) {
        (self.spectrum, self.sources, [self.runs, self.failing, self.discarded])
    }
}

/// What a workers keeps of a search.
#[derive(Debug, Default)]
pub struct Measured {
    pub runs: usize,
    pub witnesses: usize,
    pub failing: usize,
    pub discarded: usize,
    pub programs: Option<ProgramCounts>,
    pub best_similarity: f64,
    /// By each recipe.
    pub rankings: Vec<RankedTruth>,
    /// By the method's own.
    pub own: Top,
    pub history: Vec<HistoryEntry>,
}

impl Measured {
    /// The same of a result.
    pub fn of(found: &Localization) -> Measured {
        let recipe = RecipeName {
            formula: found.formula.clone(),
            aggregation: found.aggregation.clone(),
            weights: found.weights.clone(),
        };
        let names = |top: &mut dyn Iterator<Item = &String>| top.take(NAMED).cloned().collect();
        Measured {
            runs: found.runs,
            witnesses: found.witnesses,
            failing: found.failing,
            discarded: found.discarded,
            programs: found.programs,
            best_similarity: found.best_similarity,
            rankings: vec![ranked_truth(recipe, &found.truth.clone().unwrap_or_default())],
            own: Top {
                files: names(&mut found.files.iter().map(|suspect| &suspect.path)),
                functions: names(&mut found.functions.iter().map(|suspect| &suspect.name)),
                n_files: found.files.len(),
                n_functions: found.functions.len(),
            },
            history: found.history.clone(),
        }
    }
}

/// How many of the most suspect are kept by name.
const NAMED: usize = 20;

/// The most suspect, by name, and among how many.
#[derive(Debug, Default)]
pub struct Top {
    pub files: Vec<String>,
    pub functions: Vec<String>,
    pub n_files: usize,
    pub n_functions: usize,
}

impl Top {
    pub fn of(map: &CodeMap, ranking: &Ranking) -> Top {
        let files = ranking.files.iter().take(NAMED);
        let functions = ranking.functions.iter().take(NAMED);
        Top {
            files: files.map(|suspect| map.file(suspect.id).to_owned()).collect(),
            functions: functions.map(|suspect| map.function(suspect.id).name.clone()).collect(),
            n_files: ranking.files.len(),
            n_functions: ranking.functions.len(),
        }
    }
}

fn recipe_name(recipe: &Recipe) -> RecipeName {
    RecipeName {
        formula: recipe.formula.to_string(),
        aggregation: recipe.aggregation.to_string(),
        weights: recipe.weights.to_string(),
    }
}

/// The ranks of the culprits, without their names.
pub fn ranked_truth(recipe: RecipeName, truth: &TruthRanks) -> RankedTruth {
    RankedTruth {
        recipe,
        files: truth.files.iter().map(|culprit| culprit.rank).collect(),
        functions: truth.functions.iter().map(|culprit| culprit.rank).collect(),
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
