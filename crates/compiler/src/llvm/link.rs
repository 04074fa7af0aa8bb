//! Object -> program file, with the system's linker.

use std::path::{Path, PathBuf};

use super::install::Install;
use crate::CompilerError;
use crate::spawn::{Tool, find_on_path};

/// The driver that links: this LLVM's clang, or any C compiler.
pub fn linker(install: &Install) -> PathBuf {
    install
        .tool("clang")
        .or_else(|| ["cc", "gcc", "clang"].into_iter().find_map(find_on_path))
        .unwrap_or_else(|| PathBuf::from("cc"))
}

/// The command that makes a program of an object. `code` is what the object holds, or
/// the IR it is made of: it says by its names whether it needs C++'s library. `more` is
/// what the user links with it.
pub fn link_command(
    install: &Install,
    code: &[u8],
    object: &Path,
    program: &Path,
    more: &[String],
) -> Tool {
    Tool::new(linker(install))
        .arg(object)
        .args(more)
        .arg("-o")
        .arg(program)
        .args(cxx_library(code))
        .args(["-lm", "-lpthread"])
}

/// Links one object with libc, libm and libpthread, and C++'s library where needed.
pub fn link_program(
    install: &Install,
    code: &[u8],
    object: &Path,
    program: &Path,
    more: &[String],
) -> Result<(), CompilerError> {
    link_command(install, code, object, program, more).check().map(|_| ())
}

/// Names that only C++ makes: of members, of its library, of `new`, and of its run time.
const OF_CXX: [&[u8]; 6] = [b"_ZN", b"_ZS", b"_Zn", b"_Zd", b"__gxx_personality", b"__cxa_"];
/// What LLVM's own library calls `std`.
const OF_LIBCXX: &[u8] = b"NSt3__1";

/// C++'s library, where code has names of C++. One that is linked in vain does nothing.
fn cxx_library(code: &[u8]) -> &'static [&'static str] {
    let has = |name: &[u8]| memchr::memmem::find(code, name).is_some();
    match (has(OF_LIBCXX), OF_CXX.into_iter().any(has)) {
        (true, _) => &["-lc++", "-lc++abi"],
        (false, true) => &["-lstdc++"],
        (false, false) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_says_by_its_names_whether_it_is_cxx() {
        let check = |code: &str, expected: &[&str]| {
            assert_eq!(cxx_library(code.as_bytes()), expected, "{code}");
        };
        check("declare i32 @printf(ptr, ...)", &[]);
        check("declare ptr @_Znwm(i64)", &["-lstdc++"]);
        check("personality ptr @__gxx_personality_v0", &["-lstdc++"]);
        check("@_ZNSt3__14coutE = external global i8", &["-lc++", "-lc++abi"]);
    }
}
