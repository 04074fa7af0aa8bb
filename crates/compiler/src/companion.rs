//! The other files of a command -> objects that are linked with the one under test.
//!
//! **Invariant:** the compiler is the command's own, and gets the command's own flags.

use std::path::Path;

use crate::CompilerError;
use crate::spawn::Tool;

/// Compiles a source file to an object. `flags` are the command's, with the level last.
pub fn companion(
    compiler: &Path,
    source: &Path,
    flags: &[String],
    object: &Path,
) -> Result<(), CompilerError> {
    let tool = Tool::new(compiler).args(flags).args(["-w", "-c"]).arg(source);
    tool.arg("-o").arg(object).check().map_err(|error| match error {
        CompilerError::ToolFailed { .. } => {
            CompilerError::DoesNotCompile { path: source.to_owned(), source: Box::new(error) }
        }
        other => other,
    })?;
    Ok(())
}
