//! A round: some sequences and some programs, each to be tried with each.
//!
//! **Invariant:** what a round has depends on the recipe, its number and what
//! the store knows of earlier rounds. So a round that was cut short can be made
//! again.

use std::ops::Range;

use optsleuth_case::workers::Workers;
use optsleuth_compiler::CompilerError;
use optsleuth_model::{Element, Exclusion, PassSequence, ProgramShape, Progress, SequenceChoice};
use optsleuth_select::doc2vec::{self, Corpus, Dictionary};
use optsleuth_select::pairwise::Pairwise;
use optsleuth_select::{centroid, features, program};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::choice::{Spellings, leaf_name};
use super::recipe::{PassRecipe, ProgramSelection};
use super::request::TEST_LIMITS;
use super::sequences::{Deck, Drawn};
use crate::HuntError;
use crate::campaign::Store;
use crate::programs::{Made, Programs, TestProgram};

/// What a round tries.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) number: u64,
    pub(super) sequences: Vec<Drawn>,
    /// With their numbers among all programs of the campaign.
    pub(super) programs: Vec<(u64, TestProgram)>,
}

/// Makes rounds.
pub(super) struct Rounds {
    recipe: PassRecipe,
    passes: Vec<Spellings>,
    programs: Programs,
}

/// In a guided round, one sequence in so many is new.
const FRESH: usize = 4;

/// Streams of random numbers of one round, so that none depends on how many
/// another one used.
#[derive(Clone, Copy)]
enum Stream {
    Sequences = 0,
    Programs = 1,
}

impl Rounds {
    pub(super) fn new(
        recipe: &PassRecipe,
        passes: Vec<Spellings>,
        workers: &mut Workers,
    ) -> Result<Rounds, HuntError> {
        let programs = Programs::open(recipe.programs.clone(), workers)?;
        Ok(Rounds { recipe: recipe.clone(), passes, programs })
    }

    /// What sequences are made of.
    pub(super) fn pass_names(&self) -> Vec<String> {
        self.passes.iter().map(|pass| pass.name.clone()).collect()
    }

    /// The round of this number; `None` if it was interrupted.
    pub(super) fn make(
        &mut self,
        number: u64,
        store: &Store,
        workers: &mut Workers,
        progress: &dyn Progress,
    ) -> Result<Option<Round>, HuntError> {
        let mut exclusions = store.exclusions()?;
        exclusions.retain(|exclusion| exclusion.from_round <= number);
        let kept = match self.recipe.sequences {
            SequenceChoice::Guided => store.kept_before(number)?,
            _ => Vec::new(),
        };
        let sequences = self.sequences(number, &exclusions, &kept);
        let (pool, wanted) = self.recipe.program_pool;
        let again = self.again(number, wanted, &kept);
        let mut made = Vec::new();
        for mut numbers in self.numbers(number, pool) {
            // Those that come again take the place of new ones.
            numbers.end = numbers.end.min(numbers.start + (pool - again.len()) as u64);
            made.extend(self.programs.make(&mut workers.pool, numbers, progress)?);
        }
        if progress.stop_requested() {
            return Ok(None);
        }
        // A round that is made again was counted before.
        if !store.rounds()?.contains(&number) {
            for rejected in made.iter().flat_map(|made| &made.rejected) {
                store.reject(number, rejected.reason.name(), 1)?;
            }
        }
        let usable = |made: Made| Some((made.index, made.program?));
        let mut programs: Vec<(u64, TestProgram)> = made.into_iter().filter_map(usable).collect();
        let n_new = wanted - again.len();
        if programs.len() > n_new && self.recipe.selection != ProgramSelection::All {
            programs = self.select_programs(number, programs, n_new, workers)?;
        }
        programs.truncate(n_new);
        for number in again {
            let is_there = programs.iter().any(|(there, _)| *there == number);
            if !is_there {
                programs.extend(usable(self.programs.make_one(workers.pool.first(), number)?));
            }
        }
        Ok(Some(Round { number, sequences, programs }))
    }

    /// After how many rounds programs come again; `None` if they never do.
    pub(super) fn until_repeated(&self) -> Option<u64> {
        let pool = self.recipe.program_pool.0 as u64;
        self.programs.count().map(|count| count.div_ceil(pool.min(count).max(1)))
    }

    /// What programs are not checked for here.
    pub(super) fn notes(&self) -> Vec<String> {
        self.programs.notes()
    }

    /// The sequences and programs of the first round, without a store.
    pub(super) fn sample(
        &mut self,
        workers: &mut Workers,
        progress: &dyn Progress,
    ) -> Result<(Vec<Drawn>, Vec<TestProgram>), HuntError> {
        let sequences = self.sequences(0, &self.recipe.exclusions, &[]);
        let wanted = self.recipe.program_pool.1 as u64;
        let made = self.programs.make(&mut workers.pool, 0..wanted, progress)?;
        Ok((sequences, made.into_iter().filter_map(|made| made.program).collect()))
    }

    fn rng(&self, number: u64, stream: Stream) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.recipe.seed);
        rng.set_stream(number * 2 + stream as u64);
        rng
    }

    fn sequences(
        &self,
        number: u64,
        exclusions: &[Exclusion],
        kept: &[(u64, String)],
    ) -> Vec<Drawn> {
        let PassRecipe { length, sequence_pool: (pool, wanted), .. } = self.recipe;
        let deck = Deck { passes: &self.passes, exclusions, length };
        let mut rng = self.rng(number, Stream::Sequences);
        match self.recipe.sequences {
            SequenceChoice::Random => (0..wanted).map(|_| deck.draw(&mut rng)).collect(),
            SequenceChoice::Ctos => {
                let drawn: Vec<Drawn> = (0..pool).map(|_| deck.draw(&mut rng)).collect();
                representative(drawn, wanted, self.recipe.seed ^ number)
            }
            SequenceChoice::Pairwise => {
                let array = Pairwise::new(length.1, self.passes.len());
                let order = row_order(array.len(), self.recipe.seed);
                let first = number as usize * wanted;
                (0..wanted)
                    .map(|index| order[(first + index) % order.len()])
                    .map(|row| {
                        let row = array.row(row);
                        deck.spell(row.into_iter().map(usize::from), &mut rng)
                    })
                    .collect()
            }
            SequenceChoice::Guided => {
                let kept: Vec<Drawn> = kept
                    .iter()
                    .filter_map(|(_, text)| text.parse::<PassSequence>().ok())
                    .map(|sequence| sequence.optimizations())
                    .collect();
                (0..wanted)
                    .map(|index| {
                        if kept.is_empty() || index % FRESH == 0 {
                            return deck.draw(&mut rng);
                        }
                        let parent = recent(&kept, &mut rng);
                        let other = kept.choose(&mut rng).map_or(&[][..], |other| other);
                        deck.vary(parent, other, &mut rng)
                    })
                    .collect()
            }
        }
    }

    /// The numbers of a round's new programs. Where there is an end of them, they
    /// come again and again.
    fn numbers(&self, round: u64, pool: usize) -> [Range<u64>; 2] {
        let pool = pool as u64;
        let Some(count) = self.programs.count() else {
            return [round * pool..(round + 1) * pool, 0..0];
        };
        let pool = pool.min(count);
        let from = round * pool % count.max(1);
        [from..(from + pool).min(count), 0..(from + pool).saturating_sub(count)]
    }

    /// In a guided round, half of the programs are those that reached something
    /// new before.
    fn again(&self, number: u64, wanted: usize, kept: &[(u64, String)]) -> Vec<u64> {
        let mut rng = self.rng(number, Stream::Programs);
        let mut numbers: Vec<u64> = kept.iter().map(|(program, _)| *program).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.shuffle(&mut rng);
        numbers.truncate(wanted / 2);
        numbers
    }

    fn select_programs(
        &self,
        number: u64,
        programs: Vec<(u64, TestProgram)>,
        wanted: usize,
        workers: &mut Workers,
    ) -> Result<Vec<(u64, TestProgram)>, HuntError> {
        let mut shapes: Vec<ProgramShape> = Vec::new();
        for (_, program) in &programs {
            let worker = workers.pool.first();
            worker.load(&program.program, &[], TEST_LIMITS)?;
            shapes.push(match worker.shape() {
                // Alike to whatever has none, either.
                Err(CompilerError::NoShape(_)) => ProgramShape::default(),
                other => other?,
            });
        }
        let seed = self.recipe.seed ^ number;
        let vectors = match self.recipe.selection {
            ProgramSelection::Features => features::features(&shapes),
            ProgramSelection::Ctos | ProgramSelection::All => {
                let settings = doc2vec::Settings::instructions(seed);
                program::program_vectors(&shapes, &settings, &|_, _| ())
            }
        };
        let chosen = centroid::representatives(&vectors, wanted, seed);
        let mut programs: Vec<Option<(u64, TestProgram)>> =
            programs.into_iter().map(Some).collect();
        Ok(chosen.into_iter().filter_map(|index| programs[index].take()).collect())
    }
}

/// The sequences that represent the others best.
fn representative(drawn: Vec<Drawn>, wanted: usize, seed: u64) -> Vec<Drawn> {
    if drawn.len() <= wanted {
        return drawn;
    }
    let (mut corpus, mut dictionary) = (Corpus::new(), Dictionary::new());
    for sequence in &drawn {
        let words = sequence.iter().map(|pass| dictionary.word(leaf_name(pass)));
        corpus.push(words.collect::<Vec<_>>());
    }
    let settings = doc2vec::Settings::sequences(seed);
    let vectors = doc2vec::train(&corpus, &settings, &|_, _| ()).into_documents();
    let chosen = centroid::representatives(&vectors, wanted, seed);
    let mut drawn: Vec<Option<Drawn>> = drawn.into_iter().map(Some).collect();
    chosen.into_iter().filter_map(|index| drawn[index].take()).collect()
}

/// One of those that were kept, rather a late one.
fn recent<'a>(kept: &'a [Drawn], rng: &mut impl Rng) -> &'a [Element] {
    let mut place = || rng.random_range(0..kept.len());
    let place = place().max(place());
    &kept[place]
}

/// The rows of a covering array in an order of the seed's. Neighbouring rows have
/// most of their passes in common, so a hunt that took them in their own order
/// would test one corner of the array.
fn row_order(n_rows: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n_rows).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_comes_once_and_the_first_hundred_rows_mix_passes() {
        let array = Pairwise::new(60, 100);
        let order = row_order(array.len(), 7);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..array.len()).collect::<Vec<_>>());
        assert_ne!(order, row_order(array.len(), 8));
        let n_passes = |row: usize| array.row(row).into_iter().collect::<BTreeSet<_>>().len();
        // In the array's own order these repeat one pass.
        assert!((1..100).all(|row| n_passes(row) <= 2));
        let few = order[..100].iter().filter(|row| n_passes(**row) < 20).count();
        assert!(few <= 5, "{few} of the first 100 rows have fewer than 20 passes");
    }
}
