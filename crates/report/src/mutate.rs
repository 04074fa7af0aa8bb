//! Rules, places and mutants of `optsleuth mutate`.
//!
//! **Invariant:** a mutant's text is given as it is, to the byte.

use std::fmt::Write as _;

use optsleuth_model::{Mutant, Place, RulePlaces};
use serde_json::json;

use crate::{JSON_VERSION, Style};

/// The rules with the number of places, and the operators that draw theirs, for
/// a person.
pub fn rules_text(rules: &[RulePlaces], operators: &[String], style: Style) -> String {
    let mut out = String::new();
    for family in rules.chunk_by(|one, next| one.family == next.family) {
        let _ = writeln!(out, "{}", style.heading(family[0].family));
        for RulePlaces { name, places, .. } in family {
            let line = format!("{places:>7}  {name}");
            let _ = match places {
                0 => writeln!(out, "{}", style.quiet(&line)),
                _ => writeln!(out, "{line}"),
            };
        }
    }
    let _ = writeln!(out, "{}", style.heading("structure"));
    for operator in operators {
        let _ = writeln!(out, "         {operator}");
    }
    out
}

pub fn rules_json(rules: &[RulePlaces], operators: &[String]) -> String {
    json!({ "version": JSON_VERSION, "rules": rules, "operators": operators }).to_string()
}

/// The places of a rule, a line each.
pub fn places_text(places: &[Place]) -> String {
    if places.is_empty() {
        return "it applies nowhere in this program\n".to_owned();
    }
    let mut out = String::new();
    for (number, place) in places.iter().enumerate() {
        let Place { line, column, what, .. } = place;
        let _ = writeln!(out, "{number:>5}  {line}:{column}  {what}");
    }
    out
}

/// The places of a rule, given by its name, as JSON.
pub fn places_json(rule: &str, places: &[Place]) -> String {
    json!({ "version": JSON_VERSION, "rule": rule, "places": places }).to_string()
}

/// What was changed, in a line.
pub fn mutant_line(mutant: &Mutant) -> String {
    format!("{}, line {}: {}\n", mutant.by, mutant.line, mutant.what)
}

/// A mutant as JSON, its text included.
pub fn mutant_json(mutant: &Mutant) -> String {
    json!({
        "version": JSON_VERSION,
        "rule": mutant.by,
        "line": mutant.line,
        "what": mutant.what,
        "statement": mutant.statement,
        "text": mutant.text,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant() -> Mutant {
        Mutant {
            text: "int a = 1 - 2;\n".to_owned(),
            by: "plus-to-minus".to_owned(),
            line: 1,
            what: "`1 + 2` -> `1 - 2`".to_owned(),
            statement: None,
        }
    }

    #[test]
    fn a_mutant_is_one_line_for_a_person() {
        assert_eq!(mutant_line(&mutant()), "plus-to-minus, line 1: `1 + 2` -> `1 - 2`\n");
    }

    #[test]
    fn a_mutant_in_json_holds_its_text_to_the_byte() {
        let json: serde_json::Value = serde_json::from_str(&mutant_json(&mutant())).unwrap();
        assert_eq!(json["text"], "int a = 1 - 2;\n");
        assert_eq!(json["statement"], serde_json::Value::Null);
    }

    #[test]
    fn rules_stand_under_their_family() {
        let row = |name: &str, family, places| RulePlaces { name: name.to_owned(), family, places };
        let rules = [row("const-add", "qualifier", 2), row("variable", "variable", 0)];
        let text = rules_text(&rules, &["blend".to_owned()], Style::Plain);
        assert_eq!(
            text,
            "qualifier\n      2  const-add\nvariable\n      0  variable\nstructure\n         blend\n"
        );
    }

    #[test]
    fn places_are_numbered_as_they_are_applied() {
        let place = Place {
            offset: 10,
            line: 1,
            column: 11,
            what: "`1 + 2` -> `1 - 2`".to_owned(),
            statement: Some(3),
        };
        let text = places_text(&[place.clone(), place]);
        assert_eq!(text, "    0  1:11  `1 + 2` -> `1 - 2`\n    1  1:11  `1 + 2` -> `1 - 2`\n");
    }
}
