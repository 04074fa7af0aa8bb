//! The ways to rank suspects that a person can choose, by name.

use std::fmt;
use std::str::FromStr;

use optsleuth_search::{Method, ProgramMethod};

/// The culprit method's name.
pub const CULPRIT: &str = "culprit";

/// A way to rank suspects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Technique {
    /// Clues of all kinds.
    Culprit,
    /// Witnesses among pass sequences.
    Search(Method),
    /// Witnesses among programs; for cases in C.
    Programs(ProgramMethod),
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Technique::Culprit => f.write_str(CULPRIT),
            Technique::Search(method) => method.fmt(f),
            Technique::Programs(method) => method.fmt(f),
        }
    }
}

impl FromStr for Technique {
    type Err = String;

    fn from_str(text: &str) -> Result<Technique, String> {
        if text == CULPRIT {
            return Ok(Technique::Culprit);
        }
        let search = text.parse().map(Technique::Search).ok();
        let found = search.or_else(|| text.parse().map(Technique::Programs).ok());
        found.ok_or_else(|| {
            let names = Technique::all().map(|technique| technique.to_string());
            format!("unknown method `{text}`; there are {}", names.collect::<Vec<_>>().join(", "))
        })
    }
}

impl Technique {
    /// Every one of them.
    fn all() -> impl Iterator<Item = Technique> {
        let searches = Method::ALL.into_iter().map(Technique::Search);
        let programs = ProgramMethod::ALL.into_iter().map(Technique::Programs);
        std::iter::once(Technique::Culprit).chain(searches).chain(programs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technique_goes_by_its_name() {
        for technique in Technique::all() {
            assert_eq!(technique.to_string().parse(), Ok(technique));
        }
        let error = "culpirt".parse::<Technique>().unwrap_err();
        assert!(error.contains("culpirt") && error.contains("locseq-rwc, diwi,"), "{error}");
    }
}
