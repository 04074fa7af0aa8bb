//! The worker's source, carried inside the binary.

/// A file of the worker's source: its name and its text.
pub(crate) struct Source {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(Source { name: $name, text: include_str!(concat!("../../../../worker/", $name)) }),*]
    };
}

/// Every file, headers first.
pub(crate) const SOURCES: &[Source] = sources![
    "authors.h",
    "clock.h",
    "codegen.h",
    "compat.h",
    "coverage.h",
    "crash.h",
    "detour.h",
    "edit.h",
    "edit_items.h",
    "filter.h",
    "folder.h",
    "frontend.h",
    "guard.h",
    "llvm_side.h",
    "machine_passes.h",
    "memory.h",
    "output.h",
    "pages.h",
    "payload.h",
    "processes.h",
    "protocol.h",
    "referee/arithmetic.h",
    "referee/body.h",
    "referee/compiler.h",
    "referee/floats.h",
    "referee/judge.h",
    "referee/library.h",
    "referee/machine.h",
    "referee/memory.h",
    "referee/referee.h",
    "referee/value.h",
    "sandbox.h",
    "session.h",
    "shape.h",
    "supervise.h",
    "wire.h",
    // The slow ones first, so that two compilers end at about the same time.
    "referee/access.cpp",
    "referee/arithmetic.cpp",
    "referee/calls.cpp",
    "referee/compile.cpp",
    "referee/evaluate.cpp",
    "referee/execute.cpp",
    "referee/floats.cpp",
    "referee/format.cpp",
    "referee/globals.cpp",
    "referee/intrinsics.cpp",
    "referee/invariants.cpp",
    "referee/judge.cpp",
    "referee/library.cpp",
    "referee/memory.cpp",
    "referee/pointers.cpp",
    "referee/referee.cpp",
    "referee/self_test.cpp",
    "referee/value.cpp",
    "pipeline.cpp",
    "session.cpp",
    "codegen.cpp",
    "machine_passes.cpp",
    "edit.cpp",
    "edit_instructions.cpp",
    "edit_structure.cpp",
    "guard.cpp",
    "authors.cpp",
    "shape.cpp",
    "folder.cpp",
    "processes.cpp",
    "sandbox.cpp",
    "supervise.cpp",
    "output.cpp",
    "coverage.cpp",
    "memory.cpp",
    "pages.cpp",
    "crash.cpp",
    "detour.cpp",
    "wire.cpp",
    "main.cpp",
];

/// What a front-end server has on top: no other worker changes with it.
pub(crate) const FRONT_END: &[Source] = sources!["frontend.cpp"];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn no_file_of_the_worker_is_forgotten() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worker");
        let names = |folder: &Path, prefix: &str| -> Vec<String> {
            let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
            entries
                .filter(|entry| entry.path().is_file())
                .map(|entry| format!("{prefix}{}", entry.file_name().to_str().unwrap()))
                .collect()
        };
        let mut on_disk = names(&folder, "");
        on_disk.extend(names(&folder.join("referee"), "referee/"));
        on_disk.sort();
        let mut embedded: Vec<&str> =
            { SOURCES.iter().chain(FRONT_END) }.map(|source| source.name).collect();
        embedded.sort_unstable();
        assert_eq!(on_disk, embedded);
    }
}
