//! The list of `optsleuth passes`.

use std::fmt::Write as _;

use optsleuth_model::{Level, PassInfo, PassRegistry};
use serde::Serialize;

use crate::{JSON_VERSION, Style, to_json};

#[derive(Serialize)]
struct PassesJson<'a> {
    version: u32,
    llvm: &'a str,
    passes: &'a [PassInfo],
}

/// The registry as a JSON document.
pub fn passes_json(llvm: &str, registry: &PassRegistry) -> String {
    let json = PassesJson { version: JSON_VERSION, llvm, passes: registry.passes() };
    to_json(&json)
}

/// The registry for a person, by level.
pub fn passes_text(llvm: &str, registry: &PassRegistry, style: Style) -> String {
    let mut out = String::new();
    for level in Level::ALL {
        let passes: Vec<&PassInfo> =
            registry.passes().iter().filter(|pass| pass.level == level).collect();
        let heading = format!("{level} passes of LLVM {llvm} ({})", passes.len());
        let _ = writeln!(out, "{}", style.heading(&heading));
        for pass in passes {
            let params = match pass.params.is_empty() {
                true => String::new(),
                false => style.quiet(&format!("<{}>", pass.params.join(";"))),
            };
            let _ = writeln!(out, "  {}{params}", pass.name);
        }
    }
    out
}
