//! Everything that determines a worker: compiler, flags, archives, and the key
//! that names all of it.
//!
//! **Invariant:** two recipes with the same key make the same worker.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::CompilerError;
use crate::llvm::embedded::{SOURCES, Source};
use crate::llvm::install::Install;
use crate::llvm::provisioned::Targets;
use crate::spawn::{find_on_path, is_executable};
use crate::versions::{NEWEST, OLDEST};

/// Changes when the recipe does in a way that no hashed input shows.
const RECIPE: &str = "4";

/// Everything that determines a worker.
#[derive(Clone, Debug)]
pub(in crate::llvm) struct Recipe {
    pub(super) compiler: PathBuf,
    pub(super) compile_flags: Vec<String>,
    pub(super) link_flags: Vec<String>,
    pub(in crate::llvm) libraries: Vec<String>,
    pub(in crate::llvm) key: String,
}

impl Recipe {
    /// The same with one more flag for the linker.
    pub(in crate::llvm) fn linked_with(mut self, flag: &str) -> Recipe {
        self.link_flags.push(flag.to_owned());
        self
    }
}

pub(in crate::llvm) fn recipe(
    install: &Install,
    targets: Targets,
) -> Result<Recipe, CompilerError> {
    let libraries = install.link_arguments(&targets.components())?;
    let archives: Vec<&String> = libraries.iter().filter(|path| is_archive(path)).collect();
    if archives.is_empty() || !archives.iter().all(|path| Path::new(path).is_file()) {
        return Err(CompilerError::NoArchives { major: install.major, lib: install.lib.clone() });
    }
    let compiler = cxx_compiler(install).ok_or(CompilerError::NoCxxCompiler(install.major))?;
    let mut compile_flags: Vec<String> = install.compile_flags()?;
    // LLVM 14 and 15 say C++14; their headers are as happy with 17.
    compile_flags.retain(|flag| !flag.starts_with("-std="));
    compile_flags.extend(["-std=c++17", "-O1", "-fno-exceptions"].map(str::to_owned));
    if !install.assertions {
        // The headers' inline code must be compiled as the archives were.
        compile_flags.push("-DNDEBUG".to_owned());
    }
    if !install.rtti {
        compile_flags.push("-fno-rtti".to_owned());
    }
    if targets == Targets::All {
        compile_flags.push("-DOPTSLEUTH_ALL_TARGETS".to_owned());
    }
    // Not position-independent: addresses in a report are those of the file.
    let mut link_flags: Vec<String> = ["-no-pie", "-Wl,--gc-sections"].map(str::to_owned).into();
    link_flags.push(format!("-L{}", install.lib.display()));
    let linker = lld(install);

    let mut hash = blake3::Hasher::new();
    let mut add = |text: &str| {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    add(RECIPE);
    for Source { name, text } in SOURCES {
        add(name);
        add(text);
    }
    add(&install.version);
    add(&stamp(&compiler));
    // By what it is: the same tools may go by several paths.
    add(&linker.as_deref().map(stamp).unwrap_or_default());
    for flag in compile_flags.iter().chain(&link_flags).chain(&libraries) {
        add(flag);
    }
    for library in archives {
        add(&stamp(Path::new(library)));
    }
    let key = format!("llvm-{}-{}", install.version, &hash.finalize().to_hex()[..16]);
    link_flags.extend(linker_flags(linker, &compiler));
    Ok(Recipe { compiler, compile_flags, link_flags, libraries, key })
}

pub(in crate::llvm) fn is_archive(library: &str) -> bool {
    library.ends_with(".a")
}

/// A file's identity: where it is, how long it is, when it was written.
pub(in crate::llvm) fn stamp(file: &Path) -> String {
    let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let metadata = fs::metadata(&real).ok();
    let written = metadata
        .as_ref()
        .and_then(|data| data.modified().ok())
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |time| time.as_nanos());
    format!("{} {} {written}", real.display(), metadata.map_or(0, |data| data.len()))
}

/// The clang++ that belongs to this LLVM, else any C++ compiler.
pub(crate) fn cxx_compiler(install: &Install) -> Option<PathBuf> {
    install.tool("clang++").or_else(|| ["clang++", "g++", "c++"].into_iter().find_map(find_on_path))
}

/// An lld of any version: its own, any other LLVM's, or one on `PATH`.
pub(crate) fn lld(install: &Install) -> Option<PathBuf> {
    let others = (OLDEST..=NEWEST)
        .rev()
        .map(|major| PathBuf::from(format!("/usr/lib/llvm-{major}/bin/ld.lld")));
    std::iter::once(install.bin.join("ld.lld"))
        .chain(others)
        .find(|file| is_executable(file))
        .or_else(|| find_on_path("ld.lld"))
}

fn linker_flags(linker: Option<PathBuf>, compiler: &Path) -> Vec<String> {
    let Some(lld) = linker else {
        return Vec::new(); // The system's linker: slower, same result.
    };
    let is_clang = compiler.to_string_lossy().contains("clang");
    match (is_clang, lld.parent()) {
        (true, _) => vec![format!("--ld-path={}", lld.display())],
        (false, Some(folder)) => {
            vec!["-fuse-ld=lld".to_owned(), format!("-B{}", folder.display())]
        }
        (false, None) => Vec::new(),
    }
}
