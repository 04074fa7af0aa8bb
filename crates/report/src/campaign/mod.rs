//! What a hunt did and found: for a terminal, as JSON, Markdown and one HTML
//! page.
//!
//! ```text
//! Campaign ──► facts, tables ──► text, Markdown, page
//!     │──► json
//!     └──► pictures ──► page
//! ```
//!
//! **Invariant:** all forms show the same facts and tables, rounded alike. Only
//! rates, shares and differences of the campaign's own counts are computed. The
//! same campaign gives the same bytes, even one without tests, time or findings.

mod facts;
mod json;
mod markdown;
mod page;
pub(crate) mod pictures;
mod tables;
mod text;

#[cfg(test)]
mod example;
#[cfg(test)]
mod tests;

pub use json::campaign_json;
pub use markdown::campaign_markdown;
pub use page::{campaign_page, campaign_page_with_reports};
pub use text::campaign_text;
