//! Campaigns as a whole: looking at one, and joining the parts of one.

use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_model::{CAMPAIGN_VERSION, Campaign, Finding};

use super::differential::counted;
use super::examine::CASES;
use super::store::Store;
use super::{N_BLOCKS, NOTES, SECONDS, TESTING_SECONDS, WORKERS};
use crate::HuntError;

/// What a campaign did and found, also while it goes on.
pub fn campaign(folder: &Path) -> Result<Campaign, HuntError> {
    let store = Store::read(folder)?;
    Ok(Campaign {
        version: CAMPAIGN_VERSION,
        llvm: store.llvm()?,
        settings: store.settings()?,
        tests: store.n_tests()?,
        rounds: store.n_rounds()?,
        programs: store.n_programs()?,
        outvoted: store.n_outvoted()?,
        workers: store.get(WORKERS)?.unwrap_or(1),
        seconds: store.get(SECONDS)?.unwrap_or_default(),
        testing_seconds: store.get(TESTING_SECONDS)?.unwrap_or_default(),
        outcomes: counted(&store.outcomes()?),
        rejected: store.rejected()?,
        findings: store.findings()?.into_iter().map(|(_, finding)| finding).collect(),
        dismissed: store.dismissed()?,
        exclusions: store.exclusions()?,
        growth: store.growth()?,
        n_blocks: store.get(N_BLOCKS)?.unwrap_or_default(),
        notes: store.get(NOTES)?.unwrap_or_default(),
    })
}

/// Joins parts of one campaign into a new folder. Bugs that several parts
/// found are one finding there, with the case of the first.
pub fn merge(parts: &[PathBuf], output: &Path) -> Result<Campaign, HuntError> {
    let Some((first, others)) = parts.split_first() else {
        return Err(HuntError::NoCampaign(output.to_owned()));
    };
    let stores = parts.iter().map(|part| Store::read(part)).collect::<Result<Vec<_>, _>>()?;
    for (part, store) in others.iter().zip(&stores[1..]) {
        agree((first, &stores[0]), (part, store))?;
    }
    no_overlap(parts, &stores)?;
    let mut settings = stores[0].settings()?;
    settings.shard = (1, 1);
    let merged = Store::create(output, &stores[0].llvm()?, &settings)?;
    merged.put(NOTES, &stores[0].get::<Vec<String>>(NOTES)?.unwrap_or_default())?;
    let mut total = Total::default();
    for (part, store) in parts.iter().zip(&stores) {
        merged.take_rounds(part)?;
        total.add(store)?;
        for (key, finding) in store.findings()? {
            take_finding(&merged, (part, output), &key, finding)?;
        }
    }
    merged.put(SECONDS, &total.seconds)?;
    merged.put(TESTING_SECONDS, &total.testing)?;
    merged.put(WORKERS, &total.workers)?;
    merged.put(N_BLOCKS, &stores[0].get::<u64>(N_BLOCKS)?.unwrap_or_default())?;
    // A merged campaign is one to look at: its rounds are not in one order.
    let coverage = stores.iter().try_fold(merged.coverage()?, |all, store| {
        Ok::<_, HuntError>(all.union(&store.coverage()?))
    })?;
    merged.cover(&coverage)?;
    merged.grow(&optsleuth_model::Growth {
        seconds: total.seconds,
        tests: merged.n_tests()?,
        findings: merged.n_findings()?,
        blocks: coverage.count() as u64,
    })?;
    merged.is_begun()?;
    drop(merged);
    campaign(output)
}

/// What parts took together. They ran beside each other.
#[derive(Debug, Default)]
struct Total {
    seconds: f64,
    testing: f64,
    workers: u64,
}

impl Total {
    fn add(&mut self, store: &Store) -> Result<(), HuntError> {
        self.seconds = self.seconds.max(store.get(SECONDS)?.unwrap_or_default());
        self.testing = self.testing.max(store.get(TESTING_SECONDS)?.unwrap_or_default());
        self.workers += store.get::<u64>(WORKERS)?.unwrap_or(1);
        Ok(())
    }
}

/// Whether two stores are parts of one campaign.
fn agree(first: (&Path, &Store), other: (&Path, &Store)) -> Result<(), HuntError> {
    let differ = |what, theirs: String, ours: String| {
        let folder = other.0.to_owned();
        Err(HuntError::OtherSettings { folder, what, theirs, ours })
    };
    let (ours, theirs) = (first.1.llvm()?, other.1.llvm()?);
    if ours != theirs {
        return differ("LLVM", theirs, ours);
    }
    let (mut ours, mut theirs) = (first.1.settings()?, other.1.settings()?);
    if ours.seed != theirs.seed {
        return differ("seed", theirs.seed.to_string(), ours.seed.to_string());
    }
    (ours.shard, theirs.shard) = ((1, 1), (1, 1));
    match ours == theirs {
        true => Ok(()),
        false => differ("recipe", text(&theirs), text(&ours)),
    }
}

fn text(settings: &optsleuth_model::HuntSettings) -> String {
    format!(
        "{} sequences of {} passes on {} ({})",
        settings.sequences,
        settings.passes.len(),
        settings.source,
        settings.selection
    )
}

fn no_overlap(parts: &[PathBuf], stores: &[Store]) -> Result<(), HuntError> {
    let mut owners: std::collections::BTreeMap<u64, &PathBuf> = std::collections::BTreeMap::new();
    for (part, store) in parts.iter().zip(stores) {
        for round in store.rounds()? {
            if let Some(other) = owners.insert(round, part) {
                let (first, second) = (other.clone(), part.clone());
                return Err(HuntError::Overlap { first, second, round });
            }
        }
    }
    Ok(())
}

/// Adds a part's finding, with its case; or its number of duplicates.
fn take_finding(
    merged: &Store,
    (part, output): (&Path, &Path),
    key: &str,
    finding: Finding,
) -> Result<(), HuntError> {
    if let Some(number) = merged.finding_of_key(key)? {
        let known = merged.findings()?.into_iter().find(|(_, known)| known.number == number);
        if let Some((_, mut known)) = known {
            known.duplicates += finding.duplicates + 1;
            merged.add_finding(key, &known)?;
        }
        return Ok(());
    }
    let number = merged.n_findings()? + 1;
    let name = finding.case.rsplit('/').next().unwrap_or_default();
    let what = name.split_once('-').map_or(name, |(_, rest)| rest);
    let case = format!("{CASES}/{number:03}-{what}");
    copy_folder(&part.join(&finding.case), &output.join(&case))?;
    merged.add_finding(key, &Finding { number, case, ..finding })?;
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &place)?,
            false => drop(fs::copy(entry.path(), &place)?),
        }
    }
    Ok(())
}
