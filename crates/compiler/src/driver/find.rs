//! Which compilers are on this machine: a name or a path -> a [`Driver`].
//!
//! **Invariant:** a compiler is what it says of itself, whatever it is called;
//! and no number is believed without asking.

use std::path::{Path, PathBuf};

use optsleuth_model::{CompilerSpec, in_words};

use super::{Driver, Family};
use crate::CompilerError;
use crate::llvm;
use crate::spawn::{Tool, find_on_path, is_executable};

impl Driver {
    /// The compiler of this name: `gcc-12`, `clang-19`; the usual one as `gcc`,
    /// `clang`; or by its path.
    pub fn find(name: &str) -> Result<Driver, CompilerError> {
        if name.contains('/') {
            // A case may be read from anywhere.
            let path = std::path::absolute(name).unwrap_or_else(|_| PathBuf::from(name));
            if !is_executable(&path) {
                return Err(CompilerError::NotExecutable(path));
            }
            let driver = Driver::ask(&path)?;
            return Ok(Driver { name: path.display().to_string(), ..driver });
        }
        let (family, major) =
            named(name).ok_or_else(|| CompilerError::NotACompilerName(name.to_owned()))?;
        let place = match (find_on_path(name), major) {
            (Some(path), _) => Some(path),
            (None, Some(major)) => own_folder(family, major),
            // The newest one, where none is the usual one.
            (None, None) => return Driver::newest(family),
        };
        let Some(path) = place else { return Err(missing(family, name)) };
        let driver = Driver::ask(&path)?;
        if driver.family != family || major.is_some_and(|major| major != driver.major) {
            let found = format!("{} {}", driver.family, driver.version);
            return Err(CompilerError::Disguised { path, asked: name.to_owned(), found });
        }
        Ok(driver)
    }

    /// The newest one of a family.
    pub fn newest(family: Family) -> Result<Driver, CompilerError> {
        let of_family = |driver: &Driver| driver.family == family;
        let newest = Driver::installed().into_iter().rfind(of_family);
        newest.ok_or_else(|| missing(family, family.name()))
    }

    /// The compiler that a case is about; `None` if that is no driver.
    pub fn of_case(spec: &CompilerSpec) -> Option<Result<Driver, CompilerError>> {
        let (family, by) = match spec {
            CompilerSpec::Clang(by) => (Family::Clang, by),
            CompilerSpec::Gcc(by) => (Family::Gcc, by),
            CompilerSpec::Llvm(_) | CompilerSpec::LlvmConfig(_) => return None,
        };
        if !by.contains('/') {
            return Some(Driver::find(&format!("{family}-{by}")));
        }
        Some(Driver::find(by).and_then(|driver| match driver.family == family {
            true => Ok(driver),
            false => Err(CompilerError::Disguised {
                path: driver.path,
                asked: family.name().to_owned(),
                found: format!("{} {}", driver.family, driver.version),
            }),
        }))
    }

    /// All that can be called by a name, by family and version; each once.
    pub fn installed() -> Vec<Driver> {
        let mut found: Vec<Driver> =
            places().iter().filter_map(|path| Driver::ask(path).ok()).collect();
        let rank = |driver: &Driver| (driver.family, numbers(&driver.version));
        // Stable: of one version, the first on `PATH` stays.
        found.sort_by_key(rank);
        found.dedup_by(|a, b| rank(a) == rank(b));
        found
    }

    /// Asks a program who it is.
    fn ask(path: &Path) -> Result<Driver, CompilerError> {
        let said = match Tool::new(path).arg("--version").env("LC_ALL", "C").text() {
            Ok(said) => said,
            Err(CompilerError::ToolFailed { stderr, .. }) => stderr,
            Err(error) => {
                let said = format!("it cannot be asked: {}", in_words(&error));
                return Err(CompilerError::NotACompiler { path: path.to_owned(), said });
            }
        };
        let first = said.lines().next().unwrap_or("nothing").to_owned();
        let no_compiler =
            || CompilerError::NotACompiler { path: path.to_owned(), said: first.clone() };
        // Some systems call their clang gcc.
        let (family, version) = if let Some(version) = clang_version(&said) {
            (Family::Clang, version)
        } else if said.contains("Free Software Foundation") {
            // gcc's first line ends in whatever a distribution likes; other
            // programs of theirs do not know these options.
            let asked = Tool::new(path).args(["-dumpfullversion", "-dumpversion"]).text();
            (Family::Gcc, asked.map_err(|_| no_compiler())?)
        } else {
            return Err(no_compiler());
        };
        let &major = numbers(&version).first().ok_or_else(no_compiler)?;
        let (name, path) = (format!("{family}-{major}"), path.to_owned());
        Ok(Driver { name, family, version, major, path, said: first })
    }
}

/// `gcc-12` -> gcc, 12.
fn named(name: &str) -> Option<(Family, Option<u32>)> {
    Family::ALL.into_iter().find_map(|family| {
        let rest = name.strip_prefix(family.name())?;
        match rest.strip_prefix('-') {
            Some(number) => Some((family, Some(number.parse().ok()?))),
            None => rest.is_empty().then_some((family, None)),
        }
    })
}

/// `Debian clang version 19.1.7 (3~deb12u1)` -> `19.1.7`.
fn clang_version(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("clang version ")?;
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let version: String = rest.chars().take_while(|&c| is_part(c)).collect();
    Some(version).filter(|version| !version.is_empty())
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

/// Where an LLVM has its clang, if that is not on `PATH`.
fn own_folder(family: Family, major: u32) -> Option<PathBuf> {
    match family {
        Family::Clang => llvm::find(major).ok()?.tool("clang"),
        Family::Gcc => None,
    }
}

/// Every program that is called like a compiler, in the order of `PATH`.
fn places() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = Vec::new();
    for folder in std::env::split_paths(&path) {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .filter(|entry| entry.file_name().to_str().is_some_and(|name| named(name).is_some()))
            .map(|entry| entry.path())
            .filter(|file| is_executable(file))
            .collect();
        // With a number before without, because that is its name.
        files.sort_by(|a, b| b.cmp(a));
        places.append(&mut files);
    }
    let others = llvm::discover().into_iter().filter_map(|(_, found)| found.ok());
    places.extend(others.filter_map(|install| install.tool("clang")));
    places
}

fn missing(family: Family, name: &str) -> CompilerError {
    let installed = Driver::installed().into_iter().map(|driver| driver.name).collect();
    let package = match named(name) {
        Some((_, Some(_))) => name.to_owned(),
        Some((_, None)) | None => family.name().to_owned(),
    };
    CompilerError::NoDriver { name: name.to_owned(), package, installed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_compilers_are_taken() {
        assert_eq!(named("gcc-12"), Some((Family::Gcc, Some(12))));
        assert_eq!(named("clang"), Some((Family::Clang, None)));
        for other in ["gcc-ar-12", "gcc-", "clang++-19", "clang-format-15", "clangd", "cc", ""] {
            assert_eq!(named(other), None, "{other}");
        }
    }

    #[test]
    fn versions_are_read_from_what_distributions_print() {
        let check = |said, version: Option<&str>| {
            assert_eq!(clang_version(said), version.map(str::to_owned), "{said}");
        };
        check("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x", Some("19.1.7"));
        check("Ubuntu clang version 14.0.0-1ubuntu1.1", Some("14.0.0"));
        check("clang version 22.0.0git (https://x 0123)", Some("22.0.0"));
        check("Apple clang version 15.0.0 (clang-1500.3.9.4)", Some("15.0.0"));
        check("gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0", None);
        assert!(numbers("9.5.0") < numbers("12.2.0"), "as numbers, not as texts");
    }
}
