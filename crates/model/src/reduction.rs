//! What a reduction made of a case. Plain data; its JSON form is `reduce.json`
//! in the case's folder, which `optsleuth reduce` prints and goes on from.

use serde::{Deserialize, Serialize};

/// The number in `version`; goes up when a field changes its meaning.
pub const REDUCTION_VERSION: u32 = 1;

/// A case before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reduction {
    /// [`REDUCTION_VERSION`].
    pub version: u32,
    /// The case's `id`.
    pub case: String,
    /// `19.1.7`; the compiler's own version where that is a driver.
    pub llvm: String,
    /// How it fails, in a line.
    pub what: String,
    pub sequence: SequenceReduction,
    pub program: ProgramReduction,
    /// What was used, in the order of its first use.
    pub tools: Vec<String>,
    /// Runs of the compiler and of programs, those of earlier attempts included.
    pub runs: usize,
    /// The same for time.
    pub seconds: f64,
    /// How the last attempt ended.
    pub end: ReductionEnd,
    /// What a person should know about the result.
    pub notes: Vec<String>,
}

/// A pass sequence before and after; for a driver, its level, and no passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceReduction {
    /// As the case had it.
    pub before: String,
    /// As it has it now.
    pub after: String,
    /// How many passes the case's pipeline is made of.
    pub n_before: usize,
    /// How many there are now.
    pub n_after: usize,
    /// Whether none of them can go.
    pub finished: bool,
}

/// A program before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramReduction {
    /// The file that the case was about.
    pub input_before: String,
    /// The file that it is about now.
    pub input_after: String,
    pub before: ProgramSize,
    pub after: ProgramSize,
    /// Whether nothing more of it can go, as far as the tools know.
    pub finished: bool,
}

/// How large a program is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramSize {
    /// Its file.
    pub bytes: usize,
    /// Its file; for bitcode, its text.
    pub lines: usize,
    /// Of its unoptimized IR; 0 where a driver compiles it.
    pub instructions: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReductionEnd {
    /// Nothing more can be taken away.
    Finished,
    /// It goes on, or was killed.
    Unfinished,
    /// The time was up.
    Budget,
    /// Ctrl-C.
    Interrupted,
}

impl ProgramSize {
    /// Of a file with this content, whose unoptimized IR is this text.
    pub fn of(file: &[u8], ir: &str) -> ProgramSize {
        let is_text = std::str::from_utf8(file).is_ok_and(|text| !text.contains('\0'));
        let lines = match is_text {
            true => String::from_utf8_lossy(file).lines().count(),
            false => ir.lines().count(),
        };
        ProgramSize { bytes: file.len(), lines, instructions: n_instructions(ir) }
    }
}

/// Instructions in a module's text. A switch is one, however many lines its
/// cases take.
fn n_instructions(ir: &str) -> usize {
    let mut in_function = false;
    let mut in_switch = false;
    let mut count = 0;
    for line in ir.lines() {
        match line.trim() {
            "}" if line == "}" => in_function = false,
            "]" => in_switch = false,
            text if line.starts_with("define ") => in_function = text.ends_with('{'),
            text if in_function
                && !in_switch
                && line.starts_with(' ')
                && !text.starts_with(';') =>
            {
                count += 1;
                in_switch = text.ends_with('[');
            }
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_counted_and_nothing_else_is() {
        let ir = "@g = global i32 0\n\ndefine i32 @f(i32 %x) {\nentry:\n  ; a comment\n  switch i32 %x, label %a [\n    i32 1, label %a\n    i32 2, label %b\n  ]\n\na:                ; preds = %entry\n  ret i32 1\nb:\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n\ndeclare void @g()\n";
        assert_eq!(n_instructions(ir), 4);
        let size = ProgramSize::of(ir.as_bytes(), ir);
        assert_eq!((size.bytes, size.lines), (ir.len(), 18));
        assert_eq!(ProgramSize::of(b"BC\0\x01", ir).lines, 18);
    }
}
