//! What was provisioned, in a line and as JSON.

use optsleuth_model::GccProvision;

use crate::to_json;

/// For a terminal.
pub fn provision_text(made: &GccProvision) -> String {
    let GccProvision { gcc, files, functions, blocks, seconds, .. } = made;
    format!(
        "gcc {gcc}: {functions} functions in {files} files, {blocks} blocks of code with probes; \
         {seconds:.0} s\n"
    )
}

/// As JSON.
pub fn provision_json(made: &GccProvision) -> String {
    to_json(made)
}
