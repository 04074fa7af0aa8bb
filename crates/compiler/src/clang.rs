//! C -> LLVM IR, with the clang of the LLVM under test.

use std::path::Path;

use optsleuth_model::{Language, Program};

use crate::CompilerError;
use crate::csmith;
use crate::llvm::Install;
use crate::spawn::Tool;
use crate::workdir::Workdir;

/// Unoptimized IR that passes may optimize: plain `-O0` marks every function
/// `optnone`, and passes would leave it alone.
const UNOPTIMIZED: [&str; 3] = ["-O0", "-Xclang", "-disable-O0-optnone"];

/// What clang is told about optimization beside these flags: nothing where they
/// name a level.
pub(crate) fn unless_a_level(flags: &[String]) -> &'static [&'static str] {
    let is_level = |flag: &String| flag.starts_with("-O") && flag != "-O0";
    if flags.iter().any(is_level) { &[] } else { &UNOPTIMIZED }
}

/// This LLVM's clang, without arguments.
pub(crate) fn clang(install: &Install) -> Result<Tool, CompilerError> {
    let clang = install.tool("clang").ok_or(CompilerError::NoClang(install.major))?;
    Ok(Tool::new(clang))
}

/// clang's complaint about a program, against a clang that does not start.
fn refused(program: &Path, error: CompilerError) -> CompilerError {
    match error {
        CompilerError::ToolFailed { .. } => {
            CompilerError::DoesNotCompile { path: program.to_owned(), source: Box::new(error) }
        }
        other => other,
    }
}

/// The command that compiles C to LLVM assembly. `text` is what the source
/// holds; `flags` are the user's (`-I`, `-D`), and the front end's level unless
/// that is `-O0`; csmith's headers are found without them.
pub fn to_ir_command(
    install: &Install,
    source: &Path,
    text: &[u8],
    flags: &[String],
    output: &Path,
) -> Result<Tool, CompilerError> {
    Ok(clang(install)?
        .args(unless_a_level(flags))
        .args(["-S", "-emit-llvm", "-w"])
        .args(csmith::include_flags(text))
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(output))
}

/// The object that clang itself makes of a C program under these flags. It is told to
/// leave out the table of symbols whose address matters, which only its driver adds,
/// and which is no code.
pub fn object(
    install: &Install,
    source: &Path,
    flags: &[String],
) -> Result<Vec<u8>, CompilerError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| CompilerError::UnreadableProgram { path, source }
    };
    let text = std::fs::read(source).map_err(unreadable(source))?;
    let folder = Workdir::new()?;
    let output = folder.file("program.o");
    clang(install)?
        .args(flags)
        .args(["-c", "-w", "-fno-addrsig"])
        .args(csmith::include_flags(&text))
        .arg(source)
        .arg("-o")
        .arg(&output)
        .check()
        .map_err(|error| refused(source, error))?;
    std::fs::read(&output).map_err(unreadable(&output))
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
) -> Result<String, CompilerError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| CompilerError::UnreadableProgram { path, source }
    };
    let text = std::fs::read(source).map_err(unreadable(source))?;
    clang(install)?
        .args(["-E", "-w"])
        .args((markers == Markers::Dropped).then_some("-P"))
        .args(csmith::include_flags(&text))
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(output)
        .check()
        .map_err(|error| refused(source, error))?;
    std::fs::read_to_string(output).map_err(unreadable(output))
}

/// Reads a program: IR as it is, C compiled once.
pub fn read_program(
    install: &Install,
    path: &Path,
    flags: &[String],
) -> Result<Program, CompilerError> {
    let unreadable = |source| CompilerError::UnreadableProgram { path: path.to_owned(), source };
    let text = std::fs::read(path).map_err(unreadable)?;
    let language =
        Language::of_path(path).ok_or_else(|| CompilerError::UnknownLanguage(path.to_owned()))?;
    let ir = match language {
        Language::IrText | Language::Bitcode => text,
        Language::C | Language::Cxx => {
            let folder = Workdir::new()?;
            let output = folder.file("program.ll");
            to_ir_command(install, path, &text, flags, &output)?
                .check()
                .map_err(|error| refused(path, error))?;
            std::fs::read(&output).map_err(unreadable)?
        }
    };
    let name = match language {
        Language::C | Language::Cxx => path.with_extension("ll"),
        Language::IrText | Language::Bitcode => path.to_owned(),
    };
    Ok(Program { name: name.display().to_string(), ir })
}
