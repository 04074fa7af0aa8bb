//! Pass invocations: one pass applied to one unit of IR, numbered in the order
//! in which the pass manager comes to them.

use std::fmt;

/// One pass applied to one module, SCC, function or loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Its number within the run, from 0.
    pub index: u32,
    /// The pass as a pipeline names it, or its class where it has no such name.
    pub pass: String,
    /// What it was applied to: `module`, `function f`, `loop h in f`, `scc (f)`.
    pub unit: String,
    /// It was not run: it was to be skipped, or kept away by `optnone`.
    pub skipped: bool,
    /// LLVM runs it, whether it is to be skipped or not.
    pub required: bool,
    /// The IR was another afterwards. Known only if changes were watched.
    pub changed: bool,
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {} on {}", self.index, self.pass, self.unit)
    }
}
