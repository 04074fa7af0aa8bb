//! C -> LLVM IR, with the clang of the LLVM under test.

use std::path::{Path, PathBuf};

use optsleuth_model::{Language, Program};

use crate::csmith;
use crate::llvm::Install;
use crate::spawn::{Tool, ToolError};
use crate::workdir::Workdir;

/// Why a file is not a program.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It cannot be read.
    #[error("cannot read `{}`", .path.display())]
    Unreadable {
        /// The program's file.
        path: PathBuf,
        /// From the file system.
        source: std::io::Error,
    },
    /// Its name ends neither in `.c` nor in `.ll` nor in `.bc`.
    #[error("`{}` is neither C (.c, .i) nor LLVM IR (.ll, .bc)", .0.display())]
    UnknownLanguage(PathBuf),
    /// There is no clang to compile C with.
    #[error("LLVM {0} has no clang to compile C with")]
    NoClang(u32),
    /// It does not compile.
    #[error("`{}` does not compile", .path.display())]
    DoesNotCompile {
        /// The program's file.
        path: PathBuf,
        /// What clang says.
        source: ToolError,
    },
    /// There is no place for the result.
    #[error("cannot make a temporary directory")]
    NoRoom(#[source] std::io::Error),
}

/// Unoptimized IR that passes may optimize: plain `-O0` marks every function
/// `optnone`, and passes would leave it alone.
pub(crate) const UNOPTIMIZED: [&str; 3] = ["-O0", "-Xclang", "-disable-O0-optnone"];

/// The command that compiles C to LLVM assembly. `text` is what the source
/// holds; `flags` are the user's (`-I`, `-D`); csmith's headers are found
/// without them.
pub fn to_ir_command(
    install: &Install,
    source: &Path,
    text: &[u8],
    flags: &[String],
    output: &Path,
) -> Result<Tool, ProgramError> {
    let clang = install.tool("clang").ok_or(ProgramError::NoClang(install.major))?;
    Ok(Tool::new(clang)
        .args(UNOPTIMIZED)
        .args(["-S", "-emit-llvm", "-w"])
        .args(csmith::include_flags(text))
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(output))
}

/// What becomes of the lines that say where a preprocessed text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markers {
    /// The lines stay as the preprocessor wrote them.
    Kept,
    /// They go, and empty lines with them.
    Dropped,
}

/// Writes a C program that includes nothing and does the same, and gives its
/// text. `flags` are the user's.
pub fn preprocess(
    install: &Install,
    source: &Path,
    flags: &[String],
    markers: Markers,
    output: &Path,
) -> Result<String, ProgramError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| ProgramError::Unreadable { path, source }
    };
    let text = std::fs::read(source).map_err(unreadable(source))?;
    let clang = install.tool("clang").ok_or(ProgramError::NoClang(install.major))?;
    Tool::new(clang)
        .args(["-E", "-w"])
        .args((markers == Markers::Dropped).then_some("-P"))
        .args(csmith::include_flags(&text))
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(output)
        .check()
        .map_err(|error| ProgramError::DoesNotCompile { path: source.to_owned(), source: error })?;
    std::fs::read_to_string(output).map_err(unreadable(output))
}

/// Reads a program: IR as it is, C compiled once.
pub fn read_program(
    install: &Install,
    path: &Path,
    flags: &[String],
) -> Result<Program, ProgramError> {
    let unreadable = |source| ProgramError::Unreadable { path: path.to_owned(), source };
    let text = std::fs::read(path).map_err(unreadable)?;
    let language =
        Language::of_path(path).ok_or_else(|| ProgramError::UnknownLanguage(path.to_owned()))?;
    let ir = match language {
        Language::IrText | Language::Bitcode => text,
        Language::C => {
            let folder = Workdir::new().map_err(ProgramError::NoRoom)?;
            let output = folder.file("program.ll");
            to_ir_command(install, path, &text, flags, &output)?
                .check()
                .map_err(|source| ProgramError::DoesNotCompile { path: path.to_owned(), source })?;
            std::fs::read(&output).map_err(unreadable)?
        }
    };
    let name = match language {
        Language::C => path.with_extension("ll"),
        Language::IrText | Language::Bitcode => path.to_owned(),
    };
    Ok(Program { name: name.display().to_string(), ir })
}
