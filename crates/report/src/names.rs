//! C++ names as people read them.

use optsleuth_model::FunctionName;

/// A function's name without parameters, template arguments and return type.
pub(crate) fn short_name(name: &str) -> String {
    FunctionName::parse(name).short()
}

/// A text cut to a width, with dots where something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
