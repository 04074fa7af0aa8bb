//! The tests of significance against SciPy's, on the same data through the
//! public interface. Every expected number is one that SciPy 1.17.1 printed.
//!
//! **Invariant:** p-values agree to a billionth of themselves, so that small
//! ones are compared, too. What is computed by hand stands beside the code.

use optsleuth_eval::NullDistribution::{self, Exact, Normal};
use optsleuth_eval::{mann_whitney, wilcoxon};

/// `[float((i*a + b) % m) for i in range(n)]`: many ties.
fn modular(n: u32, a: u32, b: u32, m: u32) -> Vec<f64> {
    (0..n).map(|i| f64::from((i * a + b) % m)).collect()
}

/// `[a*i + b for i in range(n)]`.
fn linear(n: u32, a: f64, b: f64) -> Vec<f64> {
    (0..n).map(|i| a * f64::from(i) + b).collect()
}

/// `[float(-i if i % 3 == 0 else i) for i in range(1, n+1)]`: differences
/// without ties.
fn signed(n: u32) -> Vec<f64> {
    (1..=n).map(|i| if i % 3 == 0 { -f64::from(i) } else { f64::from(i) }).collect()
}

fn agrees(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected
}

/// `wilcoxon(x, y, zero_method='wilcox', correction=False,
/// alternative='two-sided', method=...)` with the method `'exact'` or
/// `'asymptotic'`, as the distribution says.
fn check_wilcoxon(x: &[f64], y: &[f64], by: NullDistribution, statistic: f64, p: f64) {
    assert_eq!(x.len(), y.len());
    let pairs: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    let found = wilcoxon(&pairs).unwrap();
    assert_eq!((found.distribution, found.statistic()), (by, statistic), "{x:?} {y:?}");
    assert!(agrees(found.p, p), "{x:?} {y:?}: {}, not {p}", found.p);
}

/// `mannwhitneyu(x, y, use_continuity=True, alternative='two-sided',
/// method=...)` with the method `'exact'` or `'asymptotic'`, as above.
fn check_mann_whitney(x: &[f64], y: &[f64], by: NullDistribution, u1: f64, p: f64) {
    let found = mann_whitney(x, y).unwrap();
    assert_eq!((found.distribution, found.u1), (by, u1), "{x:?} {y:?}");
    assert!(agrees(found.p, p), "{x:?} {y:?}: {}, not {p}", found.p);
}

#[test]
fn wilcoxon_agrees_on_tiny_samples() {
    let check = check_wilcoxon;
    check(&[5.0], &[3.0], Exact, 0.0, 1.0);
    check(&[1.0, 2.0, 3.0], &[4.0, 6.0, 8.0], Exact, 0.0, 0.25);
    check(&[1.5, 7.25, 3.0, 9.0, 2.0], &[2.0, 3.0, 1.0, 8.0, 5.5], Exact, 5.0, 0.625);
    check(&linear(12, 1.0, 1.0), &[0.0; 12], Exact, 0.0, 0.00048828125);
}

#[test]
fn wilcoxon_agrees_where_differences_are_zero_or_tie() {
    let check = check_wilcoxon;
    check(&[1.0, 1.0, 2.0], &[1.0, 1.0, 2.0], Exact, 0.0, 1.0);
    check(
        &[1.0, 4.0, 6.0, 9.0, 12.0, 3.0, 8.0, 20.0],
        &[1.0, 2.0, 7.0, 4.0, 12.0, 9.0, 5.0, 20.0],
        Exact, // Three zeros, no ties.
        6.0,
        0.8125,
    );
    check(
        &[1.0, 5.0, 2.0, 9.0, 14.0, 3.0, 1.0, 20.0],
        &[3.0, 5.0, 4.0, 4.0, 9.0, 3.0, 2.0, 8.0],
        Normal, // Two zeros, and ties.
        6.0,
        0.34278171114791145,
    );
    check(&[1.0, 2.0], &[2.0, 1.0], Normal, 1.5, 1.0);
}

#[test]
fn wilcoxon_agrees_on_both_sides_of_the_largest_exact_sample() {
    let check = check_wilcoxon;
    check(&signed(25), &[0.0; 25], Exact, 108.0, 0.14847958087921143);
    check(&signed(26), &[0.0; 26], Normal, 108.0, 0.08646199403769568);
    // Zeros do not count.
    let with_zeros = [signed(25), vec![0.0; 5]].concat();
    check(&with_zeros, &[0.0; 30], Exact, 108.0, 0.14847958087921143);
}

#[test]
fn wilcoxon_agrees_on_larger_samples() {
    let check = check_wilcoxon;
    let (x, y) = (modular(30, 7, 1, 20), modular(30, 12, 3, 20));
    check(&x, &y, Normal, 196.0, 0.45094515031775295);
    let (x, y) = (modular(62, 37, 5, 97), modular(62, 53, 20, 131));
    check(&x, &y, Normal, 597.5, 0.012432303614667045);
    // y = [v + 1 + i % 7 for i, v in enumerate(x)]
    let x = modular(200, 37, 5, 97);
    let y: Vec<f64> = x.iter().zip(0..).map(|(v, i)| v + 1.0 + f64::from(i % 7)).collect();
    check(&x, &y, Normal, 0.0, 9.771639259063475e-35);
}

#[test]
fn mann_whitney_agrees_on_tiny_samples() {
    let check = check_mann_whitney;
    check(&[1.0], &[2.0], Exact, 0.0, 1.0);
    check(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], Exact, 0.0, 0.1);
    let (x, y) = ([19.0, 22.0, 16.0, 29.0, 24.0], [20.0, 11.0, 17.0, 12.0]);
    check(&x, &y, Exact, 17.0, 0.1111111111111111);
    check(&[0.5, -2.25, 30.0], &linear(12, 1.0, 1.0), Exact, 12.0, 0.44835164835164837);
}

#[test]
fn mann_whitney_agrees_where_values_tie() {
    let check = check_mann_whitney;
    check(&[2.0], &[2.0], Normal, 0.5, 1.0);
    check(&[7.0; 4], &[7.0; 5], Normal, 10.0, 1.0);
    check(&[1.0, 2.0, 3.0], &[3.0, 4.0, 5.0, 6.0], Normal, 0.5, 0.07446183141740546);
    check(
        &[1.0, 5.0, 2.0, 9.0, 14.0, 3.0, 1.0, 20.0],
        &[3.0, 5.0, 4.0, 4.0, 9.0, 3.0, 2.0, 18.0, 30.0],
        Normal,
        29.5,
        0.5615365197973584,
    );
}

#[test]
fn mann_whitney_agrees_on_both_sides_of_the_largest_exact_sample() {
    let check = check_mann_whitney;
    let (x, y) = (linear(50, 1.5, 5.25), linear(50, 2.0, 0.0));
    check(&x, &y, Exact, 1075.0, 0.23008823898638908);
    let x = linear(51, 1.5, 5.25);
    check(&x, &y, Normal, 1116.0, 0.28166416952078854);
    check(&linear(2500, 1.0, 0.0), &[31.5], Exact, 2468.0, 0.026389444222311098);
}

#[test]
fn mann_whitney_agrees_on_larger_samples() {
    let check = check_mann_whitney;
    let (x, y) = (linear(8, 4.0, 0.5), linear(40, 1.0, 0.0));
    check(&x, &y, Exact, 120.0, 0.2803894900538678);
    let (x, y) = (linear(60, 1.0, 0.0), linear(20, 1.0, 100.0));
    check(&x, &y, Exact, 0.0, 5.657202692906916e-19);
    let (x, y) = (modular(30, 7, 1, 20), modular(30, 12, 3, 20));
    check(&x, &y, Normal, 369.0, 0.23174527133935985);
    let (x, y) = (modular(62, 37, 5, 97), modular(62, 53, 20, 131));
    check(&x, &y, Normal, 1436.5, 0.015357007346294266);
    // y = [v + 60 for v in ...]
    let y: Vec<f64> = modular(200, 41, 5, 97).iter().map(|v| v + 60.0).collect();
    check(&modular(200, 37, 5, 97), &y, Normal, 2964.0, 3.833095222348216e-49);
}
