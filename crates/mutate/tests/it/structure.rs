//! What is inserted where, and that it is C afterwards.

use optsleuth_mutate::{Insertion, Mutant, Pool, Program};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::read::{libclang, read};

/// Enough to see every location and every ingredient of a small program.
const SEEDS: u64 = 60;

/// Every different mutant, in the order of the seeds.
fn mutants(make: impl Fn(&mut ChaCha8Rng) -> Option<Mutant>) -> Vec<Mutant> {
    let mut found: Vec<Mutant> = Vec::new();
    for seed in 0..SEEDS {
        if let Some(mutant) = make(&mut ChaCha8Rng::seed_from_u64(seed))
            && !found.contains(&mutant)
        {
            found.push(mutant);
        }
    }
    found
}

fn inserted(insertion: Insertion, program: &Program, pool: &Pool) -> Vec<Mutant> {
    mutants(|rng| program.insert(insertion, pool, &|_| true, rng))
}

/// Checks that all mutants are C, and that what was done are these things.
fn check_mutants(mutants: &[Mutant], expected: &[&str]) {
    for mutant in mutants {
        if let Err(error) = libclang().parse(&mutant.text, &[]) {
            panic!("{}: {error}\n{}", mutant.what, mutant.text);
        }
    }
    let mut what: Vec<&str> = mutants.iter().map(|mutant| mutant.what.as_str()).collect();
    what.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(what, expected);
}

fn check(insertion: Insertion, source: &str, donor: &str, expected: &[&str]) {
    let pool = Pool::gather([&read(donor)]);
    check_mutants(&inserted(insertion, &read(source), &pool), expected);
}

fn check_blend(source: &str, donor: &str, expected: &[&str]) {
    let pool = Pool::gather([&read(donor)]);
    let program = read(source);
    check_mutants(&mutants(|rng| program.blend(&pool, rng)), expected);
}

/// The only text that an insertion makes of a program.
fn only_text(insertion: Insertion, source: &str, donor: &str) -> String {
    let pool = Pool::gather([&read(donor)]);
    let mutants = inserted(insertion, &read(source), &pool);
    assert_eq!(mutants.len(), 1, "{mutants:?}");
    libclang().parse(&mutants[0].text, &[]).unwrap();
    mutants[0].text.clone()
}

/// A donor with nothing but the condition `v < 3`.
const LESS: &str = "int f(int v) { return v < 3 ? 1 : 2; }";

#[test]
fn a_condition_of_another_program_guards_a_statement() {
    let text = only_text(Insertion::If, "int a; void f(void) { a = 1; }", LESS);
    assert_eq!(text, "int a; void f(void) { if (a < 3) { a = 1; } }");
    let text = only_text(Insertion::While, "int a; void f(void) { a = 1; }", LESS);
    assert_eq!(text, "int a; void f(void) { while (a < 3) { a = 1; } }");
}

#[test]
fn single_statements_keep_their_loops_and_elses() {
    check(
        Insertion::If,
        "int a; void f(void) { for (;;) a = 1; }",
        LESS,
        &["`if (a < 3)` before `a = 1;`", "`if (a < 3)` before `for (;;) a = 1;`"],
    );
    let source = "int a; void f(void) { if (a) a = 2; else a = 3; }";
    let pool = Pool::gather([&read(LESS)]);
    let inner: Vec<String> = inserted(Insertion::If, &read(source), &pool)
        .into_iter()
        .filter(|mutant| mutant.what.ends_with("`a = 2;`"))
        .map(|mutant| mutant.text)
        .collect();
    assert_eq!(inner, ["int a; void f(void) { if (a) { if (a < 3) { a = 2; } } else a = 3; }"]);
}

#[test]
fn nothing_stands_before_declarations_labels_cases_and_oracles() {
    check(
        Insertion::If,
        "void abort(void); int printf(const char *, ...); int a;
         int main(void) { int b = 1; L: a = b; switch (a) { case 1: a = 2; break; default: ; }
           printf(\"%d\", a); if (a) abort(); goto L; return a; }",
        "int v; int f(void) { return v ? 1 : 2; }",
        &[
            "`if (a)` before `a = 2;`",
            "`if (a)` before `a = b;`",
            "`if (a)` before `break;`",
            "`if (a)` before `goto L;`",
            "`if (a)` before `switch (a) { case 1: a = 2; break; default: ; }`",
            "`if (a)` before `{ case 1: a = 2; break; default: ; }`",
            "`if (b)` before `a = 2;`",
            "`if (b)` before `a = b;`",
            "`if (b)` before `break;`",
            "`if (b)` before `goto L;`",
            "`if (b)` before `switch (a) { case 1: a = 2; break; default: ; }`",
            "`if (b)` before `{ case 1: a = 2; break; default: ; }`",
        ],
    );
}

#[test]
fn the_value_of_a_statement_expression_stays_what_it_is() {
    check(
        Insertion::If,
        "int a; int f(void) { return ({ a++; a; }); }",
        LESS,
        &["`if (a < 3)` before `a++;`"],
    );
}

#[test]
fn a_caller_says_where_nothing_may_be_inserted() {
    let program = read("int a; void f(void) { a = 1; a = 2; }");
    let pool = Pool::gather([&read(LESS)]);
    let second = |rng: &mut ChaCha8Rng| program.insert(Insertion::If, &pool, &|it| it == 1, rng);
    check_mutants(&mutants(second), &["`if (a < 3)` before `a = 2;`"]);
    let nowhere = |rng: &mut ChaCha8Rng| program.insert(Insertion::If, &pool, &|_| false, rng);
    assert_eq!(mutants(nowhere), []);
}

#[test]
fn variables_become_visible_ones_of_compatible_types() {
    let donor = "struct S { int m; }; struct S *s; int *p, v[4]; double d; unsigned char c;
        int f(void) { if (*p) return 1; if (v[3]) return 2; if (d > 1) return 3; if (c) return 4;
          return s->m ? 5 : 6; }";
    check(
        Insertion::If,
        "long x; int *q, w[8], few[3]; float y; void f(int *other) { x = 1; }",
        donor,
        &[
            "`if (*other)` before `x = 1;`",
            "`if (*q)` before `x = 1;`",
            "`if (w[3])` before `x = 1;`",
            "`if (x)` before `x = 1;`",
            "`if (y > 1)` before `x = 1;`",
        ],
    );
    check(
        Insertion::If,
        "struct S { int m; }; struct S *t; void f(void) { t = 0; }",
        donor,
        &["`if (t->m)` before `t = 0;`"],
    );
    check(Insertion::If, "struct S { long m; }; struct S *t; void f(void) { t = 0; }", donor, &[]);
}

#[test]
fn constant_variables_are_not_written_to() {
    check(
        Insertion::If,
        "const int a, c[3]; int b; void f(void) { b = a; }",
        "int v; int f(void) { return v++ ? 1 : 2; }",
        &["`if (b++)` before `b = a;`"],
    );
    check(
        Insertion::If,
        "const int c[3]; int b; void f(void) { b = 1; }",
        "int v[3]; int f(void) { return v[1]++ ? 1 : 2; }",
        &[],
    );
}

#[test]
fn a_function_comes_with_everything_it_depends_on() {
    let text = only_text(
        Insertion::Call,
        "int g; struct T { int a; }; void f(void) { g = 1; }",
        "typedef struct T { int g; } T; enum { K = 3 }; T t, unused; extern int main(void);
         int f(void) { t.g = K; return t.g; } int main(void) { return f(); }",
    );
    assert_eq!(
        text,
        "int g; struct T { int a; }; typedef struct T_in1 { int g; } T_in1;\n\
         enum { K_in1 = 3 };\nT_in1 t_in1, unused_in1;\n\
         static int f_in1(void) { t_in1.g = K_in1; return t_in1.g; }\n\
         void f(void) { f_in1(); g = 1; }"
    );
}

#[test]
fn prototypes_of_a_function_become_static_with_it() {
    let text = only_text(
        Insertion::Call,
        "int g; void f(void) { g = 1; }",
        "extern int h(void); inline int h(void) { return 1; }",
    );
    assert_eq!(
        text,
        "int g; static int h_in1(void);\nstatic inline int h_in1(void) { return 1; }\n\
         void f(void) { h_in1(); g = 1; }"
    );
}

#[test]
fn what_both_programs_have_is_shared() {
    let common = "typedef struct { int m; } T; ";
    let text = only_text(
        Insertion::Call,
        &format!("{common}T t; void f(void) {{ t.m = 1; }}"),
        &format!("{common}T u; int h(T *p) {{ return p->m; }} int main(void) {{ return h(&u); }}"),
    );
    assert_eq!(
        text,
        "typedef struct { int m; } T; T t; static int h_in1(T *p) { return p->m; }\n\
         void f(void) { h_in1(&t); t.m = 1; }"
    );
}

#[test]
fn a_call_takes_arguments_of_the_program() {
    check(
        Insertion::Call,
        "int g; void f(void) { g = 1; }",
        "int a; int h(int *p, int n) { return *p + n; } int main(void) { return h(&a, a + 1); }",
        &["`h_in1(&g, g + 1);` before `g = 1;`"],
    );
}

#[test]
fn an_argument_that_does_not_fit_is_a_constant_or_a_variable() {
    check(
        Insertion::Call,
        "float y; void f(void) { y = 1; }",
        "int a; int h(int n) { return n; } int main(void) { return h(a + 1); }",
        &[
            "`h_in1(-1);` before `y = 1;`",
            "`h_in1(0);` before `y = 1;`",
            "`h_in1(1);` before `y = 1;`",
            "`h_in1(100);` before `y = 1;`",
            "`h_in1(2);` before `y = 1;`",
        ],
    );
}

#[test]
fn old_style_functions_come_along_and_take_calls() {
    check(
        Insertion::Call,
        "int g; void f(p) int p; { g = p; }",
        "int h(a, b) int a; char b; { return a + b; } int main() { return h(1, 2); }",
        &["`h_in1(1, 2);` before `g = p;`"],
    );
}

#[test]
fn what_needs_the_outside_world_stays_where_it_is() {
    let donor = "int printf(const char *, ...); extern int far; int unknown(int); int own;
        int f(void) { return far; } int g(void) { return unknown(1); }
        int h(void) { printf(\"x\"); return 1; } int i(void) { return h(); }
        int j(void) { __asm__(\"\"); return 2; } int k(void) { return own; }";
    let counts = Pool::gather([&read(donor)]).counts();
    assert_eq!(counts.to_string(), "conditions 0, functions 1, calls 1, statements 0");
}

#[test]
fn a_weak_function_stays_where_it_is() {
    let donor = "void weak(int) __attribute__((weak)); int x; void weak(int a) { x = a; }
        int main(void) { weak(3); return 0; }";
    assert_eq!(Pool::gather([&read(donor)]).counts().calls, 0);
}

#[test]
fn functions_of_the_library_are_declared_once_and_alike() {
    let donor = "void *memset(void *, int, unsigned long); char b[4];
        void h(void) { memset(b, 1, 4); } int main(void) { h(); return 0; }";
    let program = "int g; void f(void) { g = 1; }";
    let text = only_text(Insertion::Call, program, donor);
    assert!(text.contains("void *memset(void *, int, unsigned long);"), "{text}");
    check(Insertion::Call, &format!("void memset(int); {program}"), donor, &[]);
}

#[test]
fn a_jump_leads_to_another_location_of_the_same_function() {
    check(
        Insertion::Goto,
        "int a; void f(void) { a = 1;\n if (a) a = 2; }\nvoid g(void) { a = 3; }",
        LESS,
        &[
            "`goto label_in1;` before `a = 1;`, on to line 2",
            "`goto label_in1;` before `a = 1;`, on to line 2",
            "`goto label_in1;` before `a = 2;`, back to line 1",
            "`goto label_in1;` before `a = 2;`, back to line 2",
            "`goto label_in1;` before `if (a) a = 2;`, back to line 1",
            "`goto label_in1;` before `if (a) a = 2;`, on to line 2",
        ],
    );
}

#[test]
fn no_jump_skips_a_declaration_that_has_to_be_executed() {
    check(
        Insertion::Goto,
        "int a; void f(int n) { a = 1;\n int v[n];\n a = 2; { int i = 3;\n a = i; } }",
        LESS,
        &[
            "`goto label_in1;` before `a = 2;`, back to line 1",
            "`goto label_in1;` before `a = 2;`, on to line 3",
            "`goto label_in1;` before `a = i;`, back to line 1",
            "`goto label_in1;` before `a = i;`, back to line 3",
            "`goto label_in1;` before `a = i;`, back to line 3",
            "`goto label_in1;` before `{ int i = 3; a = i; }`, back to line 1",
            "`goto label_in1;` before `{ int i = 3; a = i; }`, back to line 3",
        ],
    );
    check(
        Insertion::Goto,
        "int a; int f(void) { a = 1;\n return ({ a = 2;\n a; }); }",
        LESS,
        &[
            "`goto label_in1;` before `a = 2;`, on to line 3",
            "`goto label_in1;` before `a;`, back to line 2",
        ],
    );
}

/// What programs show their results with.
const SHOWS: &str = "int printf(const char *, ...); void abort(void); int a;\n";

#[test]
fn no_condition_guards_a_statement_that_shows_something() {
    let mixed = "int main(void) { for (int i = 0; i < 3; i++) { a += i; printf(\"%d\", a); }
        if (a) { a = 1; abort(); } else { int n = printf(\"\"); }
        while (a) { a--; if (a == 7) return 1; } { a = 2; } return 0; }";
    for (insertion, word) in [(Insertion::If, "if"), (Insertion::While, "while")] {
        let guarded = [
            format!("`{word} (a < 3)` before `a += i;`"),
            format!("`{word} (i < 3)` before `a += i;`"),
            format!("`{word} (a < 3)` before `a = 1;`"),
            format!("`{word} (a < 3)` before `a--;`"),
            format!("`{word} (a < 3)` before `a = 2;`"),
            format!("`{word} (a < 3)` before `{{ a = 2; }}`"),
        ];
        let expected = guarded.each_ref().map(String::as_str);
        check(insertion, &format!("{SHOWS}{mixed}"), LESS, &expected);
    }
}

#[test]
fn no_jump_leads_on_over_what_shows_something() {
    check(
        Insertion::Goto,
        &format!("{SHOWS}void f(void) {{ a = 1;\n printf(\"\");\n a = 2;\n a = 3; }}"),
        LESS,
        &[
            "`goto label_in1;` before `a = 2;`, back to line 2",
            "`goto label_in1;` before `a = 2;`, on to line 5",
            "`goto label_in1;` before `a = 3;`, back to line 2",
            "`goto label_in1;` before `a = 3;`, back to line 4",
        ],
    );
    check(
        Insertion::Goto,
        &format!("{SHOWS}int main(void) {{ a = 1;\n if (a) return 1;\n a = 3; }}"),
        LESS,
        &["`goto label_in1;` before `a = 3;`, back to line 2"],
    );
}

#[test]
fn no_jump_leaves_a_loop_that_shows_something() {
    check(
        Insertion::Goto,
        &format!("{SHOWS}void f(void) {{ do {{\n printf(\"\");\n a++;\n }} while (a);\n a = 2; }}"),
        LESS,
        &[
            "`goto label_in1;` before `a = 2;`, back to line 2",
            "`goto label_in1;` before `a = 2;`, back to line 2",
            "`goto label_in1;` before `a = 2;`, back to line 4",
            "`goto label_in1;` before `a++;`, back to line 2",
            "`goto label_in1;` before `a++;`, back to line 2",
            "`goto label_in1;` before `do { printf(\"\"); a++; } while (a);`, on to line 2",
            "`goto label_in1;` before `{ printf(\"\"); a++; }`, back to line 2",
        ],
    );
}

#[test]
fn a_statement_is_blended_in_with_its_types_and_labels() {
    check_blend(
        "int a; void f(void) { L: a = 1; }",
        "typedef int T; struct S { T m; } s; void g(void) { { L: s.m = (T)2; if (s.m) goto L; } }",
        &[
            "`s_in1.m = (T_in1)2;` before `a = 1;`",
            "`{ L_in1: s_in1.m = (T_in1)2; if (s_in1.m) goto L_in1; }` before `a = 1;`",
        ],
    );
}

#[test]
fn what_jumps_out_of_itself_is_not_blended_in() {
    let donor = "int v; int g(void) { for (;;) { if (v) break; if (v > 1) continue; }
        switch (v) { case 1: v = 1; } if (v) return 1; { int w = v; v = w; } return 0; }";
    check_blend(
        "int a; void f(void) { a = 1; }",
        donor,
        &[
            "`for (;;) { if (a) break; if (a > 1) continue; }` before `a = 1;`",
            "`a = 1;` before `a = 1;`",
            "`a = a;` before `a = 1;`",
            "`switch (a) { case 1: a = 1; }` before `a = 1;`",
            "`{ int w = a; a = w; }` before `a = 1;`",
        ],
    );
}

#[test]
fn same_random_numbers_same_mutant() {
    let program = read("int a, b; void f(void) { a = 1; b = 2; for (;;) a = b; }");
    let pool = Pool::gather([&read("int x, y; int g(int z) { x = y; return x < z ? y : g(x); }")]);
    for insertion in Insertion::ALL {
        let once = inserted(insertion, &program, &pool);
        assert!(once.len() > 1);
        assert_eq!(once, inserted(insertion, &program, &pool));
    }
    let blended = || mutants(|rng| program.blend(&pool, rng));
    assert!(blended().len() > 1);
    assert_eq!(blended(), blended());
}

#[test]
fn mutants_can_be_mutated_again() {
    let pool =
        Pool::gather([&read("int x; int g(int z) { x = z; return x; } void h(void) { g(x); }")]);
    let mut program = read("int a; void f(void) { a = 1; }");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..5 {
        program = read(&program.insert(Insertion::Call, &pool, &|_| true, &mut rng).unwrap().text);
    }
    assert!(program.text().contains("g_in5"), "{}", program.text());
}

#[test]
fn an_empty_pool_gives_nothing_but_jumps() {
    let program = read("int a; void f(void) { a = 1; a = 2; }");
    let pool = Pool::gather([]);
    assert!(pool.is_empty());
    for insertion in Insertion::ALL {
        let n_mutants = inserted(insertion, &program, &pool).len();
        assert_eq!(n_mutants, if insertion == Insertion::Goto { 2 } else { 0 }, "{insertion}");
    }
}
