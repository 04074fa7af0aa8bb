//! The result of `optsleuth bench`: every method on the same cases, for a
//! terminal, as JSON, CSV, Markdown and SVG, and as one HTML page.
//!
//! ```text
//! BenchReport ──► Board ──► tables ──► text, Markdown, page
//!      │            │──► json
//!      └──► csv     └──► pictures ──► page, files of their own
//! ```
//!
//! **Invariant:** all figures come from `optsleuth-eval`; here they are put in
//! order and into words. All forms show the same tables, rounded alike. The
//! same data gives the same bytes, and nothing depends on what methods are
//! called.

mod board;
mod csv;
mod json;
mod markdown;
mod page;
mod pictures;
mod searches;
mod tables;
mod text;

#[cfg(test)]
mod example;
#[cfg(test)]
mod tests;

use std::time::Duration;

use optsleuth_model::{Budget, Measurement, Unmeasured};

pub use csv::bench_csv;
pub use json::bench_json;
pub use markdown::bench_markdown;
pub use page::bench_html;
pub use pictures::{BenchPicture, bench_pictures};
pub use text::bench_text;

/// Everything that was measured.
#[derive(Clone, Copy, Debug)]
pub struct BenchReport<'a> {
    /// What this is about, in a few words.
    pub title: &'a str,
    /// All methods, in the order in which they are shown. The others are
    /// compared with the first.
    pub methods: &'a [String],
    /// In any order.
    pub measurements: &'a [Measurement],
    /// What could not be measured.
    pub unmeasured: &'a [Unmeasured],
    /// What each search was given.
    pub budget: Budget,
    /// Where the random numbers came from.
    pub seeds: &'a [u64],
    /// How long all searches took together; `None` where time had no say.
    pub searching: Option<Duration>,
}
