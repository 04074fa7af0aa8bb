//! A program under test: bytes and the language they are in.

use std::fmt;
use std::path::Path;

/// What a program is written in, told by its file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C source, `.c`.
    C,
    /// C++ source, `.cpp` and its other endings.
    Cxx,
    /// LLVM assembly, `.ll`.
    IrText,
    /// LLVM bitcode, `.bc`.
    Bitcode,
}

impl Language {
    /// The language of a file, or `None` for a name that says nothing.
    pub fn of_path(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "c" | "i" => Some(Language::C),
            "cc" | "cpp" | "cxx" | "C" | "ii" => Some(Language::Cxx),
            "ll" => Some(Language::IrText),
            "bc" => Some(Language::Bitcode),
            _ => None,
        }
    }

    /// Whether clang's front end makes IR of it.
    pub fn is_source(self) -> bool {
        match self {
            Language::C | Language::Cxx => true,
            Language::IrText | Language::Bitcode => false,
        }
    }
}

/// Whether a file is in C++, by its name.
pub fn is_cxx(path: &Path) -> bool {
    Language::of_path(path) == Some(Language::Cxx)
}

/// Whether clang's front end makes IR of a file, by its name.
pub fn is_source(path: &Path) -> bool {
    Language::of_path(path).is_some_and(Language::is_source)
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Language::C => "C",
            Language::Cxx => "C++",
            Language::IrText => "LLVM assembly",
            Language::Bitcode => "LLVM bitcode",
        })
    }
}

/// A module ready to be loaded by a worker.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    /// The module's name as LLVM prints it in the `ModuleID` line.
    pub name: String,
    /// LLVM assembly or bitcode.
    pub ir: Vec<u8>,
}

/// A module's text without the names of the files it comes from: they are of one
/// machine, and LLVM does without.
pub fn nameless(module: &str) -> String {
    let says_where =
        |line: &&str| line.starts_with("; ModuleID") || line.starts_with("source_filename");
    module.lines().filter(|line| !says_where(line)).map(|line| format!("{line}\n")).collect()
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({}, {} bytes)", self.name, self.ir.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_loses_the_names_of_its_files_alone() {
        let module = "; ModuleID = '/home/me/x.ll'\nsource_filename = \"x.c\"\n@g = global i8 0\n";
        assert_eq!(nameless(module), "@g = global i8 0\n");
    }
}
