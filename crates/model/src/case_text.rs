//! The text of a `case.toml` -> the same text about a smaller program or
//! another pipeline. Comments, order and everything else stay as they are, but
//! for the output that a smaller program should have and for what was observed
//! of the larger one. Where passes take the place of a level, the level of the
//! front end is written down, so that the passes get the same IR.

use serde::Deserialize;
use toml::Spanned;

use crate::{Case, CaseKind, ModelError, Pipeline};

/// Where the values are that change.
#[derive(Deserialize)]
struct Places {
    input: Spanned<String>,
    passes: Option<Spanned<String>>,
    level: Option<Spanned<String>>,
    codegen: Option<Spanned<String>>,
    expected: Option<Spanned<String>>,
    observed: Option<Spanned<String>>,
}

/// The text with another input and another pipeline. `output` is what the input
/// should print; wrong code has that in `expected`, where that is there at all.
pub fn retargeted(
    text: &str,
    input: &str,
    pipeline: &Pipeline,
    output: Option<&str>,
) -> Result<String, ModelError> {
    let case = Case::parse(text)?;
    let places: Places = toml::from_str(text)
        .map_err(|error| ModelError::Case { line: 1, message: error.message().to_owned() })?;
    let before = Case { input: input.to_owned(), ..case.clone() }.front_end();
    let own = Case { input: input.to_owned(), pipeline: pipeline.clone(), ..case.clone() };
    let pipeline = match pipeline {
        Pipeline::Passes(passes) if own.front_end() != before => {
            let front_end = quoted(before.name());
            format!("passes = {}\nfront_end = {front_end}", quoted(passes))
        }
        Pipeline::Passes(passes) => format!("passes = {}", quoted(passes)),
        Pipeline::Level(level) => format!("level = {}", quoted(level.name())),
        Pipeline::Codegen(level) => format!("codegen = {}", quoted(level.name())),
    };
    let old_pipeline = places.passes.or(places.level).or(places.codegen).map(|value| value.span());
    let mut changes = vec![(places.input.span(), quoted(input))];
    // The key stands before its value, at the beginning of the line.
    let line = |at: usize| text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    changes.extend(old_pipeline.map(|value| (line(value.start)..value.end, pipeline)));
    changes.extend(places.observed.map(|value| {
        let value = value.span();
        let end = text[value.end..].find('\n').map_or(text.len(), |at| value.end + at + 1);
        (line(value.start)..end, String::new())
    }));
    if let (CaseKind::WrongCode, Some(place), Some(output)) = (case.kind, &places.expected, output)
    {
        changes.push((place.span(), quoted(output)));
    }
    changes.sort_by_key(|(place, _)| place.start);
    let mut out = text.to_owned();
    for (place, with) in changes.into_iter().rev() {
        out.replace_range(place, &with);
    }
    Case::parse(&out)?;
    Ok(out)
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OptLevel;

    const TEXT: &str = "# A comment.\nversion = 1\nid = \"x\" # another\n\
        compiler = { llvm = \"19\" }\nlevel = \"O2\"\ninput = \"x.c\"\nkind = \"crash\"\n\n\
        [truth]\nfiles = [\"a.cpp\"] # the last\n";

    #[test]
    fn only_input_and_pipeline_change() {
        let passes = Pipeline::Passes("function(sroa,\"odd\"),gvn<a;b>".into());
        let changed = retargeted(TEXT, "reduced.c", &passes, Some("1")).unwrap();
        let expected = TEXT.replace("\"x.c\"", "\"reduced.c\"").replace(
            "level = \"O2\"",
            "passes = 'function(sroa,\"odd\"),gvn<a;b>'\nfront_end = \"O2\"",
        );
        assert_eq!(changed, expected);
        let fewer = Pipeline::Passes("gvn".into());
        let again = retargeted(&changed, "reduced.c", &fewer, None).unwrap();
        assert_eq!(Case::parse(&again).unwrap().front_end(), OptLevel::O2);
        assert_eq!(again.matches("front_end").count(), 1);
        let of_ir = TEXT.replace("x.c", "x.ll");
        let changed = retargeted(&of_ir, "x.ll", &fewer, None).unwrap();
        assert_eq!(changed, of_ir.replace("level = \"O2\"", "passes = \"gvn\""));
        let back = retargeted(&changed, "x.ll", &Pipeline::Level(OptLevel::O2), None).unwrap();
        assert_eq!(back, of_ir);
    }

    #[test]
    fn a_smaller_program_has_another_output() {
        let text =
            TEXT.replace("\"crash\"", "\"wrong-code\"\nexpected = \"\"\"\n1\n2\n\"\"\" # so");
        let passes = Pipeline::Passes("dce".into());
        let changed = retargeted(&text, "x.c", &passes, Some("2\n")).unwrap();
        assert_eq!(Case::parse(&changed).unwrap().expected.as_deref(), Some("2\n"));
        assert!(changed.contains("# so"));
        let text = text.replace("input", "observed = '''\nprints 1\n''' # seen\ninput");
        assert_eq!(retargeted(&text, "x.c", &passes, Some("2\n")).unwrap(), changed);
        let kept = retargeted(&text, "x.c", &passes, None).unwrap();
        assert_eq!(Case::parse(&kept).unwrap().expected.as_deref(), Some("1\n2\n"));
    }
}
