//! The vocabulary of OptSleuth: what a run takes and what it gives.
//!
//! Every other crate speaks in these types.
//!
//! **Invariant:** plain data. Nothing here opens a file, starts a process or
//! looks at a clock.

mod bisection;
mod block_lines;
mod campaign;
mod case;
mod case_text;
mod code_map;
mod coverage;
mod edit;
mod emi;
mod fault;
mod function_name;
mod index_set;
mod invocation;
pub mod legacy;
mod localization;
mod measurement;
mod name_parts;
mod optimizations;
mod outcome;
mod pass_registry;
mod pass_sequence;
mod program;
mod reduction;
mod run;
mod shape;
mod signature;

pub use bisection::{
    BISECTION_VERSION, BisectedInvocation, Bisection, BisectionEnd, BisectionVerdict,
    BrokenEarlier, SINGLE_PASS_FILE, SinglePass, SinglePassForm, UnitChange,
};
pub use block_lines::BlockLines;
pub use campaign::{CAMPAIGN_VERSION, Campaign, Exclusion, Finding, Growth, HuntSettings};
pub use case::{
    CASE_FILE, CASE_VERSION, Case, CaseError, CaseKind, CompilerSpec, OptLevel, Pipeline, Truth,
};
pub use case_text::retargeted;
pub use code_map::{CodeFunction, CodeMap, CodeObject, FileId, FunctionId, HEADERS, Origin};
pub use coverage::{BlockId, Coverage, CoverageError};
pub use edit::{Edit, EditKind};
pub use emi::{
    EMI_CAMPAIGN_VERSION, EmiCampaign, EmiError, EmiFinding, EmiGrowth, EmiSettings, EmiTally,
    StrategyCount,
};
pub use fault::{CODE_DIGITS, Change, Fault, FaultError, FaultObject};
pub use function_name::FunctionName;
pub use index_set::IndexSet;
pub use invocation::Invocation;
pub use localization::{
    Cures, Evidence, Failure, FileSuspect, FunctionSuspect, HistoryEntry, LOCALIZATION_VERSION,
    Localization, ProgramCounts, StopReason, TrueCulprit, TruthRanks, WitnessEntry,
};
pub use measurement::{
    Budget, MEASUREMENT_VERSION, Measurement, RankedTruth, RecipeName, Sought, Unmeasured,
};
pub use outcome::{Crash, CrashCause, Execution, Outcome, ProgramEnd, Stage, signal_name};
pub use pass_registry::{Level, PassInfo, PassRegistry, RegistryError};
pub use pass_sequence::{Element, PassSequence, PassSequenceError, PassesError};
pub use program::{Language, Program, nameless};
pub use reduction::{
    ProgramReduction, ProgramSize, REDUCTION_VERSION, Reduction, ReductionEnd, SequenceReduction,
};
pub use run::{CodegenLevel, Detour, Emit, Execute, Limits, RunRequest, RunResult};
pub use shape::{BlockShape, FunctionShape, ProgramShape, RegionShape};
pub use signature::Signature;
