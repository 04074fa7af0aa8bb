//! The 132 rules, by name.
//!
//! DiWi has 132 rules over the holes of its Table 1; these are ours:
//!
//! | family | rules | how many |
//! |---|---|---|
//! | qualifier | add, remove × `volatile const restrict` | 6 |
//! | modifier | add (or put in another's place), remove × `unsigned signed short long` | 8 |
//! | variable | another variable | 1 |
//! | constant | `+1 -1 *0 *(-1)` | 4 |
//! | unary | 5 operators: each by each other (20), each removed (5) | 25 |
//! | binary | each by each other of its class: 20 + 30 + 6 + 2 + 2, and assigning 20 + 6 + 2 | 88 |
//!
//! The fifth unary operator is negation, `!` or `~`.
//!
//! **Invariant:** names are stable; the order of the list is that of `Ord`.

use std::fmt;
use std::str::FromStr;

use crate::MutateError;

use crate::operator::{BinaryOperator, UnaryOperator};
use crate::program::Word;

/// One way to change a program a little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule(pub(crate) Change);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    Qualifier(Qualifier, Action),
    Modifier(Modifier, Action),
    Variable,
    Constant(Arithmetic),
    /// Removed, where there is no second operator.
    Unary(UnaryOperator, Option<UnaryOperator>),
    Binary(BinaryOperator, BinaryOperator),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    Add,
    Remove,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Qualifier {
    Volatile,
    Const,
    Restrict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Modifier {
    Unsigned,
    Signed,
    Short,
    Long,
}

/// What is done to a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Arithmetic {
    PlusOne,
    MinusOne,
    TimesZero,
    TimesMinusOne,
}

impl Qualifier {
    const ALL: [Qualifier; 3] = [Qualifier::Volatile, Qualifier::Const, Qualifier::Restrict];

    pub(crate) fn word(self) -> Word {
        match self {
            Qualifier::Volatile => Word::Volatile,
            Qualifier::Const => Word::Const,
            Qualifier::Restrict => Word::Restrict,
        }
    }

    /// As it is written into a program; C of 1989 does not know `restrict`.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Qualifier::Volatile => "volatile",
            Qualifier::Const => "const",
            Qualifier::Restrict => "__restrict",
        }
    }
}

impl Modifier {
    const ALL: [Modifier; 4] =
        [Modifier::Unsigned, Modifier::Signed, Modifier::Short, Modifier::Long];
}

impl Arithmetic {
    const ALL: [Arithmetic; 4] = [
        Arithmetic::PlusOne,
        Arithmetic::MinusOne,
        Arithmetic::TimesZero,
        Arithmetic::TimesMinusOne,
    ];
}

/// What rules change. RecBi's local operators are these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    Qualifier,
    Modifier,
    Variable,
    Constant,
    Unary,
    Binary,
}

impl Family {
    /// All, in the order of the rules.
    pub const ALL: [Family; 6] = [
        Family::Qualifier,
        Family::Modifier,
        Family::Variable,
        Family::Constant,
        Family::Unary,
        Family::Binary,
    ];

    /// Its rules, in order.
    pub fn rules(self) -> impl Iterator<Item = Rule> {
        Rule::all().filter(move |rule| rule.family() == self)
    }

    /// `qualifier`.
    pub fn name(self) -> &'static str {
        match self {
            Family::Qualifier => "qualifier",
            Family::Modifier => "modifier",
            Family::Variable => "variable",
            Family::Constant => "constant",
            Family::Unary => "unary",
            Family::Binary => "binary",
        }
    }
}

impl Rule {
    /// All 132, in a stable order.
    pub fn all() -> impl Iterator<Item = Rule> {
        let actions = [Action::Add, Action::Remove];
        let qualifiers = Qualifier::ALL
            .into_iter()
            .flat_map(move |word| actions.map(|action| Change::Qualifier(word, action)));
        let modifiers = Modifier::ALL
            .into_iter()
            .flat_map(move |word| actions.map(|action| Change::Modifier(word, action)));
        let unary = UnaryOperator::ALL.into_iter().flat_map(|from| {
            let others = UnaryOperator::ALL.into_iter().filter(move |&to| to != from).map(Some);
            [None].into_iter().chain(others).map(move |to| Change::Unary(from, to))
        });
        let binary = BinaryOperator::ALL
            .iter()
            .flat_map(|&from| from.others().map(move |to| Change::Binary(from, to)));
        qualifiers
            .chain(modifiers)
            .chain([Change::Variable])
            .chain(Arithmetic::ALL.map(Change::Constant))
            .chain(unary)
            .chain(binary)
            .map(Rule)
    }

    /// `plus-to-minus`.
    pub fn name(self) -> String {
        let action = |word: &str, action| match action {
            Action::Add => format!("{word}-add"),
            Action::Remove => format!("{word}-remove"),
        };
        match self.0 {
            Change::Qualifier(Qualifier::Volatile, what) => action("volatile", what),
            Change::Qualifier(Qualifier::Const, what) => action("const", what),
            Change::Qualifier(Qualifier::Restrict, what) => action("restrict", what),
            Change::Modifier(Modifier::Unsigned, what) => action("unsigned", what),
            Change::Modifier(Modifier::Signed, what) => action("signed", what),
            Change::Modifier(Modifier::Short, what) => action("short", what),
            Change::Modifier(Modifier::Long, what) => action("long", what),
            Change::Variable => "variable".to_owned(),
            Change::Constant(Arithmetic::PlusOne) => "constant-plus-one".to_owned(),
            Change::Constant(Arithmetic::MinusOne) => "constant-minus-one".to_owned(),
            Change::Constant(Arithmetic::TimesZero) => "constant-times-zero".to_owned(),
            Change::Constant(Arithmetic::TimesMinusOne) => "constant-times-minus-one".to_owned(),
            Change::Unary(from, Some(to)) => format!("{}-to-{}", from.name(), to.name()),
            Change::Unary(from, None) => format!("{}-remove", from.name()),
            Change::Binary(from, to) => format!("{}-to-{}", from.name(), to.name()),
        }
    }

    pub fn family(self) -> Family {
        match self.0 {
            Change::Qualifier(..) => Family::Qualifier,
            Change::Modifier(..) => Family::Modifier,
            Change::Variable => Family::Variable,
            Change::Constant(_) => Family::Constant,
            Change::Unary(..) => Family::Unary,
            Change::Binary(..) => Family::Binary,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl FromStr for Rule {
    type Err = MutateError;

    fn from_str(text: &str) -> Result<Rule, MutateError> {
        Rule::all()
            .find(|rule| rule.name() == text)
            .ok_or_else(|| MutateError::NoSuchRule(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_132_rules_as_in_the_paper() {
        assert_eq!(Rule::all().count(), 132);
        let counts: Vec<usize> = Family::ALL.map(|family| family.rules().count()).into();
        assert_eq!(counts, [6, 8, 1, 4, 25, 88]);
    }

    #[test]
    fn every_rule_is_found_by_its_name_and_no_two_share_one() {
        let names: BTreeSet<String> = Rule::all().map(Rule::name).collect();
        assert_eq!(names.len(), 132);
        for rule in Rule::all() {
            assert_eq!(rule.name().parse::<Rule>().unwrap(), rule);
        }
        let error = "plus".parse::<Rule>().unwrap_err();
        assert!(matches!(error, MutateError::NoSuchRule(name) if name == "plus"));
    }

    #[test]
    fn the_list_is_in_order() {
        assert!(Rule::all().is_sorted());
    }
}
