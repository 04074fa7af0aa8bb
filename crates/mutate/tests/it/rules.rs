//! What each family of rules makes of small programs.

use optsleuth_mutate::{Program, Rule};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::read::read;

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(0)
}

/// All mutants of a rule, as what is different from the source's lines.
fn mutants(program: &Program, rule: Rule) -> Vec<String> {
    (0..program.count(rule))
        .map(|place| {
            let mutant = program.apply(rule, place, &mut rng()).unwrap();
            let old = program.text().lines();
            let changed = mutant.text.lines().zip(old).filter(|(new, old)| new != old);
            changed.map(|(new, _)| new.trim()).collect::<Vec<_>>().join(" / ")
        })
        .collect()
}

/// `expected`: a line per mutant, each the changed line.
fn check(source: &str, rule: &str, expected: &[&str]) {
    let found = mutants(&read(source), rule.parse().unwrap());
    assert_eq!(found, expected, "{rule}");
}

#[test]
fn an_operator_is_exchanged_and_its_operands_stay_together() {
    let source = "int f(int a, int b, int c) {\nreturn a + b * c;\n}";
    check(source, "plus-to-minus", &["return a - b * c;"]);
    check(source, "plus-to-times", &["return a * (b * c);"]);
    check(source, "times-to-plus", &["return a + (b + c);"]);
}

#[test]
fn comparisons_bind_as_before() {
    let source = "int f(int a, int b, int c) {\nreturn a < b == c;\n}";
    check(source, "lt-to-ge", &["return a >= b == c;"]);
    check(source, "lt-to-ne", &["return (a != b) == c;"]);
    check(source, "eq-to-lt", &["return (a < b) < c;"]);
}

#[test]
fn floating_point_and_pointers_get_only_what_c_allows() {
    let source = "double d; int *p, i;\nint f(void) {\nd = d * 2;\np = p + i;\nreturn p == 0;\n}";
    check(source, "times-to-modulo", &[]);
    check(source, "times-to-divide", &["d = d / 2;"]);
    check(source, "plus-to-minus", &["p = p - i;"]);
    check(source, "plus-to-times", &[]);
    check(source, "eq-to-ne", &["return p != 0;"]);
    check(source, "eq-to-lt", &[]);
}

#[test]
fn nothing_is_divided_by_a_literal_zero() {
    let source = "int f(int a) {\na *= 0;\nreturn a - 0 + (a - 1);\n}";
    check(source, "minus-to-divide", &["return a - 0 + (a / 1);"]);
    check(source, "times-assign-to-modulo-assign", &[]);
    let source = "int f(int a) {\nreturn a / 1;\n}";
    check(source, "constant-minus-one", &[]);
    check(source, "constant-times-zero", &[]);
    check(source, "constant-plus-one", &["return a / 2;"]);
}

#[test]
fn assignments_keep_their_class() {
    let source = "void f(int a) {\na <<= 2;\na &= 3;\n}";
    check(source, "shl-assign-to-shr-assign", &["a >>= 2;"]);
    check(source, "and-assign-to-xor-assign", &["a ^= 3;"]);
}

#[test]
fn constants_keep_base_and_suffix() {
    let source = "unsigned long a;\nvoid f(void) {\na = 0x1FUL;\na = -7;\n}";
    check(source, "constant-plus-one", &["a = 0x20UL;", "a = -8;"]);
    check(source, "constant-times-minus-one", &["a = (-0x1FUL);", "a = -(-7);"]);
    check(source, "constant-times-zero", &["a = 0x0UL;", "a = -0;"]);
}

#[test]
fn constants_that_c_is_particular_about_stay() {
    let source = "enum E { X = 3 }; struct S { int f : 4; int g[2]; };\nint a[5], *p = 0;\n\
        int b[3] = { [1] = 7 };\n_Static_assert(1 == 1, \"\");\n\
        int f(int x) {\nswitch (x) { case 5: return a[4]; }\nreturn x << 31;\n}";
    check(source, "constant-plus-one", &["int b[3] = { [1] = 8 };"]);
    check(
        source,
        "constant-minus-one",
        &["int b[3] = { [1] = 6 };", "switch (x) { case 5: return a[3]; }", "return x << 30;"],
    );
}

#[test]
fn unary_operators_are_exchanged_and_removed() {
    let source = "int f(int *p, int a) {\na = *p++ - --a;\nreturn !a;\n}";
    check(source, "post-increment-to-pre-decrement", &["a = *--p - --a;"]);
    check(source, "post-increment-remove", &["a = *p - --a;"]);
    check(source, "post-increment-to-negation", &[]);
    check(source, "pre-decrement-to-post-increment", &["a = *p++ - a++;"]);
    check(source, "negation-to-pre-increment", &["return ++a;"]);
    check(source, "negation-remove", &["return a;"]);
}

#[test]
fn a_new_operator_does_not_grow_together_with_its_neighbours() {
    let source =
        "struct S { int f; } *p;\nint f(int a, int b) {\na = a-b--;\na = -b--;\nreturn p++->f;\n}";
    check(source, "post-decrement-to-pre-decrement", &["a = a- --b;", "a = - --b;"]);
    check(source, "post-increment-to-pre-increment", &["return (++p)->f;"]);
    let source = "void f(int *p) {\n++*p;\n}";
    check(source, "pre-increment-to-post-increment", &["(*p)++;"]);
}

#[test]
fn only_what_can_be_written_is_incremented() {
    let source =
        "const int c = 1;\nenum { E };\nint f(int a) {\nreturn !c + !E + !(a + 1) + !a;\n}";
    check(source, "negation-to-pre-increment", &["return !c + !E + !(a + 1) + ++a;"]);
}

#[test]
fn qualifiers_are_added_where_they_compile() {
    let source = "int a;\nint *p;\nint main(void) {\na = 1;\nint b = 2;\nreturn b + *p;\n}";
    check(
        source,
        "volatile-add",
        &["volatile int a;", "volatile int *p;", "int *volatile p;", "volatile int b = 2;"],
    );
    check(source, "const-add", &["int *const p;", "const int b = 2;"]);
    check(source, "restrict-add", &["int *__restrict p;"]);
}

#[test]
fn qualifiers_are_removed_with_their_blank() {
    let source = "static const volatile int a;\nint *const volatile p;\nint f(int *restrict q) {\nreturn *q;\n}";
    check(source, "const-remove", &["static volatile int a;", "int *volatile p;"]);
    check(source, "volatile-remove", &["static const int a;", "int *const p;"]);
    check(source, "restrict-remove", &["int f(int *q) {"]);
}

#[test]
fn all_names_of_a_declaration_share_its_specifiers() {
    let source = "int a, *b, c[3];\nvoid f(void) {\na = c[0];\n}";
    check(source, "unsigned-add", &["unsigned int a, *b, c[3];"]);
    check(source, "const-add", &["int a, *const b, c[3];"]);
    check(source, "short-add", &[]);
}

#[test]
fn modifiers_take_each_others_place() {
    let source =
        "unsigned short a;\nlong b;\nsigned char c;\nchar d;\nlong long e;\ndouble g;\n_Bool h;";
    check(source, "signed-add", &["short a;", "signed char d;"]);
    check(
        source,
        "unsigned-add",
        &["unsigned long b;", "unsigned char c;", "unsigned char d;", "unsigned long long e;"],
    );
    check(source, "short-add", &["short b;", "short e;"]);
    check(source, "long-add", &["unsigned long a;", "long long b;"]);
    check(source, "unsigned-remove", &["short a;"]);
    check(source, "signed-remove", &["char c;"]);
    check(source, "short-remove", &["unsigned int a;"]);
    check(source, "long-remove", &["int b;", "long e;"]);
}

#[test]
fn the_name_of_a_type_is_replaced_by_the_type() {
    let source = "typedef unsigned char u8;\ntypedef int *P;\nu8 a;\nP b;\nu8 *c;";
    check(source, "unsigned-remove", &["signed char a;", "signed char *c;"]);
    check(source, "unsigned-add", &[]);
}

#[test]
fn what_is_declared_twice_keeps_its_type() {
    let source = "extern int a;\nint a = 1;\nint f(int x, int *y);\nint f(int x, int *y) {\nreturn x + *y + a;\n}";
    check(source, "long-add", &[]);
    check(
        source,
        "volatile-add",
        &["int f(volatile int x, int *y) {", "int f(int x, int *volatile y) {"],
    );
}

#[test]
fn the_size_of_what_is_pointed_to_stays() {
    let source = "int printf(const char *, ...);\nint a, b, c;\nint *p = &a;\nint main(void) {\nint d = 1;\nprintf(\"%d\", b);\nint e = d;\n}";
    check(source, "long-add", &["long d = 1;", "long e = d;"]);
    let source = "void f(void) {\nint g = 8, h = 5;\nfor (; g;) {\nint *i = &h, *j;\ng = *i;\n}\n}";
    check(source, "long-add", &[]);
}

#[test]
fn a_variable_is_exchanged_for_one_of_its_type_in_scope() {
    let source = "int a, b; float g;\nvoid f(const int c) {\nint u;\na = g;\n{ int h = 3; }\n}";
    let program = read(source);
    let rule: Rule = "variable".parse().unwrap();
    let places: Vec<String> = program.places(rule).into_iter().map(|place| place.what).collect();
    assert_eq!(places, ["`a` -> `b` or `u`"]);
}

#[test]
fn a_shadowed_variable_is_no_candidate() {
    check("int a = 1, b = 2;\nint f(void) {\nint b = 3;\nreturn a;\n}", "variable", &["return b;"]);
    check("int a = 1, b = 2;\nint f(void) {\ntypedef int b;\nreturn a;\n}", "variable", &[]);
}

#[test]
fn addresses_are_exchanged_only_for_those_of_the_same_type() {
    let source = "int a; long b; int c; volatile int d;\nint *p = &a;";
    check(source, "variable", &["int *p = &c;"]);
}

#[test]
fn a_place_in_the_oracle_is_never_touched() {
    let source = "int printf(const char *, ...); void abort(void); void exit(int);\n\
        static void transparent_crc(int a, char *n, int f) { a = a + 1; }\n\
        static int safe_add(int a, int b) { return a + b; }\n\
        int x, y;\n\
        int main(void) {\n\
        for (int i = 0; i < 3; i++) printf(\"%d\", x + i);\n\
        if (x + 1 != 3) abort();\n\
        if (x == 4) { printf(\"bad\"); return 1 + 2; }\n\
        transparent_crc(x + 2, \"x\", 0);\n\
        y = x + 5;\n\
        return x + y;\n}";
    let program = read(source);
    for rule in Rule::all() {
        for place in program.places(rule) {
            let line = source.lines().nth(place.line - 1).unwrap();
            assert!(line == "y = x + 5;" || line == "int x, y;", "{rule}: {line}: {}", place.what);
        }
    }
    assert_eq!(program.count("plus-to-minus".parse().unwrap()), 1);
}

#[test]
fn the_same_seed_makes_the_same_mutant() {
    let program = read("int a, b, c, d;\nvoid f(void) { a = b + c * d - 3; }");
    for rule in Rule::all() {
        let once = program.mutate(rule, &mut rng());
        assert_eq!(once, program.mutate(rule, &mut rng()), "{rule}");
        if let Some(mutant) = once {
            assert_ne!(mutant.text, program.text(), "{rule}");
            assert_eq!(mutant.by, rule.name());
        }
    }
}

#[test]
fn only_wanted_statements_are_changed() {
    let program = read("int a;\nvoid f(void) {\na = 1 + 2;\na = 3 + 4;\n}");
    let rule = "plus-to-minus".parse().unwrap();
    for seed in 0..8 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mutant = program.mutate_where(rule, |it| it == Some(1), &mut rng).unwrap();
        assert_eq!((mutant.line, mutant.statement), (4, Some(1)));
    }
}

#[test]
fn without_blanks_nothing_grows_together() {
    let source = "int f(int a,int*p) {\nreturn a**p;\n}";
    check(source, "times-to-divide", &["return a/ *p;"]);
    let source = "int f(int a,int b) {\nreturn a+-b;\n}";
    check(source, "plus-to-minus", &["return a- -b;"]);
    let source = "int f(int x) {\nreturn 0xE*x;\n}";
    check(source, "times-to-plus", &["return 0xE +x;"]);
    let source = "int f(int x) {\nreturn 0xD+x;\n}";
    check(source, "constant-plus-one", &["return 0xE +x;"]);
    let source = "int f(int x) {\nreturn!x;\n}";
    check(source, "negation-remove", &["return x;"]);
    let source = "void f(int x) {\nif(x)x=1;\nelse++x;\n}";
    check(source, "pre-increment-remove", &["else x;"]);
    let source = "int f(int x,int y) {\nreturn-~-x+y++;\n}";
    check(source, "negation-remove", &["return- -x+y++;"]);
    check(source, "post-increment-to-pre-increment", &["return-~-x+ ++y;"]);
}
