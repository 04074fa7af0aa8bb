//! What is not in the text itself: other files, and macros.

use optsleuth_compiler::workdir::Workdir;
use optsleuth_mutate::{MutateError, Program, Rule};

use crate::read::{libclang, read};

const SOURCE: &str = "int f(int a) { return g(a) + 1; }";

/// A header that is much longer than the program.
fn header() -> String {
    let long = "x".repeat(1000);
    format!("static inline int g(int {long}) {{ int y = {long} * 3; return y - 1; }}\n")
}

fn parse(source: &str, flags: &[&str]) -> Result<Program, MutateError> {
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    libclang().parse(source, &flags)
}

#[test]
fn nothing_of_another_file_is_the_programs() {
    let folder = Workdir::new().unwrap();
    let path = folder.file("h.h");
    std::fs::write(&path, header()).unwrap();
    // As the front end's own flag, it stays.
    let flags = ["-Xclang", "-include", "-Xclang", path.to_str().unwrap()];
    let program = parse(SOURCE, &flags).unwrap();
    let names: Vec<&str> = program.functions().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["f"]);
    for rule in Rule::all() {
        for place in program.places(rule) {
            assert!(place.offset < SOURCE.len(), "{rule}");
        }
    }
    assert_eq!(program.count("times-to-plus".parse().unwrap()), 0);
    assert_eq!(program.count("plus-to-minus".parse().unwrap()), 1);
}

#[test]
fn flags_that_did_their_work_before_do_nothing_again() {
    let source = "int g(int a) { return a; } int f(int a) { return g(a) * 2; }";
    let flags = ["-include", "no-such-file.h", "-Dg(x)=x+1", "-D", "f=g"];
    let program = parse(source, &flags).unwrap();
    assert_eq!(program.functions().len(), read(source).functions().len());
    assert_eq!(program.calls().len(), 1);
}

#[test]
fn a_macro_is_refused_with_its_place() {
    // Only where somebody says that the text is not preprocessed.
    let check = |source: &str, at: u32| {
        let source = format!("#define F(x) x + 1\n{source}");
        let error = parse(&source, &["-xc"]).unwrap_err();
        assert!(matches!(error, MutateError::Macro { line: 2, column } if column == at), "{error}");
    };
    check("int f(int a) { return F(a) * 2; }", 23);
    check("int f(int a) { return 2 * F(a); }", 27);
    assert_eq!(parse("int f(int a) { return a; }", &["-xc"]).unwrap().functions().len(), 1);
}
