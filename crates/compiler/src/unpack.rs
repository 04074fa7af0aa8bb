//! An archive of a few files -> a folder with them.
//!
//! **Invariant:** nothing is written outside of the folder, whatever names the archive
//! has, and no more than is plausible for a source file.

use std::path::Path;
use std::time::Duration;

use crate::CompilerError;
use crate::spawn::Tool;

const TIME: Duration = Duration::from_secs(60);

/// Unpacks a tar archive, compressed or not.
pub fn unpack(archive: &Path, folder: &Path) -> Result<(), CompilerError> {
    let archive = std::path::absolute(archive)?;
    let tool = Tool::new("tar").arg("-xaf").arg(archive).args(["--no-same-owner", "-C"]);
    tool.arg(folder).confined_to(folder).time(TIME).check()?;
    Ok(())
}
