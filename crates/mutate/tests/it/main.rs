//! The integration tests of this crate, in one binary: linking is what each more would cost.

mod native;
mod profiled;
mod read;

mod arithmetic;
mod corpus;
mod emi_profiles;
mod emi_variants;
mod foreign;
mod programs;
mod rules;
mod structure;
mod view;
