//! A campaign of variants -> the tables that the terminal, Markdown and the page
//! show.
//!
//! **Invariant:** findings stand in the order in which they were found. A table
//! without rows says nothing, and is for nobody.

use optsleuth_model::{EmiCampaign, EmiError, EmiFinding, EmiTally, StrategyCount};

use crate::table::{Below, Cell, Column, Kind, Table};
use crate::words;

const SNIPPETS: &str = "Kinds of snippets without which it does not fail";
const NEEDED: &str = "Snippets that it needs, of those that the variant had";
const BY: &str = "Who made the variant, and which of its program it was";
const LEVELS: &str = "Levels at which the same variant fails in the same way";
const DUPLICATES: &str = "How many more tests failed like it";

/// One row per finding. `page` says where a finding's case is shown.
pub(super) fn findings(
    campaign: &EmiCampaign,
    page: impl Fn(&EmiFinding) -> Option<String>,
) -> Table {
    let columns = vec![
        Column::new("#", Kind::Number, ""),
        Column::words("Case"),
        Column::words("Kind"),
        Column::words("Compiler"),
        Column { hint: LEVELS, ..Column::words("Levels") },
        Column { hint: BY, ..Column::words("By") },
        Column { hint: SNIPPETS, ..Column::words("Snippets") },
        Column::new("Needed", Kind::Number, NEEDED),
        Column::new("Duplicates", Kind::Number, DUPLICATES),
    ];
    let row = |finding: &EmiFinding| {
        let mut case = Cell { link: page(finding), ..Cell::words(&finding.case) };
        case.below.push(Below::Words(finding.what.clone()));
        let guilty = finding.guilty.iter();
        case.below.extend(guilty.map(|guilty| Below::Name(format!("guilty: {guilty}"))));
        let about = format!(
            "{}, {} of C, after {}",
            finding.program,
            words::counted(finding.bytes, "byte", "bytes"),
            words::seconds(finding.seconds)
        );
        case.below.push(Below::Quiet(about));
        let needed = format!("{} of {}", finding.n_needed, finding.n_snippets);
        vec![
            Cell::count(whole(finding.number)),
            case,
            Cell::words(finding.kind.name()),
            Cell::words(&finding.compiler),
            Cell::words(&finding.levels.join(" ")),
            Cell::words(&made_by(finding)),
            match finding.snippets.is_empty() {
                true => Cell::words("none: the program itself"),
                false => Cell::words(&finding.snippets.join(" ")),
            },
            Cell::number(needed, finding.n_needed as f64),
            Cell::count(whole(finding.duplicates)),
        ]
    };
    Table { columns, rows: campaign.findings.iter().map(row).collect() }
}

/// One row per strategy.
pub(super) fn strategies(campaign: &EmiCampaign) -> Table {
    let columns = vec![
        Column::words("Strategy"),
        Column::new("Variants", Kind::Number, "Tested"),
        Column::new("Snippets", Kind::Number, "New ones in each variant, on average"),
        Column::new("None made", Kind::Number, "How often it found nothing to do"),
        Column::new("Errors", Kind::Number, "Variants that were not equivalent: not tested"),
    ];
    let row = |made: &StrategyCount| {
        let mean = made.snippets as f64 / made.variants as f64;
        vec![
            Cell::words(&made.strategy),
            Cell::count(whole(made.variants)),
            match made.variants {
                0 => Cell::none(),
                _ => Cell::number(words::decimal(mean), mean),
            },
            Cell::count(whole(made.nothing)),
            Cell::count(whole(made.errors)),
        ]
    };
    Table { columns, rows: campaign.variants.iter().map(row).collect() }
}

/// One row per compiler and level, one column per outcome that occurs.
pub(super) fn tallies(campaign: &EmiCampaign) -> Table {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in campaign.tallies.iter().flat_map(|tally| &tally.outcomes) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut columns = vec![Column::words("Compiler"), Column::words("Level")];
    columns.extend(names.iter().map(|name| Column::new(name, Kind::Number, "")));
    let row = |EmiTally { compiler, level, outcomes }: &EmiTally| {
        let count = |name: &&str| {
            let found = outcomes.iter().find(|(known, _)| known == name);
            found.map_or_else(Cell::none, |(_, n)| Cell::count(whole(*n)))
        };
        let head = [Cell::words(compiler), Cell::words(level)];
        head.into_iter().chain(names.iter().map(count)).collect()
    };
    let tested = campaign.tallies.iter().filter(|tally| !tally.outcomes.is_empty());
    Table { columns, rows: tested.map(row).collect() }
}

/// One row per variant that was not equivalent to its program.
pub(super) fn errors(errors: &[EmiError]) -> Table {
    let columns = vec![
        Column::words("Strategy"),
        Column::words("Program"),
        Column::new("Variant", Kind::Number, ""),
        Column::words("File"),
        Column::words("What was seen"),
    ];
    let row = |error: &EmiError| {
        vec![
            Cell::words(&error.strategy),
            Cell::words(&error.program),
            Cell::count(whole(error.generation)),
            Cell::words(&error.file),
            Cell::words(&error.what),
        ]
    };
    Table { columns, rows: errors.iter().map(row).collect() }
}

/// One row per reason.
pub(super) fn reasons(counted: &str, reasons: &[(String, u64)]) -> Table {
    let columns = vec![Column::new(counted, Kind::Number, ""), Column::words("Why")];
    let row = |(why, n): &(String, u64)| vec![Cell::count(whole(*n)), Cell::words(why)];
    Table { columns, rows: reasons.iter().map(row).collect() }
}

/// `hermes, variant 3`.
fn made_by(finding: &EmiFinding) -> String {
    match &finding.strategy {
        Some(strategy) => format!("{strategy}, variant {}", finding.generation),
        None => "the program itself".to_owned(),
    }
}

fn whole(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
