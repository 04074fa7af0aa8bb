//! A recipe -> a worker's files: compiling its source, instrumenting LLVM's
//! archives, linking.
//!
//! **Invariant:** everything is written into the folder that is given.

use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use fs_err as fs;

use super::Step;
use super::recipe::{Recipe, is_archive};
use crate::CompilerError;
use crate::llvm::covered::{self, ZoomedMember};
use crate::llvm::embedded::{SOURCES, Source};
use crate::llvm::install::Install;
use crate::llvm::provisioned::{CODE_MAP, SUMMARY, WORKER};
use crate::spawn::Tool;

/// The part of the worker's source with a folder of its own.
const REFEREE: &str = "referee";

/// Files that are compiled as one, by how their names begin: LLVM's headers take
/// longer than what is in the files.
const TOGETHER: [(&str, &[&str]); 3] = [
    (REFEREE, &["referee/"]),
    ("passes", &["pipeline.", "session.", "codegen."]),
    ("module", &["edit", "shape.", "guard."]),
];

/// What becomes one object.
struct Unit<'a> {
    name: &'a str,
    files: Vec<&'a str>,
}

impl Unit<'_> {
    fn object(&self) -> String {
        format!("{}.o", self.name)
    }

    /// The referee is the one part whose own speed matters.
    fn level(&self) -> Option<&'static str> {
        (self.name == REFEREE).then_some("-O2")
    }

    /// What the compiler is given: the only file, or one that includes them all.
    fn source(&self, folder: &Path) -> io::Result<String> {
        if let [file] = self.files[..] {
            return Ok(file.to_owned());
        }
        let name = format!("{}-unit.cpp", self.name);
        let text: String = self.files.iter().map(|f| format!("#include \"{f}\"\n")).collect();
        fs::write(folder.join(&name), text)?;
        Ok(name)
    }
}

/// In the order of their first files.
fn units(sources: &[Source]) -> Vec<Unit<'_>> {
    let mut units: Vec<Unit> = Vec::new();
    for Source { name: file, .. } in sources {
        let Some(own) = file.strip_suffix(".cpp") else { continue };
        let is_in = |(_, starts): &&(&str, &[&str])| starts.iter().any(|s| file.starts_with(s));
        let name = TOGETHER.iter().find(is_in).map_or(own, |(name, _)| name);
        match units.iter_mut().find(|unit| unit.name == name) {
            Some(unit) => unit.files.push(file),
            None => units.push(Unit { name, files: vec![file] }),
        }
    }
    units
}

/// Compiles and links. The objects stay: the covered worker is linked from the
/// same ones.
pub(super) fn build_plain(
    install: &Install,
    recipe: &Recipe,
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), CompilerError> {
    write_sources(SOURCES.iter(), folder)?;
    compile(install, recipe, SOURCES, folder, progress)?;
    progress(Step::Linking);
    link_plain(install, recipe, folder, folder)?;
    remove_sources(SOURCES.iter(), folder)
}

/// Writes source files; some have a folder of their own.
pub(in crate::llvm) fn write_sources<'a>(
    sources: impl Iterator<Item = &'a Source>,
    folder: &Path,
) -> io::Result<()> {
    for Source { name, text } in sources {
        let file = folder.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    Ok(())
}

/// Links the worker's own objects, which lie in `objects`, with the archives.
pub(in crate::llvm) fn link_plain(
    install: &Install,
    recipe: &Recipe,
    objects: &Path,
    folder: &Path,
) -> Result<(), CompilerError> {
    let parts = Parts { objects: objects_in(objects), libraries: recipe.libraries.clone() };
    link(install, recipe, &parts, folder)
}

/// Links the plain worker's objects with instrumented archives, some of whose
/// members may be zoomed.
pub(in crate::llvm) fn build_covered(
    install: &Install,
    recipe: &Recipe,
    plain: &Path,
    zoomed: &[ZoomedMember],
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), CompilerError> {
    let major = install.major;
    let cover = |source| CompilerError::Cover { major, source: Box::new(source) };
    let archives: Vec<PathBuf> =
        recipe.libraries.iter().filter(|path| is_archive(path)).map(PathBuf::from).collect();
    let scratch = folder.join("instrumented");
    fs::create_dir(&scratch)?;
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
    link(install, recipe, &Parts { objects, libraries }, folder)?;
    summary.link_seconds = started.elapsed().as_secs_f64();

    let map = covered.code_map(&folder.join(WORKER), zoomed).map_err(cover)?;
    summary.n_blocks = map.functions.iter().map(|function| function.origin.offsets.len()).sum();
    let bytes = postcard::to_stdvec(&map).map_err(io::Error::other)?;
    fs::write(folder.join(CODE_MAP), bytes)?;
    let text = serde_json::to_vec_pretty(&summary).map_err(io::Error::from)?;
    fs::write(folder.join(SUMMARY), text)?;
    Ok(fs::remove_dir_all(&scratch)?)
}

/// What a worker is linked from, in order.
pub(in crate::llvm) struct Parts {
    pub(in crate::llvm) objects: Vec<PathBuf>,
    pub(in crate::llvm) libraries: Vec<String>,
}

/// The worker's own objects, in the plain worker's entry.
pub(in crate::llvm) fn objects_in(folder: &Path) -> Vec<PathBuf> {
    objects_of(SOURCES, folder)
}

pub(in crate::llvm) fn objects_of(sources: &[Source], folder: &Path) -> Vec<PathBuf> {
    units(sources).iter().map(|unit| folder.join(unit.object())).collect()
}

/// Compiles source files, on all cores.
pub(in crate::llvm) fn compile(
    install: &Install,
    recipe: &Recipe,
    sources: &[Source],
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), CompilerError> {
    let units = units(sources);
    let total = units.len();
    let next = AtomicUsize::new(0);
    let done = Mutex::new((0, progress));
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(total);
    let work = || -> Result<(), CompilerError> {
        while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
            let source = unit.source(folder)?;
            Tool::new(&recipe.compiler)
                .args(&recipe.compile_flags)
                .args(unit.level())
                .args(["-c", &source, "-o"])
                .arg(unit.object())
                .directory(folder)
                .check()?;
            if unit.files.len() > 1 {
                fs::remove_file(folder.join(source))?;
            }
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
    outcome.map_err(|error| not_built(install, "compile", error))
}

/// Takes them away again, with their folders: an entry of the cache is flat.
pub(in crate::llvm) fn remove_sources<'a>(
    sources: impl Iterator<Item = &'a Source>,
    folder: &Path,
) -> Result<(), CompilerError> {
    for Source { name, .. } in sources {
        fs::remove_file(folder.join(name))?;
    }
    match fs::remove_dir(folder.join(REFEREE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Links objects and libraries into a worker.
pub(in crate::llvm) fn link(
    install: &Install,
    recipe: &Recipe,
    parts: &Parts,
    folder: &Path,
) -> Result<(), CompilerError> {
    Tool::new(&recipe.compiler)
        .args(&recipe.link_flags)
        .args(&parts.objects)
        .args(&parts.libraries)
        .arg("-o")
        .arg(folder.join(WORKER))
        .check()
        .map(|_| ())
        .map_err(|error| not_built(install, "link", error))
}

fn not_built(install: &Install, doing: &'static str, error: CompilerError) -> CompilerError {
    CompilerError::Build { doing, major: install.major, source: Box::new(error) }
}
