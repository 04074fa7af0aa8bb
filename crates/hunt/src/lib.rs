//! Hunts: compilers -> their bugs, each as a reduced, confirmed case.
//!
//! `passes` tests LLVM with pass sequences, `variants` tests compilers with
//! equivalent programs; both keep a `campaign`, and take their programs from
//! `programs`.
//!
//! **Invariant:** a killed hunt loses only what was in flight; what it found is in
//! its folder.

pub mod campaign;
mod error;
pub mod passes;
pub mod programs;
pub mod variants;

use std::path::{Path, PathBuf};

use optsleuth_model::Campaign;

use campaign::CampaignKind;
pub use error::HuntError;

/// What any campaign did and found, also while it goes on.
pub fn look_at(folder: &Path) -> Result<Campaign, HuntError> {
    match CampaignKind::of(folder)? {
        CampaignKind::Passes => passes::campaign(folder),
        CampaignKind::Variants => variants::campaign(folder),
    }
}

/// Joins campaigns of one kind that belong together.
pub fn merge(parts: &[PathBuf], output: &Path) -> Result<Campaign, HuntError> {
    match parts.first().map(|first| CampaignKind::of(first)).transpose()? {
        Some(CampaignKind::Variants) => variants::merge(parts, output),
        Some(CampaignKind::Passes) | None => passes::merge(parts, output),
    }
}
