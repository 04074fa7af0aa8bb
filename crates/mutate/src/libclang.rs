//! A libclang that was loaded at run time, and programs read with it.
//!
//! **Invariant:** a [`Libclang`] can be used from any thread, and a [`Program`]
//! keeps nothing of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{MutateError, OLDEST};
use crate::program::Program;
use crate::sys::Sys;
use crate::view;

/// Deep nesting is walked by recursion; only what is used of it is real.
const STACK: usize = 256 << 20;

/// A loaded libclang.
#[derive(Clone)]
pub struct Libclang {
    sys: Arc<Sys>,
    path: PathBuf,
    major: u32,
}

impl std::fmt::Debug for Libclang {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Libclang").field("path", &self.path).field("major", &self.major).finish()
    }
}

impl Libclang {
    /// Loads a shared object.
    pub fn load(path: &Path) -> Result<Libclang, MutateError> {
        let path = path.to_owned();
        let sys = match Sys::load(&path) {
            Ok(sys) => Arc::new(sys),
            Err(source @ libloading::Error::DlSym { .. }) => {
                return Err(MutateError::Incomplete { path, source });
            }
            Err(source) => return Err(MutateError::Unloadable { path, source }),
        };
        let version = sys.version();
        match major(&version) {
            Some(major) if major >= OLDEST => Ok(Libclang { sys, path, major }),
            Some(_) | None => Err(MutateError::TooOld { path, version }),
        }
    }

    /// Where it was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `19`.
    pub fn major(&self) -> u32 {
        self.major
    }

    /// Reads preprocessed C; `flags` are those it is compiled with.
    pub fn parse(&self, text: &str, flags: &[String]) -> Result<Program, MutateError> {
        let flags = &reading_flags(flags);
        let work = || self.sys.read(text, flags).map(|tree| view::build(text, tree));
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, work)
                .map_err(MutateError::NoThread)?;
            match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

/// The flags without those that change the text: it is preprocessed, and they
/// have done their work.
fn reading_flags(flags: &[String]) -> Vec<String> {
    /// Their value may be the next word.
    const APART: [&str; 9] = [
        "-D",
        "-U",
        "-include",
        "-imacros",
        "-include-pch",
        "--define-macro",
        "--undefine-macro",
        "--include",
        "--imacros",
    ];
    const TOGETHER: [&str; 3] = ["-D", "-U", "-Wp,"];
    let mut kept = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let is_assigned =
            |name: &&str| flag.strip_prefix(*name).is_some_and(|value| value.starts_with('='));
        if flag == "-Xclang" {
            // The next word is not for us to read.
            kept.push(flag.clone());
            kept.extend(flags.next().cloned());
        } else if APART.contains(&flag.as_str()) {
            flags.next();
        } else if !APART.iter().any(is_assigned)
            && !TOGETHER.iter().any(|prefix| flag.starts_with(prefix))
        {
            kept.push(flag.clone());
        }
    }
    kept
}

/// The number in `Debian clang version 19.1.7 (3)`.
fn major(version: &str) -> Option<u32> {
    let number = version.split("version ").nth(1)?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_what_clang_says() {
        assert_eq!(major("Debian clang version 19.1.7 (3)"), Some(19));
        assert_eq!(major("clang version 23.0.0git"), Some(23));
        assert_eq!(major("something else"), None);
    }

    #[test]
    fn flags_that_change_the_text_are_left_out() {
        let check = |given: &str, kept: &str| {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(reading_flags(&words(given)), words(kept), "{given}");
        };
        check("-std=gnu89 -Iinclude -O2 -fwrapv", "-std=gnu89 -Iinclude -O2 -fwrapv");
        check("-DA -D B=1 -UC -U D -w", "-w");
        check("-include a.h -imacros b.h -m32", "-m32");
        check("--include=a.h --define-macro E --undefine-macro=F -w", "-w");
        check("-Wp,-DG -w -D", "-w");
        check("-Xclang -include -Xclang a.h", "-Xclang -include -Xclang a.h");
    }
}
