//! When two deviations are the same bug: one rule for every hunt.
//!
//! 1. Before anything is run again, by the [`Mark`]: the same compiler and the
//!    same mark, if the mark is telling ([`is_telling`]).
//! 2. After what triggers the failure was reduced, by the [`DedupKey`]: the same
//!    compiler, kind, pass and signature. The pass is the one that the failure
//!    happened in; of wrong code, the one after which the referee first finds the
//!    program wrong; else the last one of the reduced sequence, or the guilty one by
//!    bisection, of LLVM or of gcc. Wrong code, hangs and lack of memory have no
//!    signature.
//! 3. Where neither a pass nor a signature is known (wrong code of clang's driver, or
//!    that gcc makes without a pass that can be skipped; a hang of a driver), by how it
//!    shows: the levels, and the kinds of snippets that it needs.
//!
//! **Invariant:** the program, its numbers and what was hunted with are no part of
//! it, so both kinds of hunts give the same key for the same failure.

use std::fmt;

use optsleuth_model::{BisectedInvocation, Bisection, CaseKind};

use super::test_result::Mark;

/// Whether two deviations of one compiler with this mark are the same bug,
/// whatever their programs. A crash's signature names the place in the compiler.
/// Other marks tell only with a pass: the verifier says the same of many passes'
/// work, and the code generator of what any of them may have broken. Wrong code is
/// as its program is.
pub(crate) fn is_telling(mark: &Mark) -> bool {
    match mark.kind {
        CaseKind::Crash => true,
        CaseKind::InvalidIr | CaseKind::Hang | CaseKind::Memory => mark.pass.is_some(),
        CaseKind::WrongCode | CaseKind::Codegen => false,
    }
}

/// Whether two deviations of one compiler, on variants of one program, are taken
/// for the same bug until one of them was examined: variants have most of their
/// snippets in common.
pub(crate) fn is_same_in_program(one: &Mark, other: &Mark) -> bool {
    let tells = is_telling(one) || is_telling(other);
    one.kind == other.kind && (one == other || !tells)
}

/// The pass that a bisection tells findings apart by. gcc runs some passes more than
/// once and numbers them, `tree-dom2`: which of them a bug shows in is chance.
pub(crate) fn pass_of(bisection: &Bisection, guilty: &BisectedInvocation) -> String {
    match bisection.gcc {
        Some(_) => guilty.pass.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(),
        None => guilty.pass.clone(),
    }
}

/// What findings are told apart by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DedupKey {
    /// `llvm-19`, `gcc-12`.
    pub(crate) compiler: String,
    pub(crate) kind: CaseKind,
    pub(crate) pass: Option<String>,
    pub(crate) signature: String,
    /// How it shows, for where neither pass nor signature is known.
    pub(crate) shows: String,
}

impl DedupKey {
    /// What a failing run says of it.
    pub(crate) fn of(compiler: &str, mark: &Mark, shows: String) -> DedupKey {
        DedupKey {
            compiler: compiler.to_owned(),
            kind: mark.kind,
            pass: mark.pass.clone(),
            signature: match mark.kind {
                // What a wrong program prints is as its program is.
                CaseKind::WrongCode => String::new(),
                _ => mark.signature.clone(),
            },
            shows,
        }
    }

    /// Whether no bisection is needed to say more: a crash has its signature, and
    /// anything else its pass.
    pub(crate) fn is_complete(&self) -> bool {
        self.pass.is_some() || self.kind == CaseKind::Crash
    }

    /// What is told of it besides compiler, kind and pass.
    pub(crate) fn distinction(&self) -> &str {
        match self.pass.is_none() && self.signature.is_empty() {
            true => &self.shows,
            false => &self.signature,
        }
    }
}

impl fmt::Display for DedupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pass = self.pass.as_deref().unwrap_or("-");
        let (compiler, kind) = (&self.compiler, self.kind.name());
        write!(f, "{compiler} | {kind} | {pass} | {}", self.distinction())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(kind: CaseKind, pass: Option<&str>, signature: &str) -> Mark {
        Mark { kind, pass: pass.map(str::to_owned), signature: signature.to_owned() }
    }

    #[test]
    fn a_crash_tells_and_others_only_with_a_pass() {
        assert!(is_telling(&mark(CaseKind::Crash, Some("gvn"), "boom")));
        assert!(is_telling(&mark(CaseKind::Crash, None, "boom")));
        assert!(is_telling(&mark(CaseKind::Hang, Some("gvn"), "")));
        assert!(!is_telling(&mark(CaseKind::Hang, None, "")));
        assert!(!is_telling(&mark(CaseKind::InvalidIr, None, "PHI N is bad")));
        assert!(!is_telling(&mark(CaseKind::Codegen, None, "boom")));
        assert!(!is_telling(&mark(CaseKind::WrongCode, None, "0123")));
    }

    #[test]
    fn variants_of_one_program_that_print_different_things_show_one_bug() {
        let wrong = |digits| mark(CaseKind::WrongCode, None, digits);
        assert!(is_same_in_program(&wrong("1"), &wrong("2")));
        let crash = |text| mark(CaseKind::Crash, None, text);
        assert!(is_same_in_program(&crash("a"), &crash("a")));
        assert!(!is_same_in_program(&crash("a"), &crash("b")));
        assert!(!is_same_in_program(&crash("a"), &wrong("a")));
    }

    #[test]
    fn a_key_has_compiler_kind_pass_and_signature_else_how_it_shows() {
        let key = |kind, pass: Option<&str>, signature: &str| DedupKey {
            compiler: "llvm-19".to_owned(),
            kind,
            pass: pass.map(str::to_owned),
            signature: signature.to_owned(),
            shows: "O2 O3".to_owned(),
        };
        let crash = key(CaseKind::Crash, Some("gvn"), "boom N");
        assert_eq!(crash.to_string(), "llvm-19 | crash | gvn | boom N");
        let wrong = key(CaseKind::WrongCode, Some("gvn"), "");
        assert_eq!(wrong.to_string(), "llvm-19 | wrong-code | gvn | ");
        let hang = key(CaseKind::Hang, None, "");
        assert_eq!(hang.to_string(), "llvm-19 | hang | - | O2 O3");
        assert!(crash.is_complete() && wrong.is_complete() && !hang.is_complete());
    }
}
