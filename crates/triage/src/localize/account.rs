//! What a method found -> a [`Localization`]: suspects with their evidence, the
//! witnesses they refer to.
//!
//! **Invariant:** nothing is decided here; whoever gives an account has ranked.

use std::collections::{BTreeMap, BTreeSet};

use optsleuth_case::loaded::{LoadedCase, Reproduction};
use optsleuth_model::{
    BlockId, Case, CodeMap, Cures, Evidence, Failure, FileId, FileSuspect, FunctionId,
    FunctionSuspect, HistoryEntry, LOCALIZATION_VERSION, LineSuspect, Localization, ProgramCounts,
    RecipeName, StopReason, TruthRanks, WitnessEntry,
};
use optsleuth_rank::{Ranker, Ranking, Spectrum, evidence};

/// How many of the nearest witnesses are kept, whether suspects refer to them
/// or not.
const NEAREST: usize = 10;

/// What a result says about its case.
#[derive(Clone, Debug)]
pub struct Described {
    pub case: Case,
    /// Of the compiler.
    pub version: String,
    /// Which is a gcc, and not LLVM.
    pub of_gcc: bool,
    /// How it fails.
    pub what: String,
    /// The passes, or gcc's level and flags.
    pub passes: String,
    pub commands: Vec<String>,
}

impl Described {
    pub fn of(loaded: &LoadedCase, reproduction: &Reproduction) -> Described {
        let passes = loaded.request.passes.as_ref().map(ToString::to_string);
        Described {
            case: loaded.case.case.clone(),
            version: loaded.workers.install.version.clone(),
            of_gcc: false,
            what: reproduction.what.clone(),
            passes: passes.unwrap_or_default(),
            commands: loaded.commands(),
        }
    }
}

/// What a method found.
pub struct Account<'a> {
    pub method: &'a str,
    pub seed: u64,
    pub recipe: RecipeName,
    pub runs: usize,
    pub failing: usize,
    pub discarded: usize,
    pub programs: Option<ProgramCounts>,
    pub seconds: Option<f64>,
    pub stopped: StopReason,
    pub map: &'a CodeMap,
    pub ranker: &'a Ranker,
    pub ranking: &'a Ranking,
    /// All witnesses.
    pub spectrum: &'a Spectrum,
    /// Their passes, and what was changed in their program.
    pub sources: Vec<(String, Option<String>)>,
    /// Where detours were tried.
    pub cures: Option<CuresByEntity>,
    /// Where lines are known.
    pub lines: Vec<LineSuspect>,
    pub truth: Option<TruthRanks>,
    pub history: Vec<HistoryEntry>,
}

/// How many blocks of each file and function cure, of those tried.
#[derive(Debug, Default)]
pub struct CuresByEntity {
    files: BTreeMap<FileId, Cures>,
    functions: BTreeMap<FunctionId, Cures>,
}

impl CuresByEntity {
    /// From the blocks that were tried and those that cure.
    pub fn new(
        map: &CodeMap,
        tried: impl IntoIterator<Item = BlockId>,
        cures: &BTreeSet<BlockId>,
    ) -> CuresByEntity {
        let owners = map.owners();
        let mut by = CuresByEntity::default();
        let tried: BTreeSet<BlockId> = tried.into_iter().collect();
        for block in tried {
            let Some(&Some(function)) = owners.get(block.0 as usize) else { continue };
            let (file, function) = (map.function(function).file, map.host(function));
            let cured = usize::from(cures.contains(&block));
            for entry in
                [by.files.entry(file).or_default(), by.functions.entry(function).or_default()]
            {
                entry.tried += 1;
                entry.blocks += cured;
            }
        }
        by
    }
}

impl Account<'_> {
    pub fn localization(self, described: &Described) -> Localization {
        let evidence = evidence(self.ranker, self.spectrum, self.ranking);
        let nearest_of_files = evidence.files.iter().filter_map(|found| found.nearest);
        let nearest_of_functions = evidence.functions.iter().filter_map(|found| found.nearest);
        let wanted = nearest_of_files.chain(nearest_of_functions);
        let witnesses = WitnessList::new(self.spectrum, &self.sources, wanted);
        let cures = self.cures.as_ref();
        let files = self.ranking.files.iter().zip(&evidence.files).map(|(suspect, found)| {
            let cures = cures.map(|by| by.files.get(&suspect.id).copied().unwrap_or_default());
            FileSuspect {
                rank: suspect.rank,
                path: self.map.file(suspect.id).to_owned(),
                score: suspect.score,
                evidence: Evidence { cures, ..witnesses.because(found) },
            }
        });
        let functions =
            self.ranking.functions.iter().zip(&evidence.functions).map(|(suspect, found)| {
                let function = self.map.function(suspect.id);
                let cures =
                    cures.map(|by| by.functions.get(&suspect.id).copied().unwrap_or_default());
                FunctionSuspect {
                    rank: suspect.rank,
                    name: function.name.clone(),
                    path: self.map.file(function.file).to_owned(),
                    score: suspect.score,
                    evidence: Evidence { cures, ..witnesses.because(found) },
                }
            });
        let similarities = (0..self.sources.len()).map(|witness| self.spectrum.similarity(witness));
        Localization {
            version: LOCALIZATION_VERSION,
            case: described.case.id.clone(),
            llvm: described.version.clone(),
            of_gcc: described.of_gcc,
            method: self.method.to_owned(),
            seed: self.seed,
            runs: self.runs,
            witnesses: self.sources.len(),
            failing: self.failing,
            discarded: self.discarded,
            programs: self.programs,
            seconds: self.seconds,
            stopped: self.stopped,
            formula: self.recipe.formula,
            aggregation: self.recipe.aggregation,
            weights: self.recipe.weights,
            failure: Failure {
                kind: described.case.kind.name().to_owned(),
                what: described.what.clone(),
                passes: described.passes.clone(),
                blocks: self.spectrum.universe().len(),
                commands: described.commands.clone(),
            },
            best_similarity: similarities.fold(0.0, f64::max),
            files: files.collect(),
            functions: functions.collect(),
            lines: self.lines,
            zoom: None,
            witness_list: witnesses.list,
            truth: self.truth,
            history: self.history,
        }
    }
}

/// The witnesses worth keeping, nearest first, and where each of them stands.
struct WitnessList {
    list: Vec<WitnessEntry>,
    places: BTreeMap<usize, usize>,
}

impl WitnessList {
    fn new(
        spectrum: &Spectrum,
        sources: &[(String, Option<String>)],
        wanted: impl Iterator<Item = usize>,
    ) -> WitnessList {
        let mut nearest: Vec<usize> = (0..sources.len()).collect();
        // Stable: of two that are equally near, the one found first.
        nearest.sort_by(|&a, &b| spectrum.similarity(b).total_cmp(&spectrum.similarity(a)));
        let mut keep = vec![false; sources.len()];
        for index in wanted.chain(nearest.iter().copied().take(NEAREST)) {
            keep[index] = true;
        }
        let kept: Vec<usize> = nearest.into_iter().filter(|&index| keep[index]).collect();
        let entry = |&index: &usize| WitnessEntry {
            passes: sources[index].0.clone(),
            edit: sources[index].1.clone(),
            similarity: spectrum.similarity(index),
        };
        WitnessList {
            list: kept.iter().map(entry).collect(),
            places: kept.iter().enumerate().map(|(place, &index)| (index, place)).collect(),
        }
    }

    fn because<Id>(&self, found: &optsleuth_rank::Evidence<Id>) -> Evidence {
        Evidence {
            blocks: found.blocks,
            unwitnessed: found.unwitnessed,
            witnesses: found.witnesses,
            nearest: found.nearest.and_then(|witness| self.places.get(&witness).copied()),
            cures: None,
        }
    }
}
