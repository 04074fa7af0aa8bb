//! The vocabulary of OptSleuth: what a run takes and what it gives.
//!
//! Every other crate speaks in these types.
//!
//! **Invariant:** plain data. Nothing here opens a file, starts a process or
//! looks at a clock.

mod authorship;
mod bisection;
mod block_lines;
mod campaign;
mod case;
mod case_folder;
mod case_text;
mod check;
mod code_map;
mod code_place;
mod codegen_stage;
mod compare;
mod conditions;
mod coverage;
mod definedness;
pub mod doctor;
mod edit;
mod error;
mod fault;
mod front_end;
mod function_name;
mod import;
mod in_words;
mod index_set;
mod interpretation;
mod invocation;
pub mod legacy;
mod localization;
mod measurement;
mod mutation;
mod name_parts;
mod optimizations;
mod outcome;
mod pass_hunt;
mod pass_registry;
mod pass_sequence;
mod plant;
mod program;
mod progress;
mod project;
mod provision;
mod reduction;
mod run;
mod run_report;
mod shape;
mod signature;
mod triage;
mod variant_bench;
mod variant_hunt;

pub use authorship::{AuthorEvent, AuthorFrame, AuthorKind, Authorship, Deed, InstructionPlace};
pub use bisection::{
    BISECTION_VERSION, BisectedInvocation, Bisection, BisectionEnd, BisectionVerdict,
    BrokenEarlier, ChangeAuthors, FirstWrong, FirstWrongStep, GccAccess, GccBisection, LineAuthor,
    SINGLE_PASS_FILE, SinglePass, SinglePassForm, Transformation, UnitChange, WrongValue,
};
pub use block_lines::BlockLines;
pub use campaign::{CAMPAIGN_VERSION, Campaign, Finding, Growth, Hunt, Trigger};
pub use case::{CASE_FILE, CASE_VERSION, Case, CaseKind, CompilerSpec, OptLevel, Pipeline, Truth};
pub use case_folder::{CaseFolder, KeptKind, Trust};
pub use case_text::retargeted;
pub use check::{CheckReport, CheckStatus, Confirmation, DriverUse, Unmodified};
pub use code_map::{CodeFunction, CodeMap, CodeObject, FileId, FunctionId, HEADERS, Origin};
pub use code_place::CodePlace;
pub use codegen_stage::codegen_stage;
pub use compare::{Compared, ComparedRun};
pub use conditions::Conditions;
pub use coverage::{BlockId, Coverage};
pub use definedness::{
    Answer, Checker, DEFINEDNESS_VERSION, Definedness, Objection, ObjectionKind, Said,
};
pub use edit::{Edit, EditKind};
pub use error::ModelError;
pub use fault::{CODE_DIGITS, Change, Fault, FaultObject};
pub use function_name::FunctionName;
pub use import::{Attempt, BugType, ImportReport, ImportedTest, Seen, TestStatus, UsableLlvms};
pub use in_words::in_words;
pub use index_set::IndexSet;
pub use interpretation::{
    Interpret, InterpretReport, Interpretation, IrPlace, OutputByte, OutputStream, Ruling,
    SourcePlace, Step,
};
pub use invocation::Invocation;
pub use localization::{
    AssertionCheck, Cures, Evidence, Excerpt, FailedAssertion, Failure, FileSuspect,
    FunctionSuspect, HistoryEntry, LOCALIZATION_VERSION, LeftOutFile, LineSuspect, Localization,
    MemoryCheck, MemoryError, MemoryStack, ProgramCounts, StopReason, TrueCulprit, TruthRanks,
    WitnessEntry, ZoomReport,
};
pub use measurement::{
    Benched, Budget, MEASUREMENT_VERSION, Measurement, Outlook, RankedTruth, RecipeName, Sought,
    Unmeasured,
};
pub use mutation::{Mutant, Place, RulePlaces};
pub use outcome::{Crash, CrashCause, Execution, Outcome, ProgramEnd, Stage, signal_name};
pub use pass_hunt::{Exclusion, PassHunt, PassSettings, PassTrigger, SequenceChoice};
pub use pass_registry::{Level, PassInfo, PassRegistry};
pub use pass_sequence::{Element, PassSequence};
pub use plant::{Funnel, PlantReport, PlantedCase};
pub use program::{Language, Program, is_cxx, is_source, nameless};
pub use progress::{HuntStatus, Progress, Quiet, SearchStatus, Silent};
pub use project::{GuiltyUnit, PROJECT_VERSION, ProjectFinding, SanitizerWord};
pub use provision::{GccProvision, PROVISION_VERSION};
pub use reduction::{
    ProgramReduction, ProgramSize, REDUCTION_VERSION, Reduction, ReductionEnd, SequenceReduction,
};
pub use run::{CodegenLevel, Detour, Emit, Execute, Limits, RunRequest, RunResult};
pub use run_report::{CovReport, CovRun, Repetition, RunReport};
pub use shape::{BlockShape, FunctionShape, ProgramShape, RegionShape};
pub use signature::Signature;
pub use triage::{ReduceReport, SINGLE_PASS, SingleCase, Triage};
pub use variant_bench::{
    VARIANT_BENCH_VERSION, VariantBench, VariantBenchCoverage, VariantBenchGain,
    VariantBenchStrategy,
};
pub use variant_hunt::{
    CompilerTally, StrategyCount, VariantError, VariantHunt, VariantSettings, VariantTrigger,
};
