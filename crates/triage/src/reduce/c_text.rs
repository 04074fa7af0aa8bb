//! The text of a C program -> pieces that may be cut out of it: declarations,
//! statements, lines, the head and braces around a block, single tokens.
//!
//! No parser: what a cut makes is compiled, and clang says whether it is C.

use std::ops::Range;

/// Places that go together.
pub(super) type Cut = Vec<Range<usize>>;

/// In which pieces a text is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// Declarations and functions at depth 0, statements below.
    Statements(usize),
    /// Lines.
    Lines,
    /// What is around a block, so that its statements stay.
    Blocks,
    /// Words and signs.
    Tokens,
}

impl Grain {
    /// In words, for people who wait.
    pub(super) fn name(self) -> &'static str {
        match self {
            Grain::Statements(0) => "declarations and functions",
            Grain::Statements(_) => "statements",
            Grain::Lines => "lines",
            Grain::Blocks => "blocks around statements",
            Grain::Tokens => "tokens",
        }
    }

    /// The pieces of a text.
    pub(super) fn cuts(self, text: &str) -> Vec<Cut> {
        match self {
            Grain::Statements(depth) => {
                pieces(text, depth).into_iter().map(|piece| vec![piece.range]).collect()
            }
            Grain::Lines => lines(text),
            Grain::Blocks => blocks(text),
            Grain::Tokens => tokens(text).into_iter().map(|token| vec![token]).collect(),
        }
    }
}

/// How deep the braces of a text are.
pub(super) fn depth(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for token in tokens(text) {
        match &text[token] {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// A text without these pieces of it.
pub(super) fn without(text: &str, cuts: &[&Cut]) -> String {
    let mut ranges: Vec<&Range<usize>> = cuts.iter().flat_map(|cut| cut.iter()).collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut out = String::new();
    let mut at = 0;
    for range in ranges {
        if range.start > at {
            out.push_str(&text[at..range.start]);
        }
        at = at.max(range.end);
    }
    out.push_str(&text[at..]);
    out
}

fn lines(text: &str) -> Vec<Cut> {
    let mut at = 0;
    let mut cut = |line: &str| {
        let start = at;
        at += line.len();
        std::iter::once(start..at).collect()
    };
    text.split_inclusive('\n').map(&mut cut).collect()
}

/// Words, numbers, strings and signs. Comments are none, and a directive is one
/// as a whole.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let find = |end: &str| rest.find(end).map_or(rest.len(), |place| place + end.len());
        let length = match bytes[at] {
            _ if rest.starts_with("//") => {
                at += find("\n");
                continue;
            }
            _ if rest.starts_with("/*") => {
                at += find("*/");
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'#' => find("\n"),
            quote @ (b'"' | b'\'') => quoted(&bytes[at..], quote),
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
                rest.find(|c| !in_word(c)).unwrap_or(rest.len())
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        out.push(at..at + length);
        at += length;
    }
    out
}

fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// A declaration, a function or a statement.
struct Piece {
    range: Range<usize>,
    /// Of the block that ends it: behind `{`, and at `}`.
    block: Option<(usize, usize)>,
}

/// All pieces at one depth of braces.
fn pieces(text: &str, wanted: usize) -> Vec<Piece> {
    let mut out = Vec::new();
    let (mut depth, mut parentheses) = (0_usize, 0_usize);
    let mut start: Option<usize> = None;
    let mut opened = None;
    // Behind the block of an initializer, a type or a `do`, the piece goes on.
    let mut goes_on = false;
    for token in tokens(text) {
        let word = &text[token.clone()];
        if word == "}" {
            depth = depth.saturating_sub(1);
            parentheses = 0;
            if depth < wanted {
                start = None; // What is not ended here is no piece.
                continue;
            }
        }
        if depth == wanted && start.is_none() {
            (start, opened) = (Some(token.start), None);
            goes_on = matches!(word, "struct" | "union" | "enum" | "typedef" | "do");
        }
        match word {
            "{" => {
                if depth == wanted && opened.is_none() {
                    opened = Some(token.end);
                }
                depth += 1;
                parentheses = 0;
            }
            "(" => parentheses += 1,
            ")" => parentheses = parentheses.saturating_sub(1),
            "=" if depth == wanted => goes_on = true,
            _ => {}
        }
        let is_directive = word.starts_with('#');
        let ends = match word {
            ";" => parentheses == 0,
            "}" => !goes_on,
            _ => is_directive,
        };
        if depth == wanted
            && ends
            && let Some(from) = start.take()
        {
            let block = opened.filter(|_| word == "}").map(|behind| (behind, token.start));
            out.push(Piece { range: from..token.end, block });
        }
    }
    out
}

/// The head and the braces of every block that is a statement.
fn blocks(text: &str) -> Vec<Cut> {
    let of_depth = |depth| pieces(text, depth).into_iter();
    (1..=depth(text))
        .flat_map(of_depth)
        .filter_map(|Piece { range, block }| {
            let (behind, at) = block?;
            Some(vec![range.start..behind, at..range.end])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#include <stdio.h>\nstruct s { int a; } x;\nint t[] = {1, 2};\n\
        /* { */ int f(int n) { for (;;) { if (n) { return ';'; } else n++; } }\n\
        int main(void) { puts(\"a;{b\"); return f(1); }\n";

    fn check(grain: Grain, expected: &[&str]) {
        let show = |cut: &Cut| cut.iter().map(|r| &TEXT[r.clone()]).collect::<Vec<_>>().join(" | ");
        let found: Vec<String> = grain.cuts(TEXT).iter().map(show).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn declarations_statements_and_blocks_are_found() {
        check(
            Grain::Statements(0),
            &[
                "#include <stdio.h>\n",
                "struct s { int a; } x;",
                "int t[] = {1, 2};",
                "int f(int n) { for (;;) { if (n) { return ';'; } else n++; } }",
                "int main(void) { puts(\"a;{b\"); return f(1); }",
            ],
        );
        check(
            Grain::Statements(1),
            &[
                "int a;",
                "for (;;) { if (n) { return ';'; } else n++; }",
                "puts(\"a;{b\");",
                "return f(1);",
            ],
        );
        check(Grain::Statements(2), &["if (n) { return ';'; }", "else n++;"]);
        check(Grain::Blocks, &["for (;;) { | }", "if (n) { | }"]);
        assert_eq!(depth(TEXT), 3);
    }

    #[test]
    fn cuts_may_overlap() {
        let all = Grain::Lines.cuts("a\nb\nc");
        assert_eq!(without("a\nb\nc", &[&all[1], &std::iter::once(0..3).collect()]), "c");
        assert_eq!(without("abc", &[]), "abc");
        assert_eq!(Grain::Tokens.cuts("a+1.5f \"x\\\"y\" // z").len(), 4);
    }
}
