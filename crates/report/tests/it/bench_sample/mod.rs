//! A bench as large as a real one: 60 cases, 6 methods, 3 seeds, many recipes.
//! With nasty characters in foreign texts. The same each time.

use std::time::Duration;

use optsleuth_model::{
    Budget, HistoryEntry, MEASUREMENT_VERSION, Measurement, RankedTruth, RecipeName, Sought,
    Unmeasured,
};
use optsleuth_report::BenchReport;

pub const N_CASES: usize = 60;
pub const SEEDS: [u64; 3] = [1, 2, 3];
/// Methods, and how much worse than the best their ranks are. The last two do
/// not search.
pub const METHODS: [(&str, f64); 6] = [
    ("locseq", 1.0),
    ("locseq-r", 1.6),
    ("locseq-wc", 2.2),
    ("locseq-rwc", 2.8),
    ("pass-name", 4.0),
    ("top-frame", 6.0),
];
const KINDS: [&str; 4] = ["crash", "crash", "invalid-ir", "wrong-code"];
const FORMULAS: [&str; 4] = ["ochiai", "tarantula", "jaccard", "dstar"];
const AGGREGATIONS: [&str; 3] = ["mean", "max", "sum"];
const SECONDS: f64 = 60.0;

/// Everything of a report that is not in it.
pub struct Sample {
    pub methods: Vec<String>,
    pub measurements: Vec<Measurement>,
    pub unmeasured: Vec<Unmeasured>,
}

impl Sample {
    pub fn report(&self) -> BenchReport<'_> {
        BenchReport {
            title: "Localization on sixty cases <script>window.pwned = 1</script>",
            methods: &self.methods,
            measurements: &self.measurements,
            unmeasured: &self.unmeasured,
            budget: Budget { runs: None, seconds: Some(SECONDS) },
            seeds: &SEEDS,
            searching: Some(Duration::from_secs(5023)),
        }
    }
}

/// Numbers that look like chance.
struct Dice(u64);

impl Dice {
    /// Between 0 and 1.
    fn throw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    /// Mostly small, sometimes large.
    fn rank(&mut self, scale: f64, last: usize) -> usize {
        let rank = scale * (self.throw() * 4.5).exp() / 3.0;
        (rank as usize).clamp(1, last)
    }
}

pub fn sample() -> Sample {
    let mut dice = Dice(20);
    let mut measurements = Vec::new();
    for case in 0..N_CASES {
        // Some cases are hard for all.
        let hardness = (dice.throw() * 2.0).exp() / 2.0;
        for (i, (method, scale)) in METHODS.iter().enumerate() {
            let is_search = i < 4;
            for seed in if is_search { &SEEDS[..] } else { &SEEDS[..1] } {
                measurements.push(measured(
                    &mut dice,
                    case,
                    method,
                    *seed,
                    hardness * scale,
                    is_search,
                ));
            }
        }
    }
    let lost = measurements
        .iter()
        .position(|found| found.case == name(7) && found.method == "locseq-r" && found.seed == 2);
    measurements.remove(lost.expect("it was measured"));
    let why = "the failing run takes longer than the budget".to_owned();
    let unmeasured = vec![
        Unmeasured { case: "slp-hang-<b>-9".into(), search: None, why },
        Unmeasured {
            case: name(7),
            search: Some(("locseq-r".into(), 2)),
            why: "the worker was lost three times in a row".into(),
        },
    ];
    let methods = METHODS.map(|(method, _)| method.to_owned()).into();
    Sample { methods, measurements, unmeasured }
}

pub fn name(case: usize) -> String {
    const PASSES: [&str; 6] =
        ["gvn", "licm", "instcombine", "slp-vectorizer", "sroa", "<i>loop</i>"];
    format!("{}-{}", PASSES[case % PASSES.len()], 40_000 + case * 317)
}

fn measured(
    dice: &mut Dice,
    case: usize,
    method: &str,
    seed: u64,
    scale: f64,
    is_search: bool,
) -> Measurement {
    let names_functions = case % 10 != 3;
    let (n_files, n_functions) = (220 + case * 3, 3100 + case * 40);
    let file =
        (dice.throw() > if is_search { 0.03 } else { 0.3 }).then(|| dice.rank(scale, n_files));
    let function = file.map(|file| (file * 3 + dice.rank(scale * 4.0, 900)).min(n_functions));
    let worse =
        |rank: Option<usize>, by: usize, last: usize| rank.map(|rank| (rank + by).min(last));
    let culprits = |is_named: bool, name: &str, suspects| Sought {
        culprits: if is_named { vec![name.to_owned()] } else { Vec::new() },
        suspects,
    };
    let recipe = |formula: &str, aggregation: &str, weights: &str| RecipeName {
        formula: formula.to_owned(),
        aggregation: aggregation.to_owned(),
        weights: weights.to_owned(),
    };
    let ranked = |recipe, by: usize| RankedTruth {
        recipe,
        files: vec![worse(file, by, n_files)],
        functions: match names_functions {
            true => vec![worse(function, by * 5, n_functions)],
            false => Vec::new(),
        },
    };
    let mut rankings = Vec::new();
    for weights in ["equal", "similarity"] {
        for (i, formula) in FORMULAS.iter().enumerate() {
            for (j, aggregation) in AGGREGATIONS.iter().enumerate() {
                let by = i * j + usize::from(weights == "similarity") * (case % 2);
                rankings.push(ranked(recipe(formula, aggregation, weights), by));
            }
        }
    }
    if !is_search {
        rankings = vec![ranked(recipe(method, "", ""), 0)];
    }
    Measurement {
        version: MEASUREMENT_VERSION,
        case: name(case),
        kind: KINDS[case % KINDS.len()].to_owned(),
        confidence: Some(["fix", "fix", "weak"][case % 3].to_owned()),
        components: vec!["GVN".to_owned()],
        llvm: ["19.1.7", "14.0.6"][case % 2].to_owned(),
        method: method.to_owned(),
        seed,
        budget: Budget { runs: None, seconds: Some(SECONDS) },
        setup: "0123456789abcdef".to_owned(),
        runs: if is_search { 18_000 + case * 100 } else { 0 },
        witnesses: if is_search { 7000 } else { 0 },
        failing: 9000,
        discarded: 2000,
        programs: None,
        seconds: is_search.then_some(SECONDS),
        best_similarity: 0.9,
        files: culprits(true, "llvm/lib/Transforms/Scalar/GVN.cpp", n_files),
        functions: culprits(names_functions, "GVNPass::processLoad", n_functions),
        rankings,
        top_files: Vec::new(),
        top_functions: Vec::new(),
        history: if is_search { history(dice, file, function) } else { Vec::new() },
    }
}

/// A search that comes closer and closer.
fn history(dice: &mut Dice, file: Option<usize>, function: Option<usize>) -> Vec<HistoryEntry> {
    let begin = 0.2 + dice.throw() * 3.0;
    (0..60)
        .map(|step| {
            let part = f64::from(step) / 59.0;
            let far = 1.0 + 14.0 * (1.0 - part).powi(3) * (0.6 + dice.throw());
            let rank = |last: Option<usize>| last.map(|last| (last as f64 * far) as usize);
            HistoryEntry {
                runs: 50 + step as usize * 300,
                seconds: Some(begin + part * (SECONDS - begin)),
                witnesses: step as usize * 20,
                best_similarity: 0.5 + part * 0.4,
                batch_similarity: Some(0.4),
                true_file: rank(file),
                true_function: rank(function),
            }
        })
        .collect()
}
