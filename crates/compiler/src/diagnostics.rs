//! What compilers say about programs -> one line of it.

/// The first error among a compiler's diagnostics; failing that, the first line.
pub(crate) fn first_error(diagnostics: &str) -> String {
    let is_error = |line: &&str| line.contains("error: ");
    let line = { diagnostics.lines().find(is_error) }.or_else(|| diagnostics.lines().next());
    line.unwrap_or("the compiler does not say why").trim().to_owned()
}
