//! A campaign as a JSON document, for scripts: all of it.
//!
//! **Invariant:** `version`, `tests` and `findings` come first, and are always
//! there. The keys are those of [`Campaign`], which can be read from it again.

use optsleuth_model::{Campaign, Exclusion, Finding, Growth, HuntSettings};
use serde::Serialize;

use crate::to_json;

#[derive(Serialize)]
struct CampaignJson<'a> {
    version: i64,
    tests: u64,
    findings: &'a [Finding],
    llvm: &'a str,
    settings: &'a HuntSettings,
    rounds: u64,
    programs: u64,
    outvoted: u64,
    workers: u64,
    seconds: f64,
    testing_seconds: f64,
    outcomes: &'a [(String, u64)],
    rejected: &'a [(String, u64)],
    dismissed: &'a [(String, u64)],
    exclusions: &'a [Exclusion],
    growth: &'a [Growth],
    n_blocks: u64,
    notes: &'a [String],
}

/// A campaign as a JSON document.
pub fn campaign_json(campaign: &Campaign) -> String {
    // Named one by one: what is added to a campaign is not forgotten here.
    let Campaign {
        version,
        llvm,
        settings,
        tests,
        rounds,
        programs,
        outvoted,
        workers,
        seconds,
        testing_seconds,
        outcomes,
        rejected,
        findings,
        dismissed,
        exclusions,
        growth,
        n_blocks,
        notes,
    } = campaign;
    let json = CampaignJson {
        version: *version,
        tests: *tests,
        findings,
        llvm,
        settings,
        rounds: *rounds,
        programs: *programs,
        outvoted: *outvoted,
        workers: *workers,
        seconds: *seconds,
        testing_seconds: *testing_seconds,
        outcomes,
        rejected,
        dismissed,
        exclusions,
        growth,
        n_blocks: *n_blocks,
        notes,
    };
    to_json(&json)
}
