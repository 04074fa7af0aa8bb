//! What an investigation has found so far: clues, counts, ranking, history; and
//! in the end, all of it as a [`Localization`] or as what a bench measures.

use std::time::Duration;

use optsleuth_case::oracle::Verdict;
use optsleuth_compiler::driver::CoveredCc1;
use optsleuth_compiler::llvm::SourceLines;
use optsleuth_model::{
    Authorship, BlockId, CodeMap, Coverage, Edit, HistoryEntry, LineSuspect, Localization, Outcome,
    RankedTruth, RecipeName, RunResult, SearchStatus, StopReason,
};
use optsleuth_rank::{Clues, Culprits, Part, Ranker, Ranking, Spectrum, among};
use optsleuth_search::Reference;

use super::detours::{Detours, Tried};
use super::lines::LineEvidence;
use super::mutants::Mutant;
use super::{CULPRIT, CulpritPlan, authors};
use crate::localize::{Account, CuresByEntity, Described, Measured, Tally, Top, ranked_truth};

/// What counts as the top when an investigation waits for it to settle.
const TOP: usize = 10;

pub(crate) struct Findings<'a> {
    map: &'a CodeMap,
    truth: Option<Culprits>,
    ranker: Ranker,
    clues: Clues,
    /// Sequences and mutants together, for the evidence.
    witnesses: Spectrum,
    /// Passes, and what was changed in the program.
    sources: Vec<(String, Option<String>)>,
    passes: String,
    tried: Vec<Tried>,
    /// Where a crash happened: instructions of blocks, innermost first.
    stack: Vec<(BlockId, u32)>,
    /// The calls that change the IR in the guilty invocation.
    writers: Vec<(BlockId, u32)>,
    runs: usize,
    failing: usize,
    discarded: usize,
    ranking: Ranking,
    history: Vec<HistoryEntry>,
    is_timed: bool,
    of_gcc: bool,
    top: (Vec<u32>, Vec<u32>),
    /// How many runs there were when the top last changed.
    top_since: usize,
}

impl<'a> Findings<'a> {
    pub(super) fn new(
        map: &'a CodeMap,
        failing: &Coverage,
        described: &Described,
        failure: &Outcome,
        is_timed: bool,
    ) -> Findings<'a> {
        let witnesses = Spectrum::new(std::slice::from_ref(failing));
        let mut clues = Clues::new(&witnesses);
        if let Outcome::Crash(crash) = failure {
            clues.frames = map.functions_on_stack(&crash.frames);
        }
        clues.in_codegen = described.case.pipeline.is_codegen();
        Findings {
            map,
            truth: described.case.truth.as_ref().map(|truth| Culprits::find(map, truth)),
            ranker: Ranker::new(map, witnesses.universe()),
            clues,
            witnesses,
            sources: Vec::new(),
            passes: described.passes.clone(),
            tried: Vec::new(),
            stack: Vec::new(),
            writers: Vec::new(),
            runs: 0,
            failing: 0,
            discarded: 0,
            ranking: Ranking::default(),
            history: Vec::new(),
            is_timed,
            of_gcc: described.of_gcc,
            top: (Vec::new(), Vec::new()),
            top_since: 0,
        }
    }

    pub(super) fn universe(&self) -> &[BlockId] {
        self.witnesses.universe()
    }

    pub(super) fn runs(&self) -> usize {
        self.runs
    }

    /// How many mutants pass.
    pub(super) fn n_mutants(&self) -> usize {
        self.clues.mutants.n_witnesses()
    }

    /// For how many runs the top has stayed the same.
    pub(super) fn unchanged_for(&self) -> usize {
        self.runs - self.top_since
    }

    /// How much each block of the universe promises, by what is known so far.
    pub(super) fn promise(&self) -> Vec<f64> {
        self.ranker.promise(self.map, &self.clues)
    }

    /// What each block of the worker has -> what those of the universe have.
    pub(super) fn set_baseline(&mut self, shares: &[f64]) {
        let share = |block: &BlockId| shares.get(block.0 as usize).copied().unwrap_or(0.0);
        self.clues.baseline = self.universe().iter().map(share).collect();
    }

    pub(super) fn set_window(&mut self, window: &Coverage) {
        self.clues.in_window =
            self.universe().iter().map(|block| window.contains(*block)).collect();
    }

    pub(super) fn set_way(&mut self, way: &Coverage) {
        self.clues.on_the_way = self.universe().iter().map(|block| way.contains(*block)).collect();
    }

    pub(super) fn set_authors(&mut self, authorship: &Authorship, writers: Vec<(BlockId, u32)>) {
        self.writers = writers;
        self.clues.authors = authors::shares(self.map, authorship);
    }

    pub(super) fn set_stack(&mut self, stack: Vec<(BlockId, u32)>) {
        self.stack = stack;
    }

    pub(super) fn take_baseline_run(&mut self, result: &RunResult) {
        self.runs += 1;
        match (&result.outcome, &result.coverage) {
            (Outcome::Ok(_), Some(coverage)) => self.clues.others.push_witness(coverage, 1.0),
            _ => self.discarded += 1,
        }
    }

    /// The same passes on another program.
    pub(super) fn take_other(&mut self, coverage: Option<&Coverage>) {
        self.runs += 1;
        match coverage {
            Some(coverage) => self.clues.others.push_witness(coverage, 1.0),
            None => self.discarded += 1,
        }
    }

    /// The same program with other options.
    pub(super) fn take_configuration(
        &mut self,
        verdict: Verdict,
        coverage: Option<&Coverage>,
        passes: String,
    ) {
        self.runs += 1;
        match (verdict, coverage) {
            (Verdict::Passes, Some(coverage)) => {
                let is_common = |block: &&BlockId| coverage.contains(**block);
                let n_common = self.universe().iter().filter(is_common).count();
                let similarity = n_common as f64 / self.universe().len().max(1) as f64;
                let row = self.witnesses.project(coverage);
                self.clues.sequences.push_row(row.clone(), similarity);
                self.witnesses.push_row(row, similarity);
                self.sources.push((passes, None));
            }
            (Verdict::Fails, _) => self.failing += 1,
            _ => self.discarded += 1,
        }
    }

    pub(super) fn take_sequences(&mut self, tally: Tally<'_>) {
        let (spectrum, sources, [runs, failing, discarded]) = tally.into_witnesses();
        for witness in 0..sources.len() {
            self.witnesses.push_row(spectrum.row_of(witness), spectrum.similarity(witness));
        }
        self.sources.extend(sources);
        self.clues.sequences = spectrum;
        self.runs += runs;
        self.failing += failing;
        self.discarded += discarded;
    }

    pub(super) fn take_mutant(&mut self, edit: &Edit, mutant: &Mutant, reference: &Reference) {
        self.runs += 1;
        match mutant {
            Mutant::Neither => self.discarded += 1,
            Mutant::Fails => self.failing += 1,
            Mutant::Passes(coverage) => {
                let similarity = reference.compare(coverage).statements;
                let row = self.witnesses.project(coverage);
                self.clues.mutants.push_row(row.clone(), similarity);
                self.witnesses.push_row(row, similarity);
                self.sources.push((self.passes.clone(), Some(edit.to_string())));
            }
        }
    }

    pub(super) fn take_detours(&mut self, verdicts: &[Verdict], detours: &Detours) {
        self.runs += verdicts.len();
        for verdict in verdicts {
            match verdict {
                Verdict::Passes => {}
                Verdict::Fails => self.failing += 1,
                Verdict::Other => self.discarded += 1,
            }
        }
        self.tried.clone_from(&detours.tried);
        for &(index, cure) in &detours.grades {
            self.clues.cures[index as usize] = cure;
        }
    }

    /// Makes the ranking anew.
    pub(super) fn rank(&mut self, elapsed: Duration) {
        self.ranking = self.ranker.rank_by_clues(self.map, &self.clues, &[]);
        let files = self.ranking.files.iter().take(TOP).map(|suspect| suspect.id.0);
        let functions = self.ranking.functions.iter().take(TOP).map(|suspect| suspect.id.0);
        let top = (files.collect(), functions.collect());
        if top != self.top {
            self.top = top;
            self.top_since = self.runs;
        }
        let truth = self.truth.as_ref().map(|culprits| culprits.ranks(&self.ranking));
        self.history.push(HistoryEntry {
            runs: self.runs,
            seconds: self.is_timed.then_some(elapsed.as_secs_f64()),
            witnesses: self.sources.len(),
            best_similarity: self.best_similarity(),
            batch_similarity: None,
            true_file: truth.as_ref().and_then(|truth| truth.best_file()),
            true_function: truth.as_ref().and_then(|truth| truth.best_function()),
        });
    }

    fn best_similarity(&self) -> f64 {
        let all = (0..self.sources.len()).map(|witness| self.witnesses.similarity(witness));
        all.fold(0.0, f64::max)
    }

    pub(super) fn status(&self, elapsed: Duration) -> SearchStatus {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let top = self.ranking.files.iter().take(3).map(|suspect| name(self.map.file(suspect.id)));
        SearchStatus {
            runs: self.runs,
            witnesses: self.sources.len(),
            best_similarity: self.best_similarity(),
            elapsed,
            top: top.collect(),
        }
    }

    /// Where the true culprits are, by all clues and without each part of them.
    pub(crate) fn measure(self, is_known: &dyn Fn(&str) -> bool) -> Measured {
        let of_known = |functions| among(functions, |id| is_known(&self.map.function(id).symbol));
        let rank = |without: Option<Part>| {
            let parts: Vec<Part> = without.into_iter().collect();
            let mut ranking = self.ranker.rank_by_clues(self.map, &self.clues, &parts);
            ranking.functions = of_known(ranking.functions);
            let truth = self.truth.as_ref().map(|culprits| culprits.ranks(&ranking));
            ranked_truth(recipe_name(without), &truth.unwrap_or_default())
        };
        let rankings: Vec<RankedTruth> =
            std::iter::once(None).chain(Part::ALL.map(Some)).map(rank).collect();
        let functions = of_known(self.ranking.functions.clone());
        let own = Ranking { functions, files: self.ranking.files.clone() };
        Measured {
            programs: None,
            runs: self.runs,
            witnesses: self.sources.len(),
            failing: self.failing,
            discarded: self.discarded,
            best_similarity: self.best_similarity(),
            rankings,
            own: Top::of(self.map, &own),
            history: self.history,
        }
    }

    /// The most suspect lines, where lines are known.
    fn lines(&self) -> Vec<LineSuspect> {
        let source = match self.of_gcc {
            true => CoveredCc1::lines(self.map),
            false if self.map.source.is_none() => return Vec::new(),
            false => SourceLines::new(self.map),
        };
        LineEvidence {
            map: self.map,
            universe: self.universe(),
            weights: &self.ranker.block_weights(self.map, &self.clues),
            functions: &self.ranking.functions,
            tried: &self.tried,
            stack: &self.stack,
            writers: &self.writers,
        }
        .suspects(source)
    }

    /// Everything, as a result.
    pub(super) fn conclude(
        self,
        plan: &CulpritPlan,
        described: &Described,
        stopped: StopReason,
        wall: Duration,
    ) -> Localization {
        let truth = self.truth.as_ref().map(|culprits| culprits.ranks(&self.ranking));
        let block = |tried: &Tried| self.universe()[tried.index as usize];
        let tried = self.tried.iter().map(block);
        let cures = self.tried.iter().filter(|tried| tried.cures).map(block).collect();
        let cures = CuresByEntity::new(self.map, tried, &cures);
        let lines = self.lines();
        Account {
            programs: None,
            method: CULPRIT,
            seed: plan.seed,
            recipe: recipe_name(None),
            runs: self.runs,
            failing: self.failing,
            discarded: self.discarded,
            seconds: self.is_timed.then_some(wall.as_secs_f64()),
            stopped,
            map: self.map,
            ranker: &self.ranker,
            ranking: &self.ranking,
            spectrum: &self.witnesses,
            sources: self.sources,
            cures: Some(cures),
            lines,
            truth,
            history: self.history,
        }
        .localization(described)
    }
}

/// What a ranking with or without a part is called in results.
fn recipe_name(without: Option<Part>) -> RecipeName {
    RecipeName {
        formula: without.map_or("clues".to_owned(), |part| format!("without {}", part.name())),
        aggregation: if without == Some(Part::Sum) { "mean" } else { "sum" }.to_owned(),
        weights: String::new(),
    }
}
