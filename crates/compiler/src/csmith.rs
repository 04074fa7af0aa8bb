//! csmith: where its headers are, and programs from it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::spawn::{Tool, ToolError, find_on_path};

/// Where distributions put csmith's headers.
const HEADER_FOLDERS: [&str; 3] =
    ["/usr/include/csmith", "/usr/local/include/csmith", "/usr/include/csmith-2.3.0"];

/// The folder with `csmith.h`.
pub fn headers() -> Option<PathBuf> {
    HEADER_FOLDERS.iter().map(PathBuf::from).find(|folder| folder.join("csmith.h").is_file())
}

/// The flags a C text needs to find csmith's headers; none if it includes none.
pub fn include_flags(source: &[u8]) -> Vec<String> {
    let includes_csmith =
        String::from_utf8_lossy(source).lines().any(|line| line.trim() == "#include \"csmith.h\"");
    match headers() {
        Some(folder) if includes_csmith => vec![format!("-I{}", folder.display())],
        _ => Vec::new(),
    }
}

/// Writes the program of this seed; `flags` are csmith's own.
pub fn generate(seed: u64, flags: &[&str], output: &Path) -> Result<(), ToolError> {
    let csmith = find_on_path("csmith").unwrap_or_else(|| PathBuf::from("csmith"));
    Tool::new(csmith)
        .args(["--seed", &seed.to_string()])
        .args(flags)
        .arg("-o")
        .arg(output)
        // It leaves a file where it runs.
        .directory(output.parent().unwrap_or(Path::new("/")))
        .time(Duration::from_secs(30))
        .check()?;
    Ok(())
}
