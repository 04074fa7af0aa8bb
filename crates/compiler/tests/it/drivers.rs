//! gcc and clang as their users call them: found, calling, crashing.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::driver::{Compiled, Driver, Family};
use optsleuth_compiler::spawn::Tool;
use optsleuth_model::{CompilerSpec, Limits, OptLevel};

const HELLO: &str = "#include <stdio.h>\nint main(void) { printf(\"hello\\n\"); return 0; }\n";

/// Compiles a text at -O2, in a folder that has to stay as it is.
fn compile(driver: &Driver, text: &str, flags: &[&str], limits: Limits) -> Compiled {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    std::fs::write(&source, text).unwrap();
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let program = folder.path().join("program");
    let compiled = driver.compile(&source, OptLevel::O2, &flags, &program, limits).unwrap();
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, if compiled == Compiled::Program { 2 } else { 1 }, "something is left");
    compiled
}

fn signature(compiled: Compiled) -> String {
    match compiled {
        Compiled::Crash(crash) => crash.signature.to_string(),
        other => panic!("no crash: {other:?}"),
    }
}

/// A program of ours that is called like one of gcc's own, for `-B`.
fn instead_of(name: &str, script: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let flag = format!("-B{}", folder.path().display());
    write_script(&folder.path().join(name), script);
    (folder, flag)
}

fn write_script(path: &Path, script: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn gcc() -> Driver {
    Driver::find("gcc-12").unwrap()
}

fn clang() -> Driver {
    Driver::find("clang-19").unwrap()
}

#[test]
fn compilers_are_what_they_say() {
    for (driver, family, major) in [(gcc(), Family::Gcc, 12), (clang(), Family::Clang, 19)] {
        assert_eq!((driver.family, driver.major), (family, major));
        assert_eq!(driver.name, format!("{family}-{major}"));
        assert!(driver.version.starts_with(&format!("{major}.")), "{}", driver.version);
        assert!(driver.said.contains(&driver.version), "{}", driver.said);
        assert_eq!(Driver::of_case(&driver.spec()).unwrap().unwrap(), driver);
        let by_path = Driver::find(driver.path.to_str().unwrap()).unwrap();
        assert_eq!(by_path.name, driver.path.display().to_string());
        assert_eq!((by_path.family, by_path.version), (driver.family, driver.version));
    }
    let installed = Driver::installed();
    let names: Vec<&str> = installed.iter().map(|driver| driver.name.as_str()).collect();
    assert!(names.contains(&"gcc-12") && names.contains(&"clang-19"), "{names:?}");
    let mut sorted = installed.clone();
    sorted.sort_by_key(|driver| (driver.family, driver.major));
    assert_eq!(installed, sorted);
    assert_eq!(Driver::newest(Family::Gcc).unwrap().family, Family::Gcc);
    assert!(Driver::of_case(&CompilerSpec::Llvm("19".into())).is_none());
}

#[test]
fn what_is_no_compiler_is_told_with_the_way_out() {
    let check = |name: &str, parts: &[&str]| {
        let error = Driver::find(name).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{name}: {error}");
        }
    };
    check("gcc-99", &["there is no gcc-99", "installed are", "clang-19", "gcc-12"]);
    check("icc", &["`icc` names no compiler", "`gcc-12`"]);
    check("/nonexistent/gcc", &["is no program"]);
    check("/bin/ls", &["is neither gcc nor clang"]);
    let folder = tempfile::tempdir().unwrap();
    let silent = folder.path().join("gcc");
    write_script(&silent, "exit 1");
    check(silent.to_str().unwrap(), &["is neither gcc nor clang"]);
}

#[test]
fn a_clang_in_gccs_clothes_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gcc");
    std::os::unix::fs::symlink(clang().path, &path).unwrap();
    let found = Driver::find(path.to_str().unwrap()).unwrap();
    assert_eq!(found.family, Family::Clang, "a path says nothing about what it leads to");
    let spec = CompilerSpec::Gcc(path.display().to_string());
    match Driver::of_case(&spec).unwrap() {
        Err(CompilerError::Disguised { found, .. }) => assert!(found.starts_with("clang 19")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_is_made_and_a_bad_one_refused() {
    for driver in [gcc(), clang()] {
        assert_eq!(compile(&driver, HELLO, &[], Limits::STANDARD), Compiled::Program);
        let csmith = "#include \"csmith.h\"\nint main(void) { return 0; }\n";
        assert_eq!(compile(&driver, csmith, &[], Limits::STANDARD), Compiled::Program);
        for (text, why) in [
            ("int main(void) { return x; }", "error: "),
            ("#include \"no-such.h\"\n", "no-such.h"),
            ("int f(void); int main(void) { return f(); }", "error: "),
        ] {
            match compile(&driver, text, &[], Limits::STANDARD) {
                Compiled::Refused(said) => assert!(said.contains(why), "{said}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        let nothing = compile(&driver, HELLO, &["-fsyntax-only"], Limits::STANDARD);
        assert_eq!(nothing, Compiled::Refused("it made no program file".to_owned()));
    }
}

#[test]
fn what_clang_preprocessed_is_c_for_gcc_too() {
    // All that any glibc is known to define, and what the one that is here does.
    let known = "typedef float _Float32;\ntypedef double _Float64;\ntypedef double _Float32x;\n\
                 typedef long double _Float64x;\ntypedef __float128 _Float128;\n\
                 int main(void) { return 0; }\n";
    let headers = tempfile::NamedTempFile::with_suffix(".c").unwrap();
    let text = "#include <math.h>\n#include <stdlib.h>\nint main(void) { return 0; }\n";
    std::fs::write(headers.path(), text).unwrap();
    let here = Tool::new(&clang().path).args(["-E", "-P"]).arg(headers.path()).text().unwrap();
    for (text, driver) in [(known, gcc()), (known, clang()), (&here, gcc())] {
        assert_eq!(compile(&driver, text, &[], Limits::STANDARD), Compiled::Program);
    }
}

#[test]
fn real_crashes_of_clang_have_names() {
    let crash = "#pragma clang __debug crash\nint main(void) { return 0; }\n";
    let first = signature(compile(&clang(), crash, &[], Limits::STANDARD));
    assert!(first.contains("HandlePragmaDirective"), "{first}");
    let again = signature(compile(&clang(), crash, &["-O1"], Limits::STANDARD));
    assert_eq!(first, again, "addresses are no part of it");
    let fatal = "#pragma clang __debug llvm_fatal_error\nint main(void) { return 0; }\n";
    let said = signature(compile(&clang(), fatal, &[], Limits::STANDARD));
    assert_eq!(said, "#pragma clang __debug llvm_fatal_error");
}

#[test]
fn crashes_behind_gccs_driver_are_crashes() {
    let (_folder, flag) = instead_of("cc1", "kill -SEGV $$");
    let said = signature(compile(&gcc(), HELLO, &[&flag], Limits::STANDARD));
    assert_eq!(said, "SIGSEGV");
    let ice = "echo 'during RTL pass: reload' >&2\n\
               echo 'a.c:1:1: internal compiler error: in lra_assign, at lra-assigns.cc:16' >&2\n\
               exit 1";
    let (_folder, flag) = instead_of("cc1", ice);
    let said = signature(compile(&gcc(), HELLO, &[&flag], Limits::STANDARD));
    assert_eq!(said, "in lra_assign, at lra-assigns.cc:N, during RTL pass: reload");
    // The assembler is somebody else's.
    let (_folder, flag) = instead_of("as", "kill -SEGV $$");
    let compiled = compile(&gcc(), HELLO, &[&flag], Limits::STANDARD);
    assert!(matches!(compiled, Compiled::Refused(_)), "{compiled:?}");
}

#[test]
fn a_stack_that_gcc_used_up_is_a_crash() {
    let deep =
        format!("int main(void) {{ return {}1{}; }}\n", "(".repeat(200_000), ")".repeat(200_000));
    assert_eq!(signature(compile(&gcc(), &deep, &[], Limits::STANDARD)), "SIGSEGV");
}

#[test]
fn a_compiler_that_does_not_end_hangs() {
    let limits = Limits { compile: Duration::from_secs(1), ..Limits::STANDARD };
    let (_folder, flag) = instead_of("cc1", "while :; do :; done");
    assert_eq!(compile(&gcc(), HELLO, &[&flag], limits), Compiled::Hang);
    // Recurses without end, which release builds make a loop of.
    let endless = "#pragma clang __debug overflow_stack\nint main(void) { return 0; }\n";
    assert_eq!(compile(&clang(), endless, &[], limits), Compiled::Hang);
}

#[test]
fn a_compiler_killed_from_outside_did_nothing_wrong() {
    let (_folder, flag) = instead_of("cc1", "kill -KILL $$");
    let folder = tempfile::tempdir().unwrap();
    let source: PathBuf = folder.path().join("program.c");
    std::fs::write(&source, HELLO).unwrap();
    let program = folder.path().join("program");
    let compiled =
        gcc().compile(&source, OptLevel::O2, &[flag], &program, Limits::STANDARD).unwrap_err();
    assert!(compiled.to_string().contains("killed from outside"), "{compiled}");
}

#[test]
fn memory_that_is_used_up_is_told() {
    let ten = |of: &str| [of; 10].join(",");
    let text = format!(
        "#define A {}\n#define B {}\n#define C {}\n#define D {}\n#define E {}\nint a[] = {{ {} }};\n\
         int main(void) {{ return a[5]; }}\n",
        ten("1"),
        ten("A"),
        ten("B"),
        ten("C"),
        ten("D"),
        ten("E"),
    );
    // The real one, with less than any user would give it.
    let real = Tool::new(gcc().path).arg("-print-prog-name=cc1").text().unwrap();
    let script = format!("ulimit -v 60000\nexec {real} \"$@\"");
    let (_folder, flag) = instead_of("cc1", &script);
    assert_eq!(compile(&gcc(), &text, &[&flag], Limits::STANDARD), Compiled::Memory);
}
