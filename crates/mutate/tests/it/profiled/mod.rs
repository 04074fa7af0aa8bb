//! Compiles and runs programs, and profiles them.

use std::time::Duration;

use optsleuth_compiler::llvm;
use optsleuth_compiler::spawn::{Tool, ToolOutput, find_on_path};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_mutate::Program;
use optsleuth_mutate::emi::Profile;
use rand_chacha::ChaCha8Rng;

/// A compiler and its flags.
#[derive(Clone, Copy, Debug)]
pub enum Compiler {
    Clang,
    Gcc,
    /// gcc with what tells of undefined behaviour.
    Watched,
}

/// What a text does.
pub fn run(text: &str, compiler: Compiler) -> ToolOutput {
    let folder = Workdir::new().unwrap();
    let (source, program) = (folder.file("p.c"), folder.file("p"));
    std::fs::write(&source, text).unwrap();
    // What glibc's headers declare for clang are words of gcc's language.
    let words =
        ["32", "64", "32x", "64x", "128"].map(|bits| format!("-D_Float{bits}=clangs_{bits}"));
    let gcc = || Tool::new(find_on_path("gcc").unwrap()).args(&words);
    let tool = match compiler {
        Compiler::Clang => Tool::new(llvm::find(19).unwrap().tool("clang").unwrap()),
        Compiler::Gcc => gcc(),
        Compiler::Watched => {
            gcc().args(["-fsanitize=undefined,address", "-fno-sanitize-recover=all"])
        }
    };
    let compiled = tool.args(["-w", "-O0"]).arg(&source).arg("-o").arg(&program).check();
    compiled.unwrap_or_else(|error| panic!("{error}\n{text}"));
    // The address sanitizer maps more than any machine has.
    Tool::new(program).time(Duration::from_secs(20)).memory(u64::MAX).output().unwrap()
}

/// What two compilers agree on.
pub fn profile(program: &Program, probability: f64, rng: &mut ChaCha8Rng) -> Profile {
    let instrumented = program.instrument(probability, rng);
    let of = |compiler| instrumented.profile(&run(&instrumented.text, compiler).stderr).unwrap();
    of(Compiler::Clang).agreed(&of(Compiler::Gcc))
}
