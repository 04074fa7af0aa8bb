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

use std::path::{Path, PathBuf};

use optsleuth_model::doctor::Instrumentation;

use super::install::Install;
use super::provisioned::{Flavor, Provisioned, Targets};
use super::worker::Worker;
use crate::CompilerError;
use build::build_plain;
use cache::{is_whole, seal};

pub(super) use build::{
    Parts, build_covered, compile, link, link_plain, objects_in, objects_of, remove_sources,
    write_sources,
};
pub use cache::cache_root;
pub(super) use cache::in_cache;
pub(super) use recipe::{Recipe, is_archive, recipe, stamp};
pub(crate) use recipe::{cxx_compiler, lld};

/// Changes when the recipe of the instrumentation does in a way that no hashed
/// input shows.
const COVERED_RECIPE: &str = "3";

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
    /// Fetching LLVM's source.
    Fetching,
    /// Unpacking it.
    Unpacking,
    /// Compiling files of LLVM.
    Zooming {
        /// Files that are compiled.
        done: usize,
        /// Files to compile.
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

/// The worker for this LLVM: from the cache, or built now.
pub fn provision(
    install: &Install,
    targets: Targets,
    flavor: Flavor,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<Provisioned, CompilerError> {
    let recipe = recipe(install, targets)?;
    let plain = plain_entry(install, &recipe, targets, progress)?;
    let entry = match flavor {
        Flavor::Plain => plain,
        Flavor::Covered => in_cache(&covered_key(&recipe), progress, |folder, progress| {
            build_covered(install, &recipe, &plain, &[], folder, progress)?;
            finish(&Provisioned::new(install, folder, targets, flavor), folder, progress)
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
) -> Result<PathBuf, CompilerError> {
    in_cache(&recipe.key, progress, |folder, progress| {
        build_plain(install, recipe, folder, progress)?;
        finish(&Provisioned::new(install, folder, targets, Flavor::Plain), folder, progress)
    })
}

/// What instrumentation did to this LLVM, if it was done already.
pub(crate) fn instrumentation(install: &Install) -> Option<Instrumentation> {
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
    candidate: &Provisioned,
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), CompilerError> {
    progress(Step::Testing);
    try_out(candidate)?;
    Ok(seal(&candidate.install, folder)?)
}

/// A worker that answers is a worker that was linked right.
fn try_out(candidate: &Provisioned) -> Result<(), CompilerError> {
    let answers = Worker::start(candidate).and_then(|mut worker| worker.passes());
    answers.map(|_| ()).map_err(|source| CompilerError::UnusableWorker {
        major: candidate.install.major,
        source: Box::new(source),
    })
}
