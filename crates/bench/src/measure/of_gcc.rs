//! One method on one case of gcc with one seed -> a [`Measurement`].

use optsleuth_model::{Measurement, Progress};
use optsleuth_rank::Recipe;
use optsleuth_triage::covered_gcc::GccFailure;
use optsleuth_triage::culprit::{CulpritPlan, measure_culprit_of_gcc};
use optsleuth_triage::options::{OptionsPlan, measure_options};
use optsleuth_triage::plain::{first_of_gcc, measure_plainly};
use optsleuth_triage::witness::{GccPrograms, measure_gcc_programs};

use super::contender::Contender;
use super::one::{Trial, record};
use crate::BenchError;

/// A failure of gcc to measure methods on, bisected once for all of them.
#[derive(Debug)]
pub(super) struct GccSubject {
    failure: GccFailure,
    programs: Option<GccPrograms>,
}

impl GccSubject {
    pub(super) fn new(failure: GccFailure) -> GccSubject {
        GccSubject { failure, programs: None }
    }

    /// Where a method has the true culprits of the case; `None` if it was told to
    /// end early.
    pub(super) fn measure(
        &mut self,
        trial: &Trial<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<Measurement>, BenchError> {
        let &Trial { contender, seed, stop, .. } = trial;
        let measured = match contender {
            Contender::Culprit => {
                let plan = CulpritPlan { seed, stop };
                let GccFailure { failing, gcc, .. } = &mut self.failure;
                measure_culprit_of_gcc(failing, gcc, &plan, progress)?
            }
            Contender::Options => {
                let plan = OptionsPlan { seed, stop, recipe: Recipe::default() };
                measure_options(&mut self.failure, &plan, progress)?
            }
            Contender::Programs(method) => {
                let programs = match self.programs.take() {
                    Some(programs) => programs,
                    None => GccPrograms::read(&mut self.failure, progress)?,
                };
                let programs = self.programs.insert(programs);
                let plan = trial.programs(method);
                measure_gcc_programs(&mut self.failure, programs, &plan, progress)?
            }
            Contender::Plain(plain) => {
                let first = first_of_gcc(plain, &self.failure);
                let gcc = &self.failure.gcc;
                let truth = gcc.described.case.truth.as_ref();
                let measured = measure_plainly(plain, &first, &gcc.map, &gcc.failing, truth);
                let case = &self.failure.failing.loaded.case;
                let version = gcc.described.version.clone();
                return Ok(Some(record(case, version, trial, measured, None)));
            }
            Contender::Zoom | Contender::Triage | Contender::Search(_) => {
                return Err(contender.refused(true));
            }
        };
        let Some((measured, wall)) = measured else { return Ok(None) };
        let seconds = stop.is_timed().then_some(wall.as_secs_f64());
        let case = &self.failure.failing.loaded.case;
        let version = self.failure.gcc.described.version.clone();
        Ok(Some(record(case, version, trial, measured, seconds)))
    }
}
