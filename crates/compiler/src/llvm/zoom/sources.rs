//! The source that an installed LLVM was built from: a checkout of the user's,
//! or the distribution's source package.
//!
//! ```text
//! llvm-config ─► its package ─► its source package ─► fetched by apt ─► lib/ alone, patched, kept
//! ```
//! **Invariant:** a kept tree is whole, because it is renamed into its place.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err::{self as fs, File};
use optsleuth_model::in_words;

use super::super::install::Install;
use super::super::provision::{Step, cache_root};
use super::super::source_tree::known_as;
use crate::CompilerError;
use crate::source_package;
use crate::spawn::Tool;
use crate::workdir::Workdir;

/// What unpacking may take.
const UNPACK_TIME: Duration = Duration::from_secs(900);

/// Where LLVM's source comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SourceChoice {
    /// The distribution's source package, fetched if need be.
    #[default]
    Package,
    /// The same, but nothing is fetched.
    KeptPackage,
    /// A checkout of `llvm-project`, or the `llvm` folder of one.
    Folder(PathBuf),
}

/// LLVM's source, as far as it is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTree {
    /// The folder with `lib/` in it.
    llvm: PathBuf,
    /// What it is, for people: `llvm-toolchain-19 1:19.1.7-3`.
    pub origin: String,
}

impl SourceTree {
    /// The source of this LLVM.
    pub fn find(
        install: &Install,
        choice: &SourceChoice,
        progress: &mut (dyn FnMut(Step) + Send),
    ) -> Result<SourceTree, CompilerError> {
        match choice {
            SourceChoice::Folder(folder) => checkout(folder, install),
            SourceChoice::Package => package(install, true, progress),
            SourceChoice::KeptPackage => package(install, false, progress),
        }
    }

    /// Whether a folder looks like a checkout, whatever its version is.
    pub fn is_one(folder: &Path) -> bool {
        llvm_in(folder).is_some()
    }

    /// Where a file lies that people know as `llvm/lib/...`.
    pub fn file(&self, path: &str) -> Option<PathBuf> {
        let file = self.llvm.join(path.strip_prefix("llvm/")?);
        file.is_file().then_some(file)
    }

    pub(super) fn lib(&self) -> PathBuf {
        self.llvm.join("lib")
    }

    /// The folder that a code map names.
    pub fn folder(&self) -> String {
        self.llvm.display().to_string()
    }

    /// The path of one of LLVM's files, as people know it.
    pub fn known_as(&self, file: &str) -> Option<String> {
        known_as(&self.folder(), file)
    }
}

/// The folder `llvm` of a checkout, or the one that is given if it is that itself.
fn llvm_in(folder: &Path) -> Option<PathBuf> {
    let has_lib = |folder: &PathBuf| folder.join("lib/Transforms").is_dir();
    [folder.join("llvm"), folder.to_owned()].into_iter().find(has_lib)
}

fn checkout(folder: &Path, install: &Install) -> Result<SourceTree, CompilerError> {
    let Some(llvm) = llvm_in(folder) else {
        return Err(CompilerError::NotLlvmSource(folder.to_owned()));
    };
    let llvm = fs::canonicalize(llvm)?;
    if let Some(version) = version_of(&llvm)
        && version != install.version
    {
        let asked = install.version.clone();
        return Err(CompilerError::OtherSource { folder: folder.to_owned(), version, asked });
    }
    Ok(SourceTree { origin: llvm.display().to_string(), llvm })
}

/// The version that a source tree states; since LLVM 19 in a file that all
/// projects share.
fn version_of(llvm: &Path) -> Option<String> {
    let texts = ["../cmake/Modules/LLVMVersion.cmake", "CMakeLists.txt"];
    let texts = texts.iter().filter_map(|name| fs::read_to_string(llvm.join(name)).ok());
    texts.into_iter().find_map(|text| stated_version(&text))
}

fn stated_version(cmake: &str) -> Option<String> {
    let number = |part: &str| {
        let start = format!("set(LLVM_VERSION_{part} ");
        let line = cmake.lines().find_map(|line| line.trim().strip_prefix(&start))?;
        line.split(')').next()?.trim().parse::<u32>().ok()
    };
    Some(format!("{}.{}.{}", number("MAJOR")?, number("MINOR")?, number("PATCH")?))
}

/// A source package as apt names it.
struct Package {
    name: String,
    version: String,
}

fn package(
    install: &Install,
    may_fetch: bool,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<SourceTree, CompilerError> {
    let package = package_of(install)?;
    let name = format!("{}_{}", package.name, package.version.replace(':', "%3a"));
    let origin = format!("{} {}", package.name, package.version);
    let root = cache_root()?.join("sources");
    let place = root.join(&name);
    let tree = SourceTree { llvm: place.join("llvm"), origin: origin.clone() };
    if place.is_dir() {
        return Ok(tree);
    }
    if !may_fetch {
        return Err(CompilerError::SourceNotKept(origin));
    }
    fs::create_dir_all(&root).map_err(CompilerError::Cache)?;
    let lock = File::create(root.join(format!("{name}.lock"))).map_err(CompilerError::Cache)?;
    if lock.try_lock().is_err() {
        progress(Step::Waiting);
        lock.lock().map_err(CompilerError::Cache)?;
    }
    if !place.is_dir() {
        // Under the lock, whatever lies here is what a killed process left.
        let building = root.join(format!("{name}.building"));
        if building.exists() {
            fs::remove_dir_all(&building).map_err(CompilerError::Cache)?;
        }
        fs::create_dir(&building).map_err(CompilerError::Cache)?;
        let fetched = fetch_and_unpack(&package, &building, progress);
        if let Err(error) = fetched {
            let _ = fs::remove_dir_all(&building); // Only takes up room.
            return Err(CompilerError::NoSource { package: origin, why: complaint(&error) });
        }
        fs::rename(&building, &place).map_err(CompilerError::Cache)?;
    }
    Ok(tree)
}

/// The first line of what apt or tar complains about; their command lines say
/// nothing to anybody.
fn complaint(error: &CompilerError) -> String {
    match error {
        CompilerError::ToolFailed { stderr, how, .. } => {
            let line = stderr.lines().find(|line| !line.trim().is_empty());
            line.map_or_else(|| how.clone(), |line| line.trim_start_matches("E: ").to_owned())
        }
        other => in_words(other),
    }
}

/// The source package of the package that brought this `llvm-config`.
fn package_of(install: &Install) -> Result<Package, CompilerError> {
    let none = || CompilerError::NotPackaged(install.llvm_config.clone());
    let file = fs::canonicalize(&install.llvm_config)?;
    let owner = Tool::new("dpkg-query").arg("-S").arg(&file).text().map_err(|_| none())?;
    let owner = owner.lines().next().and_then(|line| line.split([':', ',']).next());
    let format = "-f=${source:Package}\n${source:Version}";
    let said = Tool::new("dpkg-query").args(["-W", format]).arg(owner.ok_or_else(none)?);
    let said = said.text().map_err(|_| none())?;
    let (name, version) = said.split_once('\n').ok_or_else(none)?;
    Ok(Package { name: name.to_owned(), version: version.to_owned() })
}

fn fetch_and_unpack(
    package: &Package,
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), CompilerError> {
    progress(Step::Fetching);
    let kept = Workdir::new()?;
    let downloads = kept.path();
    source_package::download(&format!("{}={}", package.name, package.version), downloads)?;
    progress(Step::Unpacking);
    let ends_in = |end: &str| -> Result<PathBuf, CompilerError> {
        let files = fs::read_dir(downloads)?.flatten().map(|entry| entry.path());
        let found = files.into_iter().find(|file| file.to_string_lossy().contains(end));
        Ok(found.ok_or_else(|| io::Error::other(format!("the package has no {end}")))?)
    };
    let tar = |archive: &Path, what: &[&str]| {
        let tool = Tool::new("tar").arg("-xaf").arg(archive).arg("-C").arg(folder);
        tool.args(what).time(UNPACK_TIME).check()
    };
    // The code of targets needs files that are generated, and is the larger half.
    let sources = ["--strip-components=1", "--exclude=*/llvm/lib/Target/*/*"];
    let sources = [&sources[..], &["--wildcards", "*/llvm/lib/*"]].concat();
    tar(&ends_in(".orig.tar")?, &sources)?;
    tar(&ends_in(".debian.tar")?, &["debian/patches"])?;
    apply_patches(folder)
}

/// What the distribution changed in the files that are here. Its other patches
/// are about files that are not.
fn apply_patches(folder: &Path) -> Result<(), CompilerError> {
    let patches = folder.join("debian/patches");
    let series = fs::read_to_string(patches.join("series"))?;
    for name in series.lines().filter_map(|line| line.split_whitespace().next()) {
        if name.starts_with('#') {
            continue;
        }
        let patch = patches.join(name);
        let text = String::from_utf8_lossy(&fs::read(&patch)?).into_owned();
        if text.lines().any(|line| line.starts_with("+++ ") && line.contains("/llvm/lib/")) {
            let tool = Tool::new("patch").args(["-p1", "--batch", "--forward", "--silent"]);
            // Status 1: some of its files are not here.
            let _ = tool.args(["--reject-file=-", "-i"]).arg(&patch).directory(folder).output()?;
        }
    }
    Ok(fs::remove_dir_all(folder.join("debian"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_tree_states_its_version() {
        let text = "if(X)\n  set(LLVM_VERSION_MAJOR 19)\nendif()\n  set(LLVM_VERSION_MINOR 1)\n\
                    set(LLVM_VERSION_PATCH 7)\n";
        assert_eq!(stated_version(text).as_deref(), Some("19.1.7"));
        assert_eq!(stated_version("set(LLVM_VERSION_MAJOR 20)"), None);
    }

    #[test]
    fn a_folder_without_llvm_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let install = crate::llvm::find(19).unwrap();
        let choice = SourceChoice::Folder(folder.path().to_owned());
        let refused = SourceTree::find(&install, &choice, &mut |_| {}).unwrap_err();
        assert!(matches!(refused, CompilerError::NotLlvmSource(_)), "{refused}");
        // The version decides, not the folder's name.
        fs::create_dir_all(folder.path().join("llvm/lib/Transforms")).unwrap();
        let cmake =
            "set(LLVM_VERSION_MAJOR 3)\nset(LLVM_VERSION_MINOR 1)\nset(LLVM_VERSION_PATCH 0)";
        fs::write(folder.path().join("llvm/CMakeLists.txt"), cmake).unwrap();
        let refused = SourceTree::find(&install, &choice, &mut |_| {}).unwrap_err();
        assert!(refused.to_string().contains("3.1.0"), "{refused}");
    }
}
