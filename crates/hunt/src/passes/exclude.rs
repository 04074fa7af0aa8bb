//! Passes that may not follow each other: what is known to fail, and would be
//! found again and again (the CTOS paper, Table 3).
//!
//! A sequence is not thrown away for it: of a hundred passes most have some
//! pair in them. What would complete the pattern is left out.

use optsleuth_model::{Exclusion, Finding};

/// The paper's own list, for the LLVM of 2019.
const TABLE_3: [(&str, &str, &str); 8] = [
    ("early-cse", "early-cse", "crash"),
    ("gvn-hoist", "early-cse", "crash"),
    ("loop-unroll", "licm", "crash"),
    ("loop-reduce", "loop-reduce", "crash"),
    ("loop-rotate", "loop-vectorize", "wrong code"),
    ("loop-unroll", "loop-reroll", "wrong code"),
    ("memcpyopt", "gvn", "wrong code"),
    ("reg2mem", "newgvn", "wrong code"),
];

/// So many duplicates are enough to leave a pair of passes out.
const ENOUGH_DUPLICATES: u64 = 5;
/// After so many it is the last pass, whatever comes before.
const MANY_DUPLICATES: u64 = 20;

/// The paper's exclusions.
pub fn table_3() -> Vec<Exclusion> {
    let exclusion = |(first, second, kind): &(&str, &str, &str)| Exclusion {
        passes: vec![(*first).to_owned(), (*second).to_owned()],
        reason: format!("Table 3 of the CTOS paper: {kind}"),
        from_round: 0,
    };
    TABLE_3.iter().map(exclusion).collect()
}

/// `gvn-hoist,early-cse` or `gvn-hoist,early-cse: why`.
pub fn parse_exclusion(text: &str) -> Result<Exclusion, String> {
    let (passes, reason) = match text.split_once(':') {
        Some((passes, reason)) => (passes, reason.trim()),
        None => (text, "as asked"),
    };
    let passes: Vec<String> = passes.split(',').map(|name| name.trim().to_owned()).collect();
    match passes.iter().any(String::is_empty) {
        true => Err(format!("`{text}` is not a list of passes such as `gvn-hoist,early-cse`")),
        false => Ok(Exclusion { passes, reason: reason.to_owned(), from_round: 0 }),
    }
}

/// The items that may stay, by the names of their passes: whatever completes a
/// pattern goes.
pub(super) fn without_excluded<T: Clone>(
    items: &[T],
    name: &dyn Fn(&T) -> String,
    exclusions: &[Exclusion],
) -> Vec<T> {
    let mut reached = vec![0; exclusions.len()];
    let mut kept = Vec::new();
    for item in items {
        let name = name(item);
        let completes = |(exclusion, reached): (&Exclusion, &usize)| {
            *reached + 1 == exclusion.passes.len() && exclusion.passes[*reached] == name
        };
        if exclusions.iter().zip(&reached).any(completes) {
            continue;
        }
        for (exclusion, reached) in exclusions.iter().zip(&mut reached) {
            *reached += usize::from(exclusion.passes.get(*reached) == Some(&name));
        }
        kept.push(item.clone());
    }
    kept
}

/// What a finding with duplicates teaches: the last two passes of its reduced
/// sequence; with many duplicates, the last one.
pub(super) fn learnt(finding: &Finding, passes: &[String], round: u64) -> Option<Exclusion> {
    let n_passes = match finding.duplicates {
        0..ENOUGH_DUPLICATES => return None,
        ENOUGH_DUPLICATES..MANY_DUPLICATES => 2,
        MANY_DUPLICATES.. => 1,
    };
    let from = passes.len().saturating_sub(n_passes);
    Some(Exclusion {
        passes: passes.get(from..)?.to_vec(),
        reason: format!("finding {} had {} duplicates", finding.number, finding.duplicates),
        from_round: round,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(items: &str, patterns: &[&str]) -> String {
        let exclusions: Vec<Exclusion> =
            patterns.iter().map(|text| parse_exclusion(text).unwrap()).collect();
        let items: Vec<char> = items.chars().collect();
        without_excluded(&items, &|c| c.to_string(), &exclusions).into_iter().collect()
    }

    #[test]
    fn what_completes_a_pattern_is_left_out() {
        assert_eq!(kept("xaybzb", &["a,b"]), "xayz");
        assert_eq!(kept("bab", &["a,b"]), "ba");
        assert_eq!(kept("aaa", &["a,a"]), "a");
        assert_eq!(kept("abc", &["b"]), "ac");
        assert_eq!(kept("abcabc", &["a,b,c"]), "abab");
    }

    #[test]
    fn several_patterns_hold_at_once() {
        assert_eq!(kept("abcd", &["a,b", "a,d"]), "ac");
        assert_eq!(kept("abcd", &[]), "abcd");
    }

    #[test]
    fn a_pattern_has_a_reason() {
        let exclusion = parse_exclusion("gvn-hoist, early-cse: known since March").unwrap();
        assert_eq!(exclusion.passes, ["gvn-hoist", "early-cse"]);
        assert_eq!(exclusion.reason, "known since March");
        assert!(parse_exclusion("a,,b").is_err());
        assert!(parse_exclusion("").is_err());
        assert_eq!(table_3().len(), 8);
    }
}
