//! What came of planting faults into a compiler.

use serde::{Deserialize, Serialize};

/// What was made.
#[derive(Clone, Debug)]
pub struct PlantReport {
    /// `19.1.7`.
    pub llvm: String,
    /// As it was asked for.
    pub seed: u64,
    /// How many cases were wanted.
    pub wanted: usize,
    /// All cases of the folder.
    pub cases: Vec<PlantedCase>,
    /// What became of the candidates.
    pub funnel: Funnel,
    /// Whether the user ended it early.
    pub interrupted: bool,
}

/// One case that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlantedCase {
    /// The case's folder and id.
    pub id: String,
    /// The part of LLVM.
    pub component: String,
    /// The source file.
    pub file: String,
    pub function: String,
    /// What was done to it.
    pub change: String,
    /// `crash`, `wrong-code` and so on.
    pub kind: String,
    /// How many passes it takes.
    pub passes: usize,
}

/// What became of the candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Funnel {
    /// Blocks that some but not most programs reach.
    pub candidates: usize,
    pub tried: usize,
    /// Of these: the block has nothing that could be changed safely.
    pub unchangeable: usize,
    /// Every run was as without the fault.
    pub no_effect: usize,
    /// The compiler did not start, or took no program.
    pub too_much: usize,
    /// It did not fail every time, or in no way that makes a case.
    pub unstable: usize,
    /// Became a case.
    pub kept: usize,
}
