//! Judges with the real clang, gcc and sanitizers.

use std::num::NonZero;

use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::driver::Family;
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_model::Silent;

use optsleuth_model::ProgramEnd;

use super::*;

/// Prints 3, by way of memory.
fn program(body: &str) -> String {
    format!(
        "int printf(const char *, ...);\nvoid *calloc(unsigned long, unsigned long);\n\
         int main(int n, char **v) {{\n  int *p = calloc(n, 4);\n  {body}\n  \
         printf(\"%d\\n\", 3 + p[0]);\n  return 0;\n}}\n"
    )
}

#[test]
fn one_who_says_different_is_enough_and_one_who_does_not_know_leaves_it_open() {
    let (same, open) = (Verdict::Equivalent, Verdict::Undecided("gcc".to_owned()));
    let different = Verdict::Different("prints 4".to_owned());
    assert_eq!(same.clone().and(same.clone()), same);
    assert_eq!(same.clone().and(open.clone()), open);
    assert_eq!(open.clone().and(same), open);
    assert_eq!(open.clone().and(different.clone()), different);
    assert_eq!(different.clone().and(open), different);
}

#[test]
fn variants_that_do_something_else_are_told_and_by_whom() {
    let (choice, one) = (LlvmChoice::Version(19), NonZero::new(1));
    let mut workers =
        Workers::set_up(&choice, Targets::Native, Flavor::Plain, one, &Silent).unwrap();
    let gcc = Driver::newest(Family::Gcc).unwrap();
    let judges =
        Judges::find(&workers.install.clone(), gcc, workers.pool.first(), &Silent).unwrap();
    assert_eq!((judges.names().len(), judges.notes().len()), (3, 0), "{judges:?}");
    let expected =
        Execution { end: ProgramEnd::Exited(0), stdout: b"3\n".to_vec(), stderr: Vec::new() };
    let mut judge = |body: &str| {
        let source = Source::new(program(body)).unwrap();
        judges.judge(&source, &expected, workers.pool.first()).unwrap()
    };
    assert_eq!(judge("p[0] = 0;"), Verdict::Equivalent);
    let different = [
        // What it prints is enough for anybody.
        ("p[0] = 1;", "by clang it prints"),
        // Both compilers print the right thing; a broken promise it is all the same.
        ("volatile int x = 2147483647; if (x + n < 0) p[0] = 0;", "its IR is undefined"),
        ("p[n] = 0; p[0] = p[n];", "its IR is undefined"),
        // What overflows is not used, which C forbids and IR does not.
        ("volatile int x = 2147483647; x = x + n;", "sanitizer"),
        // clang has it, gcc has not.
        ("p[0] = __builtin_readcyclecounter() == 0;", "gcc"),
        ("p[0] = ;", "clang"),
    ];
    for (body, by) in different {
        match judge(body) {
            Verdict::Different(what) => assert!(what.contains(by), "{body}: {what}"),
            other => panic!("{body}: {other:?}"),
        }
    }
    // Who compiles it decides: one compiler alone is the suspect. Sanitizers are
    // clang's, so where they side with it, the variant is wrong.
    let only = |condition: &str| format!("\n#if {condition}\n  p[0] = 1;\n#endif\n");
    match judge(&only("!defined __clang__")) {
        Verdict::Outvoted(what) => assert!(what.starts_with("by gcc at -O0 it prints"), "{what}"),
        other => panic!("{other:?}"),
    }
    let by_clang = "defined __clang__\n#if !__has_feature(address_sanitizer)";
    match judge(&format!("{}#endif\n", only(by_clang))) {
        Verdict::Outvoted(what) => assert!(what.starts_with("by clang at -O0 it prints"), "{what}"),
        other => panic!("{other:?}"),
    }
    match judge(&only("defined __clang__")) {
        Verdict::Different(what) => assert!(what.contains("sanitizer"), "{what}"),
        other => panic!("{other:?}"),
    }
}
