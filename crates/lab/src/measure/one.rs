//! One method on one case with one seed -> a [`Measurement`].

use std::path::Path;

use optsleuth_model::{
    Budget, MEASUREMENT_VERSION, Measurement, RecipeName, Sought, StopReason, Truth,
};
use optsleuth_rank::{
    Aggregation, Culprits, Formula, Precedence, Ranker, Recipe, Spectrum, Weights,
};
use optsleuth_search::Method;

use super::baseline::{of_last_pass, of_top_frame};
use super::contender::Contender;
use crate::Progress;
use crate::culprit::CulpritPlan;
use crate::localize::{
    Measured, Scene, SearchPlan, Searched, Stop, look_for_witnesses, ranked_truth,
};
use crate::setup::LabError;
use crate::witness::WitnessPlan;

/// How many of the most suspect are kept by name.
const TOP: usize = 20;
/// So many blocks count for an entity where the highest do.
const HIGHEST: usize = 5;

/// What is to be measured in a scene.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial<'a> {
    pub(super) contender: Contender,
    pub(super) seed: u64,
    pub(super) stop: Stop,
    /// See [`WitnessPlan::pool`].
    pub(super) pool: Option<&'a Path>,
    /// See [`Measurement::setup`].
    pub(super) setup: &'a str,
}

impl Scene {
    /// Where a method has the true culprits of the case; `None` if somebody
    /// wanted it to end early.
    pub(super) fn measure(
        &mut self,
        trial: &Trial<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<Measurement>, LabError> {
        let &Trial { contender, seed, stop, .. } = trial;
        let (measured, seconds) = match contender {
            Contender::Culprit => {
                match self.measure_culprit(&CulpritPlan { seed, stop }, progress)? {
                    None => return Ok(None),
                    Some((measured, wall)) => {
                        (measured, stop.is_timed().then_some(wall.as_secs_f64()))
                    }
                }
            }
            Contender::Search(method) => match self.search(method, seed, stop, progress)? {
                None => return Ok(None),
                Some((measured, seconds)) => (measured, stop.is_timed().then_some(seconds)),
            },
            Contender::Programs(method) => {
                let plan = WitnessPlan {
                    method,
                    seed,
                    stop,
                    recipe: Recipe::default(),
                    pool: trial.pool.map(Path::to_owned),
                    blend: false,
                    guard: true,
                };
                match self.measure_programs(&plan, progress)? {
                    None => return Ok(None),
                    Some((measured, wall)) => {
                        (measured, stop.is_timed().then_some(wall.as_secs_f64()))
                    }
                }
            }
            Contender::BySize => (self.without_search(contender, &Precedence::default()), None),
            Contender::PassName => {
                let precedence = of_last_pass(self)?;
                (self.without_search(contender, &precedence), None)
            }
            Contender::TopFrame => {
                let precedence = of_top_frame(&self.ground, &self.reproduction.first.outcome);
                (self.without_search(contender, &precedence), None)
            }
        };
        Ok(Some(self.record(trial, measured, seconds)))
    }

    fn search(
        &mut self,
        method: Method,
        seed: u64,
        stop: Stop,
        progress: &dyn Progress,
    ) -> Result<Option<(Measured, f64)>, LabError> {
        let plan = SearchPlan { method, seed, stop, recipe: Recipe::default() };
        let Scene { stage, reproduction, ground, .. } = self;
        let Searched { tally, stopped, wall, n_troubled } =
            look_for_witnesses(stage, reproduction, ground, &ground.template, &plan, progress)?;
        // A figure may not depend on how busy the machine was.
        if n_troubled > 0 {
            return Err(LabError::Troubled(n_troubled));
        }
        let is_whole = stopped != StopReason::Interrupted;
        Ok(is_whole.then(|| (tally.measure(&recipes()), wall.as_secs_f64())))
    }

    fn without_search(&self, contender: Contender, first: &Precedence) -> Measured {
        let ground = &self.ground;
        let spectrum = Spectrum::new(std::slice::from_ref(&ground.failing));
        let own = Ranker::new(&ground.map, spectrum.universe()).rank_by_size(first);
        let truth = self.case().case.truth.clone().unwrap_or_default();
        let truth = Culprits::find(&ground.map, &truth).ranks(&own);
        let recipe = RecipeName {
            formula: contender.name().to_owned(),
            aggregation: String::new(),
            weights: String::new(),
        };
        let rankings = vec![ranked_truth(recipe, &truth)];
        Measured { rankings, own, ..Measured::default() }
    }

    fn record(&self, trial: &Trial<'_>, measured: Measured, seconds: Option<f64>) -> Measurement {
        let (case, map) = (&self.case().case, &self.ground.map);
        let truth = case.truth.clone().unwrap_or_default();
        let Truth { files, functions, confidence, components, .. } = truth;
        let own = &measured.own;
        let top_files = own.files.iter().take(TOP).map(|suspect| map.file(suspect.id).to_owned());
        let top_functions =
            own.functions.iter().take(TOP).map(|suspect| map.function(suspect.id).name.clone());
        Measurement {
            version: MEASUREMENT_VERSION,
            case: super::name_of(&self.case().folder),
            kind: case.kind.name().to_owned(),
            confidence,
            components,
            llvm: self.stage.bench.install.version.clone(),
            method: trial.contender.name().to_owned(),
            seed: trial.seed,
            budget: budget(trial.stop),
            setup: trial.setup.to_owned(),
            runs: measured.runs,
            witnesses: measured.witnesses,
            failing: measured.failing,
            discarded: measured.discarded,
            programs: measured.programs,
            seconds,
            best_similarity: measured.best_similarity,
            files: Sought { culprits: files, suspects: own.files.len() },
            functions: Sought { culprits: functions, suspects: own.functions.len() },
            rankings: measured.rankings,
            top_files: top_files.collect(),
            top_functions: top_functions.collect(),
            history: measured.history,
        }
    }
}

pub(super) fn budget(stop: Stop) -> Budget {
    Budget { runs: stop.runs, seconds: stop.budget.map(|budget| budget.as_secs_f64()) }
}

/// Every formula with every aggregation and both weights; the default first.
pub(crate) fn recipes() -> Vec<Recipe> {
    let highest = std::num::NonZero::new(HIGHEST).map(Aggregation::TopK);
    let aggregations = [Aggregation::Mean, Aggregation::Max, Aggregation::Sum];
    let mut recipes = Vec::new();
    for weights in [Weights::Equal, Weights::Similarity] {
        for aggregation in aggregations.into_iter().chain(highest) {
            for formula in Formula::ALL {
                recipes.push(Recipe { formula, aggregation, weights });
            }
        }
    }
    recipes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_is_tried_once_and_the_papers_first() {
        let recipes = recipes();
        assert_eq!(recipes.first(), Some(&Recipe::default()));
        let distinct: std::collections::HashSet<&Recipe> = recipes.iter().collect();
        assert_eq!(distinct.len(), 8 * 4 * 2);
        assert_eq!(recipes.len(), distinct.len());
    }
}
