//! LLVM's archives + the embedded source -> a worker, built once and cached.
//!
//! ```text
//! install ─► recipe ─► cache: there? ─► build ─► tried out ─► sealed
//! ```
//!
//! **Invariant:** what determines a worker is in its recipe; a worker that does
//! not answer is never handed out.

mod build;
mod cache;
mod recipe;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fs_err as fs;
use optsleuth_model::{BlockId, CodeMap, Coverage, Detour};
use optsleuth_objcov::Decision;

use super::covered::{CoverError, Summary};
use super::faulty::FaultyError;
use super::install::Install;
use super::symbols::Symbols;
use super::worker::{RunError, Worker};
use crate::spawn::ToolError;
use crate::workdir::Workdir;
use build::build_plain;
use cache::{is_whole, seal};

pub(super) use build::{
    Parts, build_covered, compile, is_archive, link, link_plain, object_name, objects_in,
};
pub use cache::cache_root;
pub(super) use cache::in_cache;
pub(super) use recipe::{Recipe, recipe, stamp};
pub(crate) use recipe::{cxx_compiler, lld};

/// Changes when the recipe of the instrumentation does in a way that no hashed
/// input shows.
const COVERED_RECIPE: &str = "1";
const WORKER: &str = "worker";
const CODE_MAP: &str = "code-map";
const SUMMARY: &str = "instrumentation.json";

/// Which code generators a worker has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Targets {
    /// Only that of this machine.
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
    /// No probes, and nothing else that slows LLVM down.
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
        /// Source files that are compiled.
        done: usize,
        /// Source files to compile.
        total: usize,
    },
    /// Putting probes into LLVM's archives.
    Instrumenting {
        /// Archives that have their probes.
        done: usize,
        /// Archives to rewrite.
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
        /// Major version of that LLVM.
        major: u32,
        /// Where they were looked for.
        lib: PathBuf,
    },
    /// Neither this LLVM's clang++ nor another C++ compiler was found.
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
        /// Major version of that LLVM.
        major: u32,
        /// The command, and what it complained about.
        source: ToolError,
    },
    /// The archives cannot be instrumented.
    #[error("cannot put probes into LLVM {major}")]
    Cover {
        /// Major version of that LLVM.
        major: u32,
        /// What went wrong with which file.
        source: CoverError,
    },
    /// A fault cannot be made.
    #[error("the fault does not fit this LLVM {version}")]
    Faulty {
        /// The whole version, because a fault fits one build.
        version: String,
        /// What of it is missing or different.
        source: Box<FaultyError>,
    },
    /// The worker was built but does not work.
    #[error("the new worker for LLVM {major} does not work")]
    Unusable {
        /// Major version of that LLVM.
        major: u32,
        /// What it answered instead of its pass registry.
        source: Box<RunError>,
    },
    /// `llvm-config` fails.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A worker's files cannot be read or written.
    #[error("cannot use the cache of workers")]
    Cache(#[from] io::Error),
}

/// A worker that is ready to be started.
#[derive(Clone, Debug)]
pub struct Provisioned {
    /// The LLVM it was made of.
    pub install: Install,
    /// The file to start; what belongs to it lies beside it.
    pub binary: PathBuf,
    /// Which code generators it has.
    pub targets: Targets,
    /// With or without probes.
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
        let bytes = fs::read(self.binary.with_file_name(CODE_MAP))?;
        Ok(postcard::from_bytes(&bytes).map_err(io::Error::other)?)
    }

    /// The conditional instructions in these blocks of a covered worker, each
    /// as the detour that makes it decide the other way.
    pub fn detours(&self, blocks: &Coverage) -> Result<Vec<(BlockId, Detour)>, ProvisionError> {
        let program = fs::read(&self.binary)?;
        let found = optsleuth_objcov::decisions(&program, |block| blocks.contains(BlockId(block)));
        let detour = |decision: Decision| {
            let Decision { block, address, inverted } = decision;
            (BlockId(block), Detour { address, opcode: inverted })
        };
        Ok(found.into_iter().map(detour).collect())
    }

    /// What instrumentation did to a covered worker's archives.
    pub fn summary(&self) -> Result<Summary, ProvisionError> {
        let bytes = fs::read(self.binary.with_file_name(SUMMARY))?;
        Ok(serde_json::from_slice(&bytes).map_err(io::Error::from)?)
    }
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
    Ok(seal(install, folder)?)
}

/// A worker that answers is a worker that was linked right.
fn try_out(candidate: &Provisioned) -> Result<(), ProvisionError> {
    let answers = Worker::start(candidate).and_then(|mut worker| worker.passes());
    answers.map(|_| ()).map_err(|source| ProvisionError::Unusable {
        major: candidate.install.major,
        source: Box::new(source),
    })
}
