//! The search methods by name: one list for flags, results and comparisons.
//!
//! Nothing searches here; a name becomes a [`Search`].

use std::fmt;
use std::str::FromStr;

use rand_chacha::ChaCha8Rng;

use crate::{Alphabet, Constraint, Genetic, Parameters, Random, Search, SearchError};

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// The constrained genetic algorithm.
    #[default]
    Locseq,
    /// Random, with the constraint.
    LocseqR,
    /// The genetic algorithm without the constraint.
    LocseqWc,
    /// Random, without the constraint.
    LocseqRwc,
}

impl Method {
    pub const ALL: [Method; 4] =
        [Method::Locseq, Method::LocseqR, Method::LocseqWc, Method::LocseqRwc];

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Method::Locseq => "locseq",
            Method::LocseqR => "locseq-r",
            Method::LocseqWc => "locseq-wc",
            Method::LocseqRwc => "locseq-rwc",
        }
    }

    /// What its sequences have to satisfy.
    pub fn constraint(self) -> Constraint {
        match self {
            Method::Locseq | Method::LocseqR => Constraint::ContainsBuggy,
            Method::LocseqWc | Method::LocseqRwc => Constraint::Unconstrained,
        }
    }

    /// A search at its beginning.
    pub fn search(
        self,
        alphabet: Alphabet,
        parameters: Parameters,
        rng: ChaCha8Rng,
    ) -> Box<dyn Search + Send> {
        let constraint = self.constraint();
        match self {
            Method::Locseq | Method::LocseqWc => {
                Box::new(Genetic::new(alphabet, constraint, parameters, rng))
            }
            Method::LocseqR | Method::LocseqRwc => {
                Box::new(Random::new(alphabet, constraint, parameters, rng))
            }
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = SearchError;

    fn from_str(name: &str) -> Result<Method, SearchError> {
        let found = Method::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| SearchError::UnknownMethod {
            name: name.to_owned(),
            known: Method::ALL.map(Method::name).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back() {
        for method in Method::ALL {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "LocSeq".parse::<Method>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown method `LocSeq`; there are locseq, locseq-r, locseq-wc, locseq-rwc"
        );
    }
}
