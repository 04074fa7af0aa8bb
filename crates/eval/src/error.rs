//! Why ranks or standings give no figures.

/// Why ranks or standings give no figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// There is no culprit: what the case does not name cannot be found, and
    /// the case has no place in the table.
    #[error("no true culprit to rank")]
    NoCulprit,
    /// Ranks start at 1 and end at the number of suspects.
    #[error("rank {rank} among {n_suspects} suspects")]
    NoSuchRank { rank: usize, n_suspects: usize },
    #[error("no case to evaluate")]
    NoCase,
    #[error("no seed to evaluate")]
    NoSeed,
    /// A case has more or fewer standings than the first one.
    #[error("case {case} has standings for {found} seeds, the first for {expected}")]
    Uneven {
        /// Which, counted from 0.
        case: usize,
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
}
