//! Foreign text -> HTML text. Every name, message and program in a page comes
//! through here.
//!
//! **Invariant:** what is written cannot open or close a tag, an attribute or a
//! comment, and holds no character that HTML forbids.

use std::fmt::{self, Write as _};

/// A text, written so that HTML shows it as it is.
///
/// It may stand between tags and in quoted attributes.
pub(crate) struct Text<'a>(pub(crate) &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(c)?,
                '\r' if rest.peek() == Some(&'\n') => {}
                '\r' => f.write_char('\n')?,
                _ if is_forbidden(c) => f.write_char(char::REPLACEMENT_CHARACTER)?,
                _ => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A sentence, written like [`Text`], whose parts between backticks are code.
///
/// It may stand between tags.
pub(crate) struct Sentence<'a>(pub(crate) &'a str);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<&str> = self.0.split('`').collect();
        // A backtick without its partner stays one.
        if parts.len().is_multiple_of(2) {
            return Text(self.0).fmt(f);
        }
        for (i, part) in parts.iter().enumerate() {
            match i % 2 {
                0 => Text(part).fmt(f)?,
                _ => write!(f, "<code>{}</code>", Text(part))?,
            }
        }
        Ok(())
    }
}

/// A long name, written like [`Text`], that breaks into lines after these marks.
///
/// It may stand between tags.
pub(crate) struct Breakable<'a> {
    pub(crate) text: &'a str,
    /// As in `/` or `::`.
    pub(crate) after: &'a str,
}

impl fmt::Display for Breakable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.text.split(self.after).enumerate() {
            if i > 0 {
                write!(f, "{}<wbr>", Text(self.after))?;
            }
            Text(part).fmt(f)?;
        }
        Ok(())
    }
}

/// A file of a folder beside the page, as a link.
///
/// It may stand in a quoted attribute: whatever the folder is called, the link
/// has no scheme, no host and no query.
pub(crate) struct Beside<'a> {
    pub(crate) folder: &'a str,
    pub(crate) file: &'a str,
}

impl fmt::Display for Beside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('.')?;
        let steps = self.folder.split('/').chain([self.file]);
        for step in steps.filter(|step| !step.is_empty()) {
            f.write_char('/')?;
            for byte in step.bytes() {
                match byte {
                    b'-' | b'.' | b'_' | b'~' => f.write_char(char::from(byte))?,
                    _ if byte.is_ascii_alphanumeric() => f.write_char(char::from(byte))?,
                    _ => write!(f, "%{byte:02X}")?,
                }
            }
        }
        Ok(())
    }
}

/// Control characters and noncharacters.
fn is_forbidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{fdd0}'..='\u{fdef}') || (c as u32 & 0xfffe) == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Text(text).to_string(), expected);
    }

    #[test]
    fn markup_becomes_text() {
        check("<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
        check("a\" onclick=\"x", "a&quot; onclick=&quot;x");
        check("&lt; is not <", "&amp;lt; is not &lt;");
        check("operator&&<->", "operator&amp;&amp;&lt;-&gt;");
    }

    #[test]
    fn what_a_sentence_quotes_is_code() {
        let check = |text, expected| assert_eq!(Sentence(text).to_string(), expected);
        check("prints `<1>` and `2`", "prints <code>&lt;1&gt;</code> and <code>2</code>");
        check("no quotes", "no quotes");
        check("a ` alone", "a ` alone");
    }

    #[test]
    fn long_names_break_after_their_marks() {
        let check = |text, after, expected| {
            assert_eq!(Breakable { text, after }.to_string(), expected);
        };
        check("a/b", "/", "a/<wbr>b");
        check("/<b>/", "/", "/<wbr>&lt;b&gt;/<wbr>");
        check("x::y::z", "::", "x::<wbr>y::<wbr>z");
        check("main", "::", "main");
    }

    #[test]
    fn links_stay_beside_the_page() {
        let check = |folder, expected| {
            assert_eq!(Beside { folder, file: "case.toml" }.to_string(), expected);
        };
        check("0001-crash-gvn", "./0001-crash-gvn/case.toml");
        check("cases/1", "./cases/1/case.toml");
        check("//host/x", "./host/x/case.toml");
        check("javascript:alert(1)", "./javascript%3Aalert%281%29/case.toml");
        check("a\"><b> ?#ä", "./a%22%3E%3Cb%3E%20%3F%23%C3%A4/case.toml");
    }

    #[test]
    fn other_characters_stay_and_forbidden_ones_show() {
        check("größer → 数\tline\nline", "größer → 数\tline\nline");
        check("dos\r\nline\rline", "dos\nline\nline");
        check("\0\u{1b}[31m\u{7f}\u{85}\u{fffe}\u{1ffff}", "��[31m����");
    }
}
