//! `optsleuth report`: what was found about a case as one HTML file.

use std::path::PathBuf;

use clap::Args;
use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::folder::{
    kept_bisection, kept_definedness, kept_localizations, open_case, write_whole,
};
use optsleuth_model::{CaseFolder, Trust};
use optsleuth_report::{CaseView, case_html, report_json};

use super::print;
use crate::exit::Exit;
use crate::failure::Failure;

/// Write what was found about a case as one HTML file
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth localize case/ && optsleuth report case/       # writes case/report.html
  optsleuth bisect case/ && optsleuth report case/         # with the invocations of passes
  optsleuth report case/ -o /tmp/report.html

The file needs no network and can be read without JavaScript. It shows what every
`optsleuth localize` and `optsleuth bisect` kept in the case's folder.")]
pub(crate) struct Report {
    /// A folder with a case.toml
    #[arg(value_name = "CASE")]
    case: PathBuf,
    /// The file to write; report.html in the case's folder if not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON: where the report is
    #[arg(long)]
    json: bool,
}

impl Report {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let opened = open_case(&self.case, Trust::Author)?; // Nothing of it is run.
        if kept_localizations(&opened)?.is_empty() && kept_bisection(&opened)?.is_none() {
            return Err(CaseError::NotLocalized(self.case).into());
        }
        let html = page(&opened, &[])?;
        let path = self.output.unwrap_or_else(|| opened.folder.join("report.html"));
        write_whole(&path, &html)?;
        let path = path.display().to_string();
        match self.json {
            true => print(&report_json(&path, &kept_localizations(&opened)?)),
            false => print(&path),
        }
        Ok(Exit::Clean)
    }
}

/// Everything that is kept in a case's folder, as one page. `commands` show the
/// failure where nothing that is kept has any.
pub(super) fn page(opened: &CaseFolder, commands: &[String]) -> Result<String, Failure> {
    let localizations = kept_localizations(opened)?;
    let bisection = kept_bisection(opened)?;
    let definedness = kept_definedness(opened)?;
    // Suspects may have been ranked on a smaller form of the failure.
    let own = localizations.iter().find(|found| found.case == opened.case.id);
    let commands = match (own, &bisection) {
        _ if !commands.is_empty() => commands,
        (Some(own), _) => &own.failure.commands,
        (None, Some(bisection)) => &bisection.commands,
        (None, None) => commands,
    };
    let input = opened.input();
    let bytes = fs::read(&input)?;
    let is_text = !bytes.contains(&0);
    Ok(case_html(&CaseView {
        case: &opened.case,
        localizations: &localizations,
        bisection: bisection.as_ref(),
        definedness: definedness.as_ref(),
        commands,
        input: &if is_text { String::from_utf8_lossy(&bytes) } else { "(bitcode)".into() },
    }))
}
