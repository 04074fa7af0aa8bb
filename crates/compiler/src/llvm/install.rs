//! Which LLVMs are on this machine, and what each of them has.
//!
//! Everything is asked of `llvm-config`; no path is guessed beyond where
//! distributions put that one program.

use std::path::{Path, PathBuf};

use crate::spawn::{Tool, ToolError, find_on_path, is_executable};

/// The oldest LLVM whose API the worker speaks.
pub const OLDEST: u32 = 14;
/// The newest one.
pub const NEWEST: u32 = 22;

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

/// Why there is no such LLVM.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// None found under this number.
    #[error("LLVM {0} is not installed")]
    Missing(u32),
    /// Found, but of a version the worker does not speak.
    #[error("LLVM {0} is not supported: the worker speaks {OLDEST} to {NEWEST}")]
    Unsupported(u32),
    /// No LLVM at all.
    #[error("no LLVM from {OLDEST} to {NEWEST} is installed")]
    None,
    /// `llvm-config` does not say what it should.
    #[error("`{}` does not answer as an llvm-config should: {what}", .path.display())]
    Odd {
        /// The program.
        path: PathBuf,
        /// What is odd.
        what: String,
    },
    /// It cannot be run.
    #[error(transparent)]
    Tool(#[from] ToolError),
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
    pub fn link_arguments(&self, components: &[&str]) -> Result<Vec<String>, ToolError> {
        let ask = |args: &[&str]| {
            Tool::new(&self.llvm_config).arg("--link-static").args(args).args(components).text()
        };
        let mut arguments: Vec<String> =
            ask(&["--libfiles"])?.split_whitespace().map(str::to_owned).collect();
        arguments.extend(ask(&["--system-libs"])?.split_whitespace().map(str::to_owned));
        Ok(arguments)
    }

    /// The flags to compile against its headers with.
    pub fn compile_flags(&self) -> Result<Vec<String>, ToolError> {
        let text = Tool::new(&self.llvm_config).arg("--cxxflags").text()?;
        Ok(text.split_whitespace().map(str::to_owned).collect())
    }
}

/// Asks one `llvm-config`.
pub fn from_llvm_config(path: &Path) -> Result<Install, InstallError> {
    let odd = |what: &str| InstallError::Odd { path: path.to_owned(), what: what.to_owned() };
    let ask = |arg: &str| Tool::new(path).arg(arg).text();
    let version = ask("--version")?;
    let major: u32 = version
        .split('.')
        .next()
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| odd(&format!("its version is `{version}`")))?;
    if !(OLDEST..=NEWEST).contains(&major) {
        return Err(InstallError::Unsupported(major));
    }
    let bin = PathBuf::from(ask("--bindir")?);
    let lib = PathBuf::from(ask("--libdir")?);
    let yes = |text: String| matches!(text.as_str(), "ON" | "YES");
    Ok(Install {
        llvm_config: path.to_owned(),
        major,
        bin,
        lib,
        assertions: yes(ask("--assertion-mode")?),
        rtti: yes(ask("--has-rtti")?),
        version,
    })
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
pub fn find(major: u32) -> Result<Install, InstallError> {
    if !(OLDEST..=NEWEST).contains(&major) {
        return Err(InstallError::Unsupported(major));
    }
    let place = candidates(major).into_iter().next().ok_or(InstallError::Missing(major))?;
    let install = from_llvm_config(&place)?;
    if install.major == major {
        Ok(install)
    } else {
        Err(InstallError::Odd { path: place, what: format!("it is LLVM {}", install.major) })
    }
}

/// Every LLVM the worker speaks, oldest first. One that does not answer is
/// reported as an error in its place.
pub fn discover() -> Vec<(u32, Result<Install, InstallError>)> {
    (OLDEST..=NEWEST)
        .filter(|&major| !candidates(major).is_empty())
        .map(|major| (major, find(major)))
        .collect()
}
