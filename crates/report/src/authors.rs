//! The lines of a change, and who in LLVM wrote or erased each. Terminal, Markdown
//! and page say the same.

use optsleuth_model::{AuthorKind, ChangeAuthors, LineAuthor, UnitChange};
use similar::ChangeTag;

use crate::diff::diff;

/// One line of a change.
pub(crate) struct ChangedLine<'a> {
    pub(crate) tag: ChangeTag,
    pub(crate) text: &'a str,
    /// Of a line that only one of the two has.
    pub(crate) authors: Vec<&'a LineAuthor>,
}

impl ChangedLine<'_> {
    pub(crate) fn differs(&self) -> bool {
        self.tag != ChangeTag::Equal
    }

    /// `written by llvm::fold (GVN.cpp), moved by ...`; `None` where no author is
    /// known.
    pub(crate) fn by(&self) -> Option<String> {
        let said: Vec<String> = self.authors.iter().map(|author| by(author)).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

/// The lines before and after as one list: what goes stands before what comes.
pub(crate) fn changed_lines<'a>(
    before: &'a [String],
    after: &'a [String],
    authors: Option<&'a ChangeAuthors>,
) -> Vec<ChangedLine<'a>> {
    let (old, new) = authors.map_or((&[][..], &[][..]), |both| (&both.before, &both.after));
    let (mut n_before, mut n_after) = (0, 0);
    let mut lines = Vec::new();
    for (tag, text) in diff(before, after) {
        let authors = match tag {
            ChangeTag::Equal => Vec::new(),
            ChangeTag::Delete => of_line(old, n_before),
            ChangeTag::Insert => of_line(new, n_after),
        };
        n_before += usize::from(tag != ChangeTag::Insert);
        n_after += usize::from(tag != ChangeTag::Delete);
        lines.push(ChangedLine { tag, text, authors });
    }
    lines
}

/// The lines before a change that was not completed.
pub(crate) fn lines_before<'a>(
    before: &'a [String],
    authors: Option<&'a ChangeAuthors>,
) -> Vec<ChangedLine<'a>> {
    let old = authors.map_or(&[][..], |both| &both.before);
    let line = |(number, text): (usize, &'a String)| ChangedLine {
        tag: ChangeTag::Equal,
        text,
        authors: of_line(old, number),
    };
    before.iter().enumerate().map(line).collect()
}

/// Authors stand in the order of their lines.
fn of_line(authors: &[LineAuthor], line: usize) -> Vec<&LineAuthor> {
    let first = authors.partition_point(|author| author.line < line);
    authors[first..].iter().take_while(|author| author.line == line).collect()
}

fn by(author: &LineAuthor) -> String {
    let did = match author.did {
        AuthorKind::Created => "written",
        AuthorKind::Replaced => "replaced",
        AuthorKind::Erased => "erased",
        AuthorKind::Moved => "moved",
        AuthorKind::Changed => "changed",
        AuthorKind::OperandReplaced => "operand replaced",
    };
    let file = author.file.rsplit('/').next().unwrap_or_default();
    format!("{did} by {} ({file})", author.function)
}

/// The changed lines with a few around them, as text: each with its sign and, in
/// a column behind it, its authors; `quiet` makes these stand back.
pub(crate) fn as_text(
    change: &UnitChange,
    context: usize,
    quiet: impl Fn(&str) -> String,
) -> Vec<String> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<String>>();
    let (before, after) = (lines(&change.before), change.after.as_deref().map(lines));
    let Some(after) = after else { return Vec::new() };
    let changes = changed_lines(&before, &after, change.authors.as_ref());
    let column = column(&changes);
    let mut out: Vec<String> = Vec::new();
    let mut folded = false;
    for (place, line) in changes.iter().enumerate() {
        let around = place.saturating_sub(context)..changes.len().min(place + context + 1);
        if !changes[around].iter().any(ChangedLine::differs) {
            folded = true;
            continue;
        }
        if std::mem::take(&mut folded) {
            out.push(" ...".to_owned());
        }
        let sign = match line.tag {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        out.push(match line.by() {
            Some(by) => format!("{sign}{:<column$}  {}", line.text, quiet(&format!("; {by}"))),
            None => format!("{sign}{}", line.text),
        });
    }
    out
}

/// Authors stand in one column, unless a line is longer than this.
const LONGEST: usize = 64;

/// How wide lines with authors are, so that their authors stand in one column.
pub(crate) fn column(lines: &[ChangedLine<'_>]) -> usize {
    let with_authors = lines.iter().filter(|line| !line.authors.is_empty());
    let lengths = with_authors.map(|line| line.text.chars().count());
    lengths.filter(|&length| length <= LONGEST).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(line: usize, did: AuthorKind) -> LineAuthor {
        LineAuthor {
            line,
            did,
            function: "llvm::fold".to_owned(),
            file: "llvm/lib/Transforms/Scalar/GVN.cpp".to_owned(),
            called_by: Vec::new(),
        }
    }

    #[test]
    fn authors_stand_beside_the_lines_that_differ() {
        let change = UnitChange {
            before: "define\n  %a = 1\n  %b = 2\n  ret %a\n".to_owned(),
            after: Some("define\n  %a = 1\n  ret %a, longer\n".to_owned()),
            authors: Some(ChangeAuthors {
                before: vec![author(1, AuthorKind::Changed), author(2, AuthorKind::Erased)],
                after: vec![author(2, AuthorKind::Created), author(2, AuthorKind::Moved)],
                cut: false,
            }),
        };
        let expected = [
            "   %a = 1",
            "-  %b = 2          ; erased by llvm::fold (GVN.cpp)",
            "-  ret %a",
            "+  ret %a, longer  ; written by llvm::fold (GVN.cpp), moved by llvm::fold (GVN.cpp)",
        ];
        assert_eq!(as_text(&change, 1, str::to_owned)[1..], expected);
        let unknown = UnitChange { authors: None, ..change };
        assert_eq!(as_text(&unknown, 0, str::to_owned)[1], "-  %b = 2");
    }
}
