//! The ways to rank suspects that a person can choose, by name.

use std::fmt;
use std::str::FromStr;

use optsleuth_search::{Method, UnknownMethod};

/// The culprit method's name.
pub(crate) const CULPRIT: &str = "culprit";

/// A way to rank suspects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Technique {
    /// Clues of all kinds.
    Culprit,
    /// Witnesses that a search finds.
    Search(Method),
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Technique::Culprit => f.write_str(CULPRIT),
            Technique::Search(method) => method.fmt(f),
        }
    }
}

impl FromStr for Technique {
    type Err = String;

    fn from_str(text: &str) -> Result<Technique, String> {
        if text == CULPRIT {
            return Ok(Technique::Culprit);
        }
        let method = text.parse::<Method>();
        method.map(Technique::Search).map_err(|error: UnknownMethod| format!("{error}, {CULPRIT}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technique_goes_by_its_name() {
        let all = Method::ALL.map(Technique::Search).into_iter().chain([Technique::Culprit]);
        for technique in all {
            assert_eq!(technique.to_string().parse(), Ok(technique));
        }
        let error = "culpirt".parse::<Technique>().unwrap_err();
        assert!(error.contains("culpirt") && error.contains("locseq-rwc, culprit"), "{error}");
    }
}
