//! Remedies for pass sequences that do not fit an LLVM. Whatever else cannot be
//! read has the remedy of the file that it stands in.

use optsleuth_model::ModelError;

pub(super) fn remedy(error: &ModelError) -> Option<String> {
    match error {
        ModelError::UnknownPass { similar, .. } if similar.is_empty() => {
            Some("`optsleuth passes` lists all of them".into())
        }
        ModelError::UnknownPass { similar, .. } => {
            let names: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
            Some(format!("did you mean {}?", names.join(" or ")))
        }
        ModelError::MisplacedPass { instead, .. } => Some(format!("write `{instead}`")),
        ModelError::EmptyAdaptor(name) => Some(format!("as in `{name}(sroa)`")),
        ModelError::MissingName(_)
        | ModelError::Unopened(_)
        | ModelError::Unclosed(_)
        | ModelError::MissingComma(_)
        | ModelError::TooDeep { .. }
        | ModelError::GonePass { .. }
        | ModelError::NotAnAdaptor(_)
        | ModelError::Case { .. }
        | ModelError::Fault { .. }
        | ModelError::Coverage(_)
        | ModelError::Registry(_) => None,
    }
}
