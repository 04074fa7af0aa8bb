//! What a hunt with variants did and found, and what variants were measured to
//! be: for a terminal, as JSON, Markdown and one HTML page.
//!
//! ```text
//! EmiCampaign ──► facts, tables ──► text, Markdown, page ◄── pictures
//! EmiBench ──► bench
//! ```
//!
//! **Invariant:** all forms show the same facts and tables, rounded alike. The
//! same campaign gives the same bytes, even one without tests or findings.

mod bench;
mod facts;
mod forms;
mod page;
mod pictures;
mod tables;

#[cfg(test)]
mod example;
#[cfg(test)]
mod tests;

pub use bench::{emi_bench_json, emi_bench_markdown, emi_bench_picture, emi_bench_text};
pub use forms::{emi_json, emi_markdown, emi_text};
pub use page::emi_page;
