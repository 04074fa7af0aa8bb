//! The integration tests of this crate, in one binary: linking is what each more would cost.

mod program;

mod bench;
mod bisect;
mod cases;
mod commands;
mod cov;
mod drivers;
mod emi;
mod hunt;
mod import;
mod leftovers;
mod localize;
mod mutate;
mod provisioning;
mod reduce;
mod seed;
mod triage;
mod witness;
