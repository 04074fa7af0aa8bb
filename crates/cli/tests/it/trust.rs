//! Cases, campaigns and data sets of other people: opening one runs nothing of
//! theirs. Every bait here is real: it leaves a mark where it is run.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use optsleuth_compiler::spawn::Tool;
use serde_json::json;

use crate::program::{failure, optsleuth, run, testdata};

/// A folder with a case, and beside it baits that leave a mark.
struct Ground(tempfile::TempDir);

impl Ground {
    /// A case with this compiler and these lines in its `case.toml`.
    fn new(compiler: &str, more: &str) -> Ground {
        let ground = Ground(tempfile::tempdir().unwrap());
        fs::create_dir(ground.path("case")).unwrap();
        fs::copy(testdata("sum.c"), ground.path("case/program.c")).unwrap();
        let toml = format!(
            "version = 1\nid = \"bait\"\ncompiler = {{ {compiler} }}\ninput = \"program.c\"\n\
             {more}\nkind = \"crash\"\n"
        );
        fs::write(ground.path("case/case.toml"), toml.replace("GROUND", &ground.name(""))).unwrap();
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A program that leaves a mark.
    fn script(&self, name: &str) {
        let text = format!("#!/bin/sh\n: > {}\nexit 1\n", self.name("mark"));
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A library that leaves a mark when it is loaded.
    fn library(&self, name: &str) {
        let text = format!(
            "#include <fcntl.h>\n__attribute__((constructor)) static void loaded(void) {{\n  \
             open(\"{}\", O_CREAT | O_WRONLY, 0600);\n}}\n",
            self.name("mark")
        );
        fs::write(self.path("library.c"), text).unwrap();
        let gcc = Tool::new("gcc-12").args(["-shared", "-fPIC", "-o"]).arg(self.path(name));
        gcc.arg(self.path("library.c")).check().unwrap();
    }

    fn was_run(&self) -> bool {
        self.path("mark").exists()
    }

    /// Refused without a mark; says why, once.
    fn check_refused(&self, args: &[&str], said: &str) {
        let case = self.name("case");
        let args: Vec<&str> =
            args.iter().map(|&a| if a == "CASE" { &case[..] } else { a }).collect();
        let (code, stderr) = failure(&args);
        assert!(!self.was_run(), "{args:?} ran the bait: {stderr}");
        assert_eq!(code, 1, "{args:?}: {stderr}");
        assert_eq!(stderr.matches(said).count(), 1, "{args:?}: {stderr}");
    }
}

#[test]
fn an_llvm_option_that_names_a_program_or_a_file_is_refused_for_everybody() {
    let evil = "-print-changed-diff-path=GROUND/bait";
    let passes = "passes = \"sroa,instcombine\"";
    let flags = format!("{passes}\nflags = [\"-print-changed=diff\", \"{evil}\"]");
    let ground = Ground::new("llvm = \"19\"", &flags);
    ground.script("bait");
    let said = "runs or loads a program, so it is refused";
    for command in [&["case", "check"][..], &["bisect"], &["reduce"], &["triage"]] {
        ground.check_refused(&[command, &["CASE"]].concat(), said);
        ground.check_refused(&[command, &["CASE", "--trust"]].concat(), said);
    }
    let sum = testdata("sum.c");
    let option = format!("--option={}", evil.replace("GROUND", &ground.name("")));
    let passes = ["--passes", "sroa,instcombine", "--option=-print-changed=diff", &option];
    ground.check_refused(&[&["run", &sum, "--llvm", "19"], &passes[..]].concat(), said);
    let log = format!("--option=-info-output-file={}", ground.name("log"));
    let args = ["run", &sum, "--llvm", "19", "--passes", "sroa", "--option=-stats", &log];
    ground.check_refused(&args, "names a file");
    assert!(!ground.path("log").exists());
    // A data set has such options in its commands.
    let command = format!("opt -passes=sroa -print-changed=diff {evil} %s");
    let body = "define void @f() {\n  %x = alloca i32\n  ret void\n}\n";
    let bug = json!({"bug_id": "7", "bug_type": "crash", "tests": [{"file": "x.ll",
        "commands": [command.replace("GROUND", &ground.name(""))],
        "tests": [{"test_name": "f", "test_body": body}]}]});
    fs::write(ground.path("bug.json"), bug.to_string()).unwrap();
    let (file, out) = (ground.name("bug.json"), ground.name("imported"));
    let imported = run(&["case", "import", &file, "-o", &out, "--llvm", "19"]);
    assert!(!ground.was_run());
    assert_eq!(imported.status.code(), Some(6), "{imported:?}");
    assert!(String::from_utf8_lossy(&imported.stdout).contains("refused"), "{imported:?}");
}

#[test]
fn a_compiler_that_a_case_names_by_its_path_is_run_with_trust_alone() {
    for key in ["llvm-config", "gcc", "clang"] {
        let ground = Ground::new(&format!("{key} = \"GROUND/bait\""), "level = \"O2\"");
        ground.script("bait");
        let commands: &[&[&str]] = match key {
            "llvm-config" => &[
                &["case", "check"],
                &["bisect"],
                &["reduce"],
                &["localize"],
                &["triage"],
                &["case", "check", "--llvm", "19"],
            ],
            _ => &[&["case", "check"], &["reduce"]],
        };
        for command in commands {
            ground.check_refused(&[command, &["CASE"][..]].concat(), "--trust");
        }
        // A bench lists what it does not measure.
        let (case, out) = (ground.name("case"), ground.name("out"));
        let bench = run(&["bench", &case, "-o", &out, "--runs", "1", "--methods", "pass-name"]);
        assert_eq!(bench.status.code(), Some(6), "{bench:?}");
        assert!(!ground.was_run());
        let (_, stderr) = failure(&["case", "check", &case, "--trust"]);
        assert!(ground.was_run(), "{key}: {stderr}");
    }
}

#[test]
fn c_flags_that_run_or_load_something_count_with_trust_alone() {
    let of_gcc: &[&str] =
        &["\"-wrapper\", \"GROUND/bait\"", "\"-BGROUND/\"", "\"-fplugin=GROUND/x.so\""];
    let of_llvm: &[&str] = &[
        "\"-fplugin=GROUND/x.so\"",
        "\"-Xclang\", \"-load\", \"-Xclang\", \"GROUND/x.so\"",
        "\"@GROUND/flags\"",
    ];
    for (compiler, flags) in [("gcc = \"12\"", of_gcc), ("llvm = \"19\"", of_llvm)] {
        for flags in flags {
            let ground = Ground::new(compiler, &format!("level = \"O2\"\ncflags = [{flags}]"));
            ground.script("bait");
            ground.script("as");
            ground.library("x.so");
            let named = format!("-fplugin={}\n", ground.name("x.so"));
            fs::write(ground.path("flags"), named).unwrap();
            ground.check_refused(&["case", "check", "CASE"], "--trust");
            ground.check_refused(&["reduce", "CASE"], "--trust");
            run(&["case", "check", &ground.name("case"), "--trust"]);
            assert!(ground.was_run(), "{compiler} {flags}: the bait is none");
        }
    }
}

#[test]
fn harmless_flags_need_no_trust() {
    let flags = "level = \"O2\"\ncflags = [\"-DX=1\", \"-fno-strict-aliasing\", \"-std=gnu11\"]";
    for compiler in ["llvm = \"19\"", "gcc = \"12\""] {
        let ground = Ground::new(compiler, flags);
        let checked = run(&["case", "check", &ground.name("case")]);
        // It does not crash, as it says; but it was tried.
        assert_eq!(checked.status.code(), Some(6), "{checked:?}");
    }
}

#[test]
fn nothing_in_a_case_leads_out_of_it() {
    let check = |name: &str, said: &str, make: &dyn Fn(&Path, &Ground)| {
        let ground = Ground::new("llvm = \"19\"", "level = \"O2\"");
        fs::create_dir(ground.path("outside")).unwrap();
        fs::copy(testdata("sum.c"), ground.path("outside/program.c")).unwrap();
        let place = ground.path("case").join(name);
        let _ = fs::remove_file(&place);
        make(&place, &ground);
        for command in [&["case", "check"][..], &["bisect"], &["reduce"], &["report"]] {
            ground.check_refused(&[command, &["CASE"]].concat(), said);
        }
        let outside: Vec<_> = fs::read_dir(ground.path("outside")).unwrap().collect();
        assert_eq!(outside.len(), 1, "{outside:?}");
    };
    let link = "a link that leads out of its folder";
    check("program.c", link, &|place, _| symlink("../outside/program.c", place).unwrap());
    check("program.c", link, &|place, ground| {
        symlink(ground.path("outside/program.c"), place).unwrap();
    });
    check("localize", link, &|place, _| symlink("../outside", place).unwrap());
    check("original", link, &|place, _| symlink("/nowhere", place).unwrap());
    check("reduce.json", "neither a file nor a folder", &|place, _| {
        Tool::new("mkfifo").arg(place).check().unwrap();
    });
    // Links inside of it are as good as files.
    let ground = Ground::new("llvm = \"19\"", "level = \"O2\"");
    symlink("program.c", ground.path("case/same.c")).unwrap();
    assert_eq!(run(&["case", "check", &ground.name("case")]).status.code(), Some(6));
}

#[test]
fn a_pass_sequence_that_is_nested_without_end_is_an_error_and_no_crash() {
    let nested = "function(".repeat(200_000) + "sroa" + &")".repeat(200_000);
    let ground = Ground::new("llvm = \"19\"", &format!("passes = \"{nested}\""));
    ground.check_refused(&["case", "check", "CASE"], "nested too deeply");
}

#[test]
fn a_pass_that_names_files_after_functions_writes_none_outside() {
    let ground = Ground::new("llvm = \"19\"", "level = \"O2\"");
    // Of the distribution's opt the folder is one below the temporary one.
    let text = "source_filename = \"x\"\ndefine void @\"/../mark\"() {\n  ret void\n}\n";
    fs::write(ground.path("evil.ll"), text).unwrap();
    let args = ["run", &ground.name("evil.ll"), "--llvm", "19", "--passes", "dot-cfg", "--confirm"];
    let output = optsleuth().env("TMPDIR", ground.0.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("the same module"), "{output:?}");
    assert!(!ground.path("mark.dot").exists());
}
