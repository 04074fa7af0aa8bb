//! Functions of a unit's IR, and the same IR with some of them not optimized.
//!
//! Stands between the front end and the worker. The text is edited: `optnone` and
//! `noinline` are words that every LLVM's passes respect, and no option sets them
//! without offending other attributes.
//!
//! **Invariant:** nothing but attributes of definitions changes.

use std::collections::{BTreeMap, BTreeSet};

/// Attributes that cannot stand beside `optnone` and `noinline`.
const INCOMPATIBLE: [&str; 3] = ["minsize", "optsize", "inlinehint"];
/// Such a function is inlined without optimization, too, and may have no code of its own
/// anywhere: libraries do not export theirs.
const ALWAYS_INLINED: &str = "alwaysinline";

/// Functions whose optimization can be switched off, in their order, by the names they
/// have in the IR.
pub fn defined_functions(ir: &str) -> Vec<&str> {
    let groups = attribute_groups(ir);
    ir.lines()
        .filter_map(definition)
        .filter(|found| found.group.is_some_and(|(group, _)| !is_always_inlined(&groups, group)))
        .map(|found| found.name)
        .collect()
}

fn is_always_inlined(groups: &BTreeMap<u32, &str>, group: u32) -> bool {
    let attributes = groups.get(&group).copied().unwrap_or_default();
    attributes.split_whitespace().any(|word| word == ALWAYS_INLINED)
}

/// The IR in which only these functions are optimized, and nothing is inlined into
/// others or from them.
pub fn without_optimization(ir: &str, optimized: &BTreeSet<&str>) -> String {
    let groups = attribute_groups(ir);
    let mut next = groups.keys().max().map_or(0, |last| last + 1);
    let mut made: BTreeMap<u32, u32> = BTreeMap::new();
    let mut text = String::with_capacity(ir.len() + 4096);
    for line in ir.lines() {
        match definition(line) {
            Some(Definition { name, group: Some((group, at)) })
                if !optimized.contains(name) && !is_always_inlined(&groups, group) =>
            {
                let new = *made.entry(group).or_insert_with(|| {
                    next += 1;
                    next - 1
                });
                let rest = &line[at..].trim_start_matches(|letter: char| letter.is_ascii_digit());
                text += &line[..at];
                text += &new.to_string();
                text += rest;
            }
            _ => text += line,
        }
        text.push('\n');
    }
    for (old, new) in made {
        let attributes = groups.get(&old).copied().unwrap_or_default();
        let kept = attributes.split_whitespace().filter(|word| !INCOMPATIBLE.contains(word));
        let kept = kept.filter(|word| !["optnone", "noinline"].contains(word));
        let all: Vec<&str> = ["noinline", "optnone"].into_iter().chain(kept).collect();
        text += &format!("attributes #{new} = {{ {} }}\n", all.join(" "));
    }
    text
}

struct Definition<'a> {
    name: &'a str,
    /// The number of its attributes, and where that stands in the line.
    group: Option<(u32, usize)>,
}

fn definition(line: &str) -> Option<Definition<'_>> {
    if !line.starts_with("define ") {
        return None;
    }
    let at = line.find('@')? + 1;
    let name = match line[at..].strip_prefix('"') {
        Some(quoted) => &quoted[..quoted.find('"')?],
        None => &line[at..at + line[at..].find('(')?],
    };
    let mut is_quoted = false;
    let mut group = None;
    for (place, letter) in line.char_indices().skip_while(|(place, _)| *place < at) {
        match letter {
            '"' => is_quoted = !is_quoted,
            '#' if !is_quoted => {
                let digits: String =
                    line[place + 1..].chars().take_while(char::is_ascii_digit).collect();
                group = digits.parse().ok().map(|number| (number, place + 1));
                break;
            }
            _ => {}
        }
    }
    Some(Definition { name, group })
}

/// `attributes #N = { ... }` -> what is between the braces.
fn attribute_groups(ir: &str) -> BTreeMap<u32, &str> {
    let group = |line: &'_ str| -> Option<(u32, std::ops::Range<usize>)> {
        let rest = line.strip_prefix("attributes #")?;
        let (number, _) = rest.split_once(" = {")?;
        let start = line.find('{')? + 1;
        Some((number.parse().ok()?, start..line.rfind('}')?))
    };
    ir.lines()
        .filter_map(|line| group(line).map(|(number, range)| (number, &line[range])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const IR: &str = "\
define dso_local i32 @first(ptr noundef %0) #0 {
  ret i32 0
}
define linkonce_odr void @\"second#1\"() local_unnamed_addr #3 comdat personality ptr @p {
  ret void
}
define available_externally void @fourth() #5 {
  ret void
}
declare void @third() #0
attributes #0 = { nounwind \"frame-pointer\"=\"all\" }
attributes #3 = { mustprogress optsize }
attributes #5 = { alwaysinline }
";

    #[test]
    fn definitions_have_names() {
        assert_eq!(defined_functions(IR), ["first", "second#1"]);
    }

    #[test]
    fn only_the_chosen_are_optimized() {
        let text = without_optimization(IR, &BTreeSet::from(["first"]));
        assert!(text.contains("@first(ptr noundef %0) #0 {"), "{text}");
        assert!(text.contains("local_unnamed_addr #6 comdat personality"), "{text}");
        assert!(text.ends_with("attributes #6 = { noinline optnone mustprogress }\n"), "{text}");
        let none = without_optimization(IR, &BTreeSet::new());
        let own = "attributes #6 = { noinline optnone nounwind \"frame-pointer\"=\"all\" }\n";
        assert!(none.contains(own) && none.contains("declare void @third() #0"), "{none}");
        assert_eq!(without_optimization(IR, &BTreeSet::from(["first", "second#1"])), IR);
    }
}
