//! Is what a program does defined: who was asked, and what each of them said.
//!
//! **Invariant:** nobody can say that a program is defined, only that nothing
//! undefined was found. So one objection outweighs any number of other answers.

use serde::{Deserialize, Serialize};

/// The version of a kept answer.
pub const DEFINEDNESS_VERSION: u32 = 1;

/// Who can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checker {
    /// Interprets the unoptimized IR by LLVM's language reference.
    Referee,
    /// clang's UBSan. This and the other sanitizers look at C.
    UndefinedSanitizer,
    /// clang's ASan.
    AddressSanitizer,
    /// clang's MSan.
    MemorySanitizer,
    /// clang's TySan.
    TypeSanitizer,
    /// A compiler of another family, without optimization.
    SecondCompiler,
    /// Executions in which unused memory holds something else.
    OtherMemory,
    /// The failing compilation once more, without C's rule that an object is
    /// accessed by its own type (`-fno-strict-aliasing`).
    AliasRules,
    /// clang's or gcc's sanitizers in the guilty units of a project, while its own check
    /// ran.
    ProjectSanitizers,
}

impl Checker {
    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Checker::Referee => "referee",
            Checker::UndefinedSanitizer => "undefined-behaviour sanitizer",
            Checker::AddressSanitizer => "address sanitizer",
            Checker::MemorySanitizer => "memory sanitizer",
            Checker::TypeSanitizer => "type sanitizer",
            Checker::SecondCompiler => "second compiler",
            Checker::OtherMemory => "other contents of unused memory",
            Checker::AliasRules => "compilation with -fno-strict-aliasing",
            Checker::ProjectSanitizers => "sanitizers in the guilty units, while the check ran",
        }
    }

    /// Whether it looks at every step of a program. The others only see that two
    /// executions come to the same.
    pub fn looks_inside(self) -> bool {
        match self {
            Checker::Referee
            | Checker::UndefinedSanitizer
            | Checker::AddressSanitizer
            | Checker::MemorySanitizer
            | Checker::TypeSanitizer
            | Checker::ProjectSanitizers => true,
            Checker::SecondCompiler | Checker::OtherMemory | Checker::AliasRules => false,
        }
    }
}

/// Why a program's behaviour cannot be taken for defined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objection {
    pub kind: ObjectionKind,
    /// In words: `ov.c:3:40: signed overflow: 2147483647 + 1`, or without a
    /// subject: `unoptimized, it does not end`.
    pub what: String,
}

/// The kinds of objections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectionKind {
    /// There is no program to execute.
    NoProgram,
    /// The program reaches a limit.
    DoesNotEnd,
    /// Two executions differ, and none is known to be right.
    Disagreement,
    /// The program does what its language leaves undefined.
    Undefined,
    /// Nobody saw it do so, but what is known points to it.
    ProbablyUndefined,
    /// A sanitizer took too long: it says nothing.
    Undecided,
}

impl Objection {
    pub fn new(kind: ObjectionKind, what: impl Into<String>) -> Objection {
        Objection { kind, what: what.into() }
    }

    /// Why no compiler is accused, in a sentence that a user can act on.
    pub fn acquits(&self) -> String {
        let what = &self.what;
        match self.kind {
            ObjectionKind::Undefined => {
                format!("{what}; the program's behaviour is undefined, so no compiler is to blame")
            }
            ObjectionKind::ProbablyUndefined => format!(
                "{what}; the program's behaviour is probably undefined, so no compiler is blamed"
            ),
            ObjectionKind::NoProgram
            | ObjectionKind::DoesNotEnd
            | ObjectionKind::Disagreement
            | ObjectionKind::Undecided => format!(
                "{what}; what the program should do cannot be told, so no compiler is to blame"
            ),
        }
    }
}

/// What one of them says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// It saw the whole program run, and nothing undefined.
    NothingFound,
    Objects(Objection),
    /// It cannot say, and why.
    NoVerdict(String),
    /// It does not work on this machine.
    NotHere,
}

/// One who was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub who: Checker,
    /// Whose it is: `clang 19.1.7`.
    pub by: Option<String>,
    pub said: Said,
}

impl Answer {
    /// `undefined-behaviour sanitizer (clang 19.1.7)`.
    pub fn name(&self) -> String {
        match &self.by {
            Some(by) => format!("{} ({by})", self.who.name()),
            None => self.who.name().to_owned(),
        }
    }
}

/// Everybody who was asked about a program, in their order. Who comes after the
/// first objection was not asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definedness {
    pub version: u32,
    pub asked: Vec<Answer>,
}

impl Default for Definedness {
    fn default() -> Definedness {
        Definedness { version: DEFINEDNESS_VERSION, asked: Vec::new() }
    }
}

impl Definedness {
    /// Why no compiler is to blame, if somebody objects. That executions differ is
    /// nothing new where it is what is disputed.
    pub fn acquittal(&self, is_disputed: bool) -> Option<String> {
        let tells = |found: &&Objection| !is_disputed || found.kind == ObjectionKind::Undefined;
        self.objection().filter(tells).map(Objection::acquits)
    }

    /// What keeps everybody from accusing a compiler. That a second compiler's
    /// program does something else counts only where the referee did not find the IR
    /// defined.
    pub fn objection(&self) -> Option<&Objection> {
        let is_defined_ir = self
            .asked
            .iter()
            .any(|answer| answer.who == Checker::Referee && answer.said == Said::NothingFound);
        self.asked.iter().find_map(|answer| match &answer.said {
            Said::Objects(_) if is_defined_ir && answer.who == Checker::SecondCompiler => None,
            Said::Objects(objection) => Some(objection),
            Said::NothingFound | Said::NoVerdict(_) | Said::NotHere => None,
        })
    }

    /// Whether anybody who looks inside saw all of the program.
    pub fn has_verdict(&self) -> bool {
        self.asked
            .iter()
            .any(|answer| answer.who.looks_inside() && answer.said == Said::NothingFound)
    }

    /// For the first lines of a report: what was checked, and what could not be.
    /// Empty where nobody was asked.
    pub fn summary(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.asked.is_empty() {
            return lines;
        }
        let named = |said: fn(&Said) -> bool| {
            let those = self.asked.iter().filter(|answer| said(&answer.said));
            those.map(Answer::name).collect::<Vec<_>>().join(", ")
        };
        if !self.has_verdict() {
            lines.push(
                "Nobody can say whether the program's behaviour is defined: make sure that it is \
                 before you blame a compiler"
                    .to_owned(),
            );
        }
        let clean = named(|said| *said == Said::NothingFound);
        if !clean.is_empty() {
            lines.push(format!("Nothing undefined found by: {clean}"));
        }
        for answer in &self.asked {
            match &answer.said {
                Said::Objects(objection) => {
                    lines.push(format!("Objection of the {}: {}", answer.name(), objection.what));
                }
                Said::NoVerdict(why) => {
                    lines.push(format!("No verdict of the {}: {why}", answer.name()));
                }
                Said::NothingFound | Said::NotHere => {}
            }
        }
        let missing = named(|said| *said == Said::NotHere);
        if !missing.is_empty() {
            lines.push(format!("Not asked, because not here: {missing}"));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answers: &[(Checker, Said)]) -> Definedness {
        let answer =
            |(who, said): &(Checker, Said)| Answer { who: *who, by: None, said: said.clone() };
        Definedness { asked: answers.iter().map(answer).collect(), ..Definedness::default() }
    }

    fn objects(kind: ObjectionKind) -> Said {
        Said::Objects(Objection::new(kind, "a.c:1:2: wrong"))
    }

    #[test]
    fn a_second_compiler_counts_only_without_the_referee() {
        use Checker::{Referee, SecondCompiler};
        let differs = objects(ObjectionKind::Disagreement);
        let alone = asked(&[(SecondCompiler, differs.clone())]);
        assert!(alone.objection().is_some());
        let silent = Said::NoVerdict("a call".to_owned());
        assert!(
            asked(&[(Referee, silent), (SecondCompiler, differs.clone())]).objection().is_some()
        );
        let contradicted = asked(&[(Referee, Said::NothingFound), (SecondCompiler, differs)]);
        assert_eq!(contradicted.objection(), None);
    }

    #[test]
    fn an_objection_outweighs_everybody_else() {
        let said = asked(&[
            (Checker::Referee, Said::NothingFound),
            (Checker::MemorySanitizer, objects(ObjectionKind::Undefined)),
        ]);
        let why = said.objection().unwrap().acquits();
        assert_eq!(
            why,
            "a.c:1:2: wrong; the program's behaviour is undefined, so no compiler is to blame"
        );
    }

    #[test]
    fn that_nobody_has_a_verdict_is_said_first() {
        let said = asked(&[
            (Checker::Referee, Said::NoVerdict("a call of read".to_owned())),
            (Checker::MemorySanitizer, Said::NotHere),
            (Checker::OtherMemory, Said::NothingFound),
        ]);
        assert!(!said.has_verdict());
        let lines = said.summary();
        assert!(lines[0].starts_with("Nobody can say"), "{lines:?}");
        assert_eq!(lines[1], "Nothing undefined found by: other contents of unused memory");
        assert_eq!(lines[2], "No verdict of the referee: a call of read");
        assert_eq!(lines[3], "Not asked, because not here: memory sanitizer");
        assert_eq!(Definedness::default().summary(), [""; 0]);
    }
}
