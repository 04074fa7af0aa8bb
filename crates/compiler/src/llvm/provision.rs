//! LLVM's archives + the embedded source -> a worker, built once and cached.
//!
//! An entry of the cache is a folder named by a hash of everything that goes
//! into the worker. It is built beside its place, tried out, and renamed into
//! place, under a lock: it exists whole or not at all.
//!
//! **Invariant:** an entry is never changed after the rename. One whose bytes
//! do not match its manifest is thrown away and built anew.

use std::fs::{self, File};
use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::embedded::{SOURCES, Source};
use super::install::Install;
use super::symbols::Symbols;
use super::worker::{RunError, Worker};
use crate::spawn::{Tool, ToolError, find_on_path, is_executable};

/// Changes when the recipe does in a way that no hashed input shows.
const RECIPE: &str = "1";
const MANIFEST: &str = "manifest.json";
const WORKER: &str = "worker";

/// Which code generators a worker has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Targets {
    /// That of this machine.
    #[default]
    Native,
    /// All that this LLVM was built with.
    All,
}

impl Targets {
    /// The components of LLVM to link.
    fn components(self) -> Vec<&'static str> {
        let mut components =
            vec!["passes", "irreader", "bitwriter", "codegen", "runtimedyld", "executionengine"];
        components.push(match self {
            Targets::Native => "native",
            Targets::All => "all-targets",
        });
        components
    }
}

/// What provisioning is doing, for a person who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another process builds the same worker.
    Waiting,
    /// Compiling the worker's source.
    Compiling {
        /// Files done.
        done: usize,
        /// Files in all.
        total: usize,
    },
    /// Linking against LLVM's archives.
    Linking,
    /// Trying the worker out.
    Testing,
}

/// Why there is no worker.
#[derive(Debug, thiserror::Error)]
pub enum ProvisionError {
    /// The headers or archives are not installed.
    #[error("LLVM {major} has no static archives in {}", .lib.display())]
    NoArchives {
        /// Which LLVM.
        major: u32,
        /// Where they were looked for.
        lib: PathBuf,
    },
    /// No C++ compiler.
    #[error("no C++ compiler found to build the worker for LLVM {0}")]
    NoCompiler(u32),
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    #[error("no cache directory: neither XDG_CACHE_HOME nor HOME is set")]
    NoCache,
    /// The worker does not compile or link.
    #[error("cannot {doing} the worker for LLVM {major}")]
    Build {
        /// `compile` or `link`.
        doing: &'static str,
        /// Which LLVM.
        major: u32,
        /// What the tool said.
        source: ToolError,
    },
    /// The worker was built but does not work.
    #[error("the new worker for LLVM {major} does not work")]
    Unusable {
        /// Which LLVM.
        major: u32,
        /// How it fails.
        source: Box<RunError>,
    },
    /// `llvm-config` fails.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The cache cannot be read or written.
    #[error("cannot use the cache at {}", .path.display())]
    Cache {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// A worker that is ready to be started.
#[derive(Clone, Debug)]
pub struct Provisioned {
    /// The LLVM it was made of.
    pub install: Install,
    /// The worker's file.
    pub binary: PathBuf,
    /// Which code generators it has.
    pub targets: Targets,
    symbols: Arc<OnceLock<Symbols>>,
}

impl Provisioned {
    fn new(install: &Install, binary: PathBuf, targets: Targets) -> Provisioned {
        Provisioned { install: install.clone(), binary, targets, symbols: Arc::default() }
    }

    /// The worker's functions; read when the first crash needs them.
    pub(crate) fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::read(&self.binary))
    }
}

/// Says what an entry is and what its worker must look like.
#[derive(Serialize, Deserialize)]
struct Manifest {
    llvm: String,
    bytes: u64,
    blake3: String,
}

/// Everything that determines a worker.
struct Recipe {
    compiler: PathBuf,
    compile_flags: Vec<String>,
    link_flags: Vec<String>,
    libraries: Vec<String>,
    key: String,
}

/// The worker for this LLVM: from the cache, or built now.
pub fn provision(
    install: &Install,
    targets: Targets,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<Provisioned, ProvisionError> {
    let recipe = recipe(install, targets)?;
    let root = cache_root()?.join("workers");
    let cache = |source| ProvisionError::Cache { path: root.clone(), source };
    fs::create_dir_all(&root).map_err(cache)?;
    let entry = root.join(&recipe.key);
    if is_whole(&entry) {
        return Ok(Provisioned::new(install, entry.join(WORKER), targets));
    }
    let lock = File::create(root.join(format!("{}.lock", recipe.key))).map_err(cache)?;
    if lock.try_lock().is_err() {
        progress(Step::Waiting);
        lock.lock().map_err(cache)?;
    }
    if !is_whole(&entry) {
        // Under the lock, whatever lies here is what a killed build left.
        let building = root.join(format!("{}.building", recipe.key));
        for leftover in [&entry, &building] {
            if leftover.exists() {
                fs::remove_dir_all(leftover).map_err(cache)?;
            }
        }
        fs::create_dir(&building).map_err(cache)?;
        build(install, &recipe, &building, progress)?;
        progress(Step::Testing);
        try_out(install, &building, targets)?;
        write_manifest(install, &building).map_err(cache)?;
        fs::rename(&building, &entry).map_err(cache)?;
    }
    Ok(Provisioned::new(install, entry.join(WORKER), targets))
}

/// Where everything that can be made again is kept.
pub(crate) fn cache_root() -> Result<PathBuf, ProvisionError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .ok_or(ProvisionError::NoCache)?;
    Ok(base.join("optsleuth"))
}

fn recipe(install: &Install, targets: Targets) -> Result<Recipe, ProvisionError> {
    let libraries = install.link_arguments(&targets.components())?;
    let archives: Vec<&String> = libraries.iter().filter(|path| path.ends_with(".a")).collect();
    if archives.is_empty() || !archives.iter().all(|path| Path::new(path).is_file()) {
        return Err(ProvisionError::NoArchives { major: install.major, lib: install.lib.clone() });
    }
    let compiler = cxx_compiler(install).ok_or(ProvisionError::NoCompiler(install.major))?;
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
    link_flags.extend(linker_flags(install, &compiler));

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
    for flag in compile_flags.iter().chain(&link_flags).chain(&libraries) {
        add(flag);
    }
    for library in archives {
        add(&stamp(Path::new(library)));
    }
    let key = format!("llvm-{}-{}", install.version, &hash.finalize().to_hex()[..16]);
    Ok(Recipe { compiler, compile_flags, link_flags, libraries, key })
}

/// A file's identity: where it is, how long it is, when it was written.
fn stamp(file: &Path) -> String {
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
    let others = (super::OLDEST..=super::NEWEST)
        .rev()
        .map(|major| PathBuf::from(format!("/usr/lib/llvm-{major}/bin/ld.lld")));
    std::iter::once(install.bin.join("ld.lld"))
        .chain(others)
        .find(|file| is_executable(file))
        .or_else(|| find_on_path("ld.lld"))
}

fn linker_flags(install: &Install, compiler: &Path) -> Vec<String> {
    let Some(lld) = lld(install) else {
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

fn build(
    install: &Install,
    recipe: &Recipe,
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), ProvisionError> {
    let cache = |source| ProvisionError::Cache { path: folder.to_owned(), source };
    for Source { name, text } in SOURCES {
        fs::write(folder.join(name), text).map_err(cache)?;
    }
    let objects = compile(install, recipe, folder, progress)?;
    progress(Step::Linking);
    link(recipe, &objects, &folder.join(WORKER)).map_err(|source| ProvisionError::Build {
        doing: "link",
        major: install.major,
        source,
    })?;
    for Source { name, .. } in SOURCES {
        fs::remove_file(folder.join(name)).map_err(cache)?;
    }
    for object in objects {
        fs::remove_file(object).map_err(cache)?;
    }
    Ok(())
}

/// Compiles every source file, on all cores.
fn compile(
    install: &Install,
    recipe: &Recipe,
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<Vec<PathBuf>, ProvisionError> {
    let sources: Vec<&Source> = SOURCES.iter().filter(|s| s.name.ends_with(".cpp")).collect();
    let total = sources.len();
    let next = AtomicUsize::new(0);
    let done = Mutex::new((0, progress));
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(total);
    let work = || -> Result<(), ToolError> {
        while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
            Tool::new(&recipe.compiler)
                .args(&recipe.compile_flags)
                .args(["-c", source.name, "-o"])
                .arg(object_name(source))
                .directory(folder)
                .check()?;
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.0 += 1;
            let step = Step::Compiling { done: done.0, total };
            (done.1)(step);
        }
        Ok(())
    };
    let outcome = thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    outcome.map_err(|source| ProvisionError::Build {
        doing: "compile",
        major: install.major,
        source,
    })?;
    Ok(sources.iter().map(|source| folder.join(object_name(source))).collect())
}

fn object_name(source: &Source) -> String {
    source.name.replace(".cpp", ".o")
}

/// Links objects and libraries, both in the order of their lists, into a worker.
fn link(recipe: &Recipe, objects: &[PathBuf], worker: &Path) -> Result<(), ToolError> {
    Tool::new(&recipe.compiler)
        .args(&recipe.link_flags)
        .args(objects)
        .args(&recipe.libraries)
        .arg("-o")
        .arg(worker)
        .check()?;
    Ok(())
}

/// A worker that answers is a worker that was linked right.
fn try_out(install: &Install, folder: &Path, targets: Targets) -> Result<(), ProvisionError> {
    let candidate = Provisioned::new(install, folder.join(WORKER), targets);
    Worker::start(&candidate).and_then(|mut worker| worker.passes()).map(|_| ()).map_err(|source| {
        ProvisionError::Unusable { major: install.major, source: Box::new(source) }
    })
}

fn write_manifest(install: &Install, folder: &Path) -> io::Result<()> {
    let worker = folder.join(WORKER);
    let manifest = Manifest {
        llvm: install.version.clone(),
        bytes: fs::metadata(&worker)?.len(),
        blake3: hash_file(&worker)?,
    };
    File::open(&worker)?.sync_all()?;
    let mut file = File::create(folder.join(MANIFEST))?;
    file.write_all(&serde_json::to_vec_pretty(&manifest)?)?;
    file.sync_all()
}

fn hash_file(file: &Path) -> io::Result<String> {
    Ok(blake3::hash(&fs::read(file)?).to_hex().to_string())
}

/// Whether an entry is there and every byte of its worker is as it was built.
fn is_whole(entry: &Path) -> bool {
    let check = || -> Option<bool> {
        let manifest: Manifest =
            serde_json::from_slice(&fs::read(entry.join(MANIFEST)).ok()?).ok()?;
        let worker = entry.join(WORKER);
        let same_size = fs::metadata(&worker).ok()?.len() == manifest.bytes;
        Some(same_size && hash_file(&worker).ok()? == manifest.blake3)
    };
    check().unwrap_or(false)
}
