//! The pieces of a demangled C++ name that need care: brackets, operators,
//! closures, qualifiers. Each function looks at the start of a text.
//!
//! **Invariant:** any text is fine; a piece that never ends goes to its end.

/// How demanglers print a namespace without a name.
pub(crate) const ANONYMOUS: &str = "(anonymous namespace)";

/// Symbols that can follow `operator`; of two that start alike, the longer first.
const OPERATORS: [&str; 39] = [
    "()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<", ">", "+", "-", "*", "/", "%",
    "&", "|", "^", "~", "!", "=", ",",
];

/// `operator<<`, `operator new`, `operator bool` at the start of a text,
/// without template arguments, and what follows.
pub(crate) fn operator(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix("operator")?;
    if let Some(symbol) = OPERATORS.iter().find(|symbol| rest.starts_with(**symbol)) {
        let after = &rest[symbol.len()..];
        // The space in `operator< <int>` keeps the two apart.
        let after = if after.starts_with(" <") { &after[1..] } else { after };
        return Some((format!("operator{symbol}"), after));
    }
    let mut rest = rest.strip_prefix(' ')?;
    let mut name = "operator ".to_owned();
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(ANONYMOUS).and_then(|r| r.strip_prefix("::")) {
            rest = after;
        } else if first == '<' {
            rest = group(rest).1;
        } else if first == '(' || first == '[' && !rest.starts_with("[]") {
            break;
        } else {
            name.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Some((name.trim_end().to_owned(), rest))
}

/// A lambda or a default argument, as GCC and as Clang name them.
pub(crate) fn is_closure(text: &str) -> bool {
    ["{lambda", "{default arg", "$_"].iter().any(|start| text.starts_with(start))
}

pub(crate) fn after_closure(text: &str) -> &str {
    match text.strip_prefix("$_") {
        Some(number) => number.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => group(text).1,
    }
}

/// What stands behind `const`, `&` and the like.
pub(crate) fn after_qualifiers(mut text: &str) -> &str {
    const QUALIFIERS: [&str; 5] = [" const", " volatile", " noexcept", " &", "&"];
    let after = |text: &'_ str, word: &str| {
        text.strip_prefix(word).filter(|rest| !rest.starts_with(is_of_word)).map(str::len)
    };
    while let Some(left) = QUALIFIERS.iter().find_map(|word| after(text, word)) {
        text = &text[text.len() - left..];
    }
    text
}

/// Whether no more of a name follows.
pub(crate) fn is_end(text: &str) -> bool {
    text.is_empty() || text.starts_with(" [clone") || text.starts_with([')', '.'])
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The last of the template arguments.
pub(crate) fn last_argument(arguments: &str) -> &str {
    let mut last = arguments;
    let mut rest = arguments;
    while let Some(first) = rest.chars().next() {
        rest = match group(rest).1 {
            after if after.len() < rest.len() => after,
            _ => &rest[first.len_utf8()..],
        };
        if first == ',' {
            last = rest;
        }
    }
    last.trim()
}

/// What stands between the bracket at the start of a text and its partner, and
/// what follows; nothing and all where no bracket is, all and nothing where it
/// has no partner.
///
/// `<` and `>` are operators as well as brackets: within parentheses those
/// without a partner are operators.
pub(crate) fn group(text: &str) -> (&str, &str) {
    if !text.starts_with(['(', '[', '{', '<']) {
        return ("", text);
    }
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if let Some(rest) = text[at..].strip_prefix("operator")
            && !text[..at].ends_with(is_of_word)
            && let Some(symbol) = OPERATORS.iter().find(|symbol| rest.starts_with(**symbol))
        {
            at += "operator".len() + symbol.len();
            continue;
        }
        match c {
            '(' | '[' | '{' | '<' => open.push(c),
            '>' if text[..at].ends_with('-') => {}
            '>' => {
                open.pop_if(|bracket| *bracket == '<');
            }
            ')' | ']' | '}' => {
                let partner = match c {
                    ')' => '(',
                    ']' => '[',
                    _ => '{',
                };
                if let Some(depth) = open.iter().rposition(|bracket| *bracket == partner) {
                    open.truncate(depth);
                }
            }
            _ => {}
        }
        if open.is_empty() {
            return (&text[1..at], &text[at + 1..]);
        }
        at += c.len_utf8();
    }
    (&text[1..], "")
}
