//! LLVM: finding it, making a worker of its archives, talking to workers.

mod authors;
mod classify;
pub(crate) mod covered;
mod embedded;
mod fault;
mod faulty;
mod front_end;
mod install;
mod lines;
pub(crate) mod link;
pub mod options;
mod pool;
mod process;
mod protocol;
mod provision;
mod provisioned;
mod shape;
mod source_tree;
mod symbols;
mod worker;
mod zoom;

pub use crate::versions::{NEWEST, OLDEST};
pub use fault::possible_faults;
pub use faulty::FaultyBuilder;
pub(crate) use front_end::{FrontEndParts, Servers};
pub use install::{Install, discover, find, from_llvm_config, installed};
pub use lines::{SourceLines, block_lines};
pub use pool::Pool;
pub use provision::{Step, cache_root, provision};
pub(crate) use provision::{cxx_compiler, instrumentation, lld};
pub(crate) use provisioned::conditions_of;
pub use provisioned::{Condition, ConditionKind, Flavor, Provisioned, Targets};
pub use symbols::demangle;
pub use worker::{Sandbox, Worker};
pub use zoom::{LeftOut, SourceChoice, SourceTree, Variant, ZoomPlan, Zoomed, file_of, zoom};
