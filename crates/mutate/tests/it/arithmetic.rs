//! C's integers, compared with what gcc and clang make of them: every pair of
//! types with values at their borders, and every pair of 8-bit values.
//!
//! One C program computes everything. It is told by a file which operations are
//! defined, and says of each operator and pair of types the result's type and a
//! sum over all results; built with `-DTRAPS`, what the sanitizer stopped.

use std::fmt::Write as _;

use optsleuth_mutate::arithmetic::{Prefix, Value, binary, literal, prefix};
use optsleuth_mutate::{BinaryOperator, Integer, Rank};

use crate::native::{Compiler, Workplace};

/// What the C programs have in common. A trap comes as one of two signals: of
/// the sanitizer's own instruction, or of the processor's division.
const PRELUDE: &str = r#"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
typedef unsigned long long Sum;
static unsigned char *flag;
static sigjmp_buf before;
static void trapped(int number) { (void)number; siglongjmp(before, 1); }
#define TYPE(e) _Generic((e), _Bool: 0, signed char: 1, unsigned char: 2, short: 3, \
  unsigned short: 4, int: 5, unsigned: 6, long: 7, unsigned long: 8, long long: 9, \
  unsigned long long: 10)
#define LENGTH(a) (int)(sizeof(a) / sizeof((a)[0]))
#ifdef TRAPS
#define EACH(e) { volatile Sum sink; int stopped = sigsetjmp(before, 0); \
  if (!stopped) sink = (Sum)(e); \
  if (stopped == *flag++) sum++; }
#define PRINT(e) printf("%llu\n", (Sum)sum);
#else
#define EACH(e) if (*flag++) sum = sum * 1099511628211ULL + (Sum)(e);
#define PRINT(e) printf("%d %llu\n", TYPE(e), (Sum)sum);
#endif
#define BINARY(op, A, T, B, U) { volatile Sum sum = 0; \
  for (volatile int i = 0; i < LENGTH(A); i++) for (volatile int j = 0; j < LENGTH(B); j++) { \
    T a = A[i]; U b = B[j]; EACH(a op b) } \
  PRINT(A[0] op B[0]) }
#define PREFIX(op, A, T) { volatile Sum sum = 0; \
  for (volatile int i = 0; i < LENGTH(A); i++) { T a = A[i]; EACH(op a) } \
  PRINT(op A[0]) }
#define CONVERT(A, T, U) { volatile Sum sum = 0; \
  for (volatile int i = 0; i < LENGTH(A); i++) { T a = A[i]; EACH((U)a) } \
  PRINT((U)A[0]) }
#define FIELD(A, T, U, width, read) { struct { U f : width; } s; volatile Sum sum = 0; \
  for (volatile int i = 0; i < LENGTH(A); i++) { T a = A[i]; s.f = a; EACH(read s.f) } \
  PRINT(read s.f) }
static void all(void);
int main(int argc, char **argv) {
  FILE *file = fopen(argv[argc - 1], "rb");
  static unsigned char flags[1 << 24];
  if (!file || !fread(flags, 1, sizeof(flags), file)) return 1;
  flag = flags;
  struct sigaction action = { .sa_handler = trapped, .sa_flags = SA_NODEFER };
  sigaction(SIGILL, &action, 0); sigaction(SIGFPE, &action, 0); sigaction(SIGTRAP, &action, 0);
  all();
  return 0;
}
"#;

/// A batch of operations: the C program, what is defined, what is expected.
#[derive(Default)]
struct Batch {
    arrays: String,
    operations: String,
    flags: Vec<u8>,
    expected: String,
    n_undefined: usize,
}

/// Values of one type; the program knows them by a name.
#[derive(Clone)]
struct Column {
    name: String,
    ty: Integer,
    numbers: Vec<i128>,
}

impl Column {
    fn values(&self) -> impl Iterator<Item = Value> {
        self.numbers.iter().map(|&number| Value::new(self.ty, number).unwrap())
    }
}

impl Batch {
    /// Literals are put to the test here, too: an array must hold them.
    fn column(&mut self, name: &str, ty: Integer, mut numbers: Vec<i128>) -> Column {
        numbers.retain(|number| ty.range(None).unwrap().contains(number));
        numbers.sort_unstable();
        numbers.dedup();
        let column = Column { name: name.to_owned(), ty, numbers };
        let literals: Vec<String> = column.values().map(literal).collect();
        write!(self.arrays, "static const {} {name}[] = {{{}}};", ty.name(), literals.join(", "))
            .unwrap();
        for text in literals {
            write!(
                self.arrays,
                "_Static_assert(TYPE({text}) == TYPE(({})0), \"type\");",
                ty.name()
            )
            .unwrap();
        }
        self.arrays.push('\n');
        column
    }

    /// Takes down an operation with all its results; the first one's type is
    /// everyone's.
    fn operation(&mut self, text: String, ty: Integer, results: Vec<Option<Value>>) {
        let mut sum = 0_u64;
        for result in results {
            self.flags.push(result.is_some().into());
            self.n_undefined += usize::from(result.is_none());
            if let Some(result) = result {
                assert_eq!(result.ty(), ty, "{text}");
                let bits = result.number() as u64;
                sum = sum.wrapping_mul(1_099_511_628_211).wrapping_add(bits);
            }
        }
        let number = Integer::ALL.iter().position(|&one| one == ty).unwrap();
        writeln!(self.operations, "{text}").unwrap();
        writeln!(self.expected, "{number} {sum}").unwrap();
    }

    fn binaries(&mut self, left: &Column, right: &Column) {
        let operators = BinaryOperator::ALL.iter().copied();
        for operator in operators.filter(|operator| !operator.assigns()) {
            let pairs = left.values().flat_map(|a| right.values().map(move |b| (a, b)));
            let results: Vec<_> = pairs.map(|(a, b)| binary(operator, a, b).ok()).collect();
            let ty = results.iter().flatten().next().unwrap().ty();
            let (a, b) = (&left.name, &right.name);
            let (t, u) = (left.ty.name(), right.ty.name());
            self.operation(format!("BINARY({}, {a}, {t}, {b}, {u})", operator.text()), ty, results);
        }
    }

    fn prefixes(&mut self, column: &Column) {
        for operator in Prefix::ALL {
            let results: Vec<_> =
                column.values().map(|value| prefix(operator, value).ok()).collect();
            let ty = results.iter().flatten().next().unwrap().ty();
            let text =
                format!("PREFIX({}, {}, {})", operator.text(), column.name, column.ty.name());
            self.operation(text, ty, results);
        }
    }

    fn conversions(&mut self, column: &Column, to: Integer) {
        let (name, from) = (&column.name, column.ty.name());
        let results = column.values().map(|value| Some(value.convert(to))).collect();
        self.operation(format!("CONVERT({name}, {from}, {})", to.name()), to, results);
        for width in [1, 3, 8, 15, 31, 32, 33, 40, 64] {
            if width > to.bits() {
                continue;
            }
            let promoted = to.promoted_field(width);
            // Where C does not say what a field is promoted to, it is cast.
            let read = promoted.map_or_else(|| format!("({})", to.name()), |_| "+".to_owned());
            let ty = promoted.unwrap_or(to);
            let stored = |value: Value| Value::new(ty, value.stored(to, Some(width)));
            let text = format!("FIELD({name}, {from}, {}, {width}, {read})", to.name());
            self.operation(text, ty, column.values().map(stored).collect());
        }
    }

    /// A function for each operation: gcc takes minutes for one that can be
    /// jumped back into at thousands of places.
    fn source(&self) -> String {
        let mut functions = String::new();
        let mut calls = String::new();
        for (number, operation) in self.operations.lines().enumerate() {
            writeln!(functions, "static void f{number}(void) {operation}").unwrap();
            writeln!(calls, "f{number}();").unwrap();
        }
        format!("{PRELUDE}\n{}\n{functions}static void all(void) {{\n{calls}}}\n", self.arrays)
    }

    /// Every compiler gets the same results.
    fn check_results(&self) {
        for compiler in Compiler::all() {
            let place = Workplace::new();
            let program = place.compile(&compiler, &self.source(), &["-O0"]);
            let said = place.run(&program, &self.flags);
            let lines = self.operations.lines().zip(said.lines().zip(self.expected.lines()));
            for (operation, (got, expected)) in lines {
                assert_eq!(got, expected, "{operation} by {compiler:?}");
            }
            assert_eq!(said.lines().count(), self.operations.lines().count());
        }
    }

    /// The sanitizers stop what is undefined, and nothing else.
    fn check_traps(&self) {
        assert!(self.n_undefined > 0);
        for compiler in Compiler::all() {
            let place = Workplace::new();
            let program = place.compile(&compiler, &self.source(), compiler.trapping());
            let said = place.run(&program, &self.flags);
            for (operation, wrong) in self.operations.lines().zip(said.lines()) {
                assert_eq!(wrong, "0", "{operation} by {compiler:?}");
            }
            assert_eq!(said.lines().count(), self.operations.lines().count());
        }
    }
}

/// Numbers where something may change: around zero, powers of two and the ends.
fn borders() -> Vec<i128> {
    let powers = [3, 7, 8, 15, 16, 31, 32, 63, 64].map(|bit| 1_i128 << bit);
    let around = |number: i128| [number - 1, number, number + 1];
    powers
        .into_iter()
        .flat_map(|power| around(power).into_iter().chain(around(-power)))
        .chain([-2, -1, 0, 1, 2, 0x5bd1_e995, 0x1234_5678_9abc_def0, -0x7654_3210_fedc_ba98])
        .collect()
}

/// A column of borders for each type.
fn columns(batch: &mut Batch) -> Vec<Column> {
    let all = (0..).zip(Integer::ALL);
    all.map(|(number, ty)| batch.column(&format!("v{number}"), ty, borders())).collect()
}

/// Every type with every other.
fn all_operators() -> Batch {
    let mut batch = Batch::default();
    let columns = columns(&mut batch);
    for left in &columns {
        batch.prefixes(left);
        for right in &columns {
            batch.binaries(left, right);
        }
    }
    batch
}

#[test]
fn operations_on_all_pairs_of_types_are_what_compilers_make_of_them() {
    all_operators().check_results();
}

#[test]
fn what_is_called_undefined_is_what_sanitizers_stop() {
    all_operators().check_traps();
}

#[test]
fn conversions_to_types_and_bit_fields_are_what_compilers_make_of_them() {
    let mut batch = Batch::default();
    for column in columns(&mut batch) {
        for to in Integer::ALL {
            batch.conversions(&column, to);
        }
    }
    batch.check_results();
}

#[test]
fn operations_on_all_pairs_of_bytes_are_what_compilers_make_of_them() {
    let mut batch = Batch::default();
    let columns = [true, false].map(|is_signed| {
        let name = if is_signed { "s" } else { "u" };
        batch.column(name, Integer { rank: Rank::Char, is_signed }, (-128..256).collect())
    });
    for left in &columns {
        assert_eq!(left.numbers.len(), 256);
        batch.prefixes(left);
        for right in &columns {
            batch.binaries(left, right);
        }
    }
    batch.check_results();
}
