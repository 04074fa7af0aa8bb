//! What a guide chose, and what it is still to be told about it.
//!
//! A guide chooses a batch of mutations before anything comes of the first, and
//! of some choices nothing can be made. Stands between [`super::mutants`] and the
//! guide.
//!
//! **Invariant:** a guide learns of every choice once, in the order in which it
//! chose, as the papers' one-by-one searches have it.

use std::collections::VecDeque;

use optsleuth_search::{Guide, Told};

use super::collection::Weighed;

/// A guide and its choices.
pub(super) struct Choices {
    guide: Box<dyn Guide>,
    /// What it was not told about, and whether a mutant came of it.
    untold: VecDeque<(usize, bool)>,
}

impl Choices {
    pub(super) fn new(guide: Box<dyn Guide>) -> Choices {
        Choices { guide, untold: VecDeque::new() }
    }

    /// The next action.
    pub(super) fn choose(&mut self) -> usize {
        self.guide.choose()
    }

    /// Notes whether a mutant could be made by the action chosen last.
    pub(super) fn note(&mut self, choice: usize, made: bool) {
        self.untold.push_back((choice, made));
    }

    /// Tells what came of the mutant whose turn it is, and of all choices around
    /// it of which none came.
    pub(super) fn learn(&mut self, Weighed { accepted, distance, gain }: Weighed) {
        self.tell_vain();
        if let Some((choice, _)) = self.untold.pop_front() {
            self.guide.learn(&Told { choice, accepted, distance, gain });
        }
        self.tell_vain();
    }

    /// Tells of choices up to the next of which something came.
    fn tell_vain(&mut self) {
        while let Some((choice, false)) = self.untold.front().copied() {
            self.untold.pop_front();
            let (accepted, distance, gain) = (false, 0.0, 0.0);
            self.guide.learn(&Told { choice, accepted, distance, gain });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// What a guide was told: a choice, and how far its mutant was.
    type Heard = Arc<Mutex<Vec<(usize, f64)>>>;

    /// Chooses 0, 1, 2 and so on, and remembers what it is told.
    struct Script {
        next: usize,
        heard: Heard,
    }

    impl Guide for Script {
        fn choose(&mut self) -> usize {
            self.next += 1;
            self.next - 1
        }

        fn learn(&mut self, told: &Told) {
            self.heard.lock().unwrap().push((told.choice, told.distance));
        }
    }

    /// A batch of choices; `made` says of which a mutant came.
    fn chosen(made: &[bool]) -> (Choices, Heard) {
        let heard = Heard::default();
        let mut choices = Choices::new(Box::new(Script { next: 0, heard: Arc::clone(&heard) }));
        for &made in made {
            let choice = choices.choose();
            choices.note(choice, made);
        }
        (choices, heard)
    }

    fn witness(distance: f64) -> Weighed {
        Weighed { accepted: true, distance, gain: 0.0 }
    }

    #[test]
    fn a_guide_learns_in_the_order_in_which_it_chose() {
        let (mut choices, heard) = chosen(&[false, true, false, false, true, false]);
        choices.learn(witness(0.25));
        assert_eq!(*heard.lock().unwrap(), [(0, 0.0), (1, 0.25), (2, 0.0), (3, 0.0)]);
        choices.learn(witness(0.5));
        assert_eq!(heard.lock().unwrap()[4..], [(4, 0.5), (5, 0.0)]);
    }

    #[test]
    fn what_comes_of_a_mutant_is_told_once() {
        let (mut choices, heard) = chosen(&[true]);
        choices.learn(witness(0.75));
        choices.learn(witness(1.0));
        assert_eq!(*heard.lock().unwrap(), [(0, 0.75)]);
    }

    #[test]
    fn choices_of_which_nothing_comes_wait_for_the_mutant_before_them() {
        let (mut choices, heard) = chosen(&[true, false]);
        assert_eq!(*heard.lock().unwrap(), []);
        choices.learn(witness(0.5));
        assert_eq!(*heard.lock().unwrap(), [(0, 0.5), (1, 0.0)]);
    }
}
