//! Ways to execute an unoptimized program that have little in common. What they
//! agree on depends neither on how the program is compiled nor on what unused
//! memory happens to hold.

use optsleuth_model::{CodegenLevel, Edit, Execute, Limits, RunRequest};

/// One way to execute an unoptimized program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub name: &'static str,
    pub codegen: CodegenLevel,
    pub execute: Execute,
    /// What unused memory holds; `None` leaves it as it is.
    pub fill: Option<u8>,
    /// Stops where the program breaks a promise of its IR (`worker/guard.cpp`).
    pub guarded: bool,
}

/// What unused memory holds, in turn.
pub const FILLS: [u8; 3] = [0x00, 0xa5, 0x5a];

const fn way(name: &'static str, codegen: CodegenLevel, fill: u8) -> Way {
    Way { name, codegen, execute: Execute::InChild, fill: Some(fill), guarded: false }
}

const fn process(name: &'static str, codegen: CodegenLevel) -> Way {
    Way { name, codegen, execute: Execute::AsProcess, fill: None, guarded: false }
}

/// As the front end made it: what others are compared with.
pub const PLAIN: Way = way("unoptimized", CodegenLevel::O0, FILLS[0]);
/// The same with other contents of unused memory.
pub const REFILLED: Way = way("with other unused memory", CodegenLevel::O0, FILLS[1]);
/// Stopped where the IR is undefined.
pub const GUARDED: Way =
    Way { guarded: true, ..way("stopped where its IR is undefined", CodegenLevel::O0, FILLS[1]) };
/// No pass, but a code generator that optimizes.
pub const BY_CODEGEN: Way =
    way("optimized by the code generator alone", CodegenLevel::O2, FILLS[2]);
/// The same with other contents of unused memory.
pub const BY_CODEGEN_REFILLED: Way =
    way("the same with other unused memory", CodegenLevel::O2, FILLS[0]);
/// Linked, and started by itself.
pub const AS_PROCESS: Way = process("unoptimized, as a process", CodegenLevel::O0);
/// Both of these.
pub const BY_CODEGEN_AS_PROCESS: Way =
    process("optimized by the code generator alone, as a process", CodegenLevel::O2);

/// Made by clang's front end at the case's level, where that is not `O0`. It has
/// to do what the program at `O0` does.
pub const AT_LEVEL: Way = way(
    "made by clang's front end at the case's level, without passes",
    CodegenLevel::O0,
    FILLS[0],
);

impl Way {
    /// The run that executes the loaded program, or an edit of it, in this way.
    pub fn request(&self, edit: Option<&Edit>, limits: Limits) -> RunRequest {
        let &Way { codegen, execute, fill, guarded, .. } = self;
        let edit = edit.cloned();
        RunRequest { codegen, execute, fill, guarded, edit, limits, ..RunRequest::new(None) }
    }
}
