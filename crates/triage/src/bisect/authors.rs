//! Who in LLVM wrote the lines of a change: what a worker recorded of instructions
//! -> the lines of LLVM assembly that show them.
//!
//! **Invariant:** pure. A line that no instruction stands in has no author, and
//! neither has one that only got another number.

use std::collections::BTreeMap;

use optsleuth_model::{Authorship, ChangeAuthors, Deed, InstructionPlace, LineAuthor, UnitChange};

use super::ir_text::defined_name;

/// So many deeds are told of a line, and so many callers of each.
const MAX_DEEDS: usize = 3;
const MAX_CALLERS: usize = 8;

/// The authors of a change's lines; `None` if there is none to name.
pub(super) fn of_change(change: &UnitChange, found: &Authorship) -> Option<ChangeAuthors> {
    let after = change.after.as_deref().unwrap_or_default();
    let authors = ChangeAuthors {
        before: of_lines(&change.before, &found.deeds_before()),
        after: of_lines(after, &found.deeds_after()),
        cut: found.n_cut > 0,
    };
    (!authors.before.is_empty() || !authors.after.is_empty()).then_some(authors)
}

fn of_lines(text: &str, deeds: &BTreeMap<&InstructionPlace, Vec<Deed<'_>>>) -> Vec<LineAuthor> {
    let mut authors = Vec::new();
    for (line, place) in instructions(text).into_iter().enumerate() {
        let done = place.as_ref().and_then(|place| deeds.get(place)).into_iter().flatten();
        for Deed { kind, authors: frames } in done.take(MAX_DEEDS) {
            let Some((author, callers)) = frames.split_first() else { continue };
            authors.push(LineAuthor {
                line,
                did: *kind,
                function: author.short_name(),
                file: author.file.clone().unwrap_or_default(),
                called_by: callers.iter().take(MAX_CALLERS).map(|one| one.short_name()).collect(),
            });
        }
    }
    authors
}

/// For each line of LLVM assembly the instruction that it is, or is a part of.
fn instructions(text: &str) -> Vec<Option<InstructionPlace>> {
    let mut function: Option<String> = None;
    let mut begun = 0; // How many of this function have begun.
    let place_of = |line: &str| {
        if line.starts_with("define ") {
            (function, begun) = (defined_name(line).map(unescaped), 0);
            return None;
        }
        if line.starts_with('}') {
            function = None;
        }
        let name = function.as_ref()?;
        match part_of(line)? {
            Part::Beginning => begun += 1,
            Part::Continuation => {}
        }
        Some(InstructionPlace { function: name.clone(), ordinal: u32::checked_sub(begun, 1)? })
    };
    text.lines().map(place_of).collect()
}

enum Part {
    Beginning,
    Continuation,
}

/// What a line of a function's body is to an instruction; `None` for labels,
/// comments and debug records.
fn part_of(line: &str) -> Option<Part> {
    let inside = line.strip_prefix("  ")?;
    let text = inside.trim_start();
    let is_none = ["", ";", "#dbg_", "uselistorder"]
        .iter()
        .any(|&other| if other.is_empty() { text.is_empty() } else { text.starts_with(other) });
    // The cases of a `switch`, the clauses of a `landingpad`, the labels of an
    // `invoke` are indented further; the bracket that ends a `switch` is not.
    let is_further = inside.starts_with(' ') || text.starts_with(']');
    match (is_none, is_further) {
        (true, _) => None,
        (false, true) => Some(Part::Continuation),
        (false, false) => Some(Part::Beginning),
    }
}

/// A name as it is: LLVM writes unusual bytes as a backslash and two digits.
fn unescaped(name: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let code = rest.get(1..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if first == b'\\' => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            _ => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use optsleuth_model::{AuthorEvent, AuthorFrame, AuthorKind};

    use super::*;

    const TEXT: &str = r#"; a module
define i32 @f(i32 %x) personality ptr @p {
entry:
    #dbg_value(i32 %x, !1, !DIExpression(), !2)
  %a = invoke i32 @g(i32 %x)
          to label %ok unwind label %bad, !dbg !3

ok:                                               ; preds = %entry
  ; a comment
  switch i32 %a, label %end [
    i32 1, label %end
    i32 2, label %end
  ]

bad:                                              ; preds = %entry
  %l = landingpad { ptr, i32 }
          cleanup
  resume { ptr, i32 } %l

end:
  ret i32 %a
}

define void @"odd \22name\22"() {
  ret void
}
  outside
"#;

    fn printed(text: &str) -> String {
        let place = |place: Option<InstructionPlace>| match place {
            Some(InstructionPlace { function, ordinal }) => format!("{function}{ordinal}"),
            None => "-".to_owned(),
        };
        instructions(text).into_iter().map(place).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn instructions_are_counted_however_many_lines_they_take() {
        assert_eq!(
            printed(TEXT),
            "- - - - f0 f0 - - - f1 f1 f1 f1 - - f2 f2 f3 - - f4 - - - odd \"name\"0 - -"
        );
    }

    #[test]
    fn a_name_is_read_back() {
        assert_eq!(unescaped(r"a\5Cb\C3\BC\"), "a\\bü\\");
    }

    #[test]
    fn lines_that_nothing_happened_to_have_no_author() {
        let place = |ordinal| Some(InstructionPlace { function: "f".to_owned(), ordinal });
        let frame = |function: &str, file: &str| AuthorFrame {
            address: 0,
            function: function.to_owned(),
            file: Some(file.to_owned()),
        };
        let stack = vec![
            frame("llvm::Instruction::Instruction()", "llvm/lib/IR/Instruction.cpp"),
            frame("llvm::fold(int)", "llvm/lib/Transforms/Scalar/GVN.cpp"),
            frame("llvm::GVNPass::run(int)", "llvm/lib/Transforms/Scalar/GVN.cpp"),
        ];
        let event = |kind, before, after| AuthorEvent {
            kind,
            before,
            after,
            replacement: None,
            stack: Some(0),
        };
        let found = Authorship {
            events: vec![
                event(AuthorKind::Created, None, place(1)),
                event(AuthorKind::Erased, place(0), None),
            ],
            stacks: vec![stack],
            n_cut: 0,
            is_closed: true,
        };
        let body = "define void @f() {\n  call void @g()\n  ret void\n}\n";
        let change = |after: &str| UnitChange {
            before: body.to_owned(),
            after: Some(after.to_owned()),
            authors: None,
        };
        let authors = of_change(&change(body), &found).unwrap();
        let expected = |line, did| LineAuthor {
            line,
            did,
            function: "llvm::fold".to_owned(),
            file: "llvm/lib/Transforms/Scalar/GVN.cpp".to_owned(),
            called_by: vec!["llvm::GVNPass::run".to_owned()],
        };
        assert_eq!(authors.before, [expected(1, AuthorKind::Erased)]);
        assert_eq!(authors.after, [expected(2, AuthorKind::Created)]);
        assert_eq!(of_change(&change(body), &Authorship::default()), None);
    }
}
