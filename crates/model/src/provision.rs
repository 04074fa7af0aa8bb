//! What came of making a gcc whose own code can be ranked.

use serde::{Deserialize, Serialize};

/// Goes up when the form of the result changes.
pub const PROVISION_VERSION: u32 = 1;

/// A cc1 with probes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GccProvision {
    pub version: u32,
    /// gcc's own version.
    pub gcc: String,
    pub files: usize,
    pub functions: usize,
    pub blocks: u32,
    pub seconds: f64,
}
