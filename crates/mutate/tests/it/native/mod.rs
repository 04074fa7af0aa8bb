//! Compiles C with the compilers of this machine and runs it.

use std::path::{Path, PathBuf};

use optsleuth_compiler::llvm;
use optsleuth_compiler::spawn::{Tool, find_on_path};

/// One of those that have to agree.
#[derive(Clone, Debug)]
pub enum Compiler {
    Gcc(PathBuf),
    Clang(PathBuf),
}

impl Compiler {
    pub fn all() -> [Compiler; 2] {
        [
            Compiler::Gcc(find_on_path("gcc").unwrap()),
            Compiler::Clang(llvm::find(19).unwrap().tool("clang").unwrap()),
        ]
    }

    /// The flags with which undefined behaviour ends in a signal.
    pub fn trapping(&self) -> &'static [&'static str] {
        match self {
            Compiler::Gcc(_) => {
                &["-O0", "-DTRAPS", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
            }
            Compiler::Clang(_) => {
                &["-O0", "-DTRAPS", "-fsanitize=undefined", "-fsanitize-trap=undefined"]
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Compiler::Gcc(path) | Compiler::Clang(path) => path,
        }
    }
}

/// A folder that goes with its value.
pub struct Workplace(tempfile::TempDir);

impl Workplace {
    pub fn new() -> Workplace {
        Workplace(tempfile::tempdir().unwrap())
    }

    /// A program file of a text.
    pub fn compile(&self, compiler: &Compiler, source: &str, flags: &[&str]) -> PathBuf {
        let (file, program) = (self.0.path().join("a.c"), self.0.path().join("a.out"));
        std::fs::write(&file, source).unwrap();
        let tool = Tool::new(compiler.path()).args(flags).arg(&file);
        tool.arg("-o").arg(&program).check().unwrap();
        program
    }

    /// What a program writes; it gets a file with some bytes.
    pub fn run(&self, program: &Path, input: &[u8]) -> String {
        let file = self.0.path().join("input");
        std::fs::write(&file, input).unwrap();
        Tool::new(program).arg(&file).text().unwrap()
    }
}
