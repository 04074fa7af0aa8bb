//! The integration tests of this crate, in one binary: linking is what each more would cost.

mod bench_sample;
mod browser;
mod campaign_sample;
mod sample;

mod bench_page;
mod campaign_page;
mod html;
mod html_text;
