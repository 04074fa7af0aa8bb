//! Source files of LLVM -> objects that fit its archives, kept by content.
//!
//! Compiled against the installed headers, so that an object can take the place
//! of the archive's own member.
//!
//! **Invariant:** an object is written whole or not at all, under a name that
//! stands for everything that went into it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_model::Fault;

use super::super::fault::broken_object;
use super::super::install::Install;
use super::super::provision::{Step, cache_root, cxx_compiler, stamp};
use super::{LeftOut, SourceTree, Variant};
use crate::CompilerError;
use crate::cores;
use crate::spawn::Tool;

/// Changes when the flags do in a way that no hashed input shows.
const RECIPE: &str = "2";
/// The slowest files take most of a minute on a busy machine.
const LONGEST: Duration = Duration::from_secs(240);

/// A header that LLVM's build makes and no package installs.
const CONFIG: &str = include_str!("config.h");

/// Headers and tables: whatever a source file may include from its own tree.
const INCLUDED: [&str; 3] = ["h", "inc", "def"];

/// Compiles for one LLVM.
pub(super) struct ObjectCompiler {
    compiler: PathBuf,
    flags: Vec<String>,
    folder: PathBuf,
    /// Hash of all that is the same for every file.
    common: String,
}

/// A file, and its object or why it has none.
pub(super) type Compiled = (String, Result<PathBuf, LeftOut>);

impl ObjectCompiler {
    pub(super) fn new(
        install: &Install,
        tree: &SourceTree,
        variant: Variant,
    ) -> Result<ObjectCompiler, CompilerError> {
        let compiler = cxx_compiler(install).ok_or(CompilerError::NoCxxCompiler(install.major))?;
        let mut flags = install.compile_flags()?;
        flags.retain(|flag| !flag.starts_with("-std="));
        // Without tables a switch is a chain of conditions, and those can be inverted.
        let fixed = ["-std=c++17", "-O1", "-g1", "-fno-inline", "-fno-jump-tables", "-fPIC"];
        let more = ["-fno-exceptions", "-ffunction-sections", "-fdata-sections", "-w"];
        flags.extend(fixed.iter().chain(&more).map(|&flag| flag.to_owned()));
        if !install.rtti {
            flags.push("-fno-rtti".to_owned());
        }
        if variant == Variant::Addresses {
            // A worker copies its whole image when it starts, globals included.
            let sanitized = ["-fsanitize=address", "-fno-omit-frame-pointer"];
            let without_globals = ["-mllvm", "-asan-globals=0"];
            flags.extend([sanitized, without_globals].concat().into_iter().map(str::to_owned));
        }
        let asserts =
            install.assertions || matches!(variant, Variant::Assertions | Variant::AssertionLines);
        flags.push(if asserts { "-UNDEBUG" } else { "-DNDEBUG" }.to_owned());
        flags.push(format!("-I{}", tree.lib().display()));
        let folder = cache_root()?.join("objects");
        fs::create_dir_all(&folder).map_err(CompilerError::Cache)?;
        let config = folder.join("include/llvm/Config");
        fs::create_dir_all(&config).map_err(CompilerError::Cache)?;
        keep(&config.join("config.h"), CONFIG.as_bytes()).map_err(CompilerError::Cache)?;
        flags.push(format!("-I{}", folder.join("include").display()));
        let mut hash = blake3::Hasher::new();
        let headers = headers(&tree.lib())?;
        let fixed =
            [RECIPE.to_owned(), CONFIG.to_owned(), install.version.clone(), stamp(&compiler)];
        for text in fixed.iter().chain(&flags).chain(&headers) {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        let common = hash.finalize().to_hex().to_string();
        Ok(ObjectCompiler { compiler, flags, folder, common })
    }

    /// All of them, on all cores; what is not begun before the deadline is left
    /// out. In the order of the files.
    pub(super) fn compile(
        &self,
        tree: &SourceTree,
        files: &[String],
        deadline: Option<Instant>,
        progress: &mut (dyn FnMut(Step) + Send),
    ) -> Result<Vec<Compiled>, CompilerError> {
        let total = files.len();
        progress(Step::Zooming { done: 0, total });
        let next = AtomicUsize::new(0);
        let done = Mutex::new((Vec::new(), progress));
        let work = || -> Result<(), CompilerError> {
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                let object = self.object(tree, file, deadline)?;
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                done.0.push((file.clone(), object));
                let step = Step::Zooming { done: done.0.len(), total };
                (done.1)(step);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let n_threads = cores::available().len().max(1).min(total);
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        let (mut compiled, _) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        compiled.sort_by_key(|(file, _)| files.iter().position(|other| other == file));
        Ok(compiled)
    }

    /// The object with a fault in it.
    pub(super) fn broken(&self, object: &Path, fault: &Fault) -> Result<PathBuf, CompilerError> {
        let bytes = broken_object(&fs::read(object)?, fault)?;
        let broken = self.folder.join(format!("{}.o", &blake3::hash(&bytes).to_hex()[..24]));
        keep(&broken, &bytes).map_err(CompilerError::Cache)?;
        Ok(broken)
    }

    fn object(
        &self,
        tree: &SourceTree,
        path: &str,
        deadline: Option<Instant>,
    ) -> Result<Result<PathBuf, LeftOut>, CompilerError> {
        let Some(source) = tree.file(path) else { return Ok(Err(LeftOut::NoSource)) };
        let text = fs::read(&source)?;
        let mut hash = blake3::Hasher::new();
        hash.update(self.common.as_bytes());
        hash.update(path.as_bytes());
        hash.update(&text);
        let object = self.folder.join(format!("{}.o", &hash.finalize().to_hex()[..24]));
        if object.is_file() {
            return Ok(Ok(object));
        }
        let left = deadline.map_or(LONGEST, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(Err(LeftOut::Late));
        }
        let making = tempfile::Builder::new().suffix(".o").tempfile_in(&self.folder)?;
        let own = source.parent().unwrap_or(Path::new("."));
        let tool = Tool::new(&self.compiler)
            .args(&self.flags)
            .arg(format!("-I{}", own.display()))
            .arg("-c")
            .arg(&source)
            .arg("-o")
            .arg(making.path())
            .time(left.min(LONGEST));
        match tool.check() {
            Err(CompilerError::ToolFailed { how, .. }) if how.starts_with("did not end") => {
                return Ok(Err(LeftOut::Late));
            }
            Err(error @ CompilerError::ToolFailed { .. }) => {
                tracing::debug!(%error, path, "not zoomed");
                return Ok(Err(LeftOut::DoesNotCompile));
            }
            other => other?,
        };
        making.as_file().flush()?;
        making.persist(&object).map_err(|error| CompilerError::Cache(error.error))?;
        Ok(Ok(object))
    }
}

/// Writes a file whole, unless it is there already: others may be reading it.
fn keep(file: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(file).is_ok_and(|kept| kept == bytes) {
        return Ok(());
    }
    let mut making = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(Path::new(".")))?;
    making.write_all(bytes)?;
    making.persist(file)?;
    Ok(())
}

/// What may be included, by name, length and time: a checkout may change.
fn headers(lib: &Path) -> Result<Vec<String>, CompilerError> {
    let mut found = Vec::new();
    let mut folders = vec![lib.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let is_included =
                path.extension().is_some_and(|end| INCLUDED.iter().any(|&known| end == known));
            if path.is_dir() {
                // Only a target's own files include those of targets.
                if !path.ends_with("Target") {
                    folders.push(path);
                }
            } else if is_included {
                found.push(stamp(&path));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}
