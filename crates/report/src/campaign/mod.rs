//! What a hunt did and found: for a terminal, as JSON, Markdown and one HTML
//! page.
//!
//! ```text
//! Campaign ──► facts, tables ──► text, Markdown, page ◄── pictures
//!     └──► JSON
//! ```
//!
//! **Invariant:** all forms show the same facts and tables, rounded alike. Only
//! rates, shares and differences of the campaign's own counts are computed. The
//! same campaign gives the same bytes, even one without tests, time or findings.

mod facts;
mod forms;
mod page;
mod pictures;
mod tables;

#[cfg(test)]
mod example;
#[cfg(test)]
mod tests;

pub use forms::{campaign_json, campaign_markdown, campaign_text};
pub use page::{campaign_page, campaign_page_with_reports};
pub(crate) use tables::errors_table;
