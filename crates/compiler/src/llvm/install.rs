//! Which LLVMs are on this machine, and what each of them has.
//!
//! Everything is asked of `llvm-config`; no path is guessed beyond where
//! distributions put that one program.

use std::path::{Path, PathBuf};

use optsleuth_model::in_words;

use crate::CompilerError;
use crate::spawn::{Tool, find_on_path, is_executable};
use crate::versions::{NEWEST, OLDEST};

/// One LLVM installation or build tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Install {
    /// The program that describes it.
    pub llvm_config: PathBuf,
    /// `19.1.7`.
    pub version: String,
    /// `19`.
    pub major: u32,
    /// Where its tools are.
    pub bin: PathBuf,
    /// Where its archives are.
    pub lib: PathBuf,
    /// Whether it checks its assertions.
    pub assertions: bool,
    /// Whether it was built with run-time type information.
    pub rtti: bool,
}

impl Install {
    /// A tool of this LLVM, if it is there: `opt`, `clang`, `llc`. In its own
    /// folder, or on `PATH` with the version as suffix; by the latter name if
    /// both are the same file, because that is what people type.
    pub fn tool(&self, name: &str) -> Option<PathBuf> {
        let own = Some(self.bin.join(name)).filter(|file| is_executable(file));
        let on_path = find_on_path(&format!("{name}-{}", self.major));
        match (own, on_path) {
            (Some(own), Some(on_path)) => {
                let real = |file: &PathBuf| std::fs::canonicalize(file).ok();
                Some(if real(&own) == real(&on_path) { on_path } else { own })
            }
            (own, on_path) => own.or(on_path),
        }
    }

    /// The archives and flags to link these components with, in order.
    pub fn link_arguments(&self, components: &[&str]) -> Result<Vec<String>, CompilerError> {
        let ask = |args: &[&str]| {
            Tool::new(&self.llvm_config).arg("--link-static").args(args).args(components).text()
        };
        let mut arguments: Vec<String> =
            ask(&["--libfiles"])?.split_whitespace().map(str::to_owned).collect();
        arguments.extend(ask(&["--system-libs"])?.split_whitespace().map(str::to_owned));
        Ok(arguments)
    }

    /// The flags to compile against its headers with.
    pub fn compile_flags(&self) -> Result<Vec<String>, CompilerError> {
        let text = Tool::new(&self.llvm_config).arg("--cxxflags").text()?;
        Ok(text.split_whitespace().map(str::to_owned).collect())
    }
}

/// Asks one `llvm-config`.
pub fn from_llvm_config(path: &Path) -> Result<Install, CompilerError> {
    let odd =
        |what: &str| CompilerError::NotLlvmConfig { path: path.to_owned(), what: what.to_owned() };
    // All at once, a line each: a hunt looks for every LLVM many times.
    let questions = ["--version", "--bindir", "--libdir", "--assertion-mode", "--has-rtti"];
    let said = Tool::new(path).args(questions).text().map_err(|error| odd(&in_words(&error)))?;
    let mut answers = said.lines().map(str::to_owned);
    let version = answers.next().unwrap_or_default();
    let major: u32 = version
        .split('.')
        .next()
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| odd(&format!("its version is `{version}`")))?;
    if !(OLDEST..=NEWEST).contains(&major) {
        return Err(CompilerError::UnsupportedLlvm(major));
    }
    let mut answer = || answers.next().ok_or_else(|| odd("it does not answer all questions"));
    let (bin, lib) = (answer()?.into(), answer()?.into());
    let yes = |text: String| matches!(text.as_str(), "ON" | "YES");
    let (assertions, rtti) = (yes(answer()?), yes(answer()?));
    Ok(Install { llvm_config: path.to_owned(), version, major, bin, lib, assertions, rtti })
}

/// The places where an LLVM of this number may be.
fn candidates(major: u32) -> Vec<PathBuf> {
    let mut places = Vec::new();
    places.extend(find_on_path(&format!("llvm-config-{major}")));
    let own = PathBuf::from(format!("/usr/lib/llvm-{major}/bin/llvm-config"));
    if is_executable(&own) {
        places.push(own);
    }
    places
}

/// The LLVM of this number.
pub fn find(major: u32) -> Result<Install, CompilerError> {
    if !(OLDEST..=NEWEST).contains(&major) {
        return Err(CompilerError::UnsupportedLlvm(major));
    }
    let place = candidates(major).into_iter().next().ok_or(CompilerError::NoLlvm(major))?;
    let install = from_llvm_config(&place)?;
    if install.major == major {
        Ok(install)
    } else {
        Err(CompilerError::NotLlvmConfig {
            path: place,
            what: format!("it is LLVM {}", install.major),
        })
    }
}

/// The LLVMs that are here and answer, oldest first.
pub fn installed() -> Vec<Install> {
    discover().into_iter().filter_map(|(_, found)| found.ok()).collect()
}

/// Every LLVM the worker speaks, oldest first. One that does not answer is
/// reported as an error in its place.
pub fn discover() -> Vec<(u32, Result<Install, CompilerError>)> {
    (OLDEST..=NEWEST)
        .filter(|&major| !candidates(major).is_empty())
        .map(|major| (major, find(major)))
        .collect()
}
