//! What a wrong result shows by: output, aborts, csmith's checksum. Changing it
//! would make failing programs look like passing ones (DiWi, sections 4.1 and
//! 6), so all of it is frozen.
//!
//! **Invariant:** a statement that only guards oracle code is oracle code.

use crate::tree::{Kind, Tree};

/// Functions that show a result, by name.
const CALLS: &[&str] = &[
    "printf",
    "fprintf",
    "dprintf",
    "vprintf",
    "vfprintf",
    "puts",
    "fputs",
    "putchar",
    "putc",
    "fputc",
    "fwrite",
    "write",
    "perror",
    "fflush",
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "raise",
    "__assert_fail",
    "__printf_chk",
    "__fprintf_chk",
    "__builtin_printf",
    "__builtin_fprintf",
    "__builtin_puts",
    "__builtin_putchar",
    "__builtin_abort",
    "__builtin_exit",
    "__builtin_trap",
];

/// How the names of csmith's runtime begin.
const RUNTIME: &[&str] = &["transparent_crc", "platform_main_", "crc32_", "csmith_"];

/// Whether a call of this function shows a result.
pub(crate) fn is_oracle_call(name: &str) -> bool {
    CALLS.contains(&name) || RUNTIME.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a function must not be changed: csmith's runtime, its checked
/// arithmetic, and the C library's own.
pub(super) fn is_runtime(name: &str) -> bool {
    RUNTIME.iter().any(|prefix| name.starts_with(prefix))
        || name.starts_with("safe_")
        || is_reserved(name)
}

/// Whether a variable is: csmith's checksum, and what it prints of it.
pub(super) fn is_runtime_variable(name: &str) -> bool {
    name.starts_with("crc32_") || name == "print_hash_value" || is_reserved(name)
}

fn is_reserved(name: &str) -> bool {
    name.starts_with("__")
}

/// How a statement stands to the oracle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Oracle,
    /// Goes with either: `break;`, `return 1;`.
    Neutral,
    Program,
}

/// Of each node, whether it is oracle code.
pub(super) fn find(text: &str, tree: &Tree) -> Vec<bool> {
    let n_nodes = tree.nodes.len();
    let mut calls = vec![false; n_nodes];
    let mut in_main = vec![false; n_nodes];
    for (index, node) in tree.nodes.iter().enumerate() {
        in_main[index] =
            in_main[node.parent] || (node.kind == Kind::Function && node.name == "main");
        // The callee is the first thing of a call.
        calls[index] = node.kind == Kind::Call && {
            let called = text.get(node.span.start..node.span.end).unwrap_or_default();
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let name = called.split(|c: char| !is_word(c)).find(|word| !word.is_empty());
            name.is_some_and(is_oracle_call)
        };
    }
    let mut parts = vec![Part::Program; n_nodes];
    // Parents stand before children, so from behind every child is known.
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let bodies = match node.kind {
            Kind::If => node.children.get(1..).unwrap_or_default(),
            Kind::Do => node.children.get(..1).unwrap_or_default(),
            Kind::For | Kind::While | Kind::Switch | Kind::Case | Kind::Default | Kind::Label => {
                node.children.last().map_or(&[][..], std::slice::from_ref)
            }
            _ => &node.children[..],
        };
        parts[index] = match node.kind {
            Kind::Return if in_main[index] => Part::Oracle,
            Kind::Return | Kind::Break | Kind::Continue | Kind::Goto | Kind::Empty => Part::Neutral,
            Kind::Block
            | Kind::If
            | Kind::Do
            | Kind::For
            | Kind::While
            | Kind::Switch
            | Kind::Case
            | Kind::Default
            | Kind::Label => together(bodies.iter().map(|&body| parts[body])),
            _ if calls[index] => Part::Oracle,
            // A declaration is more than the calls in it.
            kind if kind.is_expression() => {
                match node.children.iter().any(|&child| parts[child] == Part::Oracle) {
                    true => Part::Oracle,
                    false => Part::Program,
                }
            }
            _ => Part::Program,
        };
    }
    // A function's body is never oracle code as a whole: its parts are.
    let mut oracle = vec![false; n_nodes];
    for (index, node) in tree.nodes.iter().enumerate() {
        let is_body = tree.nodes[node.parent].kind == Kind::Function;
        oracle[index] = oracle[node.parent] || (parts[index] == Part::Oracle && !is_body);
    }
    oracle
}

fn together(parts: impl Iterator<Item = Part>) -> Part {
    let mut all = Part::Neutral;
    for part in parts {
        match part {
            Part::Program => return Part::Program,
            Part::Oracle => all = Part::Oracle,
            Part::Neutral => {}
        }
    }
    all
}
