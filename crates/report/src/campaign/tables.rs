//! A campaign -> the tables that the terminal, Markdown and the page show.
//!
//! **Invariant:** findings stand in the order in which they were found. A table
//! without rows says nothing, and is for nobody.

use optsleuth_model::{Campaign, Exclusion, Finding, PassSequence};

use crate::table::{Below, Cell, Column, Kind, Table};
use crate::words;

const PASSES: &str = "Passes of the reduced sequence, of the sequence that was tested";
const LEVELS: &str = "Levels at which the same program fails in the same way";
const CONFIRMED: &str = "Whether the distribution's tools fail, too";
const DUPLICATES: &str = "How many more tests failed like it";

/// How much of a finding there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// A line of a terminal, and one for the words.
    Line,
    /// A row of a page.
    Row,
}

/// One row per finding. `page` says where a finding's case is shown.
pub(super) fn findings(
    campaign: &Campaign,
    detail: Detail,
    page: impl Fn(&Finding) -> Option<String>,
) -> Table {
    let number = [Column::new("#", Kind::Number, "")];
    let case = [Column::words("Case")];
    let facts = [
        Column::words("Kind"),
        Column::words("Last pass"),
        Column::new("Passes", Kind::Number, PASSES),
        Column { hint: LEVELS, ..Column::words("Also at") },
        Column { hint: CONFIRMED, ..Column::words("Confirmed") },
        Column::new("Duplicates", Kind::Number, DUPLICATES),
    ];
    let columns = match detail {
        Detail::Line => number.into_iter().chain(facts).chain(case).collect(),
        Detail::Row => number.into_iter().chain(case).chain(facts).collect(),
    };
    let row = |finding: &Finding| {
        let number = [Cell::count(whole(finding.number))];
        let mut case = Cell { link: page(finding), ..Cell::words(&finding.case) };
        case.below.push(Below::Words(finding.what.clone()));
        let facts = [
            Cell::words(finding.kind.name()),
            Cell::words(&finding.pass),
            passes(finding),
            levels(finding),
            Cell::words(if finding.confirmed { "yes" } else { "no" }),
            Cell::count(whole(finding.duplicates)),
        ];
        match detail {
            Detail::Line => number.into_iter().chain(facts).chain([case]).collect(),
            Detail::Row => {
                case.below.extend(details(finding));
                number.into_iter().chain([case]).chain(facts).collect()
            }
        }
    };
    Table { columns, rows: campaign.findings.iter().map(row).collect() }
}

/// What a line of a terminal has no room for.
fn details(finding: &Finding) -> Vec<Below> {
    let mut about = format!(
        "{}, {}, after {}",
        finding.program,
        words::counted(finding.instructions, "instruction", "instructions"),
        words::seconds(finding.seconds)
    );
    if finding.default_passes_only {
        about.push_str(", passes that some level runs, too");
    }
    let guilty = finding.guilty.iter().map(|guilty| Below::Name(format!("guilty: {guilty}")));
    [Below::Name(finding.passes.clone())]
        .into_iter()
        .chain(guilty)
        .chain([Below::Quiet(about)])
        .collect()
}

/// One row per reason for which something that deviated is no finding.
pub(super) fn dismissed(campaign: &Campaign) -> Table {
    reasons("Tests", &campaign.dismissed)
}

/// One row per reason for which programs were not used.
pub(super) fn rejected(campaign: &Campaign) -> Table {
    reasons("Programs", &campaign.rejected)
}

/// One row per exclusion.
pub(super) fn exclusions(campaign: &Campaign) -> Table {
    let columns = vec![
        Column::words("Passes"),
        Column::new("From round", Kind::Number, "The first round it holds for"),
        Column::words("Why"),
    ];
    let row = |exclusion: &Exclusion| {
        let Exclusion { passes, reason, from_round } = exclusion;
        let passes = Cell::words(&passes.join(" ... "));
        vec![passes, Cell::count(whole(*from_round)), Cell::words(reason)]
    };
    Table { columns, rows: campaign.exclusions.iter().map(row).collect() }
}

fn reasons(counted: &str, reasons: &[(String, u64)]) -> Table {
    let columns = vec![Column::new(counted, Kind::Number, ""), Column::words("Why")];
    let row = |(why, n): &(String, u64)| vec![Cell::count(whole(*n)), Cell::words(why)];
    Table { columns, rows: reasons.iter().map(row).collect() }
}

/// How many passes are left, and of how many.
fn passes(finding: &Finding) -> Cell {
    match finding.passes.parse::<PassSequence>() {
        Ok(sequence) => {
            let n_left = sequence.n_passes();
            Cell::number(format!("{n_left} of {}", finding.n_passes), n_left as f64)
        }
        Err(_) => Cell { text: format!("? of {}", finding.n_passes), ..Cell::default() },
    }
}

fn levels(finding: &Finding) -> Cell {
    if finding.levels.is_empty() { Cell::none() } else { Cell::words(&finding.levels.join(" ")) }
}

fn whole(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
