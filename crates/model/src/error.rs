//! Why a text or a row of bytes is not what it should be.
//!
//! Everything that is read in this crate is refused with one of these. Where the
//! text came from, and what to do about it, is for callers to say.

/// Why a text or a row of bytes is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Not a `case.toml`.
    #[error("{line}: {message}")]
    Case {
        /// Where, counted from 1; the first line where no place can be named.
        line: usize,
        /// What is wrong, in words.
        message: String,
    },
    /// Not a fault.
    #[error("`{text}` is not a fault: {what}")]
    Fault { text: String, what: String },
    /// Not a coverage.
    #[error("damaged coverage at byte {0}")]
    Coverage(usize),
    /// Not LLVM's list of passes.
    #[error("LLVM's list of passes has no section `{0}`")]
    Registry(&'static str),
    /// A sequence with nothing in it, or nothing between two commas.
    #[error("a pass name is missing at column {0}")]
    MissingName(usize),
    /// More closing parentheses than opening ones.
    #[error("`)` at column {0} closes nothing")]
    Unopened(usize),
    /// More opening parentheses than closing ones.
    #[error("`{0}(` is never closed")]
    Unclosed(String),
    /// As in `function(sroa)dce`.
    #[error("a comma is missing at column {0}")]
    MissingComma(usize),
    /// More adaptors inside each other than any pipeline has.
    #[error(
        "`(` at column {column} is nested too deeply: at most {most} adaptors inside each other"
    )]
    TooDeep { column: usize, most: usize },
    /// No pass of that name in this LLVM.
    #[error("unknown pass `{name}`")]
    UnknownPass {
        /// As it was written.
        name: String,
        /// Names close to it.
        similar: Vec<String>,
    },
    /// A legacy pass without a counterpart.
    #[error("pass `{name}` has no counterpart in the new pass manager: {reason}")]
    GonePass {
        /// As it was written.
        name: String,
        reason: &'static str,
    },
    /// A pass inside an adaptor of another level.
    #[error("`{name}` is a {level} pass and cannot stand inside `{outer}(...)`")]
    MisplacedPass {
        /// As it was written.
        name: String,
        /// Where it belongs.
        level: &'static str,
        /// The adaptor around it.
        outer: String,
        /// What could stand there instead.
        instead: String,
    },
    /// An adaptor without passes, as in `function`.
    #[error("`{0}` needs passes in parentheses after it")]
    EmptyAdaptor(String),
    /// Parentheses after a pass, as in `sroa(dce)`.
    #[error("`{0}` is a pass, not an adaptor: it takes no parentheses")]
    NotAnAdaptor(String),
}
