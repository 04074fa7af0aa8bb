//! A place in the compiler's source.

use serde::{Deserialize, Serialize};

/// File, line and column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CodePlace {
    /// As in `llvm/lib/Transforms/Scalar/GVN.cpp`.
    pub path: String,
    pub line: u32,
    /// From 1; 0 where it is not known.
    pub column: u32,
}

impl std::fmt::Display for CodePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.path, self.line)
    }
}
