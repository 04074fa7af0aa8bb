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

/// The command that makes a program of an object.
pub fn link_command(install: &Install, object: &Path, program: &Path) -> Tool {
    Tool::new(linker(install)).arg(object).arg("-o").arg(program).args(["-lm", "-lpthread"])
}

/// Links one object with libc, libm and libpthread.
pub fn link_program(install: &Install, object: &Path, program: &Path) -> Result<(), CompilerError> {
    link_command(install, object, program).check().map(|_| ())
}
