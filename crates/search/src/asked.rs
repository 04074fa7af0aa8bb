//! What a search has asked for: the candidates that wait for an answer, and
//! every one there ever was.
//!
//! Shared by all methods; this is why none of them asks twice.
//!
//! **Invariant:** the table of known sequences is only looked into, never walked
//! through, so its order shows nowhere.

use std::collections::HashSet;

use crate::{Individual, Sequence};

/// After so many known sequences in a row, drawing gives up.
const FRUITLESS_DRAWS: usize = 10_000;

/// Candidates that were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    ever: HashSet<Sequence>,
    waiting: Vec<Sequence>,
}

impl Asked {
    /// Asks for a candidate, unless it was asked before. Says whether it was new.
    pub(crate) fn offer(&mut self, candidate: Sequence) -> bool {
        if self.ever.contains(&candidate) {
            return false;
        }
        self.ever.insert(candidate.clone());
        self.waiting.push(candidate);
        true
    }

    /// Draws until so many candidates wait, or until nothing new comes any more.
    pub(crate) fn fill(&mut self, n_candidates: usize, mut draw: impl FnMut() -> Sequence) {
        let mut n_fruitless = 0;
        while self.waiting.len() < n_candidates && n_fruitless < FRUITLESS_DRAWS {
            n_fruitless = if self.offer(draw()) { 0 } else { n_fruitless + 1 };
        }
    }

    /// The candidates that wait for an answer, in the order of asking.
    pub(crate) fn waiting(&self) -> &[Sequence] {
        &self.waiting
    }

    /// The waiting candidates with their answers; nothing waits afterwards.
    pub(crate) fn answer(&mut self, fitness: &[f64]) -> impl Iterator<Item = Individual> + use<> {
        assert_eq!(fitness.len(), self.waiting.len(), "one fitness for each candidate");
        // Also turns what is not a number into 0, so that all can be compared.
        let above_zero = |&value: &f64| if value > 0.0 { value } else { 0.0 };
        let fitness: Vec<f64> = fitness.iter().map(above_zero).collect();
        let waiting = std::mem::take(&mut self.waiting);
        let answers = waiting.into_iter().zip(fitness);
        answers.map(|(sequence, fitness)| Individual { sequence, fitness })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::tests::{letters, sequence};

    #[test]
    fn a_candidate_is_asked_once_even_without_an_answer() {
        let mut asked = Asked::default();
        assert!(asked.offer(sequence("ab")) && asked.offer(sequence("ba")));
        assert!(!asked.offer(sequence("ab")));
        assert_eq!(asked.waiting(), [sequence("ab"), sequence("ba")]);
        drop(asked.answer(&[1.0, 2.0]));
        assert!(!asked.offer(sequence("ba")) && asked.waiting().is_empty());
    }

    #[test]
    fn drawing_ends_where_nothing_new_comes() {
        let mut asked = Asked::default();
        let mut texts = ["a", "b", "a"].into_iter().cycle();
        asked.fill(2, || sequence(texts.next().unwrap()));
        assert_eq!(asked.waiting().len(), 2);
        asked.fill(3, || sequence(texts.next().unwrap()));
        assert_eq!(asked.waiting().len(), 2);
    }

    #[test]
    fn answers_belong_to_candidates_in_order_and_are_never_below_zero() {
        let mut asked = Asked::default();
        for text in ["a", "b", "c", "d"] {
            asked.offer(sequence(text));
        }
        let answered = asked.answer(&[0.5, -1.0, f64::NAN, -0.0]);
        let found: Vec<(String, u64)> =
            answered.map(|one| (letters(&one.sequence), one.fitness.to_bits())).collect();
        let expected = [("a", 0.5f64), ("b", 0.0), ("c", 0.0), ("d", 0.0)];
        assert_eq!(found, expected.map(|(text, value)| (text.to_owned(), value.to_bits())));
    }

    #[test]
    #[should_panic(expected = "one fitness for each candidate")]
    fn an_answer_for_another_number_of_candidates_is_refused() {
        let mut asked = Asked::default();
        asked.offer(sequence("a"));
        drop(asked.answer(&[]));
    }
}
