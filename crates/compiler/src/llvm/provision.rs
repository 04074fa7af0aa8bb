//! LLVM's archives + the embedded source -> a worker, built once and cached.
//!
//! An entry of the cache is a folder named by a hash of everything that goes
//! into the worker. It is built beside its place, tried out, and renamed into
//! place, under a lock: it exists whole or not at all.
//!
//! **Invariant:** an entry is never changed after the rename. One whose bytes
//! do not match its manifest is thrown away and built anew.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Instant, UNIX_EPOCH};

use optsleuth_model::{BlockId, CodeMap, Coverage, Detour};
use optsleuth_objcov::Decision;
use serde::{Deserialize, Serialize};

use super::covered::{self, CoverError, Summary};
use super::embedded::{SOURCES, Source};
use super::faulty::FaultyError;
use super::install::Install;
use super::symbols::Symbols;
use super::worker::{RunError, Worker};
use crate::spawn::{Tool, ToolError, find_on_path, is_executable};
use crate::workdir::Workdir;

/// Changes when the recipe does in a way that no hashed input shows.
const RECIPE: &str = "2";
/// The same for the instrumentation.
const COVERED_RECIPE: &str = "1";
const MANIFEST: &str = "manifest.json";
const WORKER: &str = "worker";
const CODE_MAP: &str = "code-map";
const SUMMARY: &str = "instrumentation.json";

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

/// What a worker is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavor {
    /// Speed alone.
    #[default]
    Plain,
    /// Saying which blocks of LLVM a run executed.
    Covered,
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
    /// Putting probes into LLVM's archives.
    Instrumenting {
        /// Archives done.
        done: usize,
        /// Archives in all.
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
    /// The archives cannot be instrumented.
    #[error("cannot put probes into LLVM {major}")]
    Cover {
        /// Which LLVM.
        major: u32,
        /// Why not.
        source: CoverError,
    },
    /// A fault cannot be made.
    #[error("the fault does not fit this LLVM {version}")]
    Faulty {
        /// Which LLVM.
        version: String,
        /// Why not.
        source: Box<FaultyError>,
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
    /// What it was made for.
    pub flavor: Flavor,
    symbols: Arc<OnceLock<Symbols>>,
    /// Where it lies, if it is not to stay.
    _folder: Option<Arc<Workdir>>,
}

impl Provisioned {
    pub(super) fn new(
        install: &Install,
        entry: &Path,
        targets: Targets,
        flavor: Flavor,
    ) -> Provisioned {
        Provisioned {
            install: install.clone(),
            binary: entry.join(WORKER),
            targets,
            flavor,
            symbols: Arc::default(),
            _folder: None,
        }
    }

    /// One that goes with its folder.
    pub(super) fn temporary(
        install: &Install,
        folder: Arc<Workdir>,
        targets: Targets,
        flavor: Flavor,
    ) -> Provisioned {
        let own = Provisioned::new(install, folder.path(), targets, flavor);
        Provisioned { _folder: Some(folder), ..own }
    }

    /// Names what it was made of: another LLVM or source has another.
    pub fn key(&self) -> String {
        let entry = self.binary.parent().and_then(Path::file_name).unwrap_or_default();
        entry.to_string_lossy().into_owned()
    }

    /// The worker's functions; read when the first crash needs them.
    pub(crate) fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::read(&self.binary))
    }

    /// What the blocks of a covered worker are.
    pub fn code_map(&self) -> Result<CodeMap, ProvisionError> {
        let path = self.binary.with_file_name(CODE_MAP);
        let cache = |source| ProvisionError::Cache { path: path.clone(), source };
        let bytes = fs::read(&path).map_err(cache)?;
        postcard::from_bytes(&bytes).map_err(|error| cache(io::Error::other(error)))
    }

    /// The conditional instructions in these blocks of a covered worker, each
    /// as the detour that makes it decide the other way.
    pub fn detours(&self, blocks: &Coverage) -> Result<Vec<(BlockId, Detour)>, ProvisionError> {
        let cache = |source| ProvisionError::Cache { path: self.binary.clone(), source };
        let program = fs::read(&self.binary).map_err(cache)?;
        let found = optsleuth_objcov::decisions(&program, |block| blocks.contains(BlockId(block)));
        let detour = |decision: Decision| {
            let Decision { block, address, inverted } = decision;
            (BlockId(block), Detour { address, opcode: inverted })
        };
        Ok(found.into_iter().map(detour).collect())
    }

    /// What instrumentation did to a covered worker's archives.
    pub fn summary(&self) -> Result<Summary, ProvisionError> {
        let path = self.binary.with_file_name(SUMMARY);
        let cache = |source| ProvisionError::Cache { path: path.clone(), source };
        let bytes = fs::read(&path).map_err(cache)?;
        serde_json::from_slice(&bytes).map_err(|error| cache(error.into()))
    }
}

/// Every file of an entry, and what it must look like.
#[derive(Serialize, Deserialize)]
struct Manifest {
    llvm: String,
    files: BTreeMap<String, FileStamp>,
}

#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    blake3: String,
}

/// Everything that determines a worker.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    compiler: PathBuf,
    compile_flags: Vec<String>,
    link_flags: Vec<String>,
    pub(super) libraries: Vec<String>,
    pub(super) key: String,
}

/// The worker for this LLVM: from the cache, or built now.
pub fn provision(
    install: &Install,
    targets: Targets,
    flavor: Flavor,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<Provisioned, ProvisionError> {
    let recipe = recipe(install, targets)?;
    let plain = plain_entry(install, &recipe, targets, progress)?;
    let entry = match flavor {
        Flavor::Plain => plain,
        Flavor::Covered => in_cache(&covered_key(&recipe), progress, |folder, progress| {
            build_covered(install, &recipe, &plain, folder, progress)?;
            finish(install, folder, targets, Flavor::Covered, progress)
        })?,
    };
    Ok(Provisioned::new(install, &entry, targets, flavor))
}

/// The cache's entry with the plain worker.
pub(super) fn plain_entry(
    install: &Install,
    recipe: &Recipe,
    targets: Targets,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<PathBuf, ProvisionError> {
    in_cache(&recipe.key, progress, |folder, progress| {
        build_plain(install, recipe, folder, progress)?;
        finish(install, folder, targets, Flavor::Plain, progress)
    })
}

/// What instrumentation did to this LLVM, if it was done already.
pub(crate) fn instrumentation(install: &Install) -> Option<Summary> {
    let key = covered_key(&recipe(install, Targets::Native).ok()?);
    let entry = cache_root().ok()?.join("workers").join(key);
    is_whole(&entry).then(|| {
        Provisioned::new(install, &entry, Targets::Native, Flavor::Covered).summary().ok()
    })?
}

fn covered_key(recipe: &Recipe) -> String {
    format!("{}-covered-{COVERED_RECIPE}", recipe.key)
}

/// The entry of this key, built by `build` if it is not there.
pub(super) fn in_cache(
    key: &str,
    progress: &mut (dyn FnMut(Step) + Send),
    build: impl FnOnce(&Path, &mut (dyn FnMut(Step) + Send)) -> Result<(), ProvisionError>,
) -> Result<PathBuf, ProvisionError> {
    let root = cache_root()?.join("workers");
    let cache = |source| ProvisionError::Cache { path: root.clone(), source };
    fs::create_dir_all(&root).map_err(cache)?;
    let entry = root.join(key);
    if is_whole(&entry) {
        return Ok(entry);
    }
    let lock = File::create(root.join(format!("{key}.lock"))).map_err(cache)?;
    if lock.try_lock().is_err() {
        progress(Step::Waiting);
        lock.lock().map_err(cache)?;
    }
    if !is_whole(&entry) {
        // Under the lock, whatever lies here is what a killed build left.
        let building = root.join(format!("{key}.building"));
        for leftover in [&entry, &building] {
            if leftover.exists() {
                fs::remove_dir_all(leftover).map_err(cache)?;
            }
        }
        fs::create_dir(&building).map_err(cache)?;
        build(&building, progress)?;
        fs::rename(&building, &entry).map_err(cache)?;
    }
    Ok(entry)
}

/// Tries a new worker out and seals its folder.
pub(super) fn finish(
    install: &Install,
    folder: &Path,
    targets: Targets,
    flavor: Flavor,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), ProvisionError> {
    progress(Step::Testing);
    try_out(&Provisioned::new(install, folder, targets, flavor))?;
    write_manifest(install, folder)
        .map_err(|source| ProvisionError::Cache { path: folder.to_owned(), source })
}

/// Where everything that can be made again is kept.
/// The folder for everything that can be made again.
pub fn cache_root() -> Result<PathBuf, ProvisionError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .ok_or(ProvisionError::NoCache)?;
    Ok(base.join("optsleuth"))
}

pub(super) fn recipe(install: &Install, targets: Targets) -> Result<Recipe, ProvisionError> {
    let libraries = install.link_arguments(&targets.components())?;
    let archives: Vec<&String> = libraries.iter().filter(|path| is_archive(path)).collect();
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
pub(super) fn stamp(file: &Path) -> String {
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

/// Compiles and links. The objects stay: the covered worker is linked from the
/// same ones.
fn build_plain(
    install: &Install,
    recipe: &Recipe,
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), ProvisionError> {
    let cache = |source| ProvisionError::Cache { path: folder.to_owned(), source };
    for Source { name, text } in SOURCES {
        fs::write(folder.join(name), text).map_err(cache)?;
    }
    compile(install, recipe, SOURCES, folder, progress)?;
    progress(Step::Linking);
    link_plain(install, recipe, folder, folder)?;
    for Source { name, .. } in SOURCES {
        fs::remove_file(folder.join(name)).map_err(cache)?;
    }
    Ok(())
}

/// Links the worker's own objects, which lie in `objects`, with the archives.
pub(super) fn link_plain(
    install: &Install,
    recipe: &Recipe,
    objects: &Path,
    folder: &Path,
) -> Result<(), ProvisionError> {
    let parts = Parts { objects: objects_in(objects), libraries: recipe.libraries.clone() };
    link(recipe, &parts, folder).map_err(|source| ProvisionError::Build {
        doing: "link",
        major: install.major,
        source,
    })
}

/// Links the plain worker's objects with instrumented archives.
pub(super) fn build_covered(
    install: &Install,
    recipe: &Recipe,
    plain: &Path,
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), ProvisionError> {
    let major = install.major;
    let cache = |source| ProvisionError::Cache { path: folder.to_owned(), source };
    let cover = |source| ProvisionError::Cover { major, source };
    let archives: Vec<PathBuf> =
        recipe.libraries.iter().filter(|path| is_archive(path)).map(PathBuf::from).collect();
    let scratch = folder.join("instrumented");
    fs::create_dir(&scratch).map_err(cache)?;
    let started = Instant::now();
    let total = archives.len();
    progress(Step::Instrumenting { done: 0, total });
    let progress = Mutex::new(progress);
    let report = |step| (progress.lock().unwrap_or_else(PoisonError::into_inner))(step);
    let covered = covered::instrument(&archives, &scratch, &|done| {
        report(Step::Instrumenting { done, total });
    })
    .map_err(cover)?;
    let mut summary = covered.summary();
    summary.rewrite_seconds = started.elapsed().as_secs_f64();

    report(Step::Linking);
    let started = Instant::now();
    let mut objects = vec![covered.first.clone()];
    objects.extend(objects_in(plain));
    let mut instrumented = covered.archives.iter();
    let mut libraries: Vec<String> = recipe
        .libraries
        .iter()
        .map(|library| match is_archive(library).then(|| instrumented.next()).flatten() {
            Some(archive) => archive.display().to_string(),
            None => library.clone(),
        })
        .collect();
    libraries.push(covered.last.display().to_string());
    link(recipe, &Parts { objects, libraries }, folder)
        .map_err(|source| ProvisionError::Build { doing: "link", major, source })?;
    summary.link_seconds = started.elapsed().as_secs_f64();

    let map = covered.code_map(&folder.join(WORKER)).map_err(cover)?;
    summary.n_blocks = map.functions.iter().map(|function| function.origin.offsets.len()).sum();
    let bytes = postcard::to_stdvec(&map).map_err(|error| cache(io::Error::other(error)))?;
    fs::write(folder.join(CODE_MAP), bytes).map_err(cache)?;
    let text = serde_json::to_vec_pretty(&summary).map_err(|error| cache(error.into()))?;
    fs::write(folder.join(SUMMARY), text).map_err(cache)?;
    fs::remove_dir_all(&scratch).map_err(cache)
}

/// What a worker is linked from, in order.
pub(super) struct Parts {
    pub(super) objects: Vec<PathBuf>,
    pub(super) libraries: Vec<String>,
}

/// The worker's own objects, in the plain worker's entry.
pub(super) fn objects_in(folder: &Path) -> Vec<PathBuf> {
    let sources = SOURCES.iter().filter(|source| source.name.ends_with(".cpp"));
    sources.map(|source| folder.join(object_name(source))).collect()
}

pub(super) fn is_archive(library: &str) -> bool {
    library.ends_with(".a")
}

/// Compiles source files, on all cores.
pub(super) fn compile(
    install: &Install,
    recipe: &Recipe,
    sources: &[Source],
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), ProvisionError> {
    let sources: Vec<&Source> = sources.iter().filter(|s| s.name.ends_with(".cpp")).collect();
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
    })
}

pub(super) fn object_name(source: &Source) -> String {
    source.name.replace(".cpp", ".o")
}

/// Links objects and libraries into a worker.
pub(super) fn link(recipe: &Recipe, parts: &Parts, folder: &Path) -> Result<(), ToolError> {
    Tool::new(&recipe.compiler)
        .args(&recipe.link_flags)
        .args(&parts.objects)
        .args(&parts.libraries)
        .arg("-o")
        .arg(folder.join(WORKER))
        .check()?;
    Ok(())
}

/// A worker that answers is a worker that was linked right.
fn try_out(candidate: &Provisioned) -> Result<(), ProvisionError> {
    let answers = Worker::start(candidate).and_then(|mut worker| worker.passes());
    answers.map(|_| ()).map_err(|source| ProvisionError::Unusable {
        major: candidate.install.major,
        source: Box::new(source),
    })
}

fn write_manifest(install: &Install, folder: &Path) -> io::Result<()> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        File::open(&path)?.sync_all()?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.insert(name, stamp_of(&path)?);
    }
    let manifest = Manifest { llvm: install.version.clone(), files };
    let mut file = File::create(folder.join(MANIFEST))?;
    file.write_all(&serde_json::to_vec_pretty(&manifest)?)?;
    file.sync_all()
}

fn stamp_of(file: &Path) -> io::Result<FileStamp> {
    let bytes = fs::read(file)?;
    Ok(FileStamp { bytes: bytes.len() as u64, blake3: blake3::hash(&bytes).to_hex().to_string() })
}

/// Whether an entry is there and every byte of it is as it was built.
fn is_whole(entry: &Path) -> bool {
    let check = || -> Option<bool> {
        let manifest: Manifest =
            serde_json::from_slice(&fs::read(entry.join(MANIFEST)).ok()?).ok()?;
        let is_same = |(name, stamp): (&String, &FileStamp)| {
            stamp_of(&entry.join(name)).is_ok_and(|found| found == *stamp)
        };
        Some(manifest.files.contains_key(WORKER) && manifest.files.iter().all(is_same))
    };
    check().unwrap_or(false)
}
