//! The methods that can be measured, by name: searches for witnesses, and the
//! trivial baselines that they have to beat.
//!
//! Nothing is measured here. A new method becomes one more name.

use std::fmt;
use std::str::FromStr;

use optsleuth_search::{Method, ProgramMethod};
use optsleuth_triage::TriageError;
use optsleuth_triage::culprit::CULPRIT;
use optsleuth_triage::options::OPTIONS;
use optsleuth_triage::plain::Plain;

use crate::BenchError;

/// A way to rank the compiler's code for a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contender {
    /// Clues of all kinds.
    Culprit,
    /// The same on the most suspect files, compiled anew without inlining.
    Zoom,
    /// Reduction, bisection, zoom and ranking together, as a person would have it.
    Triage,
    /// Look for witnesses among pass sequences and compare coverages.
    Search(Method),
    /// The same among programs. For cases in C.
    Programs(ProgramMethod),
    /// The same among gcc's configurations.
    Options,
    /// No search: by covered blocks, after what a person would look at first.
    Plain(Plain),
}

impl Contender {
    /// Every method, in the order of tables.
    pub fn all() -> impl Iterator<Item = Contender> {
        let searches = Method::ALL.into_iter().map(Contender::Search);
        let own = [Contender::Culprit, Contender::Zoom, Contender::Triage];
        let searches = own.into_iter().chain(searches);
        let programs = ProgramMethod::ALL.into_iter().map(Contender::Programs);
        let plain = Plain::ALL.into_iter().map(Contender::Plain);
        searches.chain(programs).chain([Contender::Options]).chain(plain)
    }

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Culprit => CULPRIT,
            Contender::Zoom => "zoom",
            Contender::Triage => "triage",
            Contender::Search(method) => method.name(),
            Contender::Programs(method) => method.name(),
            Contender::Options => OPTIONS,
            Contender::Plain(plain) => plain.name(),
        }
    }

    /// Those that work on every case, whatever its program is written in, with
    /// what is installed.
    pub fn usual() -> impl Iterator<Item = Contender> {
        Contender::all().filter(|contender| !contender.needs_c() && !contender.needs_source())
    }

    /// Whether it wants LLVM's source, and makes do without.
    pub fn needs_source(self) -> bool {
        matches!(self, Contender::Zoom | Contender::Triage)
    }

    /// Whether it ranks the code of the compiler that a case is of.
    pub fn is_for(self, of_gcc: bool) -> bool {
        match self {
            Contender::Culprit | Contender::Programs(_) | Contender::Plain(_) => true,
            Contender::Options => of_gcc,
            Contender::Zoom | Contender::Triage | Contender::Search(_) => !of_gcc,
        }
    }

    /// Why there is no measurement of it.
    pub(super) fn refused(self, of_gcc: bool) -> BenchError {
        let known = Contender::all().filter(|contender| contender.is_for(of_gcc));
        let known = known.map(Contender::name).collect::<Vec<_>>().join(", ");
        let compiler = if of_gcc { "gcc" } else { "LLVM" };
        let method = self.name().to_owned();
        TriageError::OtherCompilersMethod { method, compiler, known }.into()
    }

    /// Whether it works on C alone.
    pub fn needs_c(self) -> bool {
        matches!(self, Contender::Programs(_))
    }

    /// Whether seeds make a difference.
    pub fn is_random(self) -> bool {
        match self {
            Contender::Culprit
            | Contender::Zoom
            | Contender::Triage
            | Contender::Search(_)
            | Contender::Programs(_)
            | Contender::Options => true,
            Contender::Plain(_) => false,
        }
    }
}

fn names() -> String {
    Contender::all().map(Contender::name).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Contender {
    type Err = BenchError;

    fn from_str(text: &str) -> Result<Contender, BenchError> {
        let found = Contender::all().find(|contender| contender.name() == text);
        found.ok_or_else(|| BenchError::UnknownMethod { name: text.to_owned(), known: names() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_goes_by_its_name() {
        for contender in Contender::all() {
            assert_eq!(contender.to_string().parse::<Contender>().unwrap(), contender);
        }
        let error = "locsec".parse::<Contender>().unwrap_err();
        assert!(
            error.to_string().contains("csmith, options, by-size, pass-name, top-frame"),
            "{error}"
        );
    }
}
