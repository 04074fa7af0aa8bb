//! Lines of a preprocessed text -> lines of the file that a person wrote.
//!
//! **Invariant:** a line that comes from another file has none, and a text with
//! more lines than the failing program's is another text: nothing is guessed.

/// For each line of the failing program's text, the one it was in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines(Vec<Option<usize>>);

impl Lines {
    /// Takes the preprocessor's line markers out of a text and keeps what they
    /// say. `file` is what they call the program's own file.
    pub(super) fn strip(marked: &str, file: &str) -> (String, Lines) {
        let (mut text, mut lines) = (String::new(), Vec::new());
        let (mut is_own, mut number) = (true, 1);
        for line in marked.lines() {
            if let Some((next, name)) = marker(line) {
                (number, is_own) = (next, name == file);
                continue;
            }
            if !line.trim().is_empty() {
                text.push_str(line);
                text.push('\n');
                lines.push(is_own.then_some(number));
            }
            number += 1;
        }
        (text, Lines(lines))
    }

    /// The text is the file.
    pub(super) fn same(text: &str) -> Lines {
        Lines((1..=text.lines().count()).map(Some).collect())
    }

    /// "line 7: ", where that is known. `text` is what has this line.
    pub(super) fn original(&self, line: usize, text: &str) -> String {
        if text.lines().count() != self.0.len() {
            return String::new();
        }
        match line.checked_sub(1).and_then(|index| self.0.get(index)) {
            Some(Some(line)) => format!("line {line}: "),
            Some(None) | None => String::new(),
        }
    }
}

/// `# 12 "file.c" 1 2` -> 12, `file.c`.
fn marker(line: &str) -> Option<(usize, &str)> {
    let rest = line.strip_prefix("# ")?;
    let (number, rest) = rest.split_once(" \"")?;
    let (name, _) = rest.rsplit_once('"')?;
    Some((number.parse().ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_file() {
        let marked = "# 1 \"p.c\"\n# 1 \"<built-in>\" 1\n# 1 \"p.c\" 2\n\
            # 1 \"/usr/include/x.h\" 1 3\nint x(void);\n# 2 \"p.c\" 2\n\nint a;\n\nint b;\n";
        let (text, lines) = Lines::strip(marked, "p.c");
        assert_eq!(text, "int x(void);\nint a;\nint b;\n");
        assert_eq!(lines.original(1, &text), "");
        assert_eq!(lines.original(2, &text), "line 3: ");
        assert_eq!(lines.original(3, &text), "line 5: ");
        assert_eq!(lines.original(9, &text), "");
        assert_eq!(lines.original(2, "int x;\n"), "");
    }

    #[test]
    fn a_text_without_directives_is_its_file() {
        let text = "int a;\nint b;\n";
        assert_eq!(Lines::same(text).original(2, "int a;\nlong b;\n"), "line 2: ");
    }
}
