//! LLVM: finding it, making a worker of its archives, talking to workers.

mod classify;
mod embedded;
mod install;
mod pool;
mod protocol;
mod provision;
mod symbols;
mod worker;

pub use install::{Install, InstallError, NEWEST, OLDEST, discover, find, from_llvm_config};
pub use pool::Pool;
pub use provision::{ProvisionError, Provisioned, Step, Targets, provision};
pub(crate) use provision::{cxx_compiler, lld};
pub use worker::{RunError, Sandbox, Worker};
