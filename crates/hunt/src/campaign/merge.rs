//! Parts of one campaign -> the whole, in a folder of its own. Bugs that several
//! parts found are one finding there, with the case of the first.
//!
//! **Invariant:** a merged campaign is one to look at. It has no recipe, so it is
//! never resumed: its units are not in one order.

use std::path::{Path, PathBuf};

use optsleuth_model::{Finding, Growth};
use serde::Serialize;

use super::database::Format;
use super::examiner::copy_case;
use super::store::{Beginning, Store, put_coverage};
use crate::HuntError;

/// Opens the parts; there is at least one.
pub(crate) fn open_parts(
    parts: &[PathBuf],
    format: &Format,
) -> Result<(Store, Vec<Store>), HuntError> {
    let mut stores =
        parts.iter().map(|part| Store::read(part, format)).collect::<Result<Vec<_>, _>>()?;
    match stores.is_empty() {
        true => Err(HuntError::NoCampaign(PathBuf::new())),
        false => Ok((stores.remove(0), stores)),
    }
}

/// Joins parts that belong together. `take` brings over what only this kind of
/// campaign has, and says how many tests it was.
pub(crate) fn join(
    parts: &[&Store],
    output: &Path,
    format: &Format,
    settings: &impl Serialize,
    mut take: impl FnMut(&Store, &Store) -> Result<u64, HuntError>,
) -> Result<(), HuntError> {
    let beginnings = parts.iter().map(|part| part.beginning()).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = beginnings.first().cloned() else {
        return Err(HuntError::NoCampaign(output.to_owned()));
    };
    let workers = beginnings.iter().map(|beginning| beginning.workers).sum();
    let merged = Store::create(output, format, &Beginning { workers, ..first }, settings)?;
    let mut coverage = merged.coverage()?;
    let (mut tests, mut seconds) = (0, 0.0_f64);
    for part in parts {
        tests += take(&merged, part)?;
        coverage = coverage.union(&part.coverage()?);
        // They ran beside each other.
        seconds = seconds.max(part.seconds()?);
        for (key, finding) in part.findings()? {
            take_finding(&merged, &part.folder, &key, finding)?;
        }
    }
    merged.transact(|transaction| put_coverage(transaction, Some(&coverage)))?;
    let (findings, blocks) = (merged.n_findings()?, coverage.count() as u64);
    merged.grow(&Growth { seconds, tests, findings, blocks })?;
    merged.mark_begun()
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
