//! What holds for all ranks and samples, checked on random ones through the
//! public interface. No hand-computed number is in here; those stand beside the
//! code.

use std::num::NonZero;

use optsleuth_eval::{
    CaseRanks, Evaluation, Figures, NullDistribution, Standing, Summary, a12, evaluate,
    mann_whitney, mean, median, quartiles, wilcoxon,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A standing with few or many suspects, some culprits not among them.
fn standing() -> impl Strategy<Value = Standing> {
    prop_oneof![1usize..30, 1usize..3000].prop_flat_map(|n_suspects| {
        vec(proptest::option::weighted(0.8, 1..=n_suspects), 1..6)
            .prop_map(move |ranks| Standing::new(ranks, NonZero::new(n_suspects).unwrap()).unwrap())
    })
}

/// Cases with as many standings each.
fn cases() -> impl Strategy<Value = Vec<Vec<Standing>>> {
    (1usize..6).prop_flat_map(|seeds| vec(vec(standing(), seeds), 1..20))
}

/// Samples with many ties, and some without.
fn sample(sizes: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        vec((0u32..12).prop_map(f64::from), sizes.clone()),
        vec(-1e6..1e6, sizes.clone()),
        vec((-40i32..40).prop_map(|n| f64::from(n) / 3.0), sizes),
    ]
}

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    (1usize..70).prop_flat_map(|n| {
        (sample(n..n + 1), sample(n..n + 1)).prop_map(|(a, b)| a.into_iter().zip(b).collect())
    })
}

fn rotated<T: Clone>(values: &[T], by: usize) -> Vec<T> {
    let mut values = values.to_vec();
    let places = by % values.len().max(1);
    values.rotate_left(places);
    values.reverse();
    values
}

fn is_in_order(figures: &Figures, n_cases: usize) -> bool {
    let Figures { top1, top5, top10, top20, mfr, mar } = *figures;
    [top1, top5, top10, top20, n_cases].is_sorted() && 1.0 <= mfr && mfr <= mar
}

proptest! {
    #[test]
    fn top_n_grows_with_n_and_mfr_is_at_most_mar(cases in cases()) {
        let evaluation = evaluate(&cases).unwrap();
        prop_assert!(is_in_order(&evaluation.headline, cases.len()), "{evaluation:?}");
        for seed in 0..evaluation.seeds {
            let ranks: Vec<_> = cases.iter().map(|seeds| CaseRanks::of(&seeds[seed])).collect();
            let figures = Figures::of(&ranks).unwrap();
            prop_assert!(is_in_order(&figures, cases.len()), "{figures:?}");
        }
    }

    #[test]
    fn a_case_is_in_the_top_n_of_every_larger_n(seeds in vec(standing(), 1..6)) {
        let ranks = CaseRanks::median(&seeds).unwrap();
        let tops: Vec<bool> = (0..3001).map(|n| ranks.is_in_top(n)).collect();
        prop_assert!(tops.is_sorted() && !tops[0]);
        prop_assert!(ranks.first() <= ranks.average());
    }

    #[test]
    fn the_order_of_cases_and_of_seeds_changes_no_bit(cases in cases(), by in 0usize..100) {
        let evaluation: Evaluation = evaluate(&cases).unwrap();
        prop_assert_eq!(evaluate(&rotated(&cases, by)).unwrap(), evaluation);
        let reseeded: Vec<_> = cases.iter().map(|seeds| rotated(seeds, by)).collect();
        prop_assert_eq!(evaluate(&reseeded).unwrap(), evaluation);
    }

    #[test]
    fn seeds_that_agree_do_not_deviate(case in vec(standing(), 1..20), n_seeds in 2usize..6) {
        let cases: Vec<_> = case.iter().map(|standing| vec![standing.clone(); n_seeds]).collect();
        let Evaluation { headline, over_seeds, .. } = evaluate(&cases).unwrap();
        let ranks: Vec<_> = case.iter().map(CaseRanks::of).collect();
        prop_assert_eq!(Some(headline), Figures::of(&ranks));
        for (summary, figure) in [(over_seeds.mfr, headline.mfr), (over_seeds.mar, headline.mar)] {
            prop_assert_eq!((summary.mean, summary.median, summary.sd), (figure, figure, Some(0.0)));
        }
    }

    #[test]
    fn losing_a_culprit_improves_no_figure(cases in cases(), lost in any::<prop::sample::Index>()) {
        let before = evaluate(&cases).unwrap().headline;
        let mut cases = cases;
        let case = lost.index(cases.len());
        // No standing has more suspects.
        for standing in &mut cases[case] {
            *standing = Standing::unreached(NonZero::new(3000).unwrap());
        }
        let after = evaluate(&cases).unwrap().headline;
        prop_assert!(after.top1 <= before.top1 && after.top20 <= before.top20);
        prop_assert!(after.mfr >= before.mfr && after.mar >= before.mar);
    }

    #[test]
    fn figures_of_values_lie_between_them_and_in_order(values in sample(1..40), by in 0usize..100) {
        let Summary { mean, sd, min, q1, median, q3, max } = Summary::of(&values).unwrap();
        prop_assert!([min, q1, median, q3, max].is_sorted());
        prop_assert!(min <= mean && mean <= max);
        prop_assert_eq!(sd.is_some(), values.len() > 1);
        prop_assert!(sd.is_none_or(|sd| 0.0 <= sd && sd <= max - min));
        prop_assert_eq!(Summary::of(&rotated(&values, by)), Summary::of(&values));
    }

    #[test]
    fn parts_of_a_summary_are_what_the_functions_say(values in sample(0..40)) {
        let summary = Summary::of(&values);
        prop_assert_eq!(mean(&values), summary.map(|summary| summary.mean));
        prop_assert_eq!(median(&values), summary.map(|summary| summary.median));
        let ends = quartiles(&values).map(|quartiles| (quartiles.lower, quartiles.upper));
        prop_assert_eq!(ends, summary.map(|summary| (summary.q1, summary.q3)));
    }

    #[test]
    fn wilcoxon_is_symmetric_and_p_a_probability(pairs in pairs(), by in 0usize..100) {
        let found = wilcoxon(&pairs).unwrap();
        prop_assert!((0.0..=1.0).contains(&found.p), "{found:?}");
        let n = found.n as f64;
        prop_assert_eq!(found.w_plus + found.w_minus, n * (n + 1.0) / 2.0);
        let swapped: Vec<_> = pairs.iter().map(|&(a, b)| (b, a)).collect();
        let other = wilcoxon(&swapped).unwrap();
        prop_assert_eq!((found.p, found.w_plus, found.w_minus), (other.p, other.w_minus, other.w_plus));
        prop_assert_eq!(wilcoxon(&rotated(&pairs, by)).unwrap(), found);
    }

    #[test]
    fn exact_wilcoxon_counts_all_signs(differences in vec(1u32..1000, 1..9), signs: u32) {
        let signed = |signs: u32| -> Vec<(f64, f64)> {
            let sign = |i: usize| if signs >> i & 1 == 1 { 1.0 } else { -1.0 };
            differences.iter().enumerate().map(|(i, &d)| (sign(i) * f64::from(d), 0.0)).collect()
        };
        let found = wilcoxon(&signed(signs)).unwrap();
        prop_assume!(found.distribution == NullDistribution::Exact);
        let as_extreme = |&signs: &u32| wilcoxon(&signed(signs)).unwrap().statistic() <= found.statistic();
        let all = 1u32 << differences.len();
        let p = (0..all).filter(as_extreme).count() as f64 / f64::from(all);
        prop_assert!((found.p - p).abs() < 1e-12, "{found:?}, not {p}");
    }

    #[test]
    fn mann_whitney_is_symmetric_and_p_a_probability(
        a in sample(1..60),
        b in sample(1..60),
        by in 0usize..100,
    ) {
        let found = mann_whitney(&a, &b).unwrap();
        prop_assert!((0.0..=1.0).contains(&found.p), "{found:?}");
        prop_assert_eq!(found.u1 + found.u2, (a.len() * b.len()) as f64);
        let other = mann_whitney(&b, &a).unwrap();
        prop_assert_eq!((found.p, found.u1, found.u2), (other.p, other.u2, other.u1));
        prop_assert_eq!(mann_whitney(&rotated(&a, by), &rotated(&b, by)).unwrap(), found);
    }

    #[test]
    fn exact_mann_whitney_counts_all_choices(n in 2usize..11, first: u32) {
        let split = |chosen: u32| -> (Vec<f64>, Vec<f64>) {
            let (a, b): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| chosen >> i & 1 == 1);
            let number = |values: Vec<usize>| values.into_iter().map(|i| i as f64).collect();
            (number(a), number(b))
        };
        let first = first & ((1 << n) - 1);
        let (a, b) = split(first);
        prop_assume!(!a.is_empty() && !b.is_empty());
        let found = mann_whitney(&a, &b).unwrap();
        prop_assert_eq!(found.distribution, NullDistribution::Exact);
        let alike: Vec<u32> = (0..1 << n).filter(|c: &u32| c.count_ones() == first.count_ones()).collect();
        let smaller_u = |chosen: u32| {
            let (a, b) = split(chosen);
            let larger = a.iter().flat_map(|x| b.iter().map(move |y| x > y)).filter(|&l| l).count();
            larger.min(a.len() * b.len() - larger)
        };
        let extreme = alike.iter().filter(|&&c| smaller_u(c) <= smaller_u(first)).count();
        let p = extreme as f64 / alike.len() as f64;
        prop_assert!((found.p - p).abs() < 1e-12, "{found:?}, not {p}");
    }

    #[test]
    fn a12_of_both_directions_adds_up_to_one(a in sample(1..60), b in sample(1..60)) {
        let (ab, ba) = (a12(&a, &b).unwrap(), a12(&b, &a).unwrap());
        prop_assert!((ab + ba - 1.0).abs() < 1e-15, "{ab} + {ba}");
        prop_assert!((0.0..=1.0).contains(&ab));
        prop_assert_eq!(a12(&a, &a), Some(0.5));
        let (larger, ties) = a.iter().flat_map(|x| b.iter().map(move |y| (x > y, x == y))).fold(
            (0.0, 0.0),
            |(larger, ties), (is_larger, is_tie)| {
                (larger + f64::from(is_larger), ties + f64::from(is_tie))
            },
        );
        prop_assert!((ab - (larger + ties / 2.0) / (a.len() * b.len()) as f64).abs() < 1e-15);
    }
}
