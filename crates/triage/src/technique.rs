//! The ways to rank suspects that a person can choose, by name.

use std::fmt;
use std::str::FromStr;

use optsleuth_search::{Method, ProgramMethod};

use crate::TriageError;
use crate::culprit::CULPRIT;
use crate::options::OPTIONS;
use crate::plain::Plain;

/// A way to rank suspects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Technique {
    /// Clues of all kinds.
    Culprit,
    /// Witnesses among pass sequences.
    Search(Method),
    /// Witnesses among programs; for cases in C.
    Programs(ProgramMethod),
    /// Witnesses among gcc's configurations.
    Options,
    /// No witness; for cases of gcc.
    Plain(Plain),
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Technique::Culprit => f.write_str(CULPRIT),
            Technique::Search(method) => method.fmt(f),
            Technique::Programs(method) => method.fmt(f),
            Technique::Options => f.write_str(OPTIONS),
            Technique::Plain(plain) => plain.fmt(f),
        }
    }
}

impl FromStr for Technique {
    type Err = String;

    fn from_str(text: &str) -> Result<Technique, String> {
        let known = Technique::all().find(|technique| technique.to_string() == text);
        known.ok_or_else(|| {
            format!("unknown method `{text}`; there are {}", names(Technique::all()))
        })
    }
}

impl Technique {
    /// Every one of them.
    fn all() -> impl Iterator<Item = Technique> {
        let searches = Method::ALL.into_iter().map(Technique::Search);
        let programs = ProgramMethod::ALL.into_iter().map(Technique::Programs);
        let plain = Plain::ALL.into_iter().map(Technique::Plain);
        let all = std::iter::once(Technique::Culprit).chain(searches).chain(programs);
        all.chain([Technique::Options]).chain(plain)
    }

    /// Whether it ranks LLVM's code.
    fn is_for_llvm(self) -> bool {
        match self {
            Technique::Culprit | Technique::Search(_) | Technique::Programs(_) => true,
            Technique::Options | Technique::Plain(_) => false,
        }
    }

    /// Whether it ranks gcc's code: gcc's passes have no sequence to search.
    fn is_for_gcc(self) -> bool {
        match self {
            Technique::Culprit
            | Technique::Programs(_)
            | Technique::Options
            | Technique::Plain(_) => true,
            Technique::Search(_) => false,
        }
    }

    /// An error for a case of a compiler that it is not for.
    pub fn require(self, of_gcc: bool) -> Result<(), TriageError> {
        match self.is_for(of_gcc) {
            true => Ok(()),
            false => Err(self.refused(of_gcc)),
        }
    }

    pub fn refused(self, of_gcc: bool) -> TriageError {
        let known = names(Technique::all().filter(|technique| technique.is_for(of_gcc)));
        let compiler = if of_gcc { "gcc" } else { "LLVM" };
        TriageError::OtherCompilersMethod { method: self.to_string(), compiler, known }
    }

    fn is_for(self, of_gcc: bool) -> bool {
        if of_gcc { self.is_for_gcc() } else { self.is_for_llvm() }
    }
}

fn names(techniques: impl Iterator<Item = Technique>) -> String {
    techniques.map(|technique| technique.to_string()).collect::<Vec<_>>().join(", ")
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

    #[test]
    fn a_case_of_gcc_has_methods_of_its_own() {
        let locseq: Technique = "locseq".parse().unwrap();
        let said = locseq.require(true).unwrap_err().to_string();
        assert!(said.contains("culprit, diwi,") && said.contains("options, by-size"), "{said}");
        assert!(!said.contains("locseq-r,"), "{said}");
        Technique::Options.require(false).expect_err("LLVM has no such options");
        for technique in Technique::all() {
            assert!(technique.require(true).is_ok() || technique.require(false).is_ok());
        }
    }
}
