//! Why a failure could not be reduced, bisected or localized.

use std::path::PathBuf;

use optsleuth_case::{CaseError, case_errors_through};
use optsleuth_model::CheckStatus;
use optsleuth_mutate::MutateError;
use optsleuth_search::SearchError;

/// Why a failure could not be reduced, bisected or localized.
#[derive(Debug, thiserror::Error)]
pub enum TriageError {
    /// Something is wrong with the case, its compiler or the machine.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// A program of which no case can be made.
    #[error("there is no failure to triage: {what}")]
    NoFailure {
        /// What there is instead.
        status: CheckStatus,
        what: String,
    },
    /// gcc's own code cannot be ranked yet.
    #[error("there is no gcc {major} with probes (`optsleuth provision gcc {major}` makes one)")]
    NoCoveredGcc { major: u32 },
    /// A method that this case's compiler does not have.
    #[error("`{method}` does not rank {compiler}'s code; there are {known}")]
    OtherCompilersMethod {
        method: String,
        /// `gcc` or `LLVM`.
        compiler: &'static str,
        /// The names of those that do.
        known: String,
    },
    /// A crash that cannot be looked into.
    #[error("{theirs}, and the workers of the same LLVM do not fail ({with_assertions})")]
    OnlyOpt {
        /// What the distribution's `opt` does.
        theirs: String,
        /// What came of assertions.
        with_assertions: String,
    },
    /// An external reducer that is not installed.
    #[error("there is no {0} here")]
    NoReducer(&'static str),
    /// A search that found no passing run.
    #[error(
        "no witness: {runs} candidates were tried, {failing} fail as the case does and {discarded} fail otherwise"
    )]
    NoWitness {
        /// How many candidates were tried.
        runs: usize,
        /// How many of them failed as the case does.
        failing: usize,
        /// How many failed otherwise.
        discarded: usize,
        /// Whether the search was ended early.
        interrupted: bool,
    },
    /// A compiler that was broken in its machine code has no source.
    #[error(
        "a compiler with a planted fault cannot be zoomed into: the fault is not in its source"
    )]
    ZoomOfFault,
    /// No file is left to zoom into.
    #[error("no suspect file could be zoomed into ({0})")]
    NothingToZoom(String),
    /// A zoomed worker is another compiler then.
    #[error("the zoomed worker does not fail as the installed code does")]
    NotZoomed(#[source] Box<CaseError>),
    /// A search that does not count.
    #[error("{0} of its runs could not be made; the machine may be too busy")]
    Troubled(usize),
    /// A case with more optimizations than a search can number.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A libclang that cannot be used.
    #[error(transparent)]
    Mutate(#[from] MutateError),
    /// libclang does not take the text for C.
    #[error("`{}` cannot be read", .path.display())]
    NotC {
        path: PathBuf,
        /// What libclang says.
        source: MutateError,
    },
    /// Only C can be mutated as C.
    #[error("`{}` is no C program, and only those can be mutated", .0.display())]
    NotInC(PathBuf),
    /// A place that a rule does not have.
    #[error("`{rule}` applies in {n_places} places of this program, and not there")]
    NoPlace {
        rule: String,
        /// How many places it has, numbered from 0 on.
        n_places: usize,
    },
    /// An operator that draws its place.
    #[error("`{0}` has no numbered places: it draws one")]
    NoNumberedPlaces(String),
    /// An operator without location or ingredient.
    #[error("`{0}` finds nothing that goes into this program")]
    NothingToInsert(String),
    /// A program that no rule applies to.
    #[error("no rule applies to this program, or at no such place")]
    NothingToMutate,
    /// A folder without C programs.
    #[error("there is no C program in `{}`", .0.display())]
    NoCPrograms(PathBuf),
    /// No program is left to work with.
    #[error("there are no programs: {0}")]
    NoPrograms(String),
    /// No generator of programs.
    #[error("there is no csmith here to generate programs with")]
    NoCsmith,
}

case_errors_through!(TriageError::Case);
