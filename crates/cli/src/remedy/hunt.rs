//! Remedies and exit codes for what keeps a hunt from beginning or going on.

use std::path::Path;

use optsleuth_hunt::HuntError;
use optsleuth_hunt::campaign::CampaignKind;

use super::{case, triage};
use crate::exit::Exit;

pub(super) fn remedy(error: &HuntError) -> Option<String> {
    let said = match error {
        HuntError::Case(error) => return case::remedy(error),
        HuntError::Triage(error) => return triage::remedy(error),
        HuntError::CampaignExists(folder) => {
            return Some(format!(
                "go on with {}, or hunt into another folder (`-o`)",
                resuming(folder)
            ));
        }
        HuntError::DiskFull(folder) => {
            return Some(format!("make room, then go on with {}", resuming(folder)));
        }
        HuntError::OtherKind { folder, theirs, .. } => {
            return Some(format!(
                "`optsleuth hunt {theirs} --resume {0}` goes on with it, `optsleuth campaign show \
                 {0}` shows it",
                folder.display()
            ));
        }
        HuntError::FaultNotTested(llvm) => {
            return Some(format!(
                "name it with `--compilers llvm-{llvm}`; drivers cannot be broken"
            ));
        }
        HuntError::NoCampaign(_) => {
            "`optsleuth hunt passes -o FOLDER` or `optsleuth hunt variants -o FOLDER` begins one"
        }
        HuntError::InUse(_) => "wait for it, end it, or hunt into another folder (`-o`)",
        HuntError::OtherVersion { .. } => {
            "hunt into another folder (`-o`); the cases in it can be used as they are"
        }
        HuntError::OtherSettings { what: "LLVM" | "list of passes" | "compiler", .. } => {
            "begin a campaign of its own for it, in another folder (`-o`)"
        }
        HuntError::OtherSettings { .. } | HuntError::Overlap { .. } => {
            "only parts of one campaign can be joined: same LLVM, seed and recipe, different \
             `--shard`; of variants, the same recipe with different `--seed`"
        }
        HuntError::Damaged { .. } => "hunt into another folder (`-o`)",
        HuntError::NothingToDraw => "exclude less, or name passes with `--passes-from`",
        HuntError::NoPasses(_) => "write one pass a line, as `optsleuth passes` lists them",
        HuntError::EmptyFolder(_) => {
            "name a folder of C or IR programs with `--programs`, or let csmith write them"
        }
        HuntError::NoFault(_) => {
            "`optsleuth bench plant` makes cases of compilers that are broken on purpose"
        }
        HuntError::BadFault(_) => "hunt into another folder (`-o`), with `--fault`",
        // They say so themselves.
        HuntError::UnknownSize(_) | HuntError::UnknownSwarm(_) | HuntError::Database { .. } => {
            return None;
        }
    };
    Some(said.to_owned())
}

/// The command that goes on with a campaign.
fn resuming(folder: &Path) -> String {
    let kind = CampaignKind::of(folder).map_or("...", CampaignKind::name);
    format!("`optsleuth hunt {kind} --resume {}`", folder.display())
}

pub(super) fn exit(error: &HuntError) -> Exit {
    match error {
        HuntError::Case(error) => case::exit(error),
        HuntError::Triage(error) => triage::exit(error),
        HuntError::NoCampaign(_)
        | HuntError::CampaignExists(_)
        | HuntError::InUse(_)
        | HuntError::OtherVersion { .. }
        | HuntError::OtherKind { .. }
        | HuntError::OtherSettings { .. }
        | HuntError::Overlap { .. }
        | HuntError::UnknownSize(_)
        | HuntError::UnknownSwarm(_)
        | HuntError::NothingToDraw
        | HuntError::NoPasses(_)
        | HuntError::EmptyFolder(_)
        | HuntError::NoFault(_)
        | HuntError::FaultNotTested(_) => Exit::Usage,
        HuntError::DiskFull(_)
        | HuntError::Database { .. }
        | HuntError::Damaged { .. }
        | HuntError::BadFault(_) => Exit::Internal,
    }
}
