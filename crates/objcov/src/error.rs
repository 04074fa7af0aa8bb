//! What cannot be rewritten or read, and why: the closed list of refusals.
//!
//! Every stage returns one of these as soon as it meets something it cannot prove.
//! A refusal to instrument is an ordinary result, never a bug of the object: the caller keeps the
//! original bytes.

use thiserror::Error;

/// The reason an object was not instrumented or patched, or an archive or a line table not read.
///
/// Section numbers and offsets are those of the original object.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ObjcovError {
    /// The bytes are no ELF file (LLVM bitcode, text, another format).
    #[error("not an ELF file")]
    NotElf,
    /// An ELF file, but not a little-endian x86-64 relocatable object.
    #[error("not a 64-bit x86-64 relocatable object")]
    ForeignElf,
    /// The file contradicts itself or the ELF format.
    #[error("malformed object: {0}")]
    Malformed(&'static str),
    /// A legal feature of the format that this crate does not rewrite.
    #[error("unsupported feature: {0}")]
    Unsupported(&'static str),
    /// The object, or its rewritten form, passes a size limit.
    #[error("object is too large to rewrite")]
    TooLarge,
    /// No executable section holds a function: nothing to instrument.
    #[error("no functions")]
    NoCode,
    /// The object carries compiler intermediate code, which a linker might prefer to the machine code.
    #[error("holds link-time optimization code")]
    LinkTimeCode,
    /// Bytes in an executable section that are no x86-64 instruction.
    #[error("undecodable bytes in section {section} at {offset:#x}")]
    BadInstruction {
        /// The executable section.
        section: u32,
        /// Where decoding stopped.
        offset: u64,
    },
    /// Bytes in an executable section that look like data: unreachable without a label, or read as memory.
    #[error("data among the code of section {section} at {offset:#x}")]
    DataInText {
        /// The executable section.
        section: u32,
        /// The first doubtful byte.
        offset: u64,
    },
    /// A symbol, relocation, branch or table refers to the middle of an instruction.
    #[error("reference into an instruction of section {section} at {offset:#x}")]
    MidInstruction {
        /// The section referred to.
        section: u32,
        /// The offset that is no instruction boundary.
        offset: u64,
    },
    /// A relocation of a kind, or at a place, that cannot be moved safely.
    #[error("relocation type {kind} at {offset:#x} of section {section} cannot be moved")]
    Relocation {
        /// The section the relocation applies to.
        section: u32,
        offset: u64,
        /// The ELF relocation type.
        kind: u32,
    },
    /// A block would start inside a code sequence that the linker rewrites as a whole.
    #[error("thread-local access sequence is broken up in section {section} at {offset:#x}")]
    TlsSequence {
        /// The executable section.
        section: u32,
        /// The instruction that must not be separated from its predecessor.
        offset: u64,
    },
    /// A data word is relative to code, and the base it counts from was not found.
    #[error("table entry at {offset:#x} of section {section} counts from an unknown base")]
    UnknownTable {
        /// The data section.
        section: u32,
        /// The entry.
        offset: u64,
    },
    /// Code takes the address of a label and also jumps indirectly: distances between labels may be in use.
    #[error("label arithmetic in section {section} at {offset:#x}")]
    LabelArithmetic {
        /// The executable section.
        section: u32,
        /// The instruction that takes the address.
        offset: u64,
    },
    /// A branch that has no long form ends up too far from its target.
    #[error("branch at {offset:#x} of section {section} has no long form")]
    BranchRange {
        /// The executable section.
        section: u32,
        /// The branch.
        offset: u64,
    },
    /// `.eh_frame` holds something unknown.
    #[error("unwind table: {0}")]
    Unwind(&'static str),
    /// `.gcc_except_table` holds something unknown.
    #[error("exception table: {0}")]
    ExceptionTable(&'static str),
    /// The rewritten object does not match the original one: a defect of this crate, caught in time.
    #[error("verification failed: {0}")]
    VerifyFailed(String),
    /// The bytes are no archive, or a damaged one.
    #[error("malformed archive: {0}")]
    MalformedArchive(String),
    /// A thin archive names a file that the caller did not provide.
    #[error("member `{0}` of a thin archive is missing")]
    MissingMember(String),
    /// There are fewer members than that.
    #[error("the archive has no member number {0}")]
    NoSuchMember(usize),
    /// The result would not fit the archive format.
    #[error("archive is too large")]
    ArchiveTooLarge,
    /// The object has no function, or several, of that name.
    #[error("the object has no function `{0}`, or several")]
    NoFunction(String),
    /// The code there is not what the patch was made for.
    #[error("the code is not what the patch was made for")]
    OtherCode,
    /// A function to patch has bytes that are no instruction.
    #[error("the function has an instruction that cannot be decoded")]
    Undecodable,
    /// A debug section contradicts the DWARF format.
    #[error("debug information: {0}")]
    Dwarf(String),
    /// The debug sections contradict each other or the object.
    #[error("debug information: {0}")]
    DebugSections(&'static str),
    /// A relocation of unknown kind, or whose result does not fit.
    #[error("relocation type {kind} at {offset:#x} of debug section {section}")]
    DebugRelocation {
        /// The debug section the relocation applies to.
        section: u32,
        offset: u64,
        /// The ELF relocation type.
        kind: u32,
    },
}

impl ObjcovError {
    /// A short name of the kind of refusal, for counting; scripts may depend on these words.
    pub fn kind(&self) -> &'static str {
        match self {
            ObjcovError::NotElf => "not-elf",
            ObjcovError::ForeignElf => "foreign-elf",
            ObjcovError::Malformed(_) => "malformed",
            ObjcovError::Unsupported(_) => "unsupported",
            ObjcovError::TooLarge => "too-large",
            ObjcovError::NoCode => "no-code",
            ObjcovError::LinkTimeCode => "link-time-code",
            ObjcovError::BadInstruction { .. } => "bad-instruction",
            ObjcovError::DataInText { .. } => "data-in-text",
            ObjcovError::MidInstruction { .. } => "mid-instruction",
            ObjcovError::Relocation { .. } => "relocation",
            ObjcovError::TlsSequence { .. } => "tls-sequence",
            ObjcovError::UnknownTable { .. } => "unknown-table",
            ObjcovError::LabelArithmetic { .. } => "label-arithmetic",
            ObjcovError::BranchRange { .. } => "branch-range",
            ObjcovError::Unwind(_) => "unwind",
            ObjcovError::ExceptionTable(_) => "exception-table",
            ObjcovError::VerifyFailed(_) => "verify-failed",
            ObjcovError::MalformedArchive(_) => "malformed-archive",
            ObjcovError::MissingMember(_) => "missing-member",
            ObjcovError::NoSuchMember(_) => "no-such-member",
            ObjcovError::ArchiveTooLarge => "archive-too-large",
            ObjcovError::NoFunction(_) => "no-function",
            ObjcovError::OtherCode => "other-code",
            ObjcovError::Undecodable => "undecodable",
            ObjcovError::Dwarf(_) => "dwarf",
            ObjcovError::DebugSections(_) => "debug-sections",
            ObjcovError::DebugRelocation { .. } => "debug-relocation",
        }
    }
}
