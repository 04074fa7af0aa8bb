//! The integration tests of this crate, in one binary: linking is what each more would cost.

mod program;

mod bench;
mod bisect;
mod cases;
mod commands;
mod cov;
mod demo;
mod drivers;
mod failing_command;
mod hunt;
mod import;
mod leftovers;
mod localize;
mod mutate;
mod plant;
mod project;
mod provisioning;
mod reduce;
mod triage;
mod trust;
mod undefined;
mod variants;
mod witness;
mod zoom;
