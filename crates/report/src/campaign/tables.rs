//! A campaign -> the tables that the terminal, Markdown and the page show.
//!
//! **Invariant:** findings stand in the order in which they were found. A table
//! without rows is left out.

use optsleuth_model::{
    Campaign, CompilerTally, Exclusion, Finding, Hunt, PassSequence, PassTrigger, StrategyCount,
    Trigger, VariantError, VariantTrigger,
};

use crate::table::{Below, Cell, Column, Kind, Table};
use crate::words;

const PASSES: &str = "Passes of the reduced sequence, of the sequence that was tested";
const ALSO_AT: &str = "Levels at which the same program fails in the same way";
const CONFIRMED: &str = "Whether the distribution's tools fail, too";
const SNIPPETS: &str = "Kinds of snippets without which it does not fail";
const NEEDED: &str = "Snippets that it needs, of those that the variant had";
const BY: &str = "Who made the variant, and which of its program it was";
const LEVELS: &str = "Levels at which the same variant fails in the same way";
const DUPLICATES: &str = "How many more tests failed like it";

/// How much of a finding there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// A line of a terminal, and some for the words.
    Line,
    /// A row of a page.
    Row,
}

/// A table under its title.
pub(super) struct Part {
    /// For a page.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What the table shows.
    pub(super) note: &'static str,
    pub(super) table: Table,
}

/// Where the case of a finding is shown.
pub(super) type Link<'a> = &'a dyn Fn(&Finding) -> Option<String>;

/// All tables that have rows. `link` says where findings lead.
pub(super) fn parts(campaign: &Campaign, detail: Detail, link: Link<'_>) -> Vec<Part> {
    let part = |id, title, note, table| Part { id, title, note, table };
    let found = match campaign.hunt {
        Hunt::Passes(_) => {
            "In the order in which they were found, each with its reduced sequence of passes. \
             `optsleuth triage CAMPAIGN/CASE` says which code of LLVM is to blame."
        }
        Hunt::Variants(_) => {
            "In the order in which they were found, each with the kinds of snippets that it needs."
        }
    };
    let mut parts = vec![part("findings", "Findings", found, findings(campaign, detail, link))];
    if let Hunt::Variants(hunt) = &campaign.hunt {
        let made = "Variants are tested only if they do what their program does.";
        parts.push(part("strategies", "Strategies", made, strategies(&hunt.variants)));
        let seen = "What the compilers did with programs and variants.";
        parts.push(part("compilers", "Compilers", seen, tallies(&hunt.tallies)));
    }
    let dismissed = "What deviated from what should happen, and is no finding.";
    let why = reasons("Tests", &campaign.dismissed);
    parts.push(part("dismissed", "Dismissed", dismissed, why));
    let rejected = "Programs that were made or read, and not used for tests.";
    let why = reasons("Programs", &campaign.rejected);
    parts.push(part("rejected", "Rejected programs", rejected, why));
    parts.push(match &campaign.hunt {
        Hunt::Passes(hunt) => {
            let apart = "Passes that were not to follow each other, at whatever distance.";
            part("exclusions", "Exclusions", apart, exclusions(&hunt.exclusions))
        }
        Hunt::Variants(hunt) => {
            let wrong = "Variants that did something else than their programs: errors of \
                         OptSleuth's own, never of a compiler.";
            part("errors", "Errors of our own", wrong, errors_table(&hunt.errors))
        }
    });
    parts.retain(|part| !part.table.rows.is_empty());
    parts
}

/// One row per finding.
fn findings(campaign: &Campaign, detail: Detail, link: Link<'_>) -> Table {
    let number = [Column::new("#", Kind::Number, "")];
    let case = [Column::words("Case")];
    let hinted = |title, hint| Column { hint, ..Column::words(title) };
    let own = match campaign.hunt {
        Hunt::Passes(_) => vec![
            Column::words("Last pass"),
            Column::new("Passes", Kind::Number, PASSES),
            hinted("Also at", ALSO_AT),
            hinted("Confirmed", CONFIRMED),
        ],
        Hunt::Variants(_) => vec![
            Column::words("Compiler"),
            hinted("Levels", LEVELS),
            hinted("By", BY),
            hinted("Snippets", SNIPPETS),
            Column::new("Needed", Kind::Number, NEEDED),
        ],
    };
    let duplicates = Column::new("Duplicates", Kind::Number, DUPLICATES);
    let facts = [Column::words("Kind")].into_iter().chain(own).chain([duplicates]);
    let columns = match detail {
        Detail::Line => number.into_iter().chain(facts).chain(case).collect(),
        Detail::Row => number.into_iter().chain(case).chain(facts).collect(),
    };
    let row = |finding: &Finding| {
        let number = [count(finding.number)];
        let below = below(finding, detail);
        let case = [Cell { link: link(finding), below, ..Cell::words(&finding.case) }];
        let own = match &finding.trigger {
            Trigger::Passes(trigger) => pass_cells(finding, trigger),
            Trigger::Variant(trigger) => variant_cells(finding, trigger),
        };
        let kind = [Cell::words(finding.kind.name())];
        let facts = kind.into_iter().chain(own).chain([count(finding.duplicates)]);
        match detail {
            Detail::Line => number.into_iter().chain(facts).chain(case).collect(),
            Detail::Row => number.into_iter().chain(case).chain(facts).collect(),
        }
    };
    Table { columns, rows: campaign.findings.iter().map(row).collect() }
}

fn pass_cells(finding: &Finding, trigger: &PassTrigger) -> Vec<Cell> {
    let PassTrigger { passes, n_passes, .. } = trigger;
    let passes = match passes.parse::<PassSequence>() {
        Ok(sequence) => {
            let n_left = sequence.n_passes();
            Cell::number(format!("{n_left} of {n_passes}"), n_left as f64)
        }
        Err(_) => Cell { text: format!("? of {n_passes}"), ..Cell::default() },
    };
    let levels = match finding.levels.is_empty() {
        true => Cell::none(),
        false => Cell::words(&finding.levels.join(" ")),
    };
    vec![
        Cell::words(finding.pass.as_deref().unwrap_or_default()),
        passes,
        levels,
        Cell::words(if finding.confirmed { "yes" } else { "no" }),
    ]
}

fn variant_cells(finding: &Finding, trigger: &VariantTrigger) -> Vec<Cell> {
    let VariantTrigger { compiler, strategy, generation, snippets, .. } = trigger;
    let made_by = match strategy {
        Some(strategy) => format!("{strategy}, variant {generation}"),
        None => "the program itself".to_owned(),
    };
    let needed = format!("{} of {}", trigger.n_needed, trigger.n_snippets);
    vec![
        Cell::words(compiler),
        Cell::words(&finding.levels.join(" ")),
        Cell::words(&made_by),
        match snippets.is_empty() {
            true => Cell::words("none: the program itself"),
            false => Cell::words(&snippets.join(" ")),
        },
        Cell::number(needed, trigger.n_needed as f64),
    ]
}

/// What is said below the case: in words and who is guilty; on a page all of it.
fn below(finding: &Finding, detail: Detail) -> Vec<Below> {
    let Finding { program, trigger, .. } = finding;
    let mut below = vec![Below::Words(finding.what.clone())];
    if let (Trigger::Passes(trigger), Detail::Row) = (trigger, detail) {
        below.push(Below::Name(trigger.passes.clone()));
    }
    below.extend(finding.guilty.iter().map(|guilty| Below::Name(format!("guilty: {guilty}"))));
    if detail == Detail::Row {
        let (size, usual) = match trigger {
            Trigger::Passes(trigger) => {
                let usual = ", passes that some level runs, too";
                let usual = if trigger.default_passes_only { usual } else { "" };
                (words::counted(trigger.instructions, "instruction", "instructions"), usual)
            }
            Trigger::Variant(trigger) => {
                (format!("{} of C", words::counted(trigger.bytes, "byte", "bytes")), "")
            }
        };
        let after = words::seconds(finding.seconds);
        below.push(Below::Quiet(format!("{program}, {size}, after {after}{usual}")));
    }
    below
}

/// One row per exclusion.
fn exclusions(all: &[Exclusion]) -> Table {
    let columns = vec![
        Column::words("Passes"),
        Column::new("From round", Kind::Number, "The first round it holds for"),
        Column::words("Why"),
    ];
    let row = |Exclusion { passes, reason, from_round }: &Exclusion| {
        vec![Cell::words(&passes.join(" ... ")), count(*from_round), Cell::words(reason)]
    };
    Table { columns, rows: all.iter().map(row).collect() }
}

/// One row per strategy.
fn strategies(all: &[StrategyCount]) -> Table {
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
            count(made.variants),
            match made.variants {
                0 => Cell::none(),
                _ => Cell::number(words::decimal(mean), mean),
            },
            count(made.nothing),
            count(made.errors),
        ]
    };
    Table { columns, rows: all.iter().map(row).collect() }
}

/// One row per compiler and level, one column per outcome that occurs.
fn tallies(all: &[CompilerTally]) -> Table {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in all.iter().flat_map(|tally| &tally.outcomes) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut columns = vec![Column::words("Compiler"), Column::words("Level")];
    columns.extend(names.iter().map(|name| Column::new(name, Kind::Number, "")));
    let row = |CompilerTally { compiler, level, outcomes }: &CompilerTally| {
        let cell = |name: &&str| {
            let found = outcomes.iter().find(|(known, _)| known == name);
            found.map_or_else(Cell::none, |(_, n)| count(*n))
        };
        let head = [Cell::words(compiler), Cell::words(level)];
        head.into_iter().chain(names.iter().map(cell)).collect()
    };
    let tested = all.iter().filter(|tally| !tally.outcomes.is_empty());
    Table { columns, rows: tested.map(row).collect() }
}

/// One row per variant that was not equivalent to its program.
pub(crate) fn errors_table(errors: &[VariantError]) -> Table {
    let columns = vec![
        Column::words("Strategy"),
        Column::words("Program"),
        Column::new("Variant", Kind::Number, ""),
        Column::words("File"),
        Column::words("What was seen"),
    ];
    let row = |error: &VariantError| {
        let VariantError { strategy, what, program, generation, file } = error;
        let [strategy, program, file, what] =
            [strategy, program, file, what].map(|text| Cell::words(text));
        vec![strategy, program, count(*generation), file, what]
    };
    Table { columns, rows: errors.iter().map(row).collect() }
}

/// One row per reason.
fn reasons(counted: &str, reasons: &[(String, u64)]) -> Table {
    let columns = vec![Column::new(counted, Kind::Number, ""), Column::words("Why")];
    let row = |(why, n): &(String, u64)| vec![count(*n), Cell::words(why)];
    Table { columns, rows: reasons.iter().map(row).collect() }
}

fn count(n: u64) -> Cell {
    Cell::count(usize::try_from(n).unwrap_or(usize::MAX))
}
