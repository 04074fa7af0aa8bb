//! Witnesses blended with other programs: DiWi's section 5.6.4. A statement of
//! another program, with what it depends on, goes into a witness; what still
//! passes takes the witness's place.
//!
//! Nothing is tried here, and nothing decided.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::candidate::Candidate;
use super::ingredient_pool::IngredientPool;
use super::mutable::MutableProgram;
use super::trial::Text;

/// So many blends of a witness are tried at once.
const ATTEMPTS: usize = 4;

/// Makes blends.
pub(super) struct Blender<'a> {
    mutable: &'a MutableProgram,
    ingredient_pool: &'a IngredientPool,
    rng: ChaCha8Rng,
}

impl<'a> Blender<'a> {
    /// `None` if there is nothing to blend with.
    pub(super) fn new(seed: u64, mutable: &'a MutableProgram) -> Option<Blender<'a>> {
        let ingredient_pool = mutable.ingredient_pool.as_ref()?;
        Some(Blender { mutable, ingredient_pool, rng: ChaCha8Rng::seed_from_u64(seed) })
    }

    /// Some blends of a witness.
    pub(super) fn blends(&mut self, witness: &Candidate) -> Vec<Candidate> {
        let Text::Ready(text) = &witness.text else { return Vec::new() };
        let Ok(program) = self.mutable.reader.clang.parse(text, &self.mutable.reader.flags) else {
            return Vec::new();
        };
        let mut blends = Vec::new();
        for _ in 0..ATTEMPTS {
            let Some(blend) = program.blend(&self.ingredient_pool.ingredients, &mut self.rng)
            else {
                break;
            };
            let line = self.mutable.lines.original(blend.line, &blend.text);
            let what = format!("{}; {line}{} ({})", witness.what, blend.what, blend.by);
            blends.push(Candidate { text: Text::Ready(blend.text), what });
        }
        blends
    }
}
