//! A campaign -> pairs of a name and words: what was done, and with what
//! settings.
//!
//! **Invariant:** what the campaign does not know is not said, and no division
//! has a zero below.

use optsleuth_model::{Campaign, Finding, Growth, HuntSettings};

use crate::words;

/// The part of a campaign's time whose growth says whether going on is worth it.
const LATE: f64 = 0.25;

pub(super) type Fact = (&'static str, String);

pub(super) fn headline(campaign: &Campaign) -> String {
    let HuntSettings { seed, sequences, selection, .. } = &campaign.settings;
    let mut line = format!(
        "Campaign on LLVM {}: seed {seed}, sequences {sequences}, programs {selection}",
        campaign.llvm
    );
    if let Some(part) = part(&campaign.settings) {
        line.push_str(&format!(", {part}"));
    }
    line
}

/// What was done and what came of it.
pub(super) fn facts(campaign: &Campaign) -> Vec<Fact> {
    let mut facts = vec![("Tests", tests(campaign))];
    if let Some(rate) = rate(campaign) {
        let workers = words::counted(campaign.workers, "worker", "workers");
        facts.push(("Speed", format!("{rate}, {workers}")));
    }
    let testing = words::seconds(campaign.testing_seconds);
    let time = format!("{}, of which {testing} for tests", words::seconds(campaign.seconds));
    facts.push(("Time", time));
    if let Some(coverage) = coverage(campaign) {
        facts.push(("Coverage", coverage));
    }
    let outcomes = campaign.outcomes.iter();
    let outcomes: Vec<String> =
        outcomes.map(|(name, n)| format!("{} {name}", words::count(*n))).collect();
    if !outcomes.is_empty() {
        facts.push(("Outcomes", outcomes.join(", ")));
    }
    facts.push(("Findings", findings(&campaign.findings)));
    facts.extend(campaign.notes.iter().map(|note| ("Note", note.clone())));
    facts
}

/// What decided everything; the passes are too many for this.
pub(super) fn settings(settings: &HuntSettings) -> Vec<Fact> {
    let HuntSettings { seed, sequences, selection, source, .. } = settings;
    let (shortest, longest) = settings.length;
    let pool = |(made, used): (usize, usize), verb: &str| {
        format!("{} {verb} in a round, {} used", words::count(made), words::count(used))
    };
    let exclusions = if settings.auto_exclude { "learnt from duplicates" } else { "as given" };
    let mut facts = vec![
        ("Seed", seed.to_string()),
        ("Sequences", format!("{sequences}: {}", pool(settings.sequence_pool, "drawn"))),
        ("Length", format!("{shortest} to {longest} passes")),
        ("Programs", format!("{selection}: {}", pool(settings.program_pool, "made"))),
        ("Source", source.clone()),
        ("Exclusions", exclusions.to_owned()),
    ];
    if let Some(part) = part(settings) {
        facts.push(("Shard", part));
    }
    facts
}

/// How fast the tests were, where that is known.
pub(super) fn rate(campaign: &Campaign) -> Option<String> {
    let rate = campaign.tests as f64 / campaign.testing_seconds / campaign.workers as f64;
    let is_known = campaign.tests > 0 && rate.is_finite() && rate >= 0.0;
    is_known.then(|| format!("{} tests per second and core", words::decimal(rate)))
}

/// How much of the compiler was executed: blocks, and of how many.
pub(super) fn executed(campaign: &Campaign) -> Option<u64> {
    let blocks = campaign.growth.iter().map(|growth| growth.blocks).max()?;
    (blocks > 0 && campaign.n_blocks > 0).then_some(blocks)
}

fn tests(campaign: &Campaign) -> String {
    format!(
        "{}, with {} in {}",
        words::count(campaign.tests),
        words::counted(campaign.programs, "program", "programs"),
        words::counted(campaign.rounds, "round", "rounds")
    )
}

fn coverage(campaign: &Campaign) -> Option<String> {
    let blocks = executed(campaign)?;
    let mut said = format!(
        "{} of {} blocks of the compiler ({})",
        words::count(blocks),
        words::count(campaign.n_blocks),
        words::percent(blocks, campaign.n_blocks)
    );
    if let Some(before) = blocks_before_the_end(campaign) {
        let new = words::count(blocks.saturating_sub(before));
        said.push_str(&format!(", {new} of them new in the last quarter of the time"));
    }
    Some(said)
}

/// How many blocks had been executed when the last part of the time began.
fn blocks_before_the_end(campaign: &Campaign) -> Option<u64> {
    let late = campaign.seconds * (1.0 - LATE);
    let early = campaign.growth.iter().filter(|growth| growth.seconds <= late);
    let last = |a: &&Growth, b: &&Growth| a.seconds.total_cmp(&b.seconds);
    early.max_by(last).map(|growth| growth.blocks)
}

fn findings(findings: &[Finding]) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for finding in findings {
        let name = finding.kind.name();
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
    let count = |is: fn(&Finding) -> bool| {
        words::count(findings.iter().filter(|finding| is(finding)).count())
    };
    format!(
        "{} ({}); {} also at an optimization level, {} confirmed by the distribution's tools",
        words::count(findings.len()),
        kinds.join(", "),
        count(|finding| !finding.levels.is_empty()),
        count(|finding| finding.confirmed)
    )
}

/// Which part of a campaign this is, unless it is all of it.
fn part(settings: &HuntSettings) -> Option<String> {
    let (number, all) = settings.shard;
    (all > 1).then(|| format!("shard {number} of {all}"))
}
