//! Which invocation of one run is which of another.
//!
//! A number is the place at which the pass manager comes to an invocation, and
//! it means another one as soon as an earlier pass was left out that would have
//! made or removed a function or a loop. So invocations are known by their
//! pass, their unit and how often that pair came before.
//!
//! **Invariant:** pure; two invocations of one run never have the same name.

use std::collections::{BTreeSet, HashMap};

use optsleuth_model::{IndexSet, Invocation};

/// Pass, unit, and how often the two came before in the same run.
pub(super) type Name<'a> = (&'a str, &'a str, u32);

/// The names of a run's invocations, in its order.
pub(super) fn names(log: &[Invocation]) -> Vec<Name<'_>> {
    let mut seen: HashMap<(&str, &str), u32> = HashMap::new();
    let pairs = log.iter().map(|Invocation { pass, unit, .. }| (pass.as_str(), unit.as_str()));
    let named = pairs.map(|(pass, unit)| {
        let count = seen.entry((pass, unit)).or_default();
        *count += 1;
        (pass, unit, *count - 1)
    });
    named.collect()
}

/// The skips with which a run should have left out all but `wanted`, by what
/// that run says it came to. Where it did not get, the numbers are those of
/// `kept`.
pub(super) fn corrected(log: &[Invocation], wanted: &BTreeSet<Name<'_>>, kept: &[u32]) -> IndexSet {
    let reached = u32::try_from(log.len()).unwrap_or(u32::MAX);
    let is_wanted = |(_, name): &(u32, Name<'_>)| wanted.contains(name);
    let named = (0..).zip(names(log)).filter(is_wanted).map(|(number, _)| number);
    let rest = kept.iter().copied().filter(|&number| number >= reached);
    all_but(named.chain(rest))
}

/// Skips everything but these; they have to ascend.
pub(super) fn all_but(kept: impl IntoIterator<Item = u32>) -> IndexSet {
    let mut from = 0;
    let mut ranges = Vec::new();
    for number in kept {
        ranges.push((from, number));
        from = number + 1;
    }
    ranges.push((from, u32::MAX));
    IndexSet::of_ranges(ranges)
}

/// Whether two sets of skips come to the same among the first `n` invocations.
pub(super) fn same_among(n: usize, a: &IndexSet, b: &IndexSet) -> bool {
    let n = u32::try_from(n).unwrap_or(u32::MAX);
    let cut = |set: &IndexSet| -> Vec<(u32, u32)> {
        let cut = set.ranges().iter().map(|&(from, end)| (from, end.min(n)));
        cut.filter(|(from, end)| from < end).collect()
    };
    cut(a) == cut(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(entries: &[(&str, &str)]) -> Vec<Invocation> {
        let one = |(index, (pass, unit)): (u32, &(&str, &str))| Invocation {
            index,
            pass: (*pass).to_owned(),
            unit: (*unit).to_owned(),
            skipped: false,
            required: false,
            changed: false,
        };
        (0..).zip(entries).map(one).collect()
    }

    #[test]
    fn a_pair_that_comes_again_has_another_name() {
        let log = log(&[("sroa", "f"), ("gvn", "f"), ("sroa", "f"), ("sroa", "g")]);
        let expected = [("sroa", "f", 0), ("gvn", "f", 0), ("sroa", "f", 1), ("sroa", "g", 0)];
        assert_eq!(names(&log), expected);
    }

    #[test]
    fn numbers_follow_their_names_into_another_run() {
        let failing = log(&[("inline", "m"), ("gvn", "f"), ("gvn", "h")]);
        let kept = [1, 2];
        let all = names(&failing);
        let wanted: BTreeSet<Name<'_>> = kept.iter().map(|&k| all[k as usize]).collect();
        assert!(same_among(3, &corrected(&failing, &wanted, &kept), &all_but(kept)));
        // Without inlining there is one more function.
        let other = log(&[("inline", "m"), ("gvn", "f"), ("gvn", "g"), ("gvn", "h")]);
        let skips = corrected(&other, &wanted, &kept);
        assert_eq!(skips.ranges(), [(0, 1), (2, 3), (4, u32::MAX)]);
        assert!(!same_among(4, &skips, &all_but(kept)));
        assert!(same_among(2, &skips, &all_but(kept)));
        // What a run did not come to keeps its number.
        assert_eq!(corrected(&other[..1], &wanted, &kept), all_but(kept));
    }

    #[test]
    fn all_but_nothing_is_everything() {
        assert_eq!(all_but([]), IndexSet::from(0));
        assert_eq!(all_but([0, 1, 4]).ranges(), [(2, 4), (5, u32::MAX)]);
    }
}
