//! `optsleuth campaign`: hunts, by themselves.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use optsleuth_case::folder::write_whole;
use optsleuth_hunt::{look_at, merge};
use optsleuth_report::{
    campaign_json, campaign_markdown, campaign_page_with_reports, campaign_text,
};

use super::{print, style};
use crate::exit::Exit;
use crate::failure::Failure;

/// Look at what hunts found, and join the parts of one
#[derive(Debug, Args)]
pub(crate) struct Campaign {
    #[command(subcommand)]
    command: CampaignCommand,
}

#[derive(Debug, Subcommand)]
enum CampaignCommand {
    Show(Show),
    Merge(Merge),
}

/// List findings, throughput and coverage of a campaign, also while it goes on
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth campaign show campaign/
  optsleuth campaign show campaign/ --json | jq '.findings[].case'

Also writes campaign.html and campaign.md again.
Exit codes: 0 nothing was found, 2 bugs were found.")]
struct Show {
    /// The folder of a hunt
    #[arg(value_name = "CAMPAIGN")]
    folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Join the parts that --shard made of a campaign, or campaigns of variants with other seeds
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth hunt passes --llvm 19 --shard 1/2 --budget 1h -o part-1/    # on one machine
  optsleuth hunt passes --llvm 19 --shard 2/2 --budget 1h -o part-2/    # on another
  optsleuth campaign merge part-1/ part-2/ -o campaign/
  optsleuth campaign merge variants-of-seed-1/ variants-of-seed-2/ -o campaign/

Bugs that several parts found become one finding, with the case of the first part.
Exit codes: 0 nothing was found, 2 bugs were found.")]
struct Merge {
    /// The folders of the parts
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,
    /// Where the whole campaign is to be
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Campaign {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let (folder, found, json) = match self.command {
            CampaignCommand::Show(Show { folder, json }) => {
                let found = look_at(&folder)?;
                (folder, found, json)
            }
            CampaignCommand::Merge(Merge { parts, output, json }) => {
                let found = merge(&parts, &output)?;
                (output, found, json)
            }
        };
        show(&folder, &found, json)?;
        Ok(if found.findings.is_empty() { Exit::Clean } else { Exit::BugFound })
    }
}

/// Prints a campaign, and makes its page.
pub(super) fn show(
    folder: &Path,
    found: &optsleuth_model::Campaign,
    json: bool,
) -> Result<(), Failure> {
    let cases = found.findings.iter().map(|finding| &finding.case);
    let is_triaged = |case: &&String| folder.join(case).join("index.html").is_file();
    let triaged: BTreeSet<String> = cases.filter(is_triaged).cloned().collect();
    write_whole(&folder.join("campaign.html"), campaign_page_with_reports(found, &triaged))?;
    write_whole(&folder.join("campaign.md"), campaign_markdown(found))?;
    match json {
        true => print(&campaign_json(found)),
        false => print(&campaign_text(found, style())),
    }
    Ok(())
}
