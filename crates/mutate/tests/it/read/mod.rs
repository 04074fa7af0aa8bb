//! Reads programs with the newest libclang of this machine.

use std::sync::OnceLock;

use optsleuth_mutate::{Libclang, Program};

/// Loaded once.
pub fn libclang() -> &'static Libclang {
    static LIBCLANG: OnceLock<Libclang> = OnceLock::new();
    LIBCLANG.get_or_init(|| {
        let path = optsleuth_compiler::libclang::newest(optsleuth_mutate::OLDEST).unwrap();
        Libclang::load(&path).unwrap()
    })
}

/// Reads a program that is one.
pub fn read(source: &str) -> Program {
    libclang().parse(source, &[]).unwrap()
}
