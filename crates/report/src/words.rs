//! Numbers and choices -> words, so that all parts of a page say them alike.
//!
//! **Invariant:** what comes out is plain text of our own and needs no escaping.

use optsleuth_model::CaseKind;

/// A count, its digits in groups of three.
pub(super) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 run`, `2 runs`.
pub(super) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// A similarity. 1 is the failing run itself, so nothing else is rounded to it.
pub(super) fn similarity(value: f64) -> String {
    match format!("{value:.3}") {
        text if text == "1.000" && value < 1.0 => ">0.999".to_owned(),
        text => text,
    }
}

/// A score; some formulas know no upper bound.
pub(super) fn score(value: f64) -> String {
    if value.abs() < 10_000.0 { format!("{value:.4}") } else { format!("{value:.4e}") }
}

/// How a compiler failed.
pub(super) fn kind(kind: CaseKind) -> &'static str {
    match kind {
        CaseKind::Crash => "crash",
        CaseKind::WrongCode => "wrong code",
        CaseKind::InvalidIr => "invalid IR",
        CaseKind::Hang => "hang",
        CaseKind::Memory => "out of memory",
        CaseKind::Codegen => "code generator failure",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        let texts = [0, 999, 1000, 12_345, 1_234_567].map(count);
        assert_eq!(texts, ["0", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!(counted(1, "run", "runs"), "1 run");
        assert_eq!(counted(0, "run", "runs"), "0 runs");
    }

    #[test]
    fn only_the_failing_run_itself_has_similarity_one() {
        assert_eq!(
            [0.97, 0.9994, 0.9996, 1.0].map(similarity),
            ["0.970", "0.999", ">0.999", "1.000"]
        );
    }

    #[test]
    fn scores_without_bound_stay_short() {
        assert_eq!([0.12345, 31.0, 1_234_567.0].map(score), ["0.1235", "31.0000", "1.2346e6"]);
    }
}
