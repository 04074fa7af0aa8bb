//! The integration tests of this crate, in one binary: linking is what each more would cost.

mod ready;

mod authors;
mod c_front_end;
mod c_front_end_leaves_nothing;
mod coverage;
mod detours;
mod drivers;
mod edits;
mod faulty;
mod fence;
mod hostile;
mod plugin;
mod referee;
mod replacement;
mod shape;
mod worker;
mod zoom;
