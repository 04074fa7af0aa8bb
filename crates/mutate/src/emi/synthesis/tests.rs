//! Synthesized code, compiled by gcc and clang, watched by their sanitizers,
//! and executed for every combination of its environment's values.
//!
//! A program has a function per snippet with what the snippet may name; a driver
//! gives the cells their values, and each function says whether everything is
//! as it was. The program's whole output is `done`.

#[path = "../../../tests/it/native/mod.rs"]
mod native;

use std::fmt::Write as _;
use std::sync::OnceLock;

use native::{Compiler, Workplace};
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::expression::expression;
use super::*;
use crate::arithmetic::{Value, literal};
use crate::emi::environment::Cell;
use crate::program::Program;
use crate::types::{Integer, Rank};
use crate::{Libclang, OLDEST};

/// What a snippet may name, and what it must not use.
const GLOBALS: &str = r#"
int printf(const char *, ...);
struct S { unsigned f0 : 5; signed f1 : 17; long f2 : 40; _Bool f3 : 1; short f4;
  unsigned f5 : 32; const int f6; unsigned long f7 : 20; };
union U { int a; char b; };
enum E { E0, E1 };
static signed char g_0; static unsigned char g_1; short g_2; static unsigned short g_3;
int g_4; unsigned g_5; long g_6; static unsigned long g_7; long long g_8; _Bool g_9;
unsigned long long g_12;
volatile int g_10; const int g_11 = 3; static struct S s; static const struct S t; union U u;
int a_0[3][4]; const long a_1[2]; static volatile unsigned char a_2[5]; static short a_3[7];
int *p_0 = &g_4; const int *p_1; int **p_2 = &p_0; volatile int *p_3; void *p_4;
struct S *p_5; int (*p_6)(int); int *const p_7 = &g_4; volatile unsigned char *p_8; short *p_9;
float d; enum E e; extern int missing; extern int missing_array[]; char c, *p_10 = &c;
static int callee_0(int a, unsigned char b) { return a + b; }
static struct S callee_1(struct S x, union U y) { return x; }
void callee_2(int **a, const int *b, volatile unsigned char *c) { }
static int *callee_3(struct S *a, short *b, float f, char *t) { return &g_4; }
static int (*callee_4(void))(int) { return p_6; }
int defined_later(enum E a, long b);
inline int defined_nowhere(void) { return 1; }
__attribute__((error("must not be called"))) void forbidden(void) { }
static int variadic(int a, ...) { return a; }
static void wrong(int number) { printf("wrong %d\n", number); }
"#;
const BEHIND: &str = "int defined_later(enum E a, long b) { return (int)(a + b); }\n";

/// A function with a point in it.
fn function(number: usize, snippet: &str) -> String {
    format!(
        "static long point_{number}(int l_0, unsigned char l_1) {{ \
         register int l_2 = 1; int callee_3 = 0; const short l_3 = 4; (void)callee_3; \
         {snippet}\nreturn l_2; }}\n"
    )
}

/// The program of the visible, read once.
fn program() -> &'static (Program, usize) {
    static PROGRAM: OnceLock<(Program, usize)> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let path = optsleuth_compiler::libclang::newest(OLDEST).unwrap();
        let text = format!("{GLOBALS}{}{BEHIND}", function(0, "g_4 = 1;"));
        let program = Libclang::load(&path).unwrap().parse(&text, &[]).unwrap();
        let point = text.find("g_4 = 1;").unwrap();
        (program, point)
    })
}

fn cell(text: &str, ty: Integer, bit_width: Option<u32>) -> Cell {
    let is_const = matches!(text, "g_11" | "s.f6" | "l_3");
    let is_volatile = matches!(text, "g_10" | "a_2[1]");
    Cell { text: text.to_owned(), ty, bit_width, is_const, is_volatile, variable: Some(0) }
}

/// Every cell that an environment may have.
fn cells() -> Vec<Cell> {
    let plain = ["g_9", "g_0", "g_1", "g_2", "g_3", "g_4", "g_5", "g_6", "g_7", "g_8", "g_12"];
    let mut cells: Vec<Cell> =
        plain.iter().zip(Integer::ALL).map(|(text, ty)| cell(text, ty, None)).collect();
    let int = Integer::INT;
    let of = |rank, is_signed| Integer { rank, is_signed };
    for (text, ty, width) in [
        ("s.f0", of(Rank::Int, false), Some(5)),
        ("s.f1", int, Some(17)),
        ("s.f2", of(Rank::Long, true), Some(40)),
        ("s.f3", of(Rank::Bool, false), Some(1)),
        ("s.f4", of(Rank::Short, true), None),
        ("s.f5", of(Rank::Int, false), Some(32)),
        ("s.f7", of(Rank::Long, false), Some(20)),
        ("a_0[1][2]", int, None),
        ("a_2[1]", of(Rank::Char, false), None),
        ("a_3[6]", of(Rank::Short, true), None),
        ("g_10", int, None),
        ("g_11", int, None),
        ("s.f6", int, None),
        ("l_0", int, None),
        ("l_1", of(Rank::Char, false), None),
        ("l_2", int, None),
        ("l_3", of(Rank::Short, true), None),
    ] {
        cells.push(cell(text, ty, width));
    }
    cells
}

/// Some cells with one to three values each, at borders and elsewhere.
fn environment(rng: &mut ChaCha8Rng) -> Environment {
    let all = cells();
    let n_cells = rng.random_range(1..=6);
    let chosen = all.choose_multiple(rng, n_cells).cloned().collect::<Vec<_>>();
    let described = chosen.into_iter().map(|cell| {
        let fixed = [("g_11", 3), ("s.f6", 0), ("l_2", 1), ("l_3", 4)];
        if let Some((_, value)) = fixed.iter().find(|(text, _)| *text == cell.text) {
            return (cell, vec![*value]);
        }
        let range = cell.ty.range(cell.bit_width).unwrap();
        let (least, most) = (*range.start(), *range.end());
        let n_values = rng.random_range(1..=3);
        let draw = |_| match rng.random_range(0..5) {
            0 => least,
            1 => most,
            2 => rng.random_range(least..=most),
            _ => rng.random_range(least.max(-9)..=most.min(9)),
        };
        (cell, (0..n_values).map(draw).collect())
    });
    Environment::new(described.collect::<Vec<_>>())
}

/// The code of a function that keeps watch over an environment's cells, and the
/// driver's part that calls it for all of their values.
fn watched(number: usize, environment: &Environment, snippet: &str) -> (String, String) {
    let (mut saved, mut compared, mut loops, mut given) =
        <(String, String, String, String)>::default();
    let (mut parameters, mut n_loops) = (["0", "0"].map(str::to_owned), 0);
    for (at, (cell, values)) in environment.cells().iter().enumerate() {
        let (text, ty) = (&cell.text, cell.ty.name());
        let values = values.iter().map(|&value| literal(Value::new(cell.ty, value).unwrap()));
        let values: Vec<String> = values.collect();
        write!(saved, "{ty} c_{at} = {text}; ").unwrap();
        write!(compared, "if (c_{at} != {text}) wrong({number}); ").unwrap();
        if cell.is_const || text == "l_2" {
            continue;
        }
        write!(
            loops,
            "static const {ty} w_{at}[] = {{{}}}; for (int i_{at} = 0; i_{at} < {}; i_{at}++) {{ ",
            values.join(", "),
            values.len()
        )
        .unwrap();
        n_loops += 1;
        match text.as_str() {
            "l_0" => parameters[0] = format!("w_{at}[i_{at}]"),
            "l_1" => parameters[1] = format!("w_{at}[i_{at}]"),
            _ => write!(given, "{text} = w_{at}[i_{at}]; ").unwrap(),
        }
    }
    let function = function(number, &format!("{saved}\n{snippet}\n{compared}"));
    let call = format!("point_{number}({});", parameters.join(", "));
    (function, format!("{{ {loops}{given}{call} {}}}\n", "} ".repeat(n_loops)))
}

/// Makes many snippets, and runs each for all values of its environment.
fn check(n_snippets: usize, snippet: impl Fn(&Environment, &mut ChaCha8Rng) -> Option<String>) {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let (mut functions, mut driver) = (String::new(), String::new());
    let mut n_made = 0;
    for number in 0..n_snippets {
        let environment = environment(&mut rng);
        let Some(snippet) = snippet(&environment, &mut rng) else { continue };
        let (function, calls) = watched(number, &environment, &snippet);
        functions += &function;
        driver += &calls;
        n_made += 1;
    }
    assert!(n_made * 2 > n_snippets, "only {n_made} of {n_snippets}");
    let main = format!("int main(void) {{\n{driver}printf(\"done\\n\"); return 0; }}\n");
    let text = format!("{GLOBALS}{functions}{BEHIND}{main}");
    for compiler in Compiler::all() {
        // Newer compilers refuse what these only warn about.
        let strict = match compiler {
            Compiler::Gcc(_) => "-Werror=discarded-qualifiers",
            Compiler::Clang(_) => "-Werror=incompatible-pointer-types-discards-qualifiers",
        };
        let wrong_types = ["-Werror=incompatible-pointer-types", "-Werror=int-conversion", strict];
        for way in [&["-O0"][..], compiler.trapping()] {
            let place = Workplace::new();
            let program = place.compile(&compiler, &text, &[way, &wrong_types].concat());
            assert_eq!(place.run(&program, &[]), "done", "{compiler:?} {way:?}");
        }
    }
}

fn names() -> Names {
    Names::new("")
}

#[test]
fn conditions_have_their_truth_value_for_all_combinations() {
    check(200, |environment, rng| {
        let mut text = String::new();
        for _ in 0..4 {
            let always = true_guard(environment, rng)?;
            let never = predicate::condition(environment, false, rng)?;
            write!(text, "if (!({always})) wrong(-1); if ({never}) wrong(-2); ").unwrap();
        }
        Some(text)
    });
}

#[test]
fn expressions_are_defined_and_have_one_of_their_values() {
    check(200, |environment, rng| {
        let made = expression(environment, rng)?;
        let ty = made.values().next()?.ty().promoted();
        let values: Vec<String> = made.values().map(|it| literal(it.convert(ty))).collect();
        let (e, t) = (made.text(), ty.name());
        Some(format!(
            "_Static_assert(_Generic(+({e}), {t}: 1, default: 0), \"type\"); \
             static const {t} set[] = {{{}}}; int found = 0; \
             for (int i = 0; i < {}; i++) found |= set[i] == ({e}); if (!found) wrong(-1);",
            values.join(", "),
            values.len()
        ))
    });
}

#[test]
fn true_blocks_leave_everything_as_it_was() {
    let (program, point) = program();
    let visible = Visible::new(program, *point);
    check(200, |environment, rng| true_block(&visible, environment, &mut names(), rng));
}

#[test]
fn false_blocks_are_c_and_never_entered() {
    let (program, point) = program();
    let visible = Visible::new(program, *point);
    check(300, |environment, rng| false_block(&visible, environment, &mut names(), rng));
}

#[test]
fn the_same_random_numbers_give_the_same_text() {
    let (program, point) = program();
    let visible = Visible::new(program, *point);
    let texts = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (environment, mut names) = (environment(&mut rng), names());
        [
            true_guard(&environment, &mut rng),
            true_block(&visible, &environment, &mut names, &mut rng),
            false_block(&visible, &environment, &mut names, &mut rng),
        ]
    };
    assert_eq!(texts(5), texts(5));
    assert_ne!(texts(5), texts(6));
}

#[test]
fn where_nothing_is_known_nothing_is_made() {
    let (program, point) = program();
    let visible = Visible::new(program, *point);
    let (nothing, mut rng) = (Environment::default(), ChaCha8Rng::seed_from_u64(1));
    assert_eq!(true_guard(&nothing, &mut rng), None);
    assert_eq!(true_block(&visible, &nothing, &mut names(), &mut rng), None);
    assert_eq!(false_block(&visible, &nothing, &mut names(), &mut rng), None);
    let constant = Environment::new([(cell("g_11", Integer::INT, None), vec![3])]);
    assert_eq!(true_block(&visible, &constant, &mut names(), &mut rng), None);
}

#[test]
fn a_scene_offers_what_can_be_used_and_nothing_else() {
    let (program, point) = program();
    let visible = Visible::new(program, *point);
    let callees: Vec<&str> = visible.callees.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        callees,
        ["callee_0", "callee_1", "callee_2", "wrong", "point_0", "defined_later"],
        "hidden, inline, variadic ones and those with attributes are none"
    );
    let writable = |text: &str| {
        visible.places.iter().find(|place| place.text == text).map(|place| place.is_writable)
    };
    assert_eq!(writable("g_4"), Some(true));
    assert_eq!(writable("g_11"), Some(false));
    assert_eq!(writable("(*p_1)"), Some(false));
    assert_eq!(writable("(**p_2)"), Some(true));
    assert_eq!(writable("missing"), None);
    assert!(visible.has_printf);
}
