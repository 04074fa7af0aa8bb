//! A source package of gcc -> a build tree with its objects.
//!
//! gcc's own build system does the work; what it has done is not done again.
//!
//! **Invariant:** what changes the code that gcc makes is configured as the
//! distribution has it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;

use super::super::Driver;
use super::GccStep;
use crate::CompilerError;
use crate::spawn::{Tool, ToolEnd};

/// Without inlining every function has code of its own; with lines every block has
/// one.
const FLAGS: &str = "-O1 -g1 -fno-inline";
/// No build takes longer.
const LONGEST: Duration = Duration::from_secs(4 * 3600);

/// The distribution's own settings that change what code is made.
const KEPT: [&str; 8] = [
    "--enable-default-pie",
    "--enable-cet",
    "--enable-gnu-unique-object",
    "--enable-linker-build-id",
    "--with-tune",
    "--with-arch",
    "--with-abi",
    "--with-gcc-major-version-only",
];

/// Builds in a folder, or goes on there; gives the build tree.
pub(super) fn build(
    driver: &Driver,
    folder: &Path,
    progress: &mut dyn FnMut(GccStep),
    stop: &dyn Fn() -> bool,
) -> Result<PathBuf, CompilerError> {
    fs::create_dir_all(folder).map_err(CompilerError::Cache)?;
    let source = folder.join("source");
    if !source.is_dir() {
        progress(GccStep::Unpacking);
        unpack(driver, &source)?;
    }
    let tree = folder.join("build");
    fs::create_dir_all(&tree).map_err(CompilerError::Cache)?;
    if !tree.join("config.status").is_file() {
        progress(GccStep::Configuring);
        let configure =
            Tool::new(source.join("configure")).directory(&tree).args(settings(driver)?);
        with_flags(configure).time(LONGEST).check()?;
    }
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let make = Tool::new("make").directory(&tree).arg(format!("-j{jobs}")).arg("all-gcc");
    let make = with_flags(make).time(LONGEST);
    let progress = std::cell::RefCell::new(progress);
    let ended = make.output_unless(&|| {
        (progress.borrow_mut())(GccStep::Building(n_objects(&tree.join("gcc"))));
        stop()
    })?;
    match ended.end {
        ToolEnd::Exited(0) => Ok(tree),
        _ => Err(make.failed(&ended, "gcc could not be built".to_owned())),
    }
}

fn with_flags(tool: Tool) -> Tool {
    tool.env("CFLAGS", FLAGS).env("CXXFLAGS", FLAGS)
}

/// `/usr/src/gcc-12/gcc-12.2.0-dfsg.tar.xz`, of the package `gcc-12-source`.
fn unpack(driver: &Driver, to: &Path) -> Result<(), CompilerError> {
    let place = PathBuf::from(format!("/usr/src/gcc-{}", driver.major));
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(&format!("gcc-{}", driver.version)) && name.contains(".tar")
    };
    let files = std::fs::read_dir(&place).into_iter().flatten().flatten().map(|file| file.path());
    let missing = || CompilerError::NoGccSource { version: driver.version.clone() };
    let archive = files.filter(is_it).min().ok_or_else(missing)?;
    let beside = to.with_extension("unpacking");
    let _ = fs::remove_dir_all(&beside); // What a killed attempt left.
    fs::create_dir_all(&beside).map_err(CompilerError::Cache)?;
    Tool::new("tar")
        .args(["--strip-components=1", "-xf"])
        .arg(&archive)
        .arg("-C")
        .arg(&beside)
        .time(LONGEST)
        .check()?;
    fs::rename(&beside, to).map_err(CompilerError::Cache)
}

/// What configure is told.
fn settings(driver: &Driver) -> Result<Vec<String>, CompilerError> {
    let said = driver.verbose_version()?;
    let theirs = said.lines().find_map(|line| line.strip_prefix("Configured with: "));
    let is_kept = |word: &&str| {
        let name = word.split('=').next().unwrap_or(word);
        KEPT.iter().any(|kept| name == *kept || name.starts_with(&format!("{kept}-")))
            // Of several architectures one is built.
            && !name.ends_with("-32")
    };
    let kept = theirs.unwrap_or_default().split_whitespace().filter(is_kept);
    let own = [
        "--enable-languages=c",
        "--enable-checking=release",
        "--disable-bootstrap",
        "--disable-multilib",
        "--disable-nls",
        "--disable-werror",
        "--enable-plugin",
        "--with-system-zlib",
        "--prefix=/usr",
    ];
    Ok(own.into_iter().chain(kept).map(str::to_owned).collect())
}

fn n_objects(folder: &Path) -> usize {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter(|file| file.path().extension().is_some_and(|ending| ending == "o")).count()
}
