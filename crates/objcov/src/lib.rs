//! Basic-block coverage of relocatable x86-64 objects and archives, without recompiling them.
//!
//! ```text
//! object bytes -> sections -> instructions -> blocks -> layout -> bytes -> verified -> (object, index)
//! ```
//!
//! At the start of every basic block one instruction is inserted that sets one byte in section
//! [`PROBE_SECTION`]. It changes no register and no flag, so the program behaves as before.
//! Whatever cannot be proved safe is refused with an [`ObjcovError`]; then the original object is to be used.
//!
//! **Invariant:** bytes in, bytes out. No file is opened, no process started, nothing printed; no input
//! makes it panic; the same input gives the same bytes whatever the number of threads.

mod archive;
mod boundary;
mod bytes;
mod decisions;
mod elf;
mod emit;
mod error;
mod functions;
mod index;
mod instrument;
mod layout;
mod leaders;
mod lines;
mod moved;
mod patch;
mod probe;
mod references;
mod relocation;
mod survey;
mod symbols;
mod tables;
mod text;
mod unwind;
mod verify;

pub use archive::{
    ArchiveOptions, ArchiveResult, MemberReport, NamedMember, ThinMember, instrument_archive,
    members, replace_member,
};
pub use boundary::{PAGE, START_SYMBOL, STOP_SYMBOL, boundary_objects};
pub use decisions::{Decision, blocks_at, decisions};
pub use error::ObjcovError;
pub use index::{Block, FunctionIndex, Linkage};
pub use instrument::{Instrumented, Options, instrument_object};
pub use lines::{Lines, SourceLine};
pub use patch::{FunctionCode, Patch, PatchKind};
pub use probe::{PROBE_SECTION, PROBE_SYMBOL_PREFIX};
