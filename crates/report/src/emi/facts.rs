//! A campaign of variants -> pairs of a name and words.
//!
//! **Invariant:** what the campaign does not know is not said, and no division
//! has a zero below.

use optsleuth_model::{EmiCampaign, EmiFinding, EmiSettings, StrategyCount};

use crate::words;

pub(super) type Fact = (&'static str, String);

pub(super) fn headline(campaign: &EmiCampaign) -> String {
    let EmiSettings { seed, strategies, .. } = &campaign.settings;
    let compilers: Vec<&str> =
        campaign.settings.compilers.iter().map(|(name, _)| name.as_str()).collect();
    format!("Variants by {}: seed {seed}, {}", strategies.join(", "), compilers.join(", "))
}

/// What was done and what came of it.
pub(super) fn facts(campaign: &EmiCampaign) -> Vec<Fact> {
    let mut facts = vec![("Tests", tests(campaign))];
    let rate = campaign.tests as f64 / campaign.seconds;
    let time = words::seconds(campaign.seconds);
    let cores = words::counted(campaign.workers, "core", "cores");
    facts.push(match campaign.tests > 0 && rate.is_finite() {
        true => {
            let rate = words::decimal(rate);
            ("Time", format!("{time}, {cores}, {rate} tests per second"))
        }
        false => ("Time", format!("{time}, {cores}")),
    });
    if let Some(blocks) = executed(campaign) {
        let (said, all) = (words::count(blocks), words::count(campaign.n_blocks));
        let share = words::percent(blocks, campaign.n_blocks);
        facts.push(("Coverage", format!("{said} of {all} blocks of the compiler ({share})")));
    }
    facts.push(("Findings", findings(&campaign.findings)));
    facts.push(("Errors", errors(campaign)));
    facts.extend(campaign.notes.iter().map(|note| ("Note", note.clone())));
    facts
}

pub(super) fn settings(settings: &EmiSettings) -> Vec<Fact> {
    let compilers = settings.compilers.iter();
    let compilers: Vec<String> =
        compilers.map(|(name, version)| format!("{name} ({version})")).collect();
    let mut facts = vec![
        ("Seed", settings.seed.to_string()),
        ("Strategies", settings.strategies.join(", ")),
        ("Compilers", compilers.join(", ")),
        ("Levels", settings.levels.join(", ")),
        ("Variants", format!("{} of each program", words::count(settings.variants))),
        ("Source", settings.source.clone()),
        ("Judges", settings.judges.join(", ")),
    ];
    facts.extend(settings.fault.iter().map(|fault| ("Fault", fault.clone())));
    facts
}

/// How much of the compiler was executed, where that was measured.
pub(super) fn executed(campaign: &EmiCampaign) -> Option<u64> {
    let blocks = campaign.growth.iter().map(|growth| growth.blocks).max()?;
    (blocks > 0 && campaign.n_blocks > 0).then_some(blocks)
}

/// That there is no finding, in words.
pub(super) fn nothing(campaign: &EmiCampaign) -> String {
    match campaign.tests {
        0 => "nothing was tested".to_owned(),
        n => format!("nothing was found in {}", words::counted(n, "test", "tests")),
    }
}

/// How many variants were tested.
pub(super) fn n_variants(campaign: &EmiCampaign) -> u64 {
    campaign.variants.iter().map(|made| made.variants).sum()
}

fn tests(campaign: &EmiCampaign) -> String {
    format!(
        "{}, with {} and {}",
        words::count(campaign.tests),
        words::counted(campaign.seeds, "program", "programs"),
        words::counted(n_variants(campaign), "variant", "variants")
    )
}

/// Whether variants are what they should be.
fn errors(campaign: &EmiCampaign) -> String {
    let errors: u64 = campaign.variants.iter().map(|made| made.errors).sum();
    let all = errors + n_variants(campaign);
    let whose: Vec<String> = campaign
        .variants
        .iter()
        .filter(|made| made.errors > 0)
        .map(|StrategyCount { strategy, errors, .. }| format!("{strategy} {errors}"))
        .collect();
    match errors {
        0 => format!("none of {} was wrong", words::counted(all, "variant", "variants")),
        n => format!(
            "{} of {} were not equivalent to their programs and left out ({})",
            words::count(n),
            words::counted(all, "variant", "variants"),
            whose.join(", ")
        ),
    }
}

fn findings(findings: &[EmiFinding]) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for finding in findings {
        let name = format!("{} of {}", finding.kind.name(), finding.compiler);
        match kinds.iter_mut().find(|(kind, _)| *kind == name) {
            Some((_, n)) => *n += 1,
            None => kinds.push((name, 1)),
        }
    }
    if kinds.is_empty() {
        return "none".to_owned();
    }
    let kinds: Vec<String> =
        kinds.iter().map(|(kind, n)| format!("{} {kind}", words::count(*n))).collect();
    format!("{} ({})", words::count(findings.len()), kinds.join(", "))
}
