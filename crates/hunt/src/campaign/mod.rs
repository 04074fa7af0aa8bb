//! What every hunt keeps.

pub mod database;
