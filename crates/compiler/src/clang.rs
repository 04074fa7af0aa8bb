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

/// Flags of the preprocessor with a value in the next word; most take it in their own
/// word as well.
const OF_PREPROCESSOR: [&str; 8] =
    ["-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-I", "-D", "-U"];

/// Whether a flag says where files to include are, or what macros are.
pub fn is_of_preprocessor(flag: &str) -> bool {
    OF_PREPROCESSOR.iter().any(|known| flag.starts_with(known))
}

/// The flags that still say something when a text is preprocessed.
pub fn after_preprocessing(flags: &[String]) -> Vec<String> {
    let mut flags = flags.iter();
    let mut left = Vec::new();
    while let Some(flag) = flags.next() {
        if OF_PREPROCESSOR.contains(&flag.as_str()) {
            flags.next();
        } else if !is_of_preprocessor(flag) {
            left.push(flag.clone());
        }
    }
    left
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preprocessed_text_needs_no_flags_of_the_preprocessor() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let flags = words("-std=c11 -I a -DX=1 -Ib -include h.h -mavx2 -isystem c -U X -w");
        assert_eq!(after_preprocessing(&flags), words("-std=c11 -mavx2 -w"));
    }
}
