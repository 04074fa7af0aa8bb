//! What is read of a program, however it is written.

use optsleuth_compiler::libclang;
use optsleuth_mutate::{Program, StatementKind, Use};

use crate::read::{self, read};

/// Every statement, indented by how deep it is.
fn statements(program: &Program) -> String {
    let mut lines = Vec::new();
    for statement in program.statements() {
        let mut depth = 0;
        let mut outer = statement.parent;
        while let Some(parent) = outer {
            depth += 1;
            outer = program.statements()[parent].parent;
        }
        let text = statement.span.of(program.text()).split_whitespace().collect::<Vec<_>>();
        let oracle = if statement.is_oracle { " (oracle)" } else { "" };
        lines.push(format!("{}{}{oracle}", "  ".repeat(depth), text.join(" ")));
    }
    lines.join("\n")
}

fn check_statements(source: &str, expected: &str) {
    assert_eq!(statements(&read(source)), expected);
}

#[test]
fn statements_end_with_their_semicolon_or_brace() {
    check_statements(
        "int f(int a) { if (a) a = 1; else { a--; } do a++; while (a < 3); return a; }",
        "if (a) a = 1; else { a--; }\n  a = 1;\n  { a--; }\n    a--;\ndo a++; while (a < 3);\n  a++;\nreturn a;",
    );
}

#[test]
fn labels_and_cases_hold_what_follows_them() {
    check_statements(
        "void f(int a) { L: switch (a) { case 1: case 2: a = 3; default: goto L; } }",
        "L: switch (a) { case 1: case 2: a = 3; default: goto L; }\n  \
         switch (a) { case 1: case 2: a = 3; default: goto L; }\n    \
         { case 1: case 2: a = 3; default: goto L; }\n      \
         case 1: case 2: a = 3;\n        case 2: a = 3;\n          a = 3;\n      \
         default: goto L;\n        goto L;",
    );
}

#[test]
fn a_guard_of_an_abort_is_part_of_the_oracle() {
    check_statements(
        "void abort(void); int x; int main(void) { x = 1; if (x != 1) abort(); return 0; }",
        "x = 1;\nif (x != 1) abort(); (oracle)\n  abort(); (oracle)\nreturn 0; (oracle)",
    );
}

#[test]
fn a_for_loop_may_lack_any_part() {
    let program =
        read("int g; void f(void) { for (;;) break; for (g = 0; ; g++) ; for (; g < 2;) ; }");
    let heads: Vec<(bool, bool, bool)> = program
        .statements()
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::For { init, condition, step, .. } => {
                Some((init.is_some(), condition.is_some(), step.is_some()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(heads, [(false, false, false), (true, false, true), (false, true, false)]);
}

#[test]
fn what_is_done_to_a_variable_is_seen_through_members_and_elements() {
    let source = "struct S { int f; int a[3]; } s, *p; int v[3], i;
        void g(int *); void f(void) { s.f = i; p->f = 1; v[i] = 2; g(v); g(&s.a[0]); i++; }";
    let program = read(source);
    let uses: Vec<(&str, Use)> = program
        .references()
        .iter()
        .map(|reference| (reference.span.of(source), reference.used))
        .collect();
    assert_eq!(
        uses,
        [
            ("s", Use::Written),
            ("i", Use::Read),
            ("p", Use::Read),
            ("v", Use::Written),
            ("i", Use::Read),
            ("v", Use::AddressTaken),
            ("s", Use::AddressTaken),
            ("i", Use::ReadAndWritten),
        ]
    );
}

#[test]
fn an_inner_name_hides_an_outer_one_to_the_end_of_its_block() {
    let source =
        "int a, b; int f(void) { int r = a; { typedef int b; b a = 2; r += a; } return r; }";
    let program = read(source);
    let visible = |offset: usize| -> Vec<&str> {
        program.visible_at(offset).map(|it| program.variables()[it].name.as_str()).collect()
    };
    assert_eq!(visible(source.find("r += a").unwrap()), ["r", "a"]);
    assert_eq!(visible(source.find("return").unwrap()), ["a", "b", "r"]);
}

#[test]
fn offsets_hold_with_line_markers_carriage_returns_and_other_alphabets() {
    let source = "# 1 \"x.c\"\r\nchar *s = \"\u{e4}\u{2713}\"; /* \u{4e16} */\r\n#line 77 \"y.c\"\r\n#pragma GCC ivdep\r\nint caf\u{e9} = 1;\r\nint f(void) {\r\n  return caf\u{e9} + 2;\r\n}\r\n";
    let program = read(source);
    let names: Vec<&str> =
        program.variables().iter().map(|variable| variable.name_span.of(source)).collect();
    assert_eq!(names, ["s", "caf\u{e9}"]);
    let sum = &program.binaries()[0];
    assert_eq!(sum.span.of(source), "caf\u{e9} + 2");
    assert_eq!(program.line_and_column(sum.span.start), (7, 10));
}

#[test]
fn what_is_not_c_is_refused_with_the_place() {
    let error = read::libclang().parse("int f(void) {\n  return x;\n}", &[]).unwrap_err();
    assert_eq!(
        error.to_string().split(';').next(),
        Some("not a C program: 2:10: use of undeclared identifier 'x'")
    );
}

#[test]
fn a_program_can_be_read_on_any_thread() {
    let libclang = read::libclang();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let program = libclang.parse("int f(int a) { return a + 1; }", &[]).unwrap();
                assert_eq!(program.binaries().len(), 1);
            });
        }
    });
}

#[test]
fn deep_nesting_is_walked_to_its_end() {
    let source = format!("int a; int f(void) {{ return {}a; }}", "a + ".repeat(3000));
    assert_eq!(read(&source).binaries().len(), 3000);
}

#[test]
fn no_libclang_that_is_new_enough_is_an_error_that_says_so() {
    let none = libclang::newest(99).unwrap_err().to_string();
    assert!(none.contains("no libclang from 99 on"), "{none}");
}
