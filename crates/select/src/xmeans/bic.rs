//! How well clusters describe vectors, less what describing them costs.

/// The Bayesian information criterion of clusters of these sizes, whose vectors
/// have this sum of squared distances to their centers. Larger is better.
///
/// `L - p/2 · ln N`, where `L` is the logarithm of the likelihood under
/// spherical normal distributions of one variance `s²`, around `K` centers in
/// `d` dimensions:
///
/// `L = Σ n_i ln(n_i/N) - N·d/2 · ln(2π s²) - d/2 · (N-K)`, with the unbiased
/// `s² = error / (d (N-K))`, and `p = (K-1) + d·K + 1` parameters.
///
/// Pelleg and Moore leave out the `d` in `s²`; with it, the likelihood is that
/// of the distribution they name. Infinite where there is no error; minus
/// infinity where nothing is left to estimate the variance from.
pub(super) fn bic(sizes: &[usize], error: f64, dimension: usize) -> f64 {
    let n = sizes.iter().sum::<usize>() as f64;
    let (k, d) = (sizes.len() as f64, dimension as f64);
    if n <= k {
        return f64::NEG_INFINITY;
    }
    if error <= 0.0 {
        return f64::INFINITY;
    }
    let variance = error / (d * (n - k));
    let shares: f64 = sizes.iter().map(|&size| size as f64 * libm::log(size as f64 / n)).sum();
    let likelihood =
        shares - n * d / 2.0 * libm::log(2.0 * std::f64::consts::PI * variance) - d / 2.0 * (n - k);
    let n_parameters = (k - 1.0) + d * k + 1.0;
    likelihood - n_parameters / 2.0 * libm::log(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_the_formula_says() {
        // s² = 6 / (2 · 3) = 1.
        let expected = -4.0 * (2.0 * std::f64::consts::PI).ln() - 3.0 - 1.5 * 4f64.ln();
        assert!((bic(&[4], 6.0, 2) - expected).abs() < 1e-12);
    }

    #[test]
    fn two_are_better_only_if_the_error_falls_enough() {
        let one = bic(&[1000], 5000.0, 5);
        assert!(bic(&[500, 500], 4000.0, 5) < one);
        assert!(bic(&[500, 500], 2500.0, 5) > one);
    }

    #[test]
    fn nothing_and_perfection_are_ordered() {
        assert_eq!(bic(&[1, 1], 0.0, 3), f64::NEG_INFINITY);
        assert_eq!(bic(&[2, 1], 0.0, 3), f64::INFINITY);
    }
}
