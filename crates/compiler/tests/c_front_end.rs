//! C programs become what clang's command makes of them.

mod ready;

use std::path::Path;

use optsleuth_compiler::c_front_end::{CSource, Compiled, FrontEnd};
use optsleuth_compiler::clang;
use optsleuth_compiler::llvm::{RunError, Worker};
use optsleuth_model::{Limits, Program};
use ready::{install, provisioned, request, testdata};

fn front_end(flags: &[&str]) -> FrontEnd {
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    FrontEnd::by_command(&install(), &flags).unwrap()
}

fn source(name: &str, text: &str) -> CSource {
    CSource { name: name.to_owned(), text: text.as_bytes().to_vec() }
}

fn file(path: &Path) -> CSource {
    CSource { name: path.display().to_string(), text: std::fs::read(path).unwrap() }
}

fn compile(front_end: &FrontEnd, source: &CSource) -> Program {
    match front_end.compile(source, Limits::STANDARD).unwrap() {
        Compiled::Ir(program) => program,
        Compiled::Failed(result) => panic!("{:?}", result.outcome),
    }
}

fn error(front_end: &FrontEnd, source: &CSource) -> RunError {
    front_end.compile(source, Limits::STANDARD).unwrap_err()
}

/// Every C program of a folder of testdata.
fn programs(folder: &str) -> Vec<CSource> {
    let entries = std::fs::read_dir(testdata(folder)).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is_c = |path: &&std::path::PathBuf| path.extension().is_some_and(|end| end == "c");
    paths.iter().filter(is_c).map(|path| file(path)).collect()
}

#[test]
fn the_ir_is_that_of_clangs_command() {
    let front_end = front_end(&[]);
    let sources: Vec<CSource> =
        ["", "hostile", "shapes"].iter().flat_map(|folder| programs(folder)).collect();
    assert!(sources.len() > 15);
    for source in sources {
        let expected = clang::read_program(&install(), Path::new(&source.name), &[]).unwrap();
        assert_eq!(compile(&front_end, &source), expected, "{}", source.name);
    }
}

#[test]
fn a_source_that_is_no_file_keeps_its_name_and_finds_what_lies_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("seven.h"), "#define SEVEN 7\n").unwrap();
    let name = folder.path().join("none.c").display().to_string();
    let text = "#include \"seven.h\"\nint f(void) { return SEVEN; }\n";
    let program = compile(&front_end(&[]), &source(&name, text));
    let ir = String::from_utf8(program.ir).unwrap();
    assert!(ir.contains(&format!("source_filename = \"{name}\"")), "{ir}");
    assert!(ir.contains("ret i32 7"), "{ir}");
    assert_eq!(program.name, name.replace(".c", ".ll"));
}

#[test]
fn an_error_in_the_program_is_the_programs() {
    let broken = source("broken.c", "int f(void) { return x; }\nint g(void) { return y; }\n");
    match error(&front_end(&[]), &broken) {
        RunError::DoesNotCompile(message) => {
            assert_eq!(message, "broken.c:1:22: error: use of undeclared identifier 'x'");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn an_old_program_compiles_with_the_flag_for_it() {
    let old = source("old.c", "f(a, b) int a; { return g(a) + b; }\nmain() { return f(1, 2); }\n");
    assert!(matches!(error(&front_end(&[]), &old), RunError::DoesNotCompile(_)));
    let ir = String::from_utf8(compile(&front_end(&["-std=gnu89"]), &old).ir).unwrap();
    assert!(ir.contains("define dso_local i32 @f(i32 noundef"), "{ir}");
}

#[test]
fn a_loaded_program_runs_and_a_broken_one_leaves_the_worker_alive() {
    let (mut worker, front_end) = (Worker::start(&provisioned()).unwrap(), front_end(&[]));
    let sum = file(&testdata("sum.c"));
    for _ in 0..3 {
        worker.load_c(&front_end, &sum, &[], Limits::STANDARD).unwrap();
        assert!(worker.run(&request("default<O1>")).unwrap().n_invocations > 10);
        let broken = worker.load_c(&front_end, &source("x.c", "int"), &[], Limits::STANDARD);
        assert!(matches!(broken, Err(RunError::DoesNotCompile(_))));
    }
    assert_eq!(worker.n_replaced(), 0);
}
