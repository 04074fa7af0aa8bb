//! Witnesses blended with other programs: DiWi's section 5.6.4. A statement of
//! another program, with what it depends on, goes into a witness; what still
//! passes takes the witness's place.
//!
//! **Invariant:** a witness of which no blend passes stays as it is.

use optsleuth_compiler::llvm::Pool;
use optsleuth_model::Coverage;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::WitnessPlan;
use super::pantry::Pantry;
use super::proposal::Candidate;
use super::setting::Setting;
use super::trial::{Judgement, Text, Trial};
use crate::setup::LabError;

/// So many blends of a witness are tried at once.
const ATTEMPTS: usize = 4;

/// Makes blends.
pub(super) struct Blender<'a> {
    setting: &'a Setting,
    pantry: &'a Pantry,
    rng: ChaCha8Rng,
}

impl<'a> Blender<'a> {
    pub(super) fn new(plan: &WitnessPlan, setting: &'a Setting) -> Result<Blender<'a>, LabError> {
        let pantry = setting.pantry(plan.pool.as_deref())?;
        let rng = ChaCha8Rng::seed_from_u64(plan.seed);
        Ok(Blender { setting, pantry, rng })
    }

    /// The first blend of a witness that passes, and what came of it.
    pub(super) fn blend(
        &mut self,
        witness: &Candidate,
        trial: &Trial<'_>,
        pool: &mut Pool,
    ) -> Option<(String, Coverage)> {
        let Text::Ready(text) = &witness.text else { return None };
        let program = self.setting.clang.parse(text, self.setting.c.flags()).ok()?;
        let make = |_| program.blend(&self.pantry.ingredients, &mut self.rng);
        let blends: Vec<_> = (0..ATTEMPTS).filter_map(make).collect();
        let texts: Vec<Text> = blends.iter().map(|blend| Text::Ready(blend.text.clone())).collect();
        let tried = pool.each_while(&texts, &|| true, &|worker, text| trial.of(worker, text));
        blends.iter().zip(tried).find_map(|(blend, tried)| match tried.ok()?.judgement {
            Judgement::Passes(coverage) => {
                let line = self.setting.lines.original(blend.line, &blend.text);
                let what = format!("{}; {line}{} ({})", witness.what, blend.what, blend.by);
                Some((what, coverage))
            }
            Judgement::Fails | Judgement::Other | Judgement::Invalid => None,
        })
    }
}
