//! A campaign of variants with two findings, small enough to check by hand, and
//! one in which nothing happened.

use optsleuth_model::{
    CaseKind, EMI_CAMPAIGN_VERSION, EmiCampaign, EmiError, EmiFinding, EmiGrowth, EmiSettings,
    EmiTally, StrategyCount,
};

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub(super) fn finding(number: u64, kind: CaseKind, compiler: &str) -> EmiFinding {
    EmiFinding {
        number,
        case: format!("cases/{number:03}-{}-{compiler}-O2", kind.name()),
        compiler: compiler.to_owned(),
        kind,
        level: "O2".to_owned(),
        levels: strings(&["O2", "O3"]),
        signature: "signature".to_owned(),
        what: format!("failure {number} of {compiler}"),
        strategy: Some("hermes".to_owned()),
        generation: 3,
        snippets: strings(&["false-block", "true-guard"]),
        n_needed: 2,
        n_snippets: 14,
        program: "csmith-000004".to_owned(),
        test: 100 * number,
        seconds: 10.0 * number as f64,
        duplicates: 5,
        confirmed: true,
        guilty: None,
        bytes: 812,
    }
}

/// 660 tests in 60 seconds: 11 per second.
pub(super) fn campaign() -> EmiCampaign {
    let tally = |compiler: &str, level: &str, outcomes: &[(&str, u64)]| EmiTally {
        compiler: compiler.to_owned(),
        level: level.to_owned(),
        outcomes: outcomes.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect(),
    };
    let growth = |seconds, variants, tests, blocks| EmiGrowth {
        seconds,
        variants,
        tests,
        findings: 2,
        blocks,
    };
    EmiCampaign {
        version: EMI_CAMPAIGN_VERSION,
        tests: 660,
        findings: vec![
            finding(1, CaseKind::WrongCode, "gcc-12"),
            EmiFinding {
                strategy: None,
                generation: 0,
                snippets: Vec::new(),
                n_needed: 0,
                n_snippets: 0,
                guilty: Some("gvn on function f".to_owned()),
                ..finding(2, CaseKind::Crash, "llvm-19")
            },
        ],
        settings: EmiSettings {
            seed: 7,
            strategies: strings(&["hermes", "orion"]),
            compilers: [("gcc-12", "12.2.0"), ("llvm-19", "19.1.7")]
                .map(|(name, version)| (name.to_owned(), version.to_owned()))
                .to_vec(),
            levels: strings(&["O0", "O2"]),
            variants: 10,
            source: "csmith, small programs".to_owned(),
            judges: strings(&["clang 19.1.7 -O0", "gcc-12 12.2.0 -O0"]),
            fault: None,
        },
        seeds: 15,
        variants: vec![
            StrategyCount {
                strategy: "hermes".to_owned(),
                variants: 100,
                snippets: 250,
                nothing: 2,
                errors: 1,
            },
            StrategyCount {
                strategy: "orion".to_owned(),
                variants: 50,
                snippets: 75,
                nothing: 0,
                errors: 0,
            },
        ],
        tallies: vec![
            tally("gcc-12", "O0", &[("right", 165)]),
            tally("gcc-12", "O2", &[("right", 160), ("wrong-code", 5)]),
            tally("llvm-19", "O2", &[("right", 164), ("crash", 1)]),
        ],
        rejected: vec![("does not end".to_owned(), 2)],
        errors: vec![EmiError {
            strategy: "hermes".to_owned(),
            what: "by gcc it prints nothing".to_owned(),
            program: "csmith-000001".to_owned(),
            generation: 4,
            file: "errors/000001-04.c".to_owned(),
        }],
        dismissed: vec![("it fails once, and not again".to_owned(), 1)],
        growth: vec![growth(30.0, 70, 300, 700), growth(60.0, 150, 660, 800)],
        n_blocks: 8000,
        seconds: 60.0,
        workers: 2,
        notes: Vec::new(),
    }
}

/// Interrupted before the first test.
pub(super) fn nothing() -> EmiCampaign {
    EmiCampaign {
        tests: 0,
        findings: Vec::new(),
        seeds: 0,
        variants: Vec::new(),
        tallies: Vec::new(),
        rejected: Vec::new(),
        errors: Vec::new(),
        dismissed: Vec::new(),
        growth: Vec::new(),
        n_blocks: 0,
        seconds: 0.0,
        ..campaign()
    }
}
