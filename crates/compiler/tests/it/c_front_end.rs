//! C programs become what clang's command makes of them.

use std::path::Path;
use std::thread;
use std::time::Duration;

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::c_front_end::{CSource, Compiled, FrontEnd};
use optsleuth_compiler::llvm::{self, Worker};
use optsleuth_compiler::{clang, csmith, doctor};
use optsleuth_model::{Limits, Program};

use crate::ready::{self, install, provisioned, request, testdata};

/// clang inside a server, and clang's command.
fn both(flags: &[&str]) -> [FrontEnd; 2] {
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let inside = FrontEnd::prepare(&install(), &flags, &mut |_| {}).unwrap();
    assert!(inside.is_inside(), "libclang-19-dev is installed by `make test`");
    [inside, FrontEnd::by_command(&install(), &flags).unwrap()]
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

fn text(program: &Program) -> String {
    String::from_utf8(program.ir.clone()).unwrap()
}

fn error(front_end: &FrontEnd, source: &CSource) -> CompilerError {
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
    let sources: Vec<CSource> =
        ["", "hostile", "shapes"].iter().flat_map(|folder| programs(folder)).collect();
    assert!(sources.len() > 15);
    let front_ends = both(&[]);
    for source in sources {
        let expected = clang::read_program(&install(), Path::new(&source.name), &[]).unwrap();
        for front_end in &front_ends {
            assert_eq!(text(&compile(front_end, &source)), text(&expected), "{}", source.name);
            assert_eq!(compile(front_end, &source).name, expected.name);
        }
    }
}

#[test]
fn the_ir_of_csmiths_programs_is_that_of_clangs_command() {
    let folder = tempfile::tempdir().unwrap();
    let front_ends = both(&["-g", "-DUNUSED=\"a b\""]);
    let flags = ["-g", "-DUNUSED=\"a b\""].map(str::to_owned);
    for seed in 1..=8 {
        let path = folder.path().join(format!("p{seed}.c"));
        csmith::generate(seed, &csmith::SMALL_PROGRAMS, &path).unwrap();
        let expected = clang::read_program(&install(), &path, &flags).unwrap();
        for front_end in &front_ends {
            assert_eq!(text(&compile(front_end, &file(&path))), text(&expected), "seed {seed}");
        }
    }
}

#[test]
fn a_source_that_is_no_file_keeps_its_name_and_finds_what_lies_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("seven.h"), "#define SEVEN 7\n").unwrap();
    let name = folder.path().join("none.c").display().to_string();
    let seven = source(&name, "#include \"seven.h\"\nint f(void) { return SEVEN; }\n");
    for front_end in both(&[]) {
        let program = compile(&front_end, &seven);
        assert!(text(&program).contains(&format!("source_filename = \"{name}\"")));
        assert!(text(&program).contains("ret i32 7"));
        assert_eq!(program.name, name.replace(".c", ".ll"));
    }
}

#[test]
fn what_lies_on_disk_under_the_name_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.c");
    std::fs::write(&path, "int f(void) { return 1; }\n").unwrap();
    let two = source(&path.display().to_string(), "int f(void) { return 2; }\n");
    for front_end in both(&[]) {
        assert!(text(&compile(&front_end, &two)).contains("ret i32 2"));
    }
}

#[test]
fn an_error_in_the_program_is_the_programs() {
    let broken = source("broken.c", "int f(void) { return x; }\nint g(void) { return y; }\n");
    for front_end in both(&[]) {
        match error(&front_end, &broken) {
            CompilerError::FrontEndRefuses(message) => {
                assert_eq!(message, "broken.c:1:22: error: use of undeclared identifier 'x'");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn flags_decide_what_compiles() {
    let old = source("old.c", "f(a, b) int a; { return g(a) + b; }\nmain() { return f(1, 2); }\n");
    let [inside, by_command] = both(&["-std=gnu89"]);
    assert!(text(&compile(&inside, &old)).contains("define dso_local i32 @f(i32 noundef"));
    assert_eq!(compile(&inside, &old), compile(&by_command, &old));
    for front_end in both(&[]) {
        assert!(matches!(error(&front_end, &old), CompilerError::FrontEndRefuses(_)));
    }
    let flags = ["-fno-such-flag".to_owned()];
    let refused = FrontEnd::prepare(&install(), &flags, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, CompilerError::BadCFlags(_)), "{refused}");
}

#[test]
fn a_front_end_that_crashes_compiles_the_next_program() {
    let crash = source("crash.c", "#pragma clang __debug crash\n");
    for front_end in both(&[]) {
        match front_end.compile(&crash, Limits::STANDARD).unwrap() {
            Compiled::Failed(result) => assert_eq!(result.outcome.kind(), "crash"),
            Compiled::Ir(program) => panic!("{}", text(&program)),
        }
        let mut worker = Worker::start(&provisioned()).unwrap();
        let program = compile(&front_end, &file(&testdata("sum.c")));
        worker.load(&program, &[], Limits::STANDARD).unwrap();
        assert_eq!(worker.run(&request("default<O1>")).unwrap().outcome.kind(), "ok");
    }
}

#[test]
fn a_front_end_that_does_not_end_is_stopped() {
    // Each macro is two of the one before: more tokens than anybody can wait for.
    let mut bomb = "#define M0 1+\n".to_owned();
    for i in 1..60 {
        bomb += &format!("#define M{i} M{} M{}\n", i - 1, i - 1);
    }
    bomb += "int f(void) { return M59 1; }\n";
    let [inside, _] = both(&[]);
    let limits = Limits { compile: Duration::from_millis(300), ..Limits::STANDARD };
    match inside.compile(&source("bomb.c", &bomb), limits).unwrap() {
        Compiled::Failed(result) => assert_eq!(result.outcome.kind(), "timeout"),
        Compiled::Ir(program) => panic!("{program:?}"),
    }
    assert!(text(&compile(&inside, &source("f.c", "int f;"))).contains("@f"));
}

#[test]
fn threads_share_a_front_end() {
    let [inside, by_command] = both(&[]);
    let number = |n: u32| source("n.c", &format!("int n(void) {{ return {n}; }}\n"));
    thread::scope(|scope| {
        let work = |n: u32| {
            for i in 0..20 {
                let value = format!("ret i32 {}", 100 * n + i);
                assert!(text(&compile(&inside, &number(100 * n + i))).contains(&value));
            }
        };
        (1..=4).for_each(|n| drop(scope.spawn(move || work(n))));
    });
    assert_eq!(compile(&inside, &number(7)), compile(&by_command, &number(7)));
}

/// Whether that clang's libraries are installed or not.
#[test]
fn an_older_llvm_compiles_as_its_own_clang_does() {
    let install = llvm::installed().remove(0);
    let front_end = FrontEnd::prepare(&install, &[], &mut |_| {}).unwrap();
    for source in programs("shapes") {
        let expected = clang::read_program(&install, Path::new(&source.name), &[]).unwrap();
        assert_eq!(text(&compile(&front_end, &source)), text(&expected), "{}", source.name);
    }
}

#[test]
fn the_doctor_knows_what_the_fast_way_needs() {
    let findings = doctor::examine(Some(ready::LLVM));
    let part = findings.llvms[0].parts.iter().find(|part| part.name == "libclang").unwrap();
    assert!(!part.required && part.install.is_none());
    assert!(part.path.as_ref().unwrap().ends_with("libclangFrontend.a"));
}
