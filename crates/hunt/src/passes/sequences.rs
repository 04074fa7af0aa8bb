//! Sequences of passes, drawn at random or varied: numbers in, sequences out.
//!
//! **Invariant:** what is drawn depends on the random numbers, the passes and
//! the exclusions alone.

use optsleuth_model::{Element, Exclusion, PassSequence};
use rand::Rng;
use rand::seq::IndexedRandom;

use super::choice::{Spellings, leaf_name};
use super::exclude::without_excluded;

/// One chance in so many to spell a pass with a parameter, if it has any.
const PARAMETERS: u32 = 4;

/// What sequences are drawn from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deck<'a> {
    pub(super) passes: &'a [Spellings],
    pub(super) exclusions: &'a [Exclusion],
    /// The fewest and the most passes.
    pub(super) length: (usize, usize),
}

/// A sequence as a list of optimizations. May be empty if so much is excluded.
pub(super) type Drawn = Vec<Element>;

impl Deck<'_> {
    /// A random sequence: a random length, then random passes.
    pub(super) fn draw(&self, rng: &mut impl Rng) -> Drawn {
        let length = rng.random_range(self.length.0..=self.length.1);
        let drawn: Drawn = (0..length).filter_map(|_| self.pass(rng)).collect();
        self.allowed(&drawn)
    }

    /// The sequence of these passes, by their numbers.
    pub(super) fn spell(
        &self,
        numbers: impl IntoIterator<Item = usize>,
        rng: &mut impl Rng,
    ) -> Drawn {
        let passes = numbers.into_iter().filter_map(|number| self.passes.get(number));
        let drawn: Drawn = passes.filter_map(|pass| form(pass, rng)).collect();
        self.allowed(&drawn)
    }

    /// A sequence like this one: a stretch of it is deleted, repeated, moved or
    /// replaced, or taken from another sequence, a few times over.
    pub(super) fn vary(
        &self,
        sequence: &[Element],
        other: &[Element],
        rng: &mut impl Rng,
    ) -> Drawn {
        let mut varied = sequence.to_vec();
        for _ in 0..rng.random_range(1..=4) {
            let (from, end) = stretch(varied.len(), rng);
            match rng.random_range(0..5) {
                0 => drop(varied.drain(from..end)),
                1 => {
                    let repeated = varied[from..end].to_vec();
                    let at = rng.random_range(0..=varied.len());
                    varied.splice(at..at, repeated);
                }
                2 => {
                    let fresh: Drawn = (from..=end).filter_map(|_| self.pass(rng)).collect();
                    varied.splice(from..from, fresh);
                }
                3 => {
                    for place in &mut varied[from..end] {
                        *place = self.pass(rng).unwrap_or_else(|| place.clone());
                    }
                }
                _ => {
                    let (other_from, other_end) = stretch(other.len(), rng);
                    varied.splice(from..end, other[other_from..other_end].to_vec());
                }
            }
        }
        varied.truncate(self.length.1);
        self.allowed(&varied)
    }

    fn pass(&self, rng: &mut impl Rng) -> Option<Element> {
        form(self.passes.choose(rng)?, rng)
    }

    fn allowed(&self, drawn: &[Element]) -> Drawn {
        without_excluded(drawn, &|pass| leaf_name(pass).to_owned(), self.exclusions)
    }
}

/// A pass in one of its spellings.
fn form(pass: &Spellings, rng: &mut impl Rng) -> Option<Element> {
    let (plain, others) = pass.forms.split_first()?;
    let is_plain = others.is_empty() || rng.random_range(0..PARAMETERS) > 0;
    if is_plain { Some(plain.clone()) } else { others.choose(rng).cloned() }
}

/// A short part of something of this length; empty only if that is.
fn stretch(length: usize, rng: &mut impl Rng) -> (usize, usize) {
    if length == 0 {
        return (0, 0);
    }
    let from = rng.random_range(0..length);
    let end = (from + 1 + rng.random_range(0..8)).min(length);
    (from, end)
}

/// A drawn sequence for a worker; `None` if nothing is left of it.
pub(super) fn sequence(drawn: &[Element]) -> Option<PassSequence> {
    PassSequence::of_optimizations(drawn.iter().cloned())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::exclude::parse_exclusion;
    use super::*;

    fn deck() -> Vec<Spellings> {
        let spelled = |name: &str, forms: &[&str]| Spellings {
            name: name.to_owned(),
            forms: forms.iter().map(|form| Element::pass(*form)).collect(),
        };
        vec![spelled("a", &["a", "a<x>", "a<y>"]), spelled("b", &["b"]), spelled("c", &["c"])]
    }

    #[test]
    fn lengths_are_within_bounds_and_all_forms_come_up() {
        let passes = deck();
        let deck = Deck { passes: &passes, exclusions: &[], length: (5, 9) };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<Drawn> = (0..200).map(|_| deck.draw(&mut rng)).collect();
        assert!(drawn.iter().all(|sequence| (5..=9).contains(&sequence.len())));
        let names: Vec<&str> = drawn.iter().flatten().map(|pass| pass.name.as_str()).collect();
        for name in ["a", "a<x>", "a<y>", "b", "c"] {
            assert!(names.contains(&name), "{name}");
        }
        let plain = names.iter().filter(|name| **name == "a").count();
        let other = names.iter().filter(|name| name.starts_with("a<")).count();
        assert!(plain > 2 * other, "{plain} {other}");
    }

    #[test]
    fn excluded_passes_never_follow_each_other() {
        let passes = deck();
        let exclusions = [parse_exclusion("a,b").unwrap()];
        let deck = Deck { passes: &passes, exclusions: &exclusions, length: (5, 9) };
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let first = deck.draw(&mut rng);
        for _ in 0..100 {
            let varied = deck.vary(&first, &deck.draw(&mut rng), &mut rng);
            assert!(varied.len() <= 9);
            let text: String = varied.iter().map(leaf_name).collect();
            let at = text.find('a').unwrap_or(text.len());
            assert!(!text[at..].contains('b'), "{text}");
        }
    }

    #[test]
    fn the_same_numbers_give_the_same_sequences() {
        let passes = deck();
        let deck = Deck { passes: &passes, exclusions: &[], length: (50, 200) };
        let draw = |seed| deck.draw(&mut ChaCha8Rng::seed_from_u64(seed));
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
        assert_eq!(sequence(&[]), None);
    }
}
