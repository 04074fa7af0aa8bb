//! A campaign as large as a real one, with as many findings as wanted. With
//! nasty characters in foreign texts. The same each time.

use optsleuth_model::{
    CAMPAIGN_VERSION, Campaign, CaseKind, Exclusion, Finding, Growth, Hunt, PassHunt, PassSettings,
    PassTrigger, Trigger,
};

/// Five hours.
const SECONDS: f64 = 5.0 * 3600.0;
const TESTS: u64 = 2_468_013;
const BLOCKS: u64 = 151_223;
const ALL_BLOCKS: u64 = 1_204_881;
const N_MOMENTS: u64 = 600;

/// From those that fail often to those that hardly do.
const PASSES: [&str; 22] = [
    "instcombine",
    "loop-vectorize",
    "slp-vectorizer",
    "gvn",
    "simplifycfg",
    "licm",
    "loop-unroll",
    "indvars",
    "jump-threading",
    "loop-flatten",
    "newgvn",
    "loop-load-elim",
    "attributor",
    "dse",
    "sroa",
    "reassociate",
    "argpromotion",
    "loop-interchange",
    "load-store-vectorizer",
    "early-cse",
    "constraint-elimination",
    "memcpyopt",
];

const WHATS: [&str; 5] = [
    "Assertion `isa<To>(Val) && \"cast<Ty>() argument of incompatible type!\"' failed",
    "the program prints `checksum = 0` instead of `checksum = 55`",
    "Instruction does not dominate all uses! <script>window.pwned = 1</script> & more",
    "does not end: 10 s of CPU time are used up in a run that takes 12 ms without the last pass",
    "SIGSEGV in llvm::SCEVExpander::visitAddRecExpr, llvm::SCEVExpander::expand, llvm::rewriteLoop",
];

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn counts(texts: &[(&str, u64)]) -> Vec<(String, u64)> {
    texts.iter().map(|(text, n)| ((*text).to_owned(), *n)).collect()
}

/// How far something that becomes rarer and rarer is, at this share of the time.
fn saturating(share: f64) -> f64 {
    1.0 - (-4.0 * share).exp()
}

fn finding(i: usize, n: usize) -> Finding {
    // Quadratic, so that the first passes have most.
    let spread = (i * 7919 % 1000) as f64 / 1000.0;
    let pass = PASSES[(spread * spread * PASSES.len() as f64) as usize];
    let kind = match i % 9 {
        0..=3 => CaseKind::Crash,
        4 | 5 => CaseKind::WrongCode,
        6 => CaseKind::InvalidIr,
        7 => CaseKind::Hang,
        _ if i.is_multiple_of(2) => CaseKind::Memory,
        _ => CaseKind::Codegen,
    };
    let share = (i + 1) as f64 / (n + 1) as f64;
    let levels = ["O1", "O2", "O3", "Os", "Oz"];
    let seconds = SECONDS * share * share;
    Finding {
        number: i as u64 + 1,
        case: format!("{:04}-{}-{pass}", i + 1, kind.name()),
        kind,
        pass: Some(pass.to_owned()),
        signature: format!("signature {i}"),
        what: WHATS[i % WHATS.len()].to_owned(),
        levels: strings(if i.is_multiple_of(4) { &levels[i % 3..] } else { &[] }),
        program: format!("p{:05}.c", i * 13),
        test: (TESTS as f64 * share * share) as u64,
        seconds,
        duplicates: (i * i * 37 % 5000) as u64,
        confirmed: i % 5 != 3,
        guilty: i.is_multiple_of(3).then(|| format!("#{} {pass} on function `f<{i}>`", i * 3)),
        trigger: Trigger::Passes(PassTrigger {
            passes: format!("function(sroa,loop-mssa(licm<allowspeculation>)),{pass}"),
            n_passes: 4 + i * 31 % 36,
            default_passes_only: i.is_multiple_of(4) || i.is_multiple_of(3),
            instructions: 5 + i * 17 % 200,
        }),
    }
}

fn hunt() -> PassHunt {
    PassHunt {
        settings: PassSettings {
            llvm: "19.1.7".to_owned(),
            sequences: "ctos".to_owned(),
            selection: "features".to_owned(),
            length: (2, 40),
            passes: strings(&PASSES),
            sequence_pool: (400, 40),
            program_pool: (60, 12),
            shard: (2, 4),
            auto_exclude: true,
        },
        rounds: 5141,
        outvoted: 12,
        testing_seconds: 15_333.0,
        exclusions: vec![
            Exclusion {
                passes: strings(&["loop-flatten", "loop-vectorize"]),
                reason: "50 duplicates of finding 3".to_owned(),
                from_round: 12,
            },
            Exclusion {
                passes: strings(&["newgvn"]),
                reason: "asked for: known to be <unsound>".to_owned(),
                from_round: 1,
            },
        ],
    }
}

/// A campaign with so many findings.
pub fn sample(n_findings: usize) -> Campaign {
    let findings: Vec<Finding> = (0..n_findings).map(|i| finding(i, n_findings)).collect();
    let growth = (1..=N_MOMENTS).map(|i| {
        let share = i as f64 / N_MOMENTS as f64;
        let until = |finding: &&Finding| finding.seconds <= SECONDS * share;
        Growth {
            seconds: SECONDS * share,
            tests: (TESTS as f64 * share) as u64,
            findings: findings.iter().filter(until).count() as u64,
            blocks: (BLOCKS as f64 * saturating(share) / saturating(1.0)) as u64,
        }
    });
    Campaign {
        version: CAMPAIGN_VERSION,
        seed: 20_260,
        source: "generated C <b>& more</b>, seeds 1 to 100000".to_owned(),
        hunt: Hunt::Passes(hunt()),
        tests: TESTS,
        programs: 61_692,
        workers: 2,
        seconds: SECONDS,
        growth: growth.collect(),
        findings,
        outcomes: counts(&[
            ("ok", 2_459_871),
            ("crash", 4_102),
            ("wrong code", 2_818),
            ("invalid IR", 1_117),
            ("timeout", 96),
            ("out of memory", 8),
            ("code generator failure", 1),
        ]),
        rejected: counts(&[
            ("it does not end within 1 s", 812),
            ("clang's sanitizers find undefined behaviour", 41),
            ("it prints nothing <i>at all</i>", 3),
        ]),
        dismissed: counts(&[
            ("the program has undefined behaviour", 377),
            ("it did not fail again", 12),
            ("the unoptimized program fails, too", 2),
        ]),
        n_blocks: ALL_BLOCKS,
        notes: vec!["there is no gcc here, so programs were not compared with it".to_owned()],
    }
}
