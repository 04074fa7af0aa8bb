//! Hunting for bugs: many programs, many sequences, what fails and how.

pub mod programs;
