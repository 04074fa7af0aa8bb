//! Words that name no way to rank.

/// Why a text names no formula, aggregation or weights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RankError {
    /// No formula has this name.
    #[error("unknown formula `{name}`; the formulas are {known}")]
    UnknownFormula {
        name: String,
        /// The names that there are.
        known: String,
    },
    /// No weights have this name.
    #[error("unknown weights `{0}`; the weights are equal, similarity")]
    UnknownWeights(String),
    /// No aggregation has this name.
    #[error(
        "unknown aggregation `{0}`; the aggregations are mean, max, sum, and top-N as in top-5"
    )]
    UnknownAggregation(String),
    /// `top-` without a number that can be one.
    #[error("`top-{0}` needs a whole number of at least 1 after `top-`, as in top-5")]
    Count(String),
}
