//! A campaign with two findings, small enough to check figures by hand, and one
//! in which nothing happened.

use optsleuth_model::{
    CAMPAIGN_VERSION, Campaign, CaseKind, Exclusion, Finding, Growth, HuntSettings,
};

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub(super) fn settings() -> HuntSettings {
    HuntSettings {
        seed: 7,
        sequences: "ctos".to_owned(),
        selection: "features".to_owned(),
        source: "generated C".to_owned(),
        length: (2, 40),
        passes: strings(&["gvn", "licm", "sroa"]),
        sequence_pool: (100, 20),
        program_pool: (50, 10),
        shard: (1, 1),
        auto_exclude: true,
    }
}

/// A finding without anything that speaks for it.
pub(super) fn finding(number: u64, kind: CaseKind, pass: &str) -> Finding {
    Finding {
        number,
        case: format!("{number:04}-{}-{pass}", kind.name()),
        kind,
        pass: pass.to_owned(),
        signature: "signature".to_owned(),
        what: format!("failure {number} of {pass}"),
        passes: format!("function(sroa,{pass})"),
        n_passes: 12,
        program: "p17.c".to_owned(),
        test: 100 * number,
        seconds: 10.0 * number as f64,
        duplicates: 0,
        levels: Vec::new(),
        default_passes_only: false,
        confirmed: false,
        guilty: None,
        instructions: 23,
    }
}

/// 4,800 tests in 80 of 100 seconds by two workers: 30 per second and core.
pub(super) fn campaign() -> Campaign {
    let growth = |seconds, tests, findings, blocks| Growth { seconds, tests, findings, blocks };
    Campaign {
        version: CAMPAIGN_VERSION,
        llvm: "19.1.7".to_owned(),
        settings: settings(),
        tests: 4800,
        rounds: 3,
        programs: 30,
        outvoted: 2,
        workers: 2,
        seconds: 100.0,
        testing_seconds: 80.0,
        outcomes: vec![("ok".to_owned(), 4796), ("crash".to_owned(), 4)],
        rejected: vec![("it does not end".to_owned(), 2)],
        findings: vec![
            finding(1, CaseKind::Crash, "gvn"),
            Finding {
                duplicates: 1234,
                levels: strings(&["O2", "O3"]),
                confirmed: true,
                default_passes_only: true,
                guilty: Some("#3 licm on loop in main".to_owned()),
                ..finding(2, CaseKind::WrongCode, "licm")
            },
        ],
        dismissed: vec![("undefined behaviour".to_owned(), 5)],
        exclusions: vec![Exclusion {
            passes: strings(&["sroa", "gvn"]),
            reason: "20 duplicates of finding 1".to_owned(),
            from_round: 2,
        }],
        growth: vec![
            growth(25.0, 1000, 2, 400),
            growth(75.0, 3000, 2, 900),
            growth(100.0, 4800, 2, 1000),
        ],
        n_blocks: 8000,
        notes: Vec::new(),
    }
}

/// Interrupted before the first test.
pub(super) fn nothing() -> Campaign {
    Campaign {
        tests: 0,
        rounds: 0,
        programs: 0,
        outvoted: 0,
        seconds: 0.0,
        testing_seconds: 0.0,
        outcomes: Vec::new(),
        rejected: Vec::new(),
        findings: Vec::new(),
        dismissed: Vec::new(),
        exclusions: Vec::new(),
        growth: Vec::new(),
        n_blocks: 0,
        notes: Vec::new(),
        ..campaign()
    }
}
