//! A campaign -> pairs of a name and words: what was done, and with what
//! settings.
//!
//! **Invariant:** what the campaign does not know is not said, and no division
//! has a zero below.

use optsleuth_model::{
    Campaign, Finding, Growth, Hunt, PassHunt, PassSettings, StrategyCount, Trigger, VariantHunt,
    VariantSettings,
};

use crate::words;

/// The part of a campaign's time whose growth says whether going on is worth it.
const LATE: f64 = 0.25;

pub(super) type Fact = (&'static str, String);

pub(super) fn headline(campaign: &Campaign) -> String {
    let seed = campaign.seed;
    match &campaign.hunt {
        Hunt::Passes(PassHunt { settings, .. }) => {
            let PassSettings { llvm, sequences, selection, .. } = settings;
            let part = part(settings).map_or(String::new(), |part| format!(", {part}"));
            format!(
                "Campaign on LLVM {llvm}: seed {seed}, sequences {sequences}, programs \
                 {selection}{part}"
            )
        }
        Hunt::Variants(VariantHunt { settings, .. }) => {
            let strategies = settings.strategies.join(", ");
            format!("Variants by {strategies}: seed {seed}, {}", compilers(campaign))
        }
    }
}

/// What was tested.
pub(super) fn compilers(campaign: &Campaign) -> String {
    match &campaign.hunt {
        Hunt::Passes(hunt) => format!("LLVM {}", hunt.settings.llvm),
        Hunt::Variants(hunt) => {
            let compilers = hunt.settings.compilers.iter();
            compilers.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
        }
    }
}

/// What was done and what came of it.
pub(super) fn facts(campaign: &Campaign) -> Vec<Fact> {
    let mut facts = vec![("Tests", tests(campaign))];
    let time = words::seconds(campaign.seconds);
    match &campaign.hunt {
        Hunt::Passes(hunt) => {
            if let Some(rate) = rate(campaign) {
                let workers = words::counted(campaign.workers, "worker", "workers");
                facts.push(("Speed", format!("{rate}, {workers}")));
            }
            let testing = words::seconds(hunt.testing_seconds);
            facts.push(("Time", format!("{time}, of which {testing} for tests")));
        }
        Hunt::Variants(_) => {
            let cores = words::counted(campaign.workers, "core", "cores");
            let rate = rate(campaign).map_or(String::new(), |rate| format!(", {rate}"));
            facts.push(("Time", format!("{time}, {cores}{rate}")));
        }
    }
    facts.extend(coverage(campaign).map(|coverage| ("Coverage", coverage)));
    let outcomes = campaign.outcomes.iter();
    let outcomes: Vec<String> =
        outcomes.map(|(name, n)| format!("{} {name}", words::count(*n))).collect();
    if !outcomes.is_empty() {
        facts.push(("Outcomes", outcomes.join(", ")));
    }
    facts.push(("Findings", findings(campaign)));
    if let Hunt::Variants(hunt) = &campaign.hunt {
        facts.push(("Errors", errors(hunt)));
    }
    facts.extend(campaign.notes.iter().map(|note| ("Note", note.clone())));
    facts
}

/// What decided everything; the passes are too many for this.
pub(super) fn settings(campaign: &Campaign) -> Vec<Fact> {
    let mut facts = vec![("Seed", campaign.seed.to_string())];
    match &campaign.hunt {
        Hunt::Passes(hunt) => facts.extend(pass_settings(&hunt.settings)),
        Hunt::Variants(hunt) => facts.extend(variant_settings(&hunt.settings)),
    }
    facts.push(("Source", campaign.source.clone()));
    facts
}

fn pass_settings(settings: &PassSettings) -> Vec<Fact> {
    let PassSettings { sequences, selection, length: (shortest, longest), .. } = settings;
    let pool = |(made, used): (usize, usize), verb: &str| {
        format!("{} {verb} in a round, {} used", words::count(made), words::count(used))
    };
    let exclusions = if settings.auto_exclude { "learnt from duplicates" } else { "as given" };
    let facts = [
        ("Sequences", format!("{sequences}: {}", pool(settings.sequence_pool, "drawn"))),
        ("Length", format!("{shortest} to {longest} passes")),
        ("Programs", format!("{selection}: {}", pool(settings.program_pool, "made"))),
        ("Exclusions", exclusions.to_owned()),
    ];
    facts.into_iter().chain(part(settings).map(|part| ("Shard", part))).collect()
}

fn variant_settings(settings: &VariantSettings) -> Vec<Fact> {
    let compilers = settings.compilers.iter();
    let compilers: Vec<String> =
        compilers.map(|(name, version)| format!("{name} ({version})")).collect();
    let facts = [
        ("Strategies", settings.strategies.join(", ")),
        ("Compilers", compilers.join(", ")),
        ("Levels", settings.levels.join(", ")),
        ("Variants", format!("{} of each program", words::count(settings.variants))),
        ("Judges", settings.judges.join(", ")),
    ];
    facts.into_iter().chain(settings.fault.clone().map(|fault| ("Fault", fault))).collect()
}

/// How fast the tests were, where that is known.
pub(super) fn rate(campaign: &Campaign) -> Option<String> {
    let (seconds, of) = match &campaign.hunt {
        Hunt::Passes(hunt) => {
            (hunt.testing_seconds * campaign.workers as f64, "tests per second and core")
        }
        // All of it is a part of testing: variants are made and judged on the way.
        Hunt::Variants(_) => (campaign.seconds, "tests per second"),
    };
    let rate = campaign.tests as f64 / seconds;
    let is_known = campaign.tests > 0 && rate.is_finite() && rate >= 0.0;
    is_known.then(|| format!("{} {of}", words::decimal(rate)))
}

/// How many blocks of the compiler were executed, where that was measured.
pub(super) fn executed(campaign: &Campaign) -> Option<u64> {
    let blocks = campaign.growth.iter().map(|growth| growth.blocks).max()?;
    (blocks > 0 && campaign.n_blocks > 0).then_some(blocks)
}

/// That there is no finding, in words.
pub(super) fn nothing(campaign: &Campaign) -> String {
    match campaign.tests {
        0 => "nothing was tested".to_owned(),
        n => format!("nothing was found in {}", words::counted(n, "test", "tests")),
    }
}

/// How many variants were tested.
pub(super) fn n_variants(hunt: &VariantHunt) -> u64 {
    hunt.variants.iter().map(|made| made.variants).sum()
}

fn tests(campaign: &Campaign) -> String {
    let tests = words::count(campaign.tests);
    let programs = words::counted(campaign.programs, "program", "programs");
    match &campaign.hunt {
        Hunt::Passes(hunt) => {
            let rounds = words::counted(hunt.rounds, "round", "rounds");
            format!("{tests}, with {programs} in {rounds}")
        }
        Hunt::Variants(hunt) => {
            let variants = words::counted(n_variants(hunt), "variant", "variants");
            format!("{tests}, with {programs} and {variants}")
        }
    }
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

fn findings(campaign: &Campaign) -> String {
    let findings = &campaign.findings;
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for finding in findings {
        let name = match &finding.trigger {
            Trigger::Passes(_) => finding.kind.name().to_owned(),
            Trigger::Variant(trigger) => {
                format!("{} of {}", finding.kind.name(), trigger.compiler)
            }
        };
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
    let said = format!("{} ({})", words::count(findings.len()), kinds.join(", "));
    match campaign.hunt {
        // A driver, and a level, is what they were found with.
        Hunt::Variants(_) => said,
        Hunt::Passes(_) => {
            let count =
                |is: fn(&&Finding) -> bool| words::count(findings.iter().filter(is).count());
            format!(
                "{said}; {} also at an optimization level, {} confirmed by the distribution's tools",
                count(|finding| !finding.levels.is_empty()),
                count(|finding| finding.confirmed)
            )
        }
    }
}

/// Whether variants are what they should be.
fn errors(hunt: &VariantHunt) -> String {
    let errors: u64 = hunt.variants.iter().map(|made| made.errors).sum();
    let all = words::counted(errors + n_variants(hunt), "variant", "variants");
    let wrong = hunt.variants.iter().filter(|made| made.errors > 0);
    let whose: Vec<String> = wrong
        .map(|StrategyCount { strategy, errors, .. }| format!("{strategy} {errors}"))
        .collect();
    match errors {
        0 => format!("none of {all} was wrong"),
        n => format!(
            "{} of {all} were not equivalent to their programs and left out ({})",
            words::count(n),
            whose.join(", ")
        ),
    }
}

/// Which part of a campaign this is, unless it is all of it.
fn part(settings: &PassSettings) -> Option<String> {
    let (number, all) = settings.shard;
    (all > 1).then(|| format!("shard {number} of {all}"))
}
