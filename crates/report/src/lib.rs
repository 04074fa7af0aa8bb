//! Results -> text for a terminal, JSON for scripts, HTML for browsers.
//!
//! **Invariant:** functions from data to `String`. Nothing is printed, read or
//! measured here, and no number is computed that the data does not hold.

mod authors;
mod bench;
mod bisect;
mod campaign;
mod check;
mod compare;
mod cov;
mod diff;
mod doctor;
mod escape;
mod first_wrong;
mod html;
mod import;
mod interpret;
mod lcov;
mod lines;
mod localize;
mod markdown;
mod mutate;
mod names;
mod outlook;
mod passes;
mod plant;
mod project;
mod provision;
mod reduce;
mod run;
mod style;
pub mod svg;
mod table;
mod triage;
mod variant_bench;
mod words;

pub use bench::{
    BenchPicture, BenchReport, bench_csv, bench_html, bench_json, bench_markdown, bench_pictures,
    bench_text,
};
pub use bisect::{bisect_json, bisect_text};
pub use campaign::{
    campaign_json, campaign_markdown, campaign_page, campaign_page_with_reports, campaign_text,
};
pub use check::{CheckEntry, check_json, check_summary, check_text};
pub use compare::{compare_csv, compare_json, compare_markdown, compare_text};
pub use cov::{cov_json, cov_text, diff_json, diff_text};
pub use doctor::{doctor_json, doctor_text};
pub use html::{CaseView, case_html};
pub use import::{ImportEntry, import_json, import_text};
pub use interpret::{interpret_json, interpret_text};
pub use lcov::lcov;
pub use localize::{localize_json, localize_markdown, localize_text, report_json};
pub use mutate::{mutant_json, mutant_line, places_json, places_text, rules_json, rules_text};
pub use outlook::{outlook_json, outlook_text};
pub use passes::{passes_json, passes_text};
pub use plant::{plant_json, plant_text};
pub use project::{project_json, project_markdown, project_text};
pub use provision::{provision_json, provision_text};
pub use reduce::{reduce_json, reduce_text};
pub use run::{run_json, run_text};
pub use style::Style;
pub use triage::{Reports, triage_json, triage_markdown, triage_text};
pub use variant_bench::{
    variant_bench_json, variant_bench_markdown, variant_bench_picture, variant_bench_text,
};

/// The number in every JSON document's `version`; goes up when a field changes
/// its meaning or disappears.
pub const JSON_VERSION: u32 = 1;

/// Any result as a JSON document. Results are structs of numbers, texts and
/// lists, which JSON can always say.
pub(crate) fn to_json(result: &impl serde::Serialize) -> String {
    match serde_json::to_string(result) {
        Ok(text) => text,
        Err(error) => unreachable!("a result that JSON cannot say: {error}"),
    }
}
