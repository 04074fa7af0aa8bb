//! Measurements -> the tables of the papers: every method on the same cases,
//! every recipe on the same runs, and every method against the first one.
//!
//! **Invariant:** a case counts for a method only if it was measured with all
//! of the method's seeds; one that was not is listed, never dropped in silence.
//! Methods stand in the order in which the caller names them, everything else
//! in the order of names.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;

use optsleuth_model::{Measurement, RankedTruth, RecipeName, Sought};
use serde::{Deserialize, Serialize};

use crate::effect::a12;
use crate::mann_whitney::{MannWhitney, mann_whitney};
use crate::seeds::{Evaluation, evaluate};
use crate::standing::{CaseRanks, Standing};
use crate::summary::median;
use crate::wilcoxon::{Wilcoxon, wilcoxon};

/// What is ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// The compiler's source files.
    Files,
    /// Its functions.
    Functions,
}

/// All methods on one set of cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scoreboard {
    /// In the order in which they were asked for.
    pub methods: Vec<MethodScore>,
    /// Each method against the first, where both were measured.
    pub comparisons: Vec<Comparison>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodScore {
    /// `locseq` and so on.
    pub method: String,
    /// How many cases count.
    pub cases: usize,
    /// Cases of which a seed is missing.
    pub incomplete: Vec<String>,
    /// How many of all searches found no witness.
    pub without_witness: usize,
    pub searches: usize,
    /// The median number of runs of a search.
    pub runs: f64,
    /// The median number of witnesses of a search.
    pub witnesses: f64,
    /// The method's own ranking; `None` if no case names a file.
    pub files: Option<Evaluation>,
    /// The method's own ranking; `None` if no case names a function.
    pub functions: Option<Evaluation>,
    /// Every recipe on the same runs, the method's own first.
    pub recipes: Vec<RecipeScore>,
}

/// A recipe on the runs of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecipeScore {
    pub recipe: RecipeName,
    /// `None` if no case names a file.
    pub files: Option<Evaluation>,
    /// `None` if no case names a function.
    pub functions: Option<Evaluation>,
}

/// Two methods on the cases that both were measured on: the first rank of a
/// culprit, by the median over seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What the other one is compared with.
    pub baseline: String,
    /// The method that is compared with.
    pub method: String,
    pub granularity: Granularity,
    /// How many cases both have.
    pub cases: usize,
    /// Cases in which the method has the better rank.
    pub better: usize,
    /// Cases in which it has the worse one.
    pub worse: usize,
    /// Paired by case. The first of a pair is the method's rank.
    pub wilcoxon: Wilcoxon,
    /// Not paired, as some papers have it.
    pub mann_whitney: MannWhitney,
    /// How likely a rank of the method is larger, and so worse: below 0.5 the
    /// method is the better one.
    pub a12: f64,
}

/// The measurements of a method that count, by case, in the order of seeds.
pub(crate) type ByCase<'a> = BTreeMap<&'a str, Vec<&'a Measurement>>;

impl Scoreboard {
    /// Of these measurements. A method without any is left out.
    pub fn of<'a>(
        methods: &[String],
        measurements: impl IntoIterator<Item = &'a Measurement>,
    ) -> Scoreboard {
        let mut by_method: BTreeMap<&str, ByCase<'a>> = BTreeMap::new();
        for measurement in measurements {
            let by_case = by_method.entry(&measurement.method).or_default();
            by_case.entry(&measurement.case).or_default().push(measurement);
        }
        let mut scores = Vec::new();
        let mut complete = Vec::new();
        for method in methods {
            let Some(by_case) = by_method.remove(method.as_str()) else { continue };
            let (whole, incomplete) = split(by_case);
            scores.push(MethodScore::of(method, &whole, incomplete));
            complete.push((method, whole));
        }
        let comparisons = match complete.split_first() {
            None => Vec::new(),
            Some((baseline, others)) => {
                others.iter().flat_map(|other| compare(baseline, other)).collect()
            }
        };
        Scoreboard { methods: scores, comparisons }
    }
}

/// Cases with all of the seeds, and the names of the others.
fn split(mut by_case: ByCase<'_>) -> (ByCase<'_>, Vec<String>) {
    for measurements in by_case.values_mut() {
        measurements.sort_by_key(|measurement| measurement.seed);
    }
    let seeds: BTreeSet<u64> =
        by_case.values().flatten().map(|measurement| measurement.seed).collect();
    let is_whole = |measurements: &[&Measurement]| {
        measurements.iter().map(|measurement| measurement.seed).eq(seeds.iter().copied())
    };
    let incomplete: Vec<&str> =
        by_case.iter().filter(|(_, all)| !is_whole(all)).map(|(case, _)| *case).collect();
    for case in &incomplete {
        by_case.remove(case);
    }
    (by_case, incomplete.into_iter().map(str::to_owned).collect())
}

impl MethodScore {
    fn of(method: &str, cases: &ByCase<'_>, incomplete: Vec<String>) -> MethodScore {
        let all: Vec<&Measurement> = cases.values().flatten().copied().collect();
        let middle = |value: fn(&Measurement) -> usize| {
            let values: Vec<f64> = all.iter().map(|found| value(found) as f64).collect();
            median(&values).unwrap_or_default()
        };
        let recipes: Vec<RecipeScore> = recipes(&all)
            .into_iter()
            .map(|recipe| RecipeScore {
                files: score(cases, Granularity::Files, &recipe),
                functions: score(cases, Granularity::Functions, &recipe),
                recipe,
            })
            .collect();
        let own = recipes.first();
        MethodScore {
            method: method.to_owned(),
            cases: cases.len(),
            incomplete,
            without_witness: all.iter().filter(|f| f.runs > 0 && f.witnesses == 0).count(),
            searches: all.iter().filter(|found| found.runs > 0).count(),
            runs: middle(|found| found.runs),
            witnesses: middle(|found| found.witnesses),
            files: own.and_then(|own| own.files),
            functions: own.and_then(|own| own.functions),
            recipes,
        }
    }
}

/// The recipes that all have, in the order in which the first has them.
fn recipes(all: &[&Measurement]) -> Vec<RecipeName> {
    let Some((first, rest)) = all.split_first() else { return Vec::new() };
    let has = |found: &Measurement, recipe: &RecipeName| {
        found.rankings.iter().any(|ranked| ranked.recipe == *recipe)
    };
    let everywhere = |recipe: &&RecipeName| rest.iter().all(|found| has(found, recipe));
    first.rankings.iter().map(|ranked| &ranked.recipe).filter(everywhere).cloned().collect()
}

fn score(cases: &ByCase<'_>, what: Granularity, recipe: &RecipeName) -> Option<Evaluation> {
    let standings: Vec<Vec<Standing>> = cases
        .values()
        .filter_map(|seeds| seeds.iter().map(|found| standing(found, what, recipe)).collect())
        .collect();
    evaluate(&standings).ok()
}

/// Where a ranking has the culprits; `None` if the case names none.
fn standing(found: &Measurement, what: Granularity, recipe: &RecipeName) -> Option<Standing> {
    let ranked = found.rankings.iter().find(|ranked| ranked.recipe == *recipe)?;
    let (sought, ranks) = side(found, ranked, what);
    if sought.culprits.is_empty() {
        return None;
    }
    // A failing run that executed nothing at all still has to be read in vain.
    let suspects = NonZero::new(sought.suspects).unwrap_or(NonZero::<usize>::MIN);
    Standing::new(ranks.iter().copied(), suspects).ok()
}

fn side<'a>(
    found: &'a Measurement,
    ranked: &'a RankedTruth,
    what: Granularity,
) -> (&'a Sought, &'a [Option<usize>]) {
    match what {
        Granularity::Files => (&found.files, &ranked.files),
        Granularity::Functions => (&found.functions, &ranked.functions),
    }
}

/// Where a method's own ranking has the culprits of each case that counts, by
/// the median over seeds. A case that names no culprit is left out.
pub fn case_ranks<'a>(
    method: &str,
    measurements: impl IntoIterator<Item = &'a Measurement>,
    what: Granularity,
) -> BTreeMap<&'a str, CaseRanks> {
    own_ranks(&counted(method, measurements), what)
}

/// Where the method's own ranking has the culprits; `None` if the case names
/// none.
pub fn own_standing(found: &Measurement, what: Granularity) -> Option<Standing> {
    standing(found, what, &found.own()?.recipe)
}

/// The measurements of a method that count.
pub(crate) fn counted<'a>(
    method: &str,
    measurements: impl IntoIterator<Item = &'a Measurement>,
) -> ByCase<'a> {
    let mut by_case = ByCase::new();
    for measurement in measurements.into_iter().filter(|found| found.method == method) {
        by_case.entry(&measurement.case).or_default().push(measurement);
    }
    split(by_case).0
}

fn own_ranks<'a>(cases: &ByCase<'a>, what: Granularity) -> BTreeMap<&'a str, CaseRanks> {
    let ranks = |seeds: &[&Measurement]| {
        let standings: Option<Vec<Standing>> =
            seeds.iter().map(|found| own_standing(found, what)).collect();
        CaseRanks::median(&standings?)
    };
    cases.iter().filter_map(|(case, seeds)| Some((*case, ranks(seeds)?))).collect()
}

fn compare(
    (baseline, of_baseline): &(&String, ByCase<'_>),
    (method, of_method): &(&String, ByCase<'_>),
) -> Vec<Comparison> {
    let one = |granularity| {
        let (theirs, ours) =
            (own_ranks(of_baseline, granularity), own_ranks(of_method, granularity));
        let pairs: Vec<(f64, f64)> = ours
            .iter()
            .filter_map(|(case, ranks)| Some((ranks.first(), theirs.get(case)?.first())))
            .collect();
        let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        Some(Comparison {
            baseline: (*baseline).clone(),
            method: (*method).clone(),
            granularity,
            cases: pairs.len(),
            better: pairs.iter().filter(|(ours, theirs)| ours < theirs).count(),
            worse: pairs.iter().filter(|(ours, theirs)| ours > theirs).count(),
            wilcoxon: wilcoxon(&pairs)?,
            mann_whitney: mann_whitney(&first, &second)?,
            a12: a12(&first, &second)?,
        })
    };
    [Granularity::Files, Granularity::Functions].into_iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use optsleuth_model::Budget;

    use super::*;

    /// A measurement among 100 suspects; the second recipe has the file first.
    fn measurement(method: &str, case: &str, seed: u64, file: Option<usize>) -> Measurement {
        let sought = |culprits: &[&str]| Sought {
            culprits: culprits.iter().map(ToString::to_string).collect(),
            suspects: 100,
        };
        let ranked = |formula: &str, file| RankedTruth {
            recipe: RecipeName {
                formula: formula.into(),
                aggregation: "mean".into(),
                weights: "equal".into(),
            },
            files: vec![file],
            functions: Vec::new(),
        };
        Measurement {
            version: 1,
            case: case.into(),
            kind: "crash".into(),
            confidence: None,
            components: Vec::new(),
            llvm: "19.1.7".into(),
            method: method.into(),
            seed,
            budget: Budget::default(),
            setup: String::new(),
            runs: 10 * seed as usize,
            witnesses: if file.is_none() { 0 } else { 5 },
            failing: 0,
            discarded: 0,
            programs: None,
            seconds: None,
            best_similarity: 0.5,
            files: sought(&["a.cpp"]),
            functions: sought(&[]),
            rankings: vec![ranked("ochiai", file), ranked("dstar", Some(1))],
            top_files: Vec::new(),
            top_functions: Vec::new(),
            history: Vec::new(),
        }
    }

    /// Two methods, three cases, two seeds; `b` lacks a seed of the third case.
    fn example() -> Vec<Measurement> {
        vec![
            measurement("a", "x", 1, Some(4)),
            measurement("a", "x", 2, Some(6)),
            measurement("a", "y", 1, Some(20)),
            measurement("a", "y", 2, Some(30)),
            measurement("a", "z", 1, None),
            measurement("a", "z", 2, None),
            measurement("b", "x", 2, Some(1)),
            measurement("b", "x", 1, Some(1)),
            measurement("b", "y", 1, Some(40)),
            measurement("b", "y", 2, Some(40)),
            measurement("b", "z", 2, Some(2)),
        ]
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_method_is_scored_on_its_complete_cases() {
        let board = Scoreboard::of(&names(&["b", "none", "a"]), &example());
        let [b, a] = &board.methods[..] else { panic!("{board:?}") };
        assert_eq!((b.method.as_str(), b.cases), ("b", 2));
        assert_eq!(b.incomplete, ["z"]);
        let files = b.files.unwrap();
        assert_eq!((files.cases, files.seeds, files.headline.top1), (2, 2, 1));
        assert_eq!(files.headline.mfr, 20.5); // (1 + 40) / 2

        assert_eq!((a.cases, a.searches, a.without_witness), (3, 6, 2));
        assert_eq!(a.runs, 15.0);
        let files = a.files.unwrap().headline;
        // Medians 5 and 25, and 100 for what is not among the suspects.
        assert_eq!((files.top1, files.top5, files.top20), (0, 1, 1));
        assert_eq!(files.mfr, 130.0 / 3.0);
        assert_eq!(a.functions, None);
    }

    #[test]
    fn recipes_rank_the_same_runs() {
        let board = Scoreboard::of(&names(&["a"]), &example());
        let [own, other] = &board.methods[0].recipes[..] else { panic!("{board:?}") };
        assert_eq!(own.recipe.formula, "ochiai");
        assert_eq!(own.files, board.methods[0].files);
        assert_eq!(other.recipe.formula, "dstar");
        assert_eq!(other.files.unwrap().headline.top1, 3);
    }

    #[test]
    fn methods_are_compared_with_the_first_on_the_cases_of_both() {
        let board = Scoreboard::of(&names(&["a", "b"]), &example());
        let [comparison] = &board.comparisons[..] else { panic!("{board:?}") };
        assert_eq!((&*comparison.baseline, &*comparison.method), ("a", "b"));
        assert_eq!(comparison.granularity, Granularity::Files);
        // 1 against 5, 40 against 25; `z` is missing.
        assert_eq!((comparison.cases, comparison.better, comparison.worse), (2, 1, 1));
        assert_eq!(comparison.a12, 0.5);
    }

    #[test]
    fn nothing_measured_is_an_empty_board() {
        let board = Scoreboard::of(&names(&["a"]), &[]);
        assert_eq!(board, Scoreboard { methods: Vec::new(), comparisons: Vec::new() });
    }
}
