//! Campaigns with two findings, small enough to check figures by hand, and ones
//! in which nothing happened.

use optsleuth_model::{
    CAMPAIGN_VERSION, Campaign, CaseKind, CompilerTally, Exclusion, Finding, Growth, Hunt,
    PassHunt, PassSettings, PassTrigger, StrategyCount, Trigger, VariantError, VariantHunt,
    VariantSettings, VariantTrigger,
};

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub(super) fn pass_settings() -> PassSettings {
    PassSettings {
        llvm: "19.1.7".to_owned(),
        sequences: "ctos".to_owned(),
        selection: "features".to_owned(),
        length: (2, 40),
        passes: strings(&["gvn", "licm", "sroa"]),
        sequence_pool: (100, 20),
        program_pool: (50, 10),
        shard: (1, 1),
        auto_exclude: true,
    }
}

pub(super) fn pass_trigger(pass: &str) -> PassTrigger {
    PassTrigger {
        passes: format!("function(sroa,{pass})"),
        n_passes: 12,
        default_passes_only: false,
        instructions: 23,
    }
}

/// A finding without anything that speaks for it.
pub(super) fn finding(number: u64, kind: CaseKind, pass: &str) -> Finding {
    Finding {
        number,
        case: format!("{number:04}-{}-{pass}", kind.name()),
        kind,
        pass: Some(pass.to_owned()),
        signature: "signature".to_owned(),
        what: format!("failure {number} of {pass}"),
        levels: Vec::new(),
        program: "p17.c".to_owned(),
        test: 100 * number,
        seconds: 10.0 * number as f64,
        duplicates: 0,
        confirmed: false,
        guilty: None,
        trigger: Trigger::Passes(pass_trigger(pass)),
    }
}

pub(super) fn pass_hunt() -> PassHunt {
    PassHunt {
        settings: pass_settings(),
        rounds: 3,
        outvoted: 2,
        testing_seconds: 80.0,
        exclusions: vec![Exclusion {
            passes: strings(&["sroa", "gvn"]),
            reason: "20 duplicates of finding 1".to_owned(),
            from_round: 2,
        }],
    }
}

/// 4,800 tests in 80 of 100 seconds by two workers: 30 per second and core.
pub(super) fn campaign() -> Campaign {
    let growth = |seconds, tests, findings, blocks| Growth { seconds, tests, findings, blocks };
    Campaign {
        version: CAMPAIGN_VERSION,
        tests: 4800,
        findings: vec![
            finding(1, CaseKind::Crash, "gvn"),
            Finding {
                duplicates: 1234,
                levels: strings(&["O2", "O3"]),
                confirmed: true,
                guilty: Some("#3 licm on loop in main".to_owned()),
                trigger: Trigger::Passes(PassTrigger {
                    default_passes_only: true,
                    ..pass_trigger("licm")
                }),
                ..finding(2, CaseKind::WrongCode, "licm")
            },
        ],
        seed: 7,
        source: "generated C".to_owned(),
        programs: 30,
        outcomes: vec![("ok".to_owned(), 4796), ("crash".to_owned(), 4)],
        rejected: vec![("it does not end".to_owned(), 2)],
        dismissed: vec![("undefined behaviour".to_owned(), 5)],
        growth: vec![
            growth(25.0, 1000, 2, 400),
            growth(75.0, 3000, 2, 900),
            growth(100.0, 4800, 2, 1000),
        ],
        n_blocks: 8000,
        seconds: 100.0,
        workers: 2,
        notes: Vec::new(),
        hunt: Hunt::Passes(pass_hunt()),
    }
}

pub(super) fn variant_finding(number: u64, kind: CaseKind, compiler: &str) -> Finding {
    Finding {
        number,
        case: format!("cases/{number:03}-{}-{compiler}-O2", kind.name()),
        kind,
        pass: None,
        signature: "signature".to_owned(),
        what: format!("failure {number} of {compiler}"),
        levels: strings(&["O2", "O3"]),
        program: "csmith-000004".to_owned(),
        test: 100 * number,
        seconds: 10.0 * number as f64,
        duplicates: 5,
        confirmed: true,
        guilty: None,
        trigger: Trigger::Variant(VariantTrigger {
            compiler: compiler.to_owned(),
            level: "O2".to_owned(),
            strategy: Some("hermes".to_owned()),
            generation: 3,
            snippets: strings(&["false-block", "true-guard"]),
            n_needed: 2,
            n_snippets: 14,
            bytes: 812,
        }),
    }
}

fn variant_hunt() -> VariantHunt {
    let tally = |compiler: &str, level: &str, outcomes: &[(&str, u64)]| CompilerTally {
        compiler: compiler.to_owned(),
        level: level.to_owned(),
        outcomes: outcomes.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect(),
    };
    let made = |strategy: &str, variants, snippets, nothing, errors| StrategyCount {
        strategy: strategy.to_owned(),
        variants,
        snippets,
        nothing,
        errors,
    };
    VariantHunt {
        settings: VariantSettings {
            strategies: strings(&["hermes", "orion"]),
            compilers: [("gcc-12", "12.2.0"), ("llvm-19", "19.1.7")]
                .map(|(name, version)| (name.to_owned(), version.to_owned()))
                .to_vec(),
            levels: strings(&["O0", "O2"]),
            variants: 10,
            judges: strings(&["clang 19.1.7 -O0", "gcc-12 12.2.0 -O0"]),
            fault: None,
        },
        variants: vec![made("hermes", 100, 250, 2, 1), made("orion", 50, 75, 0, 0)],
        tallies: vec![
            tally("gcc-12", "O0", &[("right", 165)]),
            tally("gcc-12", "O2", &[("right", 160), ("wrong-code", 5)]),
            tally("llvm-19", "O2", &[("right", 164), ("crash", 1)]),
        ],
        errors: vec![VariantError {
            strategy: "hermes".to_owned(),
            what: "by gcc it prints nothing".to_owned(),
            program: "csmith-000001".to_owned(),
            generation: 4,
            file: "errors/000001-04.c".to_owned(),
        }],
    }
}

/// 660 tests in 60 seconds: 11 per second.
pub(super) fn variant_campaign() -> Campaign {
    let growth = |seconds, tests, blocks| Growth { seconds, tests, findings: 2, blocks };
    let itself = VariantTrigger {
        compiler: "llvm-19".to_owned(),
        level: "O2".to_owned(),
        strategy: None,
        generation: 0,
        snippets: Vec::new(),
        n_needed: 0,
        n_snippets: 0,
        bytes: 812,
    };
    Campaign {
        tests: 660,
        findings: vec![
            variant_finding(1, CaseKind::WrongCode, "gcc-12"),
            Finding {
                guilty: Some("gvn on function f".to_owned()),
                trigger: Trigger::Variant(itself),
                ..variant_finding(2, CaseKind::Crash, "llvm-19")
            },
        ],
        source: "csmith, small programs".to_owned(),
        programs: 15,
        outcomes: vec![("right".to_owned(), 654), ("wrong-code".to_owned(), 6)],
        rejected: vec![("does not end".to_owned(), 2)],
        dismissed: vec![("it fails once, and not again".to_owned(), 1)],
        growth: vec![growth(30.0, 300, 700), growth(60.0, 660, 800)],
        seconds: 60.0,
        hunt: Hunt::Variants(variant_hunt()),
        ..campaign()
    }
}

/// The same, interrupted before the first test.
pub(super) fn nothing(campaign: Campaign) -> Campaign {
    let hunt = match campaign.hunt {
        Hunt::Passes(hunt) => Hunt::Passes(PassHunt {
            rounds: 0,
            outvoted: 0,
            testing_seconds: 0.0,
            exclusions: Vec::new(),
            ..hunt
        }),
        Hunt::Variants(hunt) => Hunt::Variants(VariantHunt {
            variants: Vec::new(),
            tallies: Vec::new(),
            errors: Vec::new(),
            ..hunt
        }),
    };
    Campaign {
        tests: 0,
        findings: Vec::new(),
        programs: 0,
        outcomes: Vec::new(),
        rejected: Vec::new(),
        dismissed: Vec::new(),
        growth: Vec::new(),
        n_blocks: 0,
        seconds: 0.0,
        hunt,
        ..campaign
    }
}
