//! Every rule at some places of whole programs, and programs with probes.

use std::path::{Path, PathBuf};

use optsleuth_compiler::clang;
use optsleuth_compiler::llvm::{self, Install};
use optsleuth_compiler::spawn::{Tool, ToolOutput};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_mutate::{Program, Rule};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::read;

/// Programs in which C shows what it can do.
const ODD: &[(&str, &str)] = &[
    ("K&R", "int f(a, b) int a; short b; { return a + b; } int main() { return f(1, 2); }"),
    ("variable length", "int f(int n) { int v[n + 1]; v[0] = n; return v[0] + (int)sizeof v; }"),
    (
        "union",
        "union U { int i; float f; unsigned char c[4]; } u = { .f = 1.5f }; int f(void) { u.i += 3; return u.c[2] ^ u.i; }",
    ),
    (
        "bit-fields",
        "struct { unsigned a : 3; int : 0; signed b : 30; const int c; } s; int f(void) { s.a++; return s.b - s.a; }",
    ),
    (
        "goto",
        "int f(int a) { if (a) goto out; again: a--; if (a > 3) goto again; out: return ~a; }",
    ),
    (
        "switch",
        "int f(int a) { switch (a) { case 1: a += 2; case 2 ... 4: { int b = a; a = b * 2; } break; default: ; } return a; }",
    ),
    (
        "duff",
        "void f(int n, char *p) { switch (n % 4) { case 0: do { *p++ = 0; case 1: *p++ = 1; } while (--n > 0); } }",
    ),
    (
        "statement expression",
        "int g; int f(int a) { return ({ int b = a + 1; g = b; b * 2; }) + ({ a; }); }",
    ),
    (
        "compound literal",
        "struct P { int x, y; }; int g(struct P p) { return p.x - p.y; } int f(int a) { int *v = (int[]){ 1, a, 3 }; return g((struct P){ .y = a, .x = 2 }) + v[1]; }",
    ),
    (
        "designated",
        "int m[4][2] = { [0] = { 1, 2 }, [2 ... 3] = { 4 } }; struct { struct { int a; } b[2]; } s = { .b[1].a = 5 };",
    ),
    (
        "function pointer",
        "int g(int a) { return a + 1; } int (*p)(int) = g, (*q[2])(int) = { g, &g }; int f(int n) { return p(n) + (*q[1])(n) + (n ? g : p)(2); }",
    ),
    (
        "UTF-8",
        "char *s = \"\u{4e16}\u{754c}\"; int na\u{ef}ve = 3; /* \u{e9} */ int f(int a) { return na\u{ef}ve * a + s[1]; }",
    ),
    ("CRLF", "int a;\r\nint f(void) {\r\n  a = a + 1; // x\r\n  return a;\r\n}\r\n"),
    (
        "line markers",
        "# 1 \"a.c\"\n# 1 \"b.h\" 1 3\nint a;\n# 2 \"a.c\" 2\nint f(void) {\n#line 5\n return a + 2; }",
    ),
    (
        "pragma",
        "#pragma STDC FP_CONTRACT ON\nint f(int n) { int s = 0;\n#pragma clang loop unroll(disable)\n for (int i = 0; i < n; i++) s += i;\n return s; }",
    ),
    (
        "generic",
        "int f(long a, int b) { return _Generic(a, long: 1, default: 2) + _Generic(b + 1, int: b, long: 3); }",
    ),
    (
        "assembly",
        "int f(int a) { int b; __asm__ volatile(\"movl %1, %0\" : \"=r\"(b) : \"r\"(a + 1), \"i\"(3)); asm(\"\"); return b - a; }",
    ),
    (
        "shadowed typedef",
        "typedef int T; T a = 3; int f(void) { T b = 2; { int T = 4; b += T; } return a + b; }",
    ),
    (
        "attributes",
        "__attribute__((aligned(16))) static int a __attribute__((unused)) = 4; int f(int x) { switch (x) { case 1: x++; __attribute__((fallthrough)); case 2: x--; } return a + x; }",
    ),
    ("complex", "_Complex double c; int f(double d) { c = c * d + 2; return c == 1; }"),
    (
        "vector",
        "typedef int V __attribute__((vector_size(16))); V a, b; V f(V c) { a = b + c * 2; a[1] = 3; return a < b; }",
    ),
    ("128 bits", "__int128 a; unsigned __int128 f(int n) { a = a << 100; return a + n; }"),
    ("atomic", "_Atomic int a; _Atomic(long) b; int f(void) { a++; return a + b; }"),
    ("thread-local", "static _Thread_local int a = 3; int f(void) { return a * 2; }"),
    (
        "computed goto",
        "int f(int n) { static void *t[] = { &&x, &&y }; goto *t[n & 1]; x: n++; y: return n; }",
    ),
    ("elvis", "int f(int a, int b) { return (a + 1 ?: b) - (a ?: 2); }"),
    (
        "pointers to pointers",
        "int a, *b = &a, **c = &b, ***d = &c; int f(void) { **c = ***d + *b; return c == *d; }",
    ),
    (
        "arrays of pointers",
        "int a, b; int *const p[2] = { &a, &b }; volatile int *q[3]; int f(void) { q[0] = p[1]; return *p[0] + *q[0]; }",
    ),
    (
        "nested records",
        "struct A { struct B { int x; union { int y; long z; }; } b; struct A *next; } a; int f(struct A *p) { p->next->b.x = a.b.y - 2; return p != p->next; }",
    ),
    (
        "enumeration",
        "enum E { A, B = A + 2 } e = B; int f(enum E x) { enum { C = 5 }; return x == A || e < C; }",
    ),
    (
        "offsetof",
        "struct S { int a; int b[3]; }; unsigned long f(void) { return __builtin_offsetof(struct S, b[1]) + sizeof(struct S) / 2; }",
    ),
    (
        "varargs",
        "int f(int n, ...) { __builtin_va_list l; int s; __builtin_va_start(l, n); s = __builtin_va_arg(l, int) + n; __builtin_va_end(l); return s; }",
    ),
    (
        "typeof",
        "int a = 2; __typeof__(a) b; int f(void) { __typeof__(a + 1) c = b; return c % 3; }",
    ),
    (
        "static array parameter",
        "int f(int a[static 3], int n, int b[n][2]) { return a[2] + b[1][0]; }",
    ),
    ("empty", ""),
    ("nothing but a pragma", "#pragma once_upon_a_time"),
];

fn install() -> Install {
    let newest = llvm::discover().into_iter().rev().find_map(|(_, install)| install.ok());
    newest.unwrap()
}

/// Mutants by every rule at so many of its places, evenly spread; those that are
/// no C, in words.
fn broken(name: &str, program: &Program, n_places: usize) -> (usize, Vec<String>) {
    let mut n_mutants = 0;
    let mut broken = Vec::new();
    for rule in Rule::all() {
        let step = program.count(rule).div_ceil(n_places).max(1);
        for place in (0..program.count(rule)).step_by(step) {
            let mut rng = ChaCha8Rng::seed_from_u64(place as u64);
            let mutant = program.apply(rule, place, &mut rng).unwrap();
            assert_ne!(mutant.text, program.text(), "{name}: {rule}");
            n_mutants += 1;
            if let Err(error) = read::libclang().parse(&mutant.text, &[]) {
                broken.push(format!("{name}: {rule}: {}: {error}", mutant.what));
            }
        }
    }
    (n_mutants, broken)
}

/// The C files below a folder, in order.
fn c_files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut files = Vec::new();
    for path in entries {
        match path.is_dir() {
            true => files.extend(c_files(&path)),
            false if path.extension().is_some_and(|it| it == "c") => files.push(path),
            false => {}
        }
    }
    files
}

/// The project's own test programs, preprocessed.
fn testdata() -> Vec<(String, String)> {
    let folder = Workdir::new().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    c_files(&root)
        .iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            (
                name,
                clang::preprocess(
                    &install(),
                    path,
                    &[],
                    clang::Markers::Dropped,
                    &folder.file("x.i"),
                )
                .unwrap(),
            )
        })
        .collect()
}

#[test]
fn whatever_c_offers_is_read_and_mutants_of_it_compile() {
    let (mut n_mutants, mut all) = (0, Vec::new());
    for (name, source) in ODD {
        let program = read::libclang().parse(source, &[]);
        let program = program.unwrap_or_else(|error| panic!("{name}: {error}"));
        let (n, broken) = broken(name, &program, 4);
        n_mutants += n;
        all.extend(broken);
    }
    assert!(n_mutants > 500, "{n_mutants}");
    assert!(all.len() * 100 < n_mutants, "{} of {n_mutants}:\n{}", all.len(), all.join("\n"));
}

#[test]
fn mutants_of_the_test_programs_compile() {
    let (mut n_mutants, mut all) = (0, Vec::new());
    for (name, text) in testdata() {
        let (n, broken) = broken(&name, &read::read(&text), 1);
        n_mutants += n;
        all.extend(broken);
    }
    assert!(n_mutants > 300, "{n_mutants}");
    assert!(all.len() * 100 < n_mutants * 3, "{} of {n_mutants}:\n{}", all.len(), all.join("\n"));
}

fn run(folder: &Workdir, text: &str) -> ToolOutput {
    let (source, program) = (folder.file("p.c"), folder.file("p"));
    std::fs::write(&source, text).unwrap();
    let clang = install().tool("clang").unwrap();
    Tool::new(clang).arg("-w").arg(&source).arg("-o").arg(&program).check().unwrap();
    Tool::new(program).time(std::time::Duration::from_secs(20)).output().unwrap()
}

#[test]
fn a_probed_program_does_the_same_and_says_what_it_reached() {
    let folder = Workdir::new().unwrap();
    for (name, text) in testdata() {
        // What is undefined, or never ends, need not do the same; a project's files are no
        // programs.
        let is_odd = ["hostile", "undefined", "project"].iter().any(|odd| name.starts_with(odd));
        if is_odd || !text.contains(" main(") {
            continue;
        }
        let program = read::read(&text);
        let (plain, probed) = (run(&folder, &text), run(&folder, &program.probed()));
        assert_eq!((plain.end, plain.stdout), (probed.end, probed.stdout), "{name}");
        let reached = Program::reached(&probed.stderr);
        assert!(!reached.is_empty() && reached.iter().all(|&it| it < program.statements().len()));
    }
}

#[test]
fn probed_programs_are_programs() {
    for (name, source) in ODD {
        let probed = read::read(source).probed();
        let program = read::libclang().parse(&probed, &[]);
        assert!(program.is_ok(), "{name}: {}\n{probed}", program.unwrap_err());
    }
}

#[test]
fn probes_tell_what_was_reached_and_what_was_not() {
    let source = "void abort(void);
int g;
int main(void) {
    int i;
    for (i = 0; i < 100; i++) if (i == 50) g = 1; else if (i == 200) g = 2;
    switch (g) { case 0: g = 3; break; case 1: g = 4; default: g++; }
    if (g == 5) goto end;
    g = 6;
end:
    if (g == 5) abort();
    return 0;
}";
    let folder = Workdir::new().unwrap();
    let program = read::read(source);
    let reached = Program::reached(&run(&folder, &program.probed()).stderr);
    let missed: Vec<&str> = program
        .statements()
        .iter()
        .enumerate()
        .filter(|(number, statement)| {
            !reached.contains(number) && !source[statement.span.start..].starts_with('{')
        })
        .map(|(_, statement)| statement.span.of(source))
        .collect();
    assert_eq!(missed, ["g = 2;", "case 0: g = 3;", "g = 3;", "break;", "g = 6;", "return 0;"]);
}

#[test]
fn a_program_that_uses_the_names_of_the_probe_is_probed_all_the_same() {
    let source = "int write = 2, optsleuth_probe = 3; int main(void) { return write - 2; }";
    let folder = Workdir::new().unwrap();
    let output = run(&folder, &read::read(source).probed());
    assert_eq!(Program::reached(&output.stderr).len(), 1);
}
