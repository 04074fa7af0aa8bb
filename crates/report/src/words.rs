//! Numbers and choices -> words, so that all parts of a page say them alike.
//!
//! **Invariant:** what comes out is plain text of our own and needs no escaping.

use std::time::Duration;

use optsleuth_model::CaseKind;

/// A count of whatever width as a number.
fn whole(n: impl TryInto<u64>) -> u64 {
    n.try_into().unwrap_or(u64::MAX)
}

/// A count, its digits in groups of three.
pub(crate) fn count(n: impl TryInto<u64>) -> String {
    let digits = whole(n).to_string();
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
pub(crate) fn counted(n: impl TryInto<u64>, one: &str, many: &str) -> String {
    let n = whole(n);
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// A mean, or another number with a fraction.
pub(crate) fn decimal(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.split_once('.').map(|(whole, part)| (whole.parse::<usize>(), part)) {
        Some((Ok(whole), part)) => format!("{}.{part}", count(whole)),
        _ => text,
    }
}

/// A median of whole numbers: halves show, other zeros do not.
pub(crate) fn middle(value: f64) -> String {
    let text = decimal(value);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// How likely something is by chance; too small is not 0.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

pub(crate) fn duration(took: Duration) -> String {
    let seconds = took.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) => format!("{:.1} s", took.as_secs_f64()),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// The same of a number that may be none.
pub(crate) fn seconds(took: f64) -> String {
    Duration::try_from_secs_f64(took).map_or("?".to_owned(), duration)
}

/// A share of a whole, in percent. What is not nothing is not 0.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    match format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64) {
        text if text == "0.0 %" && part > 0 => "<0.1 %".to_owned(),
        text => text,
    }
}

/// A similarity. 1 is the failing run itself, so nothing else is rounded to it.
pub(crate) fn similarity(value: f64) -> String {
    match format!("{value:.3}") {
        text if text == "1.000" && value < 1.0 => ">0.999".to_owned(),
        text => text,
    }
}

/// A score; some formulas know no upper bound.
pub(crate) fn score(value: f64) -> String {
    if value.abs() < 10_000.0 { format!("{value:.4}") } else { format!("{value:.4e}") }
}

/// The beginning of a heading.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// How a compiler failed.
pub(crate) fn kind(kind: CaseKind) -> &'static str {
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
    fn fractions_and_times_are_short() {
        let texts = [0.04, 12.25, 1234.56].map(decimal);
        assert_eq!(texts, ["0.0", "12.2", "1,234.6"]);
        assert_eq!([3.0, 3.5, 1000.0].map(middle), ["3", "3.5", "1,000"]);
        assert_eq!([0.5, 0.0471, 0.0001].map(probability), ["0.500", "0.047", "<0.001"]);
        let times = [2.25, 65.0, 7380.0].map(Duration::from_secs_f64).map(duration);
        assert_eq!(times, ["2.2 s", "1 min 5 s", "2 h 3 min"]);
    }

    #[test]
    fn what_is_no_time_is_no_panic_and_a_small_share_is_not_nothing() {
        assert_eq!(
            [-1.0, f64::NAN, f64::INFINITY, 61.0].map(seconds),
            ["?", "?", "?", "1 min 1 s"]
        );
        assert_eq!(
            [(0, 0), (0, 7), (1, 9999), (1, 8), (7, 7)].map(|(part, all)| percent(part, all)),
            ["0.0 %", "0.0 %", "<0.1 %", "12.5 %", "100.0 %"]
        );
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
