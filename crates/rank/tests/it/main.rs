//! The integration tests of this crate, in one binary: linking is what each more would cost.

mod properties;
