//! The ways to derive variants, by name.
//!
//! **Invariant:** `Display` and `FromStr` are inverse to each other.

use std::fmt;
use std::str::FromStr;

use crate::MutateError;

/// A way to derive variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// Code for what is executed, from the values that variables have there.
    Hermes,
    /// Deletions from and insertions into what is not executed, guided by the
    /// distance from the base program.
    Athena,
    /// Deletions from what is not executed.
    Orion,
}

impl Strategy {
    /// All, the newest first.
    pub const ALL: [Strategy; 3] = [Strategy::Hermes, Strategy::Athena, Strategy::Orion];

    /// `hermes`.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Hermes => "hermes",
            Strategy::Athena => "athena",
            Strategy::Orion => "orion",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = MutateError;

    fn from_str(text: &str) -> Result<Strategy, MutateError> {
        let named = Strategy::ALL.into_iter().find(|strategy| strategy.name() == text);
        named.ok_or_else(|| MutateError::NoSuchStrategy(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_found_by_its_name() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse::<Strategy>().unwrap(), strategy);
        }
        let error = "hera".parse::<Strategy>().unwrap_err();
        assert!(matches!(error, MutateError::NoSuchStrategy(name) if name == "hera"));
    }
}
