//! Campaigns of pass sequences as a whole: looking at one, and joining the parts
//! of one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use optsleuth_model::{Campaign, Finding, Growth, Hunt, PassHunt, PassSettings};

use super::recipe::PassRecipe;
use super::store::FORMAT;
use crate::HuntError;
use crate::campaign::{Beginning, Store, copy_case, put_coverage, same_settings};

/// What a campaign did and found, also while it goes on.
pub fn campaign(folder: &Path) -> Result<Campaign, HuntError> {
    let store = Store::read(folder, &FORMAT)?;
    let hunt = PassHunt {
        settings: store.settings()?,
        rounds: store.rounds()?.len() as u64,
        outvoted: store.n_outvoted()?,
        testing_seconds: store.testing_seconds()?,
        exclusions: store.exclusions()?,
    };
    store.campaign(store.round_counts()?, Hunt::Passes(hunt))
}

/// Joins parts of one campaign into a new folder. Bugs that several parts
/// found are one finding there, with the case of the first.
pub fn merge(parts: &[PathBuf], output: &Path) -> Result<Campaign, HuntError> {
    let stores =
        parts.iter().map(|part| Store::read(part, &FORMAT)).collect::<Result<Vec<_>, _>>()?;
    let Some((first, others)) = stores.split_first() else {
        return Err(HuntError::NoCampaign(output.to_owned()));
    };
    for other in others {
        agree(first, other)?;
    }
    no_overlap(&stores)?;
    let mut settings: PassSettings = first.settings()?;
    settings.shard = (1, 1);
    let beginning = Beginning::<PassRecipe, PassSettings> {
        // A merged campaign is one to look at: its rounds are not in one order.
        recipe: None,
        seed: first.seed()?,
        source: first.source()?,
        settings: &settings,
        workers: sum(&stores, Store::workers)?,
        n_blocks: first.n_blocks()?,
        notes: first.notes()?,
    };
    let merged = Store::create(output, &FORMAT, &beginning)?;
    let mut coverage = merged.coverage()?;
    for store in &stores {
        merged.take_rounds(&store.folder)?;
        coverage = coverage.union(&store.coverage()?);
        for (key, finding) in store.findings()? {
            take_finding(&merged, &store.folder, &key, finding)?;
        }
    }
    merged.transact(|transaction| put_coverage(transaction, Some(&coverage)))?;
    merged.put_testing_seconds(longest(&stores, Store::testing_seconds)?)?;
    merged.grow(&Growth {
        seconds: longest(&stores, Store::seconds)?,
        tests: merged.n_round_tests()?,
        findings: merged.n_findings()?,
        blocks: coverage.count() as u64,
    })?;
    merged.mark_begun()?;
    drop(merged);
    campaign(output)
}

fn sum(stores: &[Store], of: fn(&Store) -> Result<u64, HuntError>) -> Result<u64, HuntError> {
    stores.iter().map(of).sum()
}

/// Parts run beside each other.
fn longest(stores: &[Store], of: fn(&Store) -> Result<f64, HuntError>) -> Result<f64, HuntError> {
    stores.iter().try_fold(0.0, |longest: f64, store| Ok(longest.max(of(store)?)))
}

/// Whether two stores are parts of one campaign.
fn agree(first: &Store, other: &Store) -> Result<(), HuntError> {
    let whole = |store: &Store| -> Result<PassSettings, HuntError> {
        Ok(PassSettings { shard: (1, 1), ..store.settings()? })
    };
    let (ours, theirs) = (whole(first)?, whole(other)?);
    let seed = |store: &Store| store.seed().map(|seed| seed.to_string());
    let source = (other.source()?, first.source()?);
    same_settings(
        &other.folder,
        [
            ("LLVM", theirs.llvm.clone(), ours.llvm.clone()),
            ("seed", seed(other)?, seed(first)?),
            ("recipe", text(&theirs, &source.0), text(&ours, &source.1)),
        ],
    )?;
    match ours == theirs {
        true => Ok(()),
        // What the short text does not say.
        false => {
            same_settings(&other.folder, [("recipe", format!("{theirs:?}"), format!("{ours:?}"))])
        }
    }
}

fn text(settings: &PassSettings, source: &str) -> String {
    let PassSettings { sequences, passes, selection, .. } = settings;
    format!("{sequences} sequences of {} passes on {source} ({selection})", passes.len())
}

fn no_overlap(stores: &[Store]) -> Result<(), HuntError> {
    let mut owners: BTreeMap<u64, &Path> = BTreeMap::new();
    for store in stores {
        for round in store.rounds()? {
            if let Some(first) = owners.insert(round, &store.folder) {
                let (first, second) = (first.to_owned(), store.folder.clone());
                return Err(HuntError::Overlap { first, second, round });
            }
        }
    }
    Ok(())
}

/// Adds a part's finding, with its case; or its number of duplicates.
fn take_finding(merged: &Store, part: &Path, key: &str, finding: Finding) -> Result<(), HuntError> {
    let findings = merged.findings()?;
    if let Some((_, known)) = findings.iter().find(|(known, _)| known == key) {
        let duplicates = known.duplicates + finding.duplicates + 1;
        return merged.add_finding(key, &Finding { duplicates, ..known.clone() });
    }
    let number = findings.len() as u64 + 1;
    let case = copy_case(&finding, (part, &merged.folder), number)?;
    merged.add_finding(key, &Finding { number, case, ..finding })
}
