//! Where the newest libclang of the installed LLVMs is.
//!
//! **Invariant:** looks only; nothing is loaded here.

use std::path::{Path, PathBuf};

use crate::CompilerError;
use crate::llvm::{self, Install};

/// The shared object of the newest LLVM that has one; `oldest` is the oldest that
/// will do.
pub fn newest(oldest: u32) -> Result<PathBuf, CompilerError> {
    let installs = llvm::discover().into_iter().rev().filter_map(|(_, install)| install.ok());
    installs
        .filter(|install| install.major >= oldest)
        .find_map(|install| of(&install))
        .ok_or(CompilerError::NoLibclang { oldest })
}

/// The shared object of one LLVM, if it is there.
pub fn of(install: &Install) -> Option<PathBuf> {
    let mut names: Vec<String> = std::fs::read_dir(&install.lib)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_libclang(name, install.major))
        .collect();
    // `libclang-19.so.1` before `libclang.so`: what says its number is it.
    names.sort();
    names.iter().map(|name| Path::new(&install.lib).join(name)).find(|path| path.is_file())
}

fn is_libclang(name: &str, major: u32) -> bool {
    ["libclang.so".to_owned(), format!("libclang-{major}.so")].iter().any(|stem| {
        name.strip_prefix(stem.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_c_interface_of_that_llvm_is_taken() {
        for right in ["libclang.so", "libclang.so.1", "libclang-19.so.1", "libclang-19.so.19"] {
            assert!(is_libclang(right, 19), "{right}");
        }
        for wrong in ["libclang-cpp.so.19.1", "libclang-14.so.1", "libclang.a", "libclangAST.so"] {
            assert!(!is_libclang(wrong, 19), "{wrong}");
        }
    }
}
