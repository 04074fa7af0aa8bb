//! The inquiry over a compiler that is a formula.

use std::collections::BTreeSet;

use super::*;

/// Fails as the formula says of the invocations that run.
struct Scripted<F> {
    n: u32,
    verdict: F,
    /// Which of them change nothing.
    idle: BTreeSet<u32>,
    /// Where it fails, if it knows.
    failed_in: Option<u32>,
    n_asked: usize,
    /// Answers no more after this many.
    patience: usize,
}

impl<F: Fn(&BTreeSet<u32>) -> Verdict> Compiler for Scripted<F> {
    type Halt = &'static str;

    fn reach(&mut self, _: &[u32]) -> Result<Reach, &'static str> {
        Ok(Reach { n: self.n, failed_in: self.failed_in })
    }

    fn is_slow(&self) -> bool {
        false
    }

    fn judge(&mut self, choices: &[Choice]) -> Result<Vec<Verdict>, &'static str> {
        self.n_asked += choices.len();
        if self.n_asked > self.patience {
            return Err("impatient");
        }
        let running = |choice: &Choice| -> BTreeSet<u32> {
            match choice {
                Choice::Below { end, without } => {
                    (0..self.n.min(*end)).filter(|number| !without.contains(number)).collect()
                }
                Choice::Only(numbers) => numbers.iter().copied().collect(),
            }
        };
        Ok(choices.iter().map(|choice| (self.verdict)(&running(choice))).collect())
    }

    fn changes(&mut self, _: u32) -> Result<Vec<Option<bool>>, &'static str> {
        Ok((0..self.n).map(|number| Some(!self.idle.contains(&number))).collect())
    }

    fn original(&mut self, number: u32, _: &[u32]) -> Result<Option<u32>, &'static str> {
        Ok(Some(number).filter(|number| *number < self.n))
    }
}

fn log(n: u32) -> Vec<Invocation> {
    let one = |index| Invocation {
        index,
        pass: "p".to_owned(),
        unit: format!("function f{}", index % 3),
        skipped: false,
        required: false,
        changed: false,
    };
    (0..n).map(one).collect()
}

fn scripted<F: Fn(&BTreeSet<u32>) -> Verdict>(n: u32, verdict: F) -> Scripted<F> {
    let idle = BTreeSet::new();
    Scripted { n, verdict, idle, failed_in: None, n_asked: 0, patience: usize::MAX }
}

/// What is found, and whether it was not halted.
fn found_by<F: Fn(&BTreeSet<u32>) -> Verdict>(mut compiler: Scripted<F>) -> (Findings, bool) {
    let mut findings = Findings::default();
    let ended = inquire(&log(compiler.n), &mut compiler, &mut findings);
    (findings, ended.is_ok())
}

fn fails_if(fails: bool) -> Verdict {
    if fails { Verdict::Fails } else { Verdict::Passes }
}

fn findings(n: u32, fails: impl Fn(&BTreeSet<u32>) -> bool) -> Findings {
    let (findings, ended) = found_by(scripted(n, |running| fails_if(fails(running))));
    assert!(ended);
    findings
}

fn guilty(invocation: u32, needs_also: &[u32]) -> Option<BisectionVerdict> {
    Some(BisectionVerdict::Guilty { invocation, needs_also: needs_also.to_vec() })
}

#[test]
fn one_invocation_is_guilty_alone() {
    let found = findings(1000, |running| running.contains(&612));
    assert_eq!(found.verdict(), guilty(612, &[]));
    assert_eq!(found.certain_after, Some(612));
    assert_eq!(found.needed, [612]);
    assert!(!found.masked);
}

#[test]
fn an_avalanche_needs_what_came_before() {
    let set = [3, 40, 41, 700];
    let found = findings(1000, |running| set.iter().all(|number| running.contains(number)));
    assert_eq!(found.verdict(), guilty(700, &[3, 40, 41]));
    assert_eq!(found.minimal, set);
    assert_eq!(found.needed, set);
}

#[test]
fn two_that_do_the_same_are_not_one_single_culprit() {
    let found = findings(50, |running| running.contains(&7) || running.contains(&30));
    assert_eq!(found.certain_after, Some(7));
    assert!(found.needed.is_empty());
    let both = BisectionVerdict::SeveralCulprits {
        invocations: vec![7, 30],
        needs_also: vec![],
        more: false,
    };
    assert_eq!(found.verdict(), Some(both));
    // Of very many, some are enough.
    let found = findings(50, |running| running.len() > 10);
    let Some(BisectionVerdict::SeveralCulprits { invocations, more: true, .. }) = found.verdict()
    else {
        panic!("{found:?}")
    };
    assert_eq!(invocations.len(), 5);
}

#[test]
fn what_was_masked_for_a_while_is_found() {
    // 5 does it, 9 hides it, 30 brings it to light again.
    let fails = |running: &BTreeSet<u32>| {
        running.contains(&5) && (!running.contains(&9) || running.contains(&30))
    };
    let found = findings(60, fails);
    assert_eq!(found.certain_after, Some(30));
    assert!(found.masked);
    assert_eq!(found.verdict(), guilty(5, &[]));
    assert_eq!(found.minimal, [5]);
    // Without 30, the failure is hidden again.
    assert_eq!(found.needed, [5, 30]);
}

#[test]
fn invocations_that_change_nothing_may_matter_all_the_same() {
    let fails = |running: &BTreeSet<u32>| running.contains(&4) && running.contains(&20);
    let compiler = scripted(40, |running| fails_if(fails(running)));
    let (found, _) = found_by(Scripted { idle: (0..20).collect(), ..compiler });
    assert_eq!(found.verdict(), guilty(20, &[4]));
}

#[test]
fn no_pass_is_needed_where_it_fails_without() {
    let found = findings(10, |_| true);
    assert!(found.needs_nothing);
    assert_eq!(found.verdict(), None);
}

#[test]
fn another_failure_is_neither_this_one_nor_none() {
    let verdict = |running: &BTreeSet<u32>| match (running.contains(&2), running.contains(&8)) {
        (true, true) => Verdict::Fails,
        (false, true) => Verdict::Other,
        (_, false) => Verdict::Passes,
    };
    let (found, _) = found_by(scripted(10, verdict));
    assert_eq!(found.verdict(), guilty(8, &[2]));
    assert_eq!(found.needed, [8]);
}

#[test]
fn what_is_known_stays_known_when_it_is_halted() {
    let set = [3, 40, 41, 700];
    let fails = |running: &BTreeSet<u32>| set.iter().all(|number| running.contains(number));
    let halted_after = |patience| {
        let compiler = scripted(1000, |running| fails_if(fails(running)));
        let (found, ended) = found_by(Scripted { patience, ..compiler });
        assert!(!ended);
        found.verdict()
    };
    assert_eq!(halted_after(5), None);
    assert_eq!(halted_after(45), guilty(700, &[]));
}

#[test]
fn where_it_crashes_needs_no_search_unless_it_fails_before() {
    let crash_in = |place, patience| {
        let compiler = scripted(1000, |running| fails_if(running.contains(&612)));
        let (found, _) = found_by(Scripted { failed_in: Some(place), patience, ..compiler });
        found.certain_after
    };
    assert_eq!(crash_in(612, 2), Some(612)); // After two runs.
    assert_eq!(crash_in(700, usize::MAX), Some(612));
}

#[test]
fn required_passes_are_never_chosen() {
    let mut log = log(30);
    log[4].required = true;
    let mut compiler = scripted(30, |running| fails_if(running.contains(&9)));
    let mut found = Findings::default();
    assert_eq!(inquire(&log, &mut compiler, &mut found), Ok(()));
    assert_eq!((found.minimal, found.needed), (vec![9], vec![9]));
}

#[test]
fn a_beginning_that_fails_otherwise_counts_as_the_one_before_it() {
    use Verdict::{Fails, Other, Passes};
    let said = [Other, Passes, Other, Fails, Other, Fails, Passes, Other];
    let expected = [false, false, false, true, true, true, false, false];
    assert_eq!(as_before(&said), expected);
}
