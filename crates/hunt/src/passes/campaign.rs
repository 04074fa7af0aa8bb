//! Campaigns of pass sequences as a whole: looking at one, and joining the parts
//! of one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use optsleuth_model::{Campaign, Hunt, PassHunt, PassSettings};

use super::store::FORMAT;
use crate::HuntError;
use crate::campaign::{Store, join, open_parts, same_settings};

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

/// Joins the parts that `--shard` made of a campaign into a new folder.
pub fn merge(parts: &[PathBuf], output: &Path) -> Result<Campaign, HuntError> {
    let (first, others) = open_parts(parts, &FORMAT)?;
    for other in &others {
        agree(&first, other)?;
    }
    let stores: Vec<&Store> = std::iter::once(&first).chain(&others).collect();
    no_overlap(&stores)?;
    let settings = whole(&first)?;
    let mut testing = 0.0_f64;
    join(&stores, output, &FORMAT, &settings, |merged, part| {
        merged.take_rounds(&part.folder)?;
        testing = testing.max(part.testing_seconds()?);
        merged.put_testing_seconds(testing)?;
        part.n_round_tests()
    })?;
    campaign(output)
}

/// The settings without the shard.
fn whole(store: &Store) -> Result<PassSettings, HuntError> {
    Ok(PassSettings { shard: (1, 1), ..store.settings()? })
}

/// Whether two stores are parts of one campaign.
fn agree(first: &Store, other: &Store) -> Result<(), HuntError> {
    let (ours, theirs) = (whole(first)?, whole(other)?);
    let (our, their) = (first.beginning()?, other.beginning()?);
    let recipes = match ours == theirs && our.source == their.source {
        true => (String::new(), String::new()),
        false => (text(&theirs, &their.source), text(&ours, &our.source)),
    };
    same_settings(
        &other.folder,
        [
            ("LLVM", theirs.llvm, ours.llvm),
            ("seed", their.seed.to_string(), our.seed.to_string()),
            ("recipe", recipes.0, recipes.1),
        ],
    )
}

fn text(settings: &PassSettings, source: &str) -> String {
    let PassSettings { sequences, passes, selection, length, .. } = settings;
    let ((from, to), n) = (*length, passes.len());
    let pools = (settings.sequence_pool, settings.program_pool);
    format!(
        "{sequences} sequences of {from} to {to} of {n} passes on {source} ({selection}, {pools:?}{})",
        if settings.auto_exclude { ", learning exclusions" } else { "" }
    )
}

fn no_overlap(stores: &[&Store]) -> Result<(), HuntError> {
    let mut owners: BTreeMap<u64, &Path> = BTreeMap::new();
    for store in stores {
        for round in store.rounds()? {
            if let Some(first) = owners.insert(round, &store.folder) {
                let (first, second) = (first.to_owned(), store.folder.clone());
                return Err(HuntError::Overlap { first, second, what: format!("round {round}") });
            }
        }
    }
    Ok(())
}
