//! What the referee is asked, and what it says: whether the behaviour of a
//! program is defined by LLVM's language reference.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ProgramEnd;

/// How a module is interpreted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpret {
    /// Which function is called.
    pub function: String,
    /// Its arguments, in words: numbers, `null`, `poison`, `undef`. `None`: those
    /// that `main` gets.
    pub arguments: Option<Vec<String>>,
    /// Instructions that may be executed.
    pub steps: u64,
    /// Bytes that the program's objects may have at once.
    pub memory: u64,
    /// Calls that may be active at once.
    pub depth: u32,
    /// How many of the last instructions are listed with their values.
    pub trace_lines: u32,
    /// Instead of all this: compare the referee's integers of this width with
    /// LLVM's constant folder.
    pub self_test: Option<u32>,
    /// Who writes this byte is told.
    pub observe: Option<OutputByte>,
}

/// A byte of what a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputByte {
    pub stream: OutputStream,
    /// From 0.
    pub byte: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    Out,
    Err,
}

impl Interpret {
    /// `main`, with room for any program that machine code runs in a second.
    pub fn main() -> Interpret {
        Interpret {
            function: "main".to_owned(),
            arguments: None,
            steps: 1_000_000_000,
            memory: 256 << 20,
            depth: 20_000,
            trace_lines: 0,
            self_test: None,
            observe: None,
        }
    }
}

/// What the referee says of a module.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpretation {
    pub ruling: Ruling,
    /// What the program wrote until then.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Instructions that were executed.
    pub n_steps: u64,
    /// A branch or an access went by where objects lie in memory. Other places
    /// could give another result.
    pub depends_on_layout: bool,
    /// One line for each of the last instructions, if they were asked for.
    pub trace: String,
    /// The call that wrote the byte that was to be observed, with what it wrote,
    /// and each of its arguments, with its value and what computes it. Empty where
    /// none wrote it.
    pub observed: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// It ended, and did nothing undefined that the referee checks.
    Defined {
        end: ProgramEnd,
        /// What the function returned.
        value: Option<String>,
        /// The instruction that ended it.
        place: Option<IrPlace>,
    },
    Undefined {
        /// What is undefined, and where.
        end: Step,
        /// How poison or undef came there, the newest first.
        history: Vec<Step>,
    },
    /// The referee cannot say, and why.
    NoVerdict { end: Step },
}

/// Something that happened, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Empty where a value was only passed on.
    pub what: String,
    pub place: Option<IrPlace>,
}

/// An instruction of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IrPlace {
    /// Its text.
    pub instruction: String,
    pub function: String,
    /// Where the module has debug information.
    pub source: Option<SourcePlace>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePlace {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// The result of `optsleuth interpret`.
#[derive(Clone, Debug)]
pub struct InterpretReport {
    /// The version of LLVM.
    pub llvm: String,
    pub interpretation: Interpretation,
    /// CPU time of passes and interpreter.
    pub cpu: Duration,
}
