//! LLVM: finding it, making a worker of its archives, talking to workers.

mod classify;
mod covered;
mod embedded;
mod faulty;
mod front_end;
mod install;
mod lines;
mod pool;
mod process;
mod protocol;
mod provision;
mod shape;
mod source_tree;
mod symbols;
mod worker;

pub use covered::{CoverError, LeftAlone, Summary};
pub use faulty::{FaultyBuilder, FaultyError, possible_faults};
pub(crate) use front_end::{FrontEndParts, Servers};
pub use install::{Install, InstallError, NEWEST, OLDEST, discover, find, from_llvm_config};
pub use lines::block_lines;
pub use pool::Pool;
pub use provision::{Flavor, ProvisionError, Provisioned, Step, Targets, cache_root, provision};
pub(crate) use provision::{cxx_compiler, instrumentation, lld};
pub use worker::{RunError, Sandbox, Worker};
