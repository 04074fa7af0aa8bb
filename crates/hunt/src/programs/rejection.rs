//! Why a program is not used.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind of reason. A closed set, in the order in which they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Rejection {
    /// csmith gave up, or did not come to an end.
    CsmithFailed,
    /// Fewer bytes of C than asked for.
    TooSmall,
    /// A compiler refuses it, unoptimized, or it cannot be linked.
    DoesNotCompile,
    /// It needs more time, memory or output than it may.
    DoesNotEnd,
    /// What it does depends on how it is compiled.
    CompilersDisagree,
    /// It does what its language leaves undefined.
    Undefined,
}

impl Rejection {
    /// All of them.
    pub const ALL: [Rejection; 6] = [
        Rejection::CsmithFailed,
        Rejection::TooSmall,
        Rejection::DoesNotCompile,
        Rejection::DoesNotEnd,
        Rejection::CompilersDisagree,
        Rejection::Undefined,
    ];

    /// In a few words.
    pub fn name(self) -> &'static str {
        match self {
            Rejection::CsmithFailed => "csmith failed",
            Rejection::TooSmall => "too small",
            Rejection::DoesNotCompile => "does not compile",
            Rejection::DoesNotEnd => "does not end",
            Rejection::CompilersDisagree => "compilers disagree",
            Rejection::Undefined => "undefined",
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A program that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The file's name, or `csmith-000017` with csmith's seed.
    pub name: String,
    /// Why not.
    pub reason: Rejection,
    /// What was seen, in a line.
    pub what: String,
}

/// How many were rejected for which reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejections(BTreeMap<Rejection, usize>);

impl Rejections {
    /// Counts these, too.
    pub fn add<'a>(&mut self, rejected: impl IntoIterator<Item = &'a Rejected>) {
        for one in rejected {
            *self.0.entry(one.reason).or_default() += 1;
        }
    }

    /// Of one reason.
    pub fn count(&self, reason: Rejection) -> usize {
        self.0.get(&reason).copied().unwrap_or_default()
    }

    /// Of all.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }
}

/// `3 too small, 1 undefined`; nothing where there are none.
impl fmt::Display for Rejections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.0.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_in_their_order() {
        let rejected = |reason| Rejected { name: "p".into(), reason, what: String::new() };
        let mut counts = Rejections::default();
        counts.add(&[Rejection::Undefined, Rejection::TooSmall, Rejection::TooSmall].map(rejected));
        assert_eq!(counts.to_string(), "2 too small, 1 undefined");
        assert_eq!((counts.count(Rejection::DoesNotEnd), counts.total()), (0, 3));
        assert_eq!(Rejections::default().to_string(), "");
    }
}
