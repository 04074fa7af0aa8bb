//! Which statements a run reaches: the program with a probe in front of each.
//!
//! A probe writes `@<number>` and a newline to standard error, past all
//! buffers, so that an abort loses nothing; and only once, so that loops stay
//! fast. Runtimes (csmith's checked arithmetic) get none.
//!
//! **Invariant:** a probed program does what the program does; standard output
//! and the way it ends are the same.

use std::collections::BTreeSet;

use crate::edit::{Edit, rewrite};
use crate::program::{Program, Statement, StatementKind};

impl Program {
    /// The program with a probe in front of every statement where one can
    /// stand; the numbers are those of [`Program::statements`].
    pub fn probed(&self) -> String {
        let name = self.unused_name();
        let text = self.with_probes(|number| format!("{name}({number}); "));
        format!("{}\n{text}", helper(&name, self.statements.len()))
    }

    /// The program with statements in front of every statement where a probe
    /// can stand, and braces where that takes some.
    pub(crate) fn with_probes(&self, probe: impl Fn(usize) -> String) -> String {
        let mut openings: Vec<Edit> = Vec::new();
        let mut closings: Vec<Edit> = Vec::new();
        for (number, statement) in self.statements.iter().enumerate() {
            let Some(offset) = self.probe_offset(statement) else { continue };
            if self.needs_braces(statement) {
                openings.push(Edit::insert(statement.span.start, "{ "));
                closings.push(Edit::insert(statement.span.end, " }"));
            }
            openings.push(Edit::insert(offset, probe(number)));
        }
        // Inner statements end before outer ones, and where an edit ends
        // something it comes before one that starts something.
        closings.reverse();
        closings.extend(openings);
        rewrite(self.text(), closings)
    }

    /// The numbers of the statements that a probed program reached, read from
    /// what it wrote to standard error.
    pub fn reached(stderr: &[u8]) -> BTreeSet<usize> {
        stderr
            .split(|&byte| byte == b'@')
            .skip(1)
            .filter_map(|rest| {
                let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
                let digits = std::str::from_utf8(&rest[..end]).ok()?;
                (rest[end] == b'\n').then(|| digits.parse().ok())?
            })
            .collect()
    }

    /// Where a statement's probe goes; `None` where none can stand.
    pub(crate) fn probe_offset(&self, statement: &Statement) -> Option<usize> {
        let is_runtime = self.functions.get(statement.function)?.is_frozen;
        let in_attributes = statement
            .parent
            .is_some_and(|parent| self.statements[parent].kind == StatementKind::Other);
        if is_runtime || in_attributes || statement.is_pinned {
            return None;
        }
        match &statement.kind {
            // A jump goes past what stands before a label.
            StatementKind::Label { body, .. }
            | StatementKind::Case { body, .. }
            | StatementKind::Default { body } => {
                let body = &self.statements[(*body)?];
                (!body.is_pinned).then_some(body.span.start)
            }
            // Reached when its first statement is, and braces need no probe.
            StatementKind::Block(_) if statement.block.is_none() => None,
            _ => Some(statement.span.start),
        }
    }

    /// Whether it is the body of something, without braces of its own.
    fn needs_braces(&self, statement: &Statement) -> bool {
        let follows_label = statement.parent.is_some_and(|parent| {
            matches!(
                self.statements[parent].kind,
                StatementKind::Label { .. }
                    | StatementKind::Case { .. }
                    | StatementKind::Default { .. }
            )
        });
        statement.block.is_none() && !follows_label
    }

    /// A name that occurs nowhere in the text.
    pub(crate) fn unused_name(&self) -> String {
        let mut name = "optsleuth_probe".to_owned();
        while self.text.contains(&name) {
            name.push('_');
        }
        name
    }
}

/// The function behind the probes. It calls write(2) by the name that glibc
/// reserves for it, because the program may have a `write` of its own, and
/// speaks C of 1989.
fn helper(name: &str, n_statements: usize) -> String {
    format!(
        "extern long {name}_write(int, const void *, unsigned long) __asm__(\"__write\"); \
         static unsigned char {name}_seen[{size}]; \
         static __attribute__((noinline, unused)) void {name}(unsigned number) {{ \
         char text[16]; int at = 15; \
         if ({name}_seen[number]) return; \
         {name}_seen[number] = 1; \
         text[at] = '\\n'; \
         do {{ text[--at] = (char)('0' + number % 10); number /= 10; }} while (number); \
         text[--at] = '@'; \
         {name}_write(2, text + at, (unsigned long)(16 - at)); }}",
        size = n_statements + 1
    )
}
