//! The integration tests of this crate, in one binary: linking is what each more would cost.

mod tools;

mod assembly;
mod behaviour;
mod damage;
mod libraries;
mod lines;
mod llvm;
mod observer;
