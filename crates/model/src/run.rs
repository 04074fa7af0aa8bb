//! A run: what is asked of a worker, and what comes back.

use std::time::Duration;

use crate::{
    Authorship, Coverage, Edit, IndexSet, Interpret, Interpretation, Invocation, Outcome,
    PassSequence,
};

/// How much a run may use before it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CPU time for LLVM; waiting is limited to four times as much.
    pub compile: Duration,
    /// CPU time for the executed program, with the same allowance.
    pub execute: Duration,
    /// Memory that a child may make resident, in bytes.
    pub memory: u64,
    /// What a program may write to each of its streams, and to a file.
    pub output: u64,
    /// The address space is not limited, as it is otherwise on top of `memory`:
    /// sanitizers keep shadows of all of it, and little of that is resident.
    pub with_shadows: bool,
}

impl Limits {
    /// Ten seconds, 4 GiB, 16 MiB of output.
    pub const STANDARD: Limits = Limits {
        compile: Duration::from_secs(10),
        execute: Duration::from_secs(10),
        memory: 4 << 30,
        output: 16 << 20,
        with_shadows: false,
    };
}

/// How hard the code generator works. The numbers are LLVM's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum CodegenLevel {
    /// No optimization: what the passes made is what is executed.
    #[default]
    O0 = 0,
    /// `-O1`.
    O1 = 1,
    /// `-O2`.
    O2 = 2,
    /// `-O3`.
    O3 = 3,
}

/// What a run hands out besides its outcome. The numbers are the protocol's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Emit {
    /// Only the outcome.
    #[default]
    Nothing = 0,
    /// The module as LLVM assembly.
    Text = 1,
    /// The module as bitcode.
    Bitcode = 2,
    /// Position-independent code in an object file.
    Object = 3,
    /// What [`ProgramShape`] is read from.
    ///
    /// [`ProgramShape`]: crate::ProgramShape
    Shape = 4,
}

/// Whether and how the compiled program is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Execute {
    #[default]
    No,
    /// Inside the child that compiled it; as a process where that cannot be
    /// done faithfully. Fast.
    InChild,
    /// Linked by the system's linker and started as a process. What a user of
    /// the compiler would do; used to confirm.
    AsProcess,
}

/// Something in the compiler that is decided another way: the bytes that make it
/// so, and where they go. For one run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detour {
    /// In the worker's image.
    pub address: u64,
    /// What stands there during the run, as far as `length` goes.
    pub bytes: [u8; 4],
    pub length: u8,
}

/// One run of a loaded program.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// A change to the loaded program, for this run alone.
    pub edit: Option<Edit>,
    /// Changes to the compiler, while the passes run; at most two.
    pub detours: Vec<Detour>,
    /// The passes; `None` runs none.
    pub passes: Option<PassSequence>,
    /// The program stops where it does what IR leaves undefined, as far as
    /// `worker/guard.cpp` can tell.
    pub guarded: bool,
    /// What unused stack and fresh heap memory hold when the program begins,
    /// where it is executed inside the child. `None`: whatever was there.
    pub fill: Option<u8>,
    /// Invocations to leave out.
    pub skips: IndexSet,
    /// Verify the IR after every pass, not only at the end.
    pub verify_each: bool,
    pub emit: Emit,
    /// For code generation, if there is any.
    pub codegen: CodegenLevel,
    /// Generate code and call `main`.
    pub execute: Execute,
    /// Let the referee interpret the module after the passes. Nothing is emitted
    /// and no code generated then.
    pub interpret: Option<Interpret>,
    /// Read the log of invocations back.
    pub list_invocations: bool,
    /// Find out which of them change the IR; it is printed before and after
    /// each of them.
    pub watch_changes: bool,
    /// Say which blocks of the compiler were executed; needs a worker that was
    /// built for it.
    pub coverage: bool,
    /// The code generator's blocks count, too, and detours hold there.
    pub cover_codegen: bool,
    /// Machine passes are invocations as well, behind those of all passes.
    pub machine_passes: bool,
    /// Also say it for these invocations alone: a half-open range.
    pub window: Option<(u32, u32)>,
    /// Record which functions of the compiler create, change and erase
    /// instructions in the window; needs a worker as coverage does.
    pub authors: bool,
    /// Of the window, only what is executed while these events happen: a half-open
    /// range of the authorship's. Needs authors; the coverage of the whole is not
    /// to be used then.
    pub narrow: Option<(u32, u32)>,
    pub limits: Limits,
}

impl RunRequest {
    /// Run these passes and say how it ended; everything else off.
    pub fn new(passes: Option<PassSequence>) -> RunRequest {
        RunRequest {
            edit: None,
            detours: Vec::new(),
            passes,
            guarded: false,
            fill: None,
            skips: IndexSet::none(),
            verify_each: false,
            emit: Emit::Nothing,
            codegen: CodegenLevel::O0,
            execute: Execute::No,
            interpret: None,
            list_invocations: false,
            watch_changes: false,
            coverage: false,
            cover_codegen: false,
            machine_passes: false,
            window: None,
            authors: false,
            narrow: None,
            limits: Limits::STANDARD,
        }
    }
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    pub outcome: Outcome,
    /// Where the child was when it crashed: addresses in the worker's image,
    /// innermost first.
    pub stack: Vec<u64>,
    /// What LLVM wrote to standard error, if it crashed.
    pub said: String,
    /// `FILE:LINE` of the assertion that failed, if one did.
    pub asserted_at: Option<String>,
    /// What [`Emit`] asked for; empty if the run did not get that far.
    pub emitted: Vec<u8>,
    /// The referee's word, if it was asked and the passes came to an end.
    pub interpretation: Option<Interpretation>,
    /// How many items the edit's kind has in the program.
    pub n_items: u32,
    /// How many invocations were reached.
    pub n_invocations: u32,
    /// All of them, if they were asked for.
    pub invocations: Vec<Invocation>,
    /// The blocks executed between the start and the end of the pipeline, and
    /// those of the code generator, if they were asked for.
    pub coverage: Option<Coverage>,
    /// Those of the window; `None` if the run never came to it.
    pub window: Option<Coverage>,
    /// Who wrote what in the window, if that was asked for and the run came to it.
    pub authorship: Option<Authorship>,
    /// From fork to end.
    pub wall: Duration,
    /// CPU time of the child.
    pub cpu: Duration,
    /// Within the pass manager alone; zero if it did not come back.
    pub pipeline: Duration,
    /// The most memory the child had resident, in bytes.
    pub peak_memory: u64,
}
