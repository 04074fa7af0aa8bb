//! C and C++ programs under clang's own checks: warnings that speak of undefined
//! behaviour, and sanitizers.
//!
//! Commands and compiled programs only; who executes them fences them in. What a
//! sanitizer wrote is read by `report.rs`.

mod report;

use std::path::{Path, PathBuf};

use optsleuth_model::is_cxx;

use crate::CompilerError;
use crate::clang::clang;
use crate::csmith;
use crate::llvm::{self, Install};
use crate::spawn::{Tool, ToolEnd};
pub use report::{Report, is_finding, read_report};

/// Warnings about programs whose behaviour is hardly defined.
pub const TELLING_WARNINGS: [&str; 18] = [
    "array-bounds",
    "conditional-uninitialized",
    "deprecated-non-prototype",
    "division-by-zero",
    "format",
    "format-insufficient-args",
    "implicit-function-declaration",
    "implicit-int",
    "incompatible-pointer-types",
    "int-conversion",
    "main-return-type",
    "return-stack-address",
    "return-type",
    "shift-count-negative",
    "shift-count-overflow",
    "sometimes-uninitialized",
    "uninitialized",
    "unsequenced",
];

/// What a program is compiled with to be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// Most of what the C standard leaves undefined. Needs no library.
    Undefined,
    /// Accesses to memory that is not there.
    Address,
    /// Memory that was never written.
    Memory,
    /// Memory that is accessed as another type than it has. Since clang 20.
    Type,
    /// The first two at once, for half the time.
    UndefinedAndAddress,
}

/// What a watched program does where something is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It ends, as soon as can be.
    Quick,
    /// It ends, and its stderr names the place.
    Reporting,
}

impl Sanitizer {
    /// Each by itself, the cheapest first; those of addresses, memory and types
    /// exclude each other in one program.
    pub const ALL: [Sanitizer; 4] =
        [Sanitizer::Undefined, Sanitizer::Address, Sanitizer::Memory, Sanitizer::Type];

    /// As reports name it, which is not what `-fsanitize=` takes.
    pub fn name(self) -> &'static str {
        match self {
            Sanitizer::Undefined => "undefined-behaviour sanitizer",
            Sanitizer::Address => "address sanitizer",
            Sanitizer::Memory => "memory sanitizer",
            Sanitizer::Type => "type sanitizer",
            Sanitizer::UndefinedAndAddress => "undefined-behaviour or address sanitizer",
        }
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            Sanitizer::Undefined => &["-fsanitize=undefined"],
            Sanitizer::Address => &["-fsanitize=address"],
            Sanitizer::Memory => &["-fsanitize=memory"],
            Sanitizer::Type => &["-fsanitize=type"],
            Sanitizer::UndefinedAndAddress => &["-fsanitize=undefined,address"],
        }
    }

    fn flags_of(self, form: Form) -> &'static [&'static str] {
        match (form, self) {
            (Form::Quick, Sanitizer::Undefined | Sanitizer::UndefinedAndAddress) => {
                &["-fsanitize-trap=undefined"]
            }
            (Form::Quick, Sanitizer::Address | Sanitizer::Memory | Sanitizer::Type) => &[],
            (Form::Reporting, _) => &["-gline-tables-only"],
        }
    }
}

/// Leaks are no undefined behaviour, and looking for them needs rights that a
/// fenced program does not have. Nor may it set limits, even that of core dumps, or
/// start a symbolizer. An allocation that fails is defined to return null.
const OPTIONS: &str = "\
const char *__asan_default_options(void) { return \"detect_leaks=0:disable_coredump=0:symbolize=0:allocator_may_return_null=1:detect_stack_use_after_return=1\"; }
const char *__msan_default_options(void) { return \"disable_coredump=0:symbolize=0:allocator_may_return_null=1\"; }
const char *__tysan_default_options(void) { return \"disable_coredump=0:symbolize=0:halt_on_error=1\"; }
const char *__ubsan_default_options(void) { return \"disable_coredump=0:symbolize=0\"; }
";

/// What sanitizers of addresses and of memory are linked with, where it is here.
pub fn library(install: &Install) -> Option<PathBuf> {
    let asked = format!("-print-file-name={LIBRARY}");
    let said = Tool::new(install.tool("clang")?).arg(asked).text().ok()?;
    // What clang does not find, it says back.
    Some(PathBuf::from(said)).filter(|path| path.is_absolute() && path.is_file())
}

/// The package that has it.
pub fn package(major: u32) -> String {
    format!("libclang-rt-{major}-dev")
}

const LIBRARY: &str = "libclang_rt.asan-x86_64.a";

/// Which of these warnings clang has about a program.
pub fn warnings(
    install: &Install,
    source: &Path,
    flags: &[String],
    names: &[&'static str],
) -> Result<Vec<&'static str>, CompilerError> {
    let output = clang(install)?
        .args(["-fsyntax-only", "-Wno-everything", "-Wno-unknown-warning-option"])
        .args(names.iter().map(|name| format!("-W{name}")))
        .args(include_flags(source))
        .args(flags)
        .arg(source)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_said = |name: &&&str| said.contains(&format!("[-W{name}]"));
    Ok(names.iter().filter(is_said).copied().collect())
}

/// Makes a watched program file of a C program; `false` where that cannot be
/// done, as without the sanitizer's library. `link_words` are the user's for the linker.
pub fn compile(
    install: &Install,
    source: &Path,
    flags: &[String],
    link_words: &[String],
    (sanitizer, form): (Sanitizer, Form),
    program: &Path,
) -> Result<bool, CompilerError> {
    let includes = include_flags(source);
    // One text of both: a second run of the compiler would cost as much again.
    let is_cxx = is_cxx(source);
    let whole = program.with_extension(if is_cxx { "whole.cpp" } else { "whole.c" });
    let (before, after) = if is_cxx { ("extern \"C\" {\n", "}\n") } else { ("", "") };
    let text = format!("#include \"{}\"\n{before}{OPTIONS}{after}", source.display());
    let source = match (sanitizer, form) {
        // Traps need no library, and so no options for one.
        (Sanitizer::Undefined, Form::Quick) => source,
        _ => {
            fs_err::write(&whole, text)?;
            &whole
        }
    };
    let lld = llvm::lld(install).map(|lld| format!("--ld-path={}", lld.display()));
    let output = clang(install)?
        .args(is_cxx.then_some("--driver-mode=g++"))
        .args(["-O0", "-w", "-fno-sanitize-recover=all"])
        .args(sanitizer.flags())
        .args(sanitizer.flags_of(form))
        .args(lld)
        .args(includes)
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(program)
        .args(link_words)
        .args(["-lm", "-lpthread"])
        .output()?;
    Ok(output.end == ToolEnd::Exited(0))
}

fn include_flags(source: &Path) -> Vec<String> {
    csmith::include_flags(&std::fs::read(source).unwrap_or_default())
}
