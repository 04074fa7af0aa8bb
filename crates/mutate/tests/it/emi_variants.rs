//! Variants do what their seeds do, in any number of generations.

use std::collections::BTreeSet;

use optsleuth_compiler::spawn::ToolOutput;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_compiler::{clang, csmith, llvm};
use optsleuth_mutate::emi::{self, Profile, Strategy, Variant};
use optsleuth_mutate::{Pool, Program};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::profiled::{Compiler, profile, run};
use crate::read::{libclang, read};

/// Programs in which C shows what it can do; each prints what it came to.
const ODD: &[(&str, &str)] = &[
    (
        "K&R",
        "int f(a, b) int a; short b; { if (a > 9) return b; else a += b; return a; } int main() { printf(\"%d\", f(1, 2)); return 0; }",
    ),
    (
        "variable length",
        "int g = 3; int f(int n) { int v[n + 1]; v[0] = n; if (n > 9) v[0] = 2; return v[0]; } int main(void) { g = f(g); if (g > 5) g = 1; printf(\"%d\", g); return 0; }",
    ),
    (
        "union",
        "union U { int i; unsigned char c[4]; } u; int k; int main(void) { u.i = 258; if (u.c[0] == 2) k = u.c[1]; else k = 9; printf(\"%d\", k); return 0; }",
    ),
    (
        "bit-fields",
        "struct { unsigned a : 3; signed b : 4; unsigned long c : 40; } s = { 7, -8, 1UL << 39 }; int main(void) { s.a++; s.b--; s.c += s.c - 1; if (s.a) s.a = 3; printf(\"%d %d %lu\", s.a, s.b, (unsigned long)s.c); return 0; }",
    ),
    (
        "goto into a block",
        "int g; int main(void) { int i = 0; if (g) { in: g++; i++; } if (i < 3) goto in; else if (i > 7) { g = 9; goto out; } out: printf(\"%d %d\", g, i); return 0; }",
    ),
    (
        "fallthrough",
        "int g; int f(int a) { switch (a) { case 1: g += 2; case 2: { int b = a; g += b * 2; } break; case 3: g--; default: g += 100; } return g; } int main(void) { int i; for (i = 0; i < 3; i++) f(i); printf(\"%d\", g); return 0; }",
    ),
    (
        "duff",
        "char v[9]; int main(void) { int n = 7, i = 0, k = 2; switch (n % 4) { case 0: do { v[i++] = 'a'; case 3: v[i++] = 'b'; case 2: v[i++] = 'c'; case 1: v[i++] = 'd'; } while (--k > 0); } printf(\"%s\", v); return 0; }",
    ),
    (
        "UTF-8",
        "int na\u{ef}ve = 3; int main(void) { char *s = \"\u{4e16}*/\u{754c}\"; if (na\u{ef}ve > 5) na\u{ef}ve = s[0]; else printf(\"%s %d\", s, na\u{ef}ve); return 0; }",
    ),
    (
        "recursion",
        "int calls; int fib(int n) { calls++; if (n < 2) return n; return fib(n - 1) + fib(n - 2); } int main(void) { int r = fib(9); printf(\"%d %d\", r, calls); return 0; }",
    ),
    (
        "nested records",
        "struct In { short a; struct { int b[2]; } c; }; struct Out { struct In in[3]; const int k; } o = { { { 1 } }, 5 }; int main(void) { struct Out p = o; int i; for (i = 0; i < 3; i++) { p.in[i].c.b[1] = i + p.in[0].a; if (p.k == 4) p.in[0].a = 0; } printf(\"%d\", p.in[2].c.b[1]); return 0; }",
    ),
    (
        "const and volatile",
        "const int c = 4; volatile int v = 2; static const short t[2] = { 1, 2 }; int main(void) { const int d = c + 1; int s = 0; while (s < d) { s += v; if (s > 99) s = t[0]; } printf(\"%d\", s); return 0; }",
    ),
    (
        "static locals",
        "int next(void) { static unsigned char n = 254; static int turns; if (++n == 0) turns++; return n + turns * 256; } int main(void) { int i; for (i = 0; i < 4; i++) printf(\"%d \", next()); return 0; }",
    ),
    (
        "shadows",
        "int x = 1; int main(void) { int y = x; { int x = y + 5; { long x = 7; y += x; } y += x; if (y < 0) { int y = 3; x = y; } } printf(\"%d %d\", x, y); return 0; }",
    ),
    (
        "statement expression",
        "int g; int main(void) { int a = ({ int b = 3; g = b; b * 2; }) + ({ if (g > 7) g = 1; g; }); if (a < 0) ({ g = 4; }); printf(\"%d %d\", a, g); return 0; }",
    ),
    (
        "dangling else",
        "int a, b = 1; int main(void) { if (b) if (a) b = 2; else b = 3; else b = 4; for (;;) if (b++ > 5) break; else continue; do if (a) a--; else a += 4; while (a > 2 && a < 4); printf(\"%d %d\", a, b); return 0; }",
    ),
    (
        "pragma",
        "int s; int main(void) { int i;\n#pragma GCC unroll 2\n for (i = 0; i < 5; i++) s += i;\n if (s > 99)\n#pragma GCC unroll 2\n for (i = 0; i < 5; i++) s -= i;\n printf(\"%d\", s); return 0; }",
    ),
    (
        "never called",
        "int g = 1; static int f(int a) { int i; for (i = 0; i < a; i++) { g += i; if (g == 7) return 3; } return g; } int main(void) { if (g == 2) g = f(3); printf(\"%d\", g); return 0; }",
    ),
    (
        "extreme values",
        "long long a = -9223372036854775807LL - 1; unsigned long b = -1; signed char c = -128; _Bool d = 1; int main(void) { unsigned short e = 65535; if (a > 0) b = 0; e += c; printf(\"%lld %lu %d %d %d\", a, b, c, d, e); return 0; }",
    ),
    (
        "case after case",
        "int g; int main(void) { switch (g) case 0: case 1: if (g) g = 4; else g = 5; L: M: g++; if (g > 90) goto L; if (g > 80) goto M; printf(\"%d\", g); return 0; }",
    ),
    (
        "register and extern",
        "int g = 3; int main(void) { register int r = g; extern int g; { extern int g; g += r; if (g > 9) r = 0; } printf(\"%d\", g + r); return 0; }",
    ),
];

const PRINTF: &str = "int printf(const char *, ...);\n";

/// Everything that has to be true of a variant.
fn check_variant(seed: &Program, variant: &Variant, output: &ToolOutput, name: &str) {
    let text = &variant.text;
    assert!(!variant.snippets.is_empty(), "{name}");
    let parsed = libclang().parse(text, &[]);
    assert!(parsed.is_ok(), "{name}: {}\n{text}", parsed.unwrap_err());
    let plain = emi::unmarked(text);
    assert!(!plain.contains("/*emi") && !plain.contains("/*}emi"), "{name}: {plain}");
    for compiler in [Compiler::Clang, Compiler::Gcc, Compiler::Watched] {
        let ours = run(&plain, compiler);
        let said = String::from_utf8_lossy(&ours.stderr);
        let is_same = (&ours.end, &ours.stdout) == (&output.end, &output.stdout);
        assert!(is_same, "{name}, by {compiler:?}: {:?} {said}\n{text}", ours.end);
        assert!(!said.contains("runtime error"), "{name}: {said}\n{text}");
    }
    let all: BTreeSet<u32> = emi::snippets(text).iter().map(|snippet| snippet.id).collect();
    assert_eq!(words(&emi::without(text, &all)), words(&emi::unmarked(seed.text())), "{name}");
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// A pool of everything in these programs.
fn pool() -> Pool {
    let programs: Vec<Program> =
        ODD.iter().map(|(_, text)| read(&format!("{PRINTF}{text}"))).collect();
    Pool::gather(&programs)
}

/// A variant by one of the strategies.
fn derive(
    strategy: Strategy,
    program: &Program,
    profile: &Profile,
    pool: &Pool,
    rng: &mut ChaCha8Rng,
) -> Option<Variant> {
    match strategy {
        Strategy::Hermes => program.hermes(profile, rng),
        Strategy::Athena => program.athena(profile, pool, rng),
        Strategy::Orion => program.orion(profile, rng),
    }
}

/// Variants of variants do the same as the seed; how many there were.
fn check_chain(name: &str, seed: &Program, strategies: [Strategy; 3], pool: &Pool) -> usize {
    let output = run(seed.text(), Compiler::Clang);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut program, mut last) = (seed.clone(), None);
    let mut n_variants = 0;
    for strategy in strategies {
        let profile = profile(&program, 0.3, &mut rng);
        let Some(variant) = derive(strategy, &program, &profile, pool, &mut rng) else { continue };
        program = libclang().parse(&variant.text, &[]).unwrap_or_else(|error| {
            panic!("{name}: {error}\n{}", variant.text);
        });
        last = Some(variant);
        n_variants += 1;
    }
    if let Some(variant) = last {
        check_variant(seed, &variant, &output, name);
    }
    n_variants
}

#[test]
fn variants_of_odd_programs_do_the_same() {
    let pool = pool();
    let mut n_variants = [0; 3];
    for (name, text) in ODD {
        let seed = read(&format!("{PRINTF}{text}"));
        let output = run(seed.text(), Compiler::Clang);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let profile = profile(&seed, 1.0, &mut rng);
        for (strategy, n_variants) in Strategy::ALL.into_iter().zip(&mut n_variants) {
            if let Some(variant) = derive(strategy, &seed, &profile, &pool, &mut rng) {
                check_variant(&seed, &variant, &output, &format!("{name}, {strategy}"));
                *n_variants += 1;
            }
        }
    }
    assert!(n_variants[0] > 18 && n_variants[1] > 12 && n_variants[2] > 12, "{n_variants:?}");
}

#[test]
fn strategies_can_take_turns() {
    let pool = pool();
    for (name, text) in ODD {
        let seed = read(&format!("{PRINTF}{text}"));
        let mixed = [Strategy::Athena, Strategy::Hermes, Strategy::Orion];
        check_chain(&format!("{name}, mixed"), &seed, mixed, &pool);
    }
}

#[test]
fn same_seed_same_variant() {
    let (seed, pool) = (read(&format!("{PRINTF}{}", ODD[16].1)), pool());
    let profile = profile(&seed, 1.0, &mut ChaCha8Rng::seed_from_u64(1));
    for strategy in Strategy::ALL {
        let of = |number| {
            let mut rng = ChaCha8Rng::seed_from_u64(number);
            derive(strategy, &seed, &profile, &pool, &mut rng)
        };
        assert_eq!(of(5), of(5), "{strategy}");
        assert!((0..20).any(|number| of(number) != of(5)), "{strategy}");
    }
}

/// A program of csmith's, preprocessed.
fn csmith(number: u64, folder: &Workdir) -> String {
    let (source, plain) = (folder.file("seed.c"), folder.file("seed.i"));
    csmith::generate(number, &csmith::SMALL_PROGRAMS, &source).unwrap();
    let flags = csmith::include_flags(&std::fs::read(&source).unwrap());
    let install = llvm::find(19).unwrap();
    clang::preprocess(&install, &source, &flags, clang::Markers::Dropped, &plain).unwrap()
}

#[test]
fn variants_of_random_programs_do_the_same() {
    let folder = Workdir::new().unwrap();
    let seeds = [2, 3, 8].map(|number| read(&csmith(number, &folder)));
    let pool = Pool::gather(&seeds);
    let mut n_variants = 0;
    for (number, seed) in seeds.iter().enumerate() {
        for strategy in Strategy::ALL {
            n_variants += check_chain(&format!("{number}, {strategy}"), seed, [strategy; 3], &pool);
        }
    }
    assert!(n_variants > 20, "{n_variants}");
}

#[test]
fn what_was_not_executed_can_go_and_nothing_else() {
    let source = "int g; int f(int a) { return a; } int main(void) { if (g) { g = 1; L: g = 2; }
        switch (g) { case 0: break; case 1: g = 3; } if (g > 4) goto L; while (g > 5) g++; return 0; }";
    let program = read(source);
    let profile = profile(&program, 1.0, &mut ChaCha8Rng::seed_from_u64(1));
    let deleted: BTreeSet<String> = (0..200)
        .flat_map(|number| {
            let variant = program.orion(&profile, &mut ChaCha8Rng::seed_from_u64(number)).unwrap();
            let was = variant.text.split(" was ").skip(1);
            was.map(|rest| rest.split("*/").next().unwrap().to_owned()).collect::<Vec<_>>()
        })
        .collect();
    let expected = ["g = 1;", "g = 2;", "g = 3;", "g++;", "goto L;", "return a;"];
    assert_eq!(deleted.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn a_program_is_farther_from_its_seed_the_more_of_it_is_other() {
    let seed = read("int g; void f(void) { g = 1; if (g) g = 2; else g = 3; while (g) g--; }");
    let same =
        read("int g; void f(void) { g = 1; /*x*/ if (g) {g=2;} else g = 3; while (g) g--; }");
    let near = read("int g; void f(void) { g = 1; if (g) g = 2; else g = 4; while (g) g--; }");
    let far =
        read("int g; void f(void) { g = 5; if (!g) g = 6; else g = 4; while (g > 0) g -= 2; }");
    assert_eq!(emi::distance(&seed, &seed), 0.0);
    assert!(emi::distance(&seed, &same) < emi::distance(&seed, &near));
    assert!(emi::distance(&seed, &near) < emi::distance(&seed, &far));
    let grown = read(
        "int g; void f(void) { g = 1; if (g) g = 2; else g = 3; while (g) g--; g = 7; g = 8; g = 9; g = 10; }",
    );
    assert!(emi::distance(&seed, &grown) < emi::distance(&seed, &near));
}
