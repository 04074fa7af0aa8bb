//! Profiles are what a hand count says.

use optsleuth_mutate::MutateError;
use optsleuth_mutate::emi::Unfit;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::profiled::{Compiler, profile, run};
use crate::read::read;

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

/// What is known before the statement that begins with a text, as
/// `x=1,2 y=3`, in the order of the text.
fn environment(source: &str, statement: &str) -> String {
    let program = read(source);
    let profile = profile(&program, 1.0, &mut rng());
    let mut found = String::new();
    for (&point, environment) in profile.points() {
        if !source[program.statements()[point].span.start..].starts_with(statement) {
            continue;
        }
        for (cell, values) in environment.cells() {
            let values: Vec<String> = values.iter().map(i128::to_string).collect();
            let width = cell.bit_width.map_or_else(String::new, |width| format!(":{width}"));
            let word = if cell.is_const { "const " } else { "" };
            found.push_str(&format!("{word}{}{width}={} ", cell.text, values.join(",")));
        }
    }
    found.trim_end().to_owned()
}

fn check(source: &str, statement: &str, expected: &str) {
    assert_eq!(environment(source, statement), expected, "{statement} of {source}");
}

#[test]
fn every_value_at_a_point_is_known() {
    let source = "int g = 7; int main(void) { unsigned char i; int s = 0;
        for (i = 250; i < 254; i++) { s -= i; } return s + 1006; }";
    check(source, "s -= i", "g=7 s=-753,-501,-250,0");
    check(source, "return", "g=7 s=-1006");
    check(source, "int s", "g=7");
}

#[test]
fn what_is_in_records_and_arrays_is_known() {
    let source = "struct A { int x; const short y; struct { unsigned u : 3; signed s : 5; int : 2; } b[2]; };
        struct A a = { 1, 2, { { 7, -3 }, { 1, 15 } } }; long m[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
        int long_one[100]; int main(void) { struct A c = a; return c.x - 1; }";
    let expected = "a.b[0].s:5=-3 a.b[0].u:3=7 a.b[1].s:5=15 a.b[1].u:3=1 a.x=1 const a.y=2 \
        m[0][0]=1 m[0][1]=2 m[0][2]=3 m[1][0]=4 m[1][1]=5 m[1][2]=6 long_one[0]=0 long_one[1]=0 \
        long_one[2]=0 long_one[3]=0 c.b[0].s:5=-3 c.b[0].u:3=7 c.b[1].s:5=15 c.b[1].u:3=1 c.x=1 \
        const c.y=2";
    check(source, "return", expected);
}

#[test]
fn what_is_volatile_or_a_union_or_no_integer_is_never_read() {
    let source = "volatile int v = 1; struct { volatile int x; int y; } s; volatile struct { int z; } t;
        union { int i; float f; } u; double d = 1; int *p = &s.y; enum E { A } e; __int128 w;
        const volatile int cv = 3; volatile int va[2]; struct { union { int a; long b; }; int c; } n;
        _Bool b = 1; const int k = 5; extern int elsewhere; unsigned long ul = -1UL;
        int main(void) { return s.y; }";
    check(source, "return", "s.y=0 n.c=0 b=1 const k=5 ul=18446744073709551615");
}

#[test]
fn a_variable_that_may_hold_garbage_is_never_read() {
    let source = "int f(int p) { int a; int b = 1; int c[3]; static int d; a = p; return a; }
        int main(int argc, char **argv) { return f(3) - 3; }";
    check(source, "return a", "p=3 b=1 d=0");
    check(source, "return f", "");
}

#[test]
fn a_variable_whose_initializer_is_jumped_over_is_never_read() {
    let jump = "int g; int f(int p) { if (p) goto in; { int a = 1; static int s = 4; in: g = 2; { int b = 3; g = b; } } return g; }
        int main(void) { return f(1) - 3; }";
    check(jump, "g = 2", "g=0 p=1 s=4");
    check(jump, "g = b", "g=2 p=1 s=4 b=3");
    let back = "int g; int main(void) { int a = 1; again: g++; int b = 2; if (g < 3) goto again; return 0; }";
    check(back, "return", "g=3 a=1 b=2");
    check(back, "if (g", "g=1,2,3 a=1 b=2");
    let switched = "int g = 2; int main(void) { switch (g) { int a = 1; case 1: g = 5; break;
        case 2: { int b = 6; g = b; } } return 0; }";
    check(switched, "g = b", "g=2 b=6");
    let computed =
        "int main(void) { static void *t[] = { &&x }; { int a = 3; goto *t[0]; x: return 0; } }";
    check(computed, "return", "");
}

#[test]
fn a_name_means_the_variable_at_the_point() {
    let source = "int x = 1, y = 2; int f(int y) { int x = y + 1; { static short x = 9; x++; }
        { enum { y = 4 }; x = y; } return x; } int main(void) { return f(5) - 4; }";
    check(source, "x++", "x=9");
    check(source, "return x", "x=4");
    check(source, "return f", "x=1");
}

#[test]
fn old_style_functions_and_recursion_are_profiled() {
    let source = "int f(n, s) int n; short s; { if (n == 0) return s; return f(n - 1, s + n); }
        int main() { return f(3, 0) - 6; }";
    check(source, "return s", "n=0 s=6");
    check(source, "return f(n", "n=1,2,3 s=0,3,5");
}

#[test]
fn more_than_32_values_are_too_many() {
    let source = "int main(void) { int few = 0, many = 0; while (many < 40) { many++; if (many > 8) few++; } return 0; }";
    let listed =
        |from: u32| (from..from + 32).map(|it| it.to_string()).collect::<Vec<_>>().join(",");
    check(source, "many++", &format!("few={}", listed(0)));
    check(source, "few++", &format!("few={} many={}", listed(0), listed(9)));
}

#[test]
fn what_two_compilers_see_differently_is_left_out() {
    // gcc passes the last argument first, clang the first.
    let source = "int g, h; int f(int a) { g++; return a; } int k(int a) { h = 1; return a; }
        int add(int a, int b) { return a + b; } int main(void) { return add(f(1), k(-1)); }";
    check(source, "h = 1", "h=0 a=-1");
    check(source, "return a + b", "g=1 h=1 a=1 b=-1");
}

#[test]
fn programs_that_a_profile_says_nothing_about_have_no_points() {
    let check = |declarations: &str, call: &str, why: Unfit| {
        let source = format!("{declarations} int g; int main(void) {{ {call} g = 1; return 0; }}");
        let program = read(&source);
        assert_eq!(program.unfit(), Some(why), "{source}");
        assert_eq!(program.instrument(1.0, &mut rng()).n_points(), 0);
    };
    check("int setjmp(long *);", "long v[40]; setjmp(v);", Unfit::Calls("setjmp".to_owned()));
    check("long time(long *);", "g = time(0);", Unfit::Calls("time".to_owned()));
    check("", "g = (int)(long)&g;", Unfit::Addresses);
    check("void f(int *restrict p) { *p = 1; }", "f(&g);", Unfit::Restricted("p".to_owned()));
    check(
        "__attribute__((const)) int f(int a) { return a; }",
        "f(1);",
        Unfit::Attribute("f".to_owned()),
    );
    check("__attribute__((destructor)) void f(void) { }", "", Unfit::Attribute("f".to_owned()));
    check(
        "int f(int a) __attribute__((pure)); int f(int a) { return a; }",
        "f(1);",
        Unfit::Attribute("f".to_owned()),
    );
    assert_eq!(read("const int *f(const int *p) { return p ? p : 0; }").unfit(), None);
}

#[test]
fn a_program_that_does_not_end_by_itself_has_no_profile() {
    let check = |body: &str, is_complete: bool| {
        let declared = "void abort(void); void _exit(int); void exit(int);";
        let program = read(&format!("{declared} int main(void) {{ {body} return 0; }}"));
        let instrumented = program.instrument(1.0, &mut rng());
        let output = run(&instrumented.text, Compiler::Clang);
        let profile = instrumented.profile(&output.stderr);
        assert_eq!(profile.is_ok(), is_complete, "{body}");
        assert!(is_complete || matches!(profile, Err(MutateError::IncompleteProfile)), "{body}");
    };
    check("abort();", false);
    check("_exit(0);", false);
    check("*(volatile int *)0 = 1;", false);
    check("exit(3);", true);
    check("", true);
}

#[test]
fn an_instrumented_program_does_what_the_program_does() {
    let source = "int printf(const char *, ...); void exit(int); int atexit(void (*)(void));
        struct { unsigned a : 5; short b[3]; } s = { 3, { -1 } }; unsigned long long u = -1; _Bool b = 1;
        void last(void) { printf(\"%d\", s.a); } int optsleuth_probe_seen = 4, write = 5;
        int main(void) { int i; atexit(last); for (i = 0; i < 40; i++) switch (i % 4) { case 0: s.a += i;
        default: if (i > 30) u -= i; else { L: s.b[i % 3]++; } }
        printf(\"%d %llu %d %d\", s.b[1], u, optsleuth_probe_seen, write); exit(3); }";
    let expected = run(source, Compiler::Clang);
    let instrumented = read(source).instrument(1.0, &mut rng());
    assert!(instrumented.n_points() > 10 && instrumented.n_records() > 50);
    for compiler in [Compiler::Clang, Compiler::Gcc, Compiler::Watched] {
        let output = run(&instrumented.text, compiler);
        let is_same = (&output.end, &output.stdout) == (&expected.end, &expected.stdout);
        assert!(is_same, "{compiler:?}: {:?}", output.end);
        let profile = instrumented.profile(&output.stderr).unwrap();
        assert!(profile.reached().len() > 12, "what runs at exit is a part of it");
    }
}
