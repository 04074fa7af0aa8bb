//! csmith: where its headers are, and programs from it.
//!
//! Says how csmith ended, never whether a program is any good.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::CompilerError;
use crate::spawn::{Tool, ToolOutput, find_on_path};
use crate::workdir::Workdir;

/// Where distributions put csmith's headers.
const HEADER_FOLDERS: [&str; 3] =
    ["/usr/include/csmith", "/usr/local/include/csmith", "/usr/include/csmith-2.3.0"];

/// The line by which a program is csmith's.
pub(crate) const INCLUDE: &str = "#include \"csmith.h\"";

/// The folder with `csmith.h`.
pub fn headers() -> Option<PathBuf> {
    HEADER_FOLDERS.iter().map(PathBuf::from).find(|folder| folder.join("csmith.h").is_file())
}

/// The flags a C text needs to find csmith's headers; none if it includes none.
pub fn include_flags(source: &[u8]) -> Vec<String> {
    let includes_csmith =
        String::from_utf8_lossy(source).lines().any(|line| line.trim() == INCLUDE);
    match headers() {
        Some(folder) if includes_csmith => vec![format!("-I{}", folder.display())],
        _ => Vec::new(),
    }
}

/// For programs that are compiled in a few milliseconds and have a bit of
/// everything.
pub const SMALL_PROGRAMS: [&str; 19] = [
    "--max-funcs",
    "3",
    "--max-block-depth",
    "3",
    "--max-block-size",
    "3",
    "--max-expr-complexity",
    "4",
    "--max-array-dim",
    "2",
    "--max-array-len-per-dim",
    "6",
    "--max-struct-fields",
    "4",
    "--max-union-fields",
    "3",
    "--no-argc",
    "--concise",
    "--no-packed-struct",
];

/// What takes longer than this never ends. CPU time: how busy the machine is
/// must not decide what is made.
const LONGEST: Duration = Duration::from_secs(5);

/// Whether csmith and its headers are here.
pub fn is_installed() -> bool {
    headers().is_some() && find_on_path("csmith").is_some()
}

/// What csmith says of itself.
pub fn version() -> Result<String, CompilerError> {
    // It leaves a file where it runs.
    let folder = Workdir::new()?;
    tool().arg("--version").directory(folder.path()).text()
}

/// Its probabilities, in its own format, as they are without options.
pub fn default_probabilities(folder: &Path) -> Result<String, CompilerError> {
    let file = folder.join("probabilities.txt");
    tool().arg("--dump-default-probabilities").arg(&file).directory(folder).check()?;
    Ok(fs_err::read_to_string(&file)?)
}

/// Writes the program of this seed; `flags` are csmith's own.
pub fn generate(seed: u64, flags: &[&str], output: &Path) -> Result<(), CompilerError> {
    command(seed, flags, output).cpu(LONGEST).check()?;
    Ok(())
}

/// The same with these probabilities. Some of those have csmith look for what
/// it can never find, so it has a limit of CPU time, and how it ended is for
/// the caller to judge.
pub fn generate_within(
    cpu: Duration,
    seed: u64,
    flags: &[&str],
    probabilities: Option<&Path>,
    output: &Path,
) -> Result<ToolOutput, CompilerError> {
    let mut tool = command(seed, flags, output).cpu(cpu);
    if let Some(file) = probabilities {
        tool = tool.arg("--probability-configuration").arg(file);
    }
    tool.output()
}

fn command(seed: u64, flags: &[&str], output: &Path) -> Tool {
    tool()
        .args(["--seed", &seed.to_string()])
        .args(flags)
        .arg("-o")
        .arg(output)
        // As above.
        .directory(output.parent().unwrap_or(Path::new("/")))
}

fn tool() -> Tool {
    Tool::new(find_on_path("csmith").unwrap_or_else(|| PathBuf::from("csmith")))
}
