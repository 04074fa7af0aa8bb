//! Foreign text -> Markdown.
//!
//! **Invariant:** what is written stays in its line and in its cell of a table,
//! and is no markup.

/// A foreign text in a line of Markdown.
pub(crate) fn inline(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '_' | '`' | '<' | '[' | ']' | '|' | '#') {
            out.push('\\');
        }
        out.push(if matches!(c, '\n' | '\r') { ' ' } else { c });
    }
    out
}

/// A name as code in a table's cell.
pub(crate) fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    format!("`{}`", text.replace('|', "\\|").replace('`', "'"))
}

/// A block of foreign lines.
pub(crate) fn fenced(out: &mut String, language: &str, text: &str) {
    // Longer than any fence inside.
    let longest = text.lines().map(|line| line.chars().take_while(|&c| c == '`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    out.push_str(&format!("{fence}{language}\n{}\n{fence}\n\n", text.trim_end()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(inline("a|b <i>\n*c* `d` [e](f)"), "a\\|b \\<i> \\*c\\* \\`d\\` \\[e\\](f)");
        assert_eq!(code("a|`b`\nc"), "`a\\|'b' c`");
    }
}
