//! `optsleuth triage -- COMMAND`, as a user sees it, with real compilers: commands of
//! llc, of C++, with several programs, and what clang writes when it crashes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::program::{failure, json, run, testdata};

/// No more than a look: reduction and ranking have tests of their own.
const QUICK: [&str; 4] = ["--json", "--built-in", "--zoom", "off"];
const LOOK: &str = "4s";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Triages what these arguments say; the case goes to `case/`.
    fn triage(&self, args: &[&str]) -> Value {
        self.triage_within(LOOK, args)
    }

    fn triage_within(&self, budget: &str, args: &[&str]) -> Value {
        let case = self.path("case");
        let own = ["triage", "-o", &case, "--force", "--budget", budget];
        json(&[&own[..], &QUICK, args].concat())
    }
}

/// A tool of LLVM 19.
fn tool(name: &str) -> String {
    optsleuth_compiler::llvm::find(19).unwrap().bin.join(name).display().to_string()
}

/// More registers than there are, which shows when they are allocated.
const TOO_MANY_REGISTERS: &str = r#"target triple = "x86_64-unknown-linux-gnu"
define i32 @f(i32 %a, i32 %b, i32 %c, i32 %d, i32 %e, i32 %g) {
  %s = add i32 %a, %b
  %x = call i32 asm sideeffect "nop", "=r,r,r,r,r,r,r,~{rax},~{rbx},~{rcx},~{rdx},~{rsi},~{rdi},~{r8},~{r9},~{r10},~{r11},~{r12},~{r13},~{r14},~{r15}"(i32 %s, i32 %b, i32 %c, i32 %d, i32 %e, i32 %g)
  ret i32 %x
}
"#;
/// An intrinsic of a machine that it is not compiled for.
const NO_SUCH_INSTRUCTION: &str = r#"target triple = "x86_64-unknown-linux-gnu"
define <4 x i32> @f(<4 x i32> %a) {
  %v = call <4 x i32> @llvm.x86.avx512.mask.compress.d.128(<4 x i32> %a, <4 x i32> undef, i8 3)
  ret <4 x i32> %v
}
declare <4 x i32> @llvm.x86.avx512.mask.compress.d.128(<4 x i32>, <4 x i32>, i8)
"#;

#[test]
fn a_command_of_llc_names_the_machine_pass_and_its_stage() {
    let folder = Folder::new();
    let check = |text: &str, pass: &str, stage: &str| {
        let ir = folder.write("f.ll", text);
        let found = folder.triage(&["--", &tool("llc"), "-O2", &ir, "-o", "f.s"]);
        let machine = &found["machine_pass"];
        assert_eq!((&machine["name"], &machine["unit"]), (&pass.into(), &"function f".into()));
        assert_eq!(machine["stage"], stage, "{found}");
        assert_eq!((&found["kind"], &found["confirmed"]), (&"codegen".into(), &true.into()));
        let file = found["files"][0].as_str().unwrap();
        assert!(file.contains("lib/CodeGen/") || file.contains("lib/Target/"), "{found}");
        let commands = found["commands"].to_string();
        assert!(commands.contains("llc-19 -O2") && !commands.contains("opt-19"), "{commands}");
    };
    check(TOO_MANY_REGISTERS, "greedy", "register allocation");
    check(NO_SUCH_INSTRUCTION, "x86-isel", "instruction selection by SelectionDAG");
    let toml = fs::read_to_string(folder.path("case/case.toml")).unwrap();
    assert!(toml.contains("codegen = \"O2\""), "{toml}");
    let issue = fs::read_to_string(folder.path("case/report.md")).unwrap();
    for part in ["x86-isel", "-stop-before=x86-isel", "llc-19 -O2", "lib/CodeGen/SelectionDAG"] {
        assert!(issue.contains(part), "{part}: {issue}");
    }
    let checked = json(&["case", "check", &folder.path("case"), "--json"]);
    assert_eq!(checked["cases"][0]["status"], "reproduces", "{checked}");
}

#[test]
fn code_generation_that_fails_behind_the_passes_of_a_level_is_bisected_without_them() {
    let folder = Folder::new();
    let text = "int f(int a) { int b = a * 3; __asm__(\"no_such %0\" : \"+r\"(b)); return b + 1; }";
    let source = folder.write("f.c", text);
    let found = folder.triage(&["--", &tool("clang"), "-O2", "-c", &source]);
    assert_eq!(found["machine_pass"]["stage"], "writing of the object, by the assembler");
    assert_eq!((&found["guilty"], &found["single_pass"]["n_passes"]), (&Value::Null, &0.into()));
    let toml = fs::read_to_string(folder.path("case/single-pass/case.toml")).unwrap();
    assert!(toml.contains("codegen = \"O"), "{toml}");
}

/// LLVM believes its user that `add` never returns.
const WRONG: [&str; 3] = ["-O2", "-mllvm", "-force-attribute=add:noreturn"];

#[test]
fn of_several_programs_the_guilty_one_becomes_the_case() {
    let folder = Folder::new();
    let inner = fs::create_dir(folder.path("include"));
    inner.unwrap();
    folder.write("include/add.h", "int add(int, int);\n");
    let helper = folder.write("helper.c", "int helper(int n) { return n * 2; }\n");
    let add =
        "#include <add.h>\nint helper(int);\nint add(int a, int b) { return a + helper(b); }\n";
    let add = folder.write("add.c", add);
    let main = "#include <add.h>\n#include <stdio.h>\n\
                int main(void) { printf(\"%d\\n\", add(X, 4)); return 0; }\n";
    let main = folder.write("main.c", main);
    let include = format!("-I{}", folder.path("include"));
    let files = [helper.as_str(), &add, &main, &include, "-DX=3", "-lm", "-o", "prog"];
    let found = folder.triage(&[&["--", &tool("clang")][..], &WRONG, &files].concat());
    assert_eq!(found["kind"], "wrong-code", "{found}");
    let notes = found["notes"].to_string();
    assert!(notes.contains("main.c` is guilty") && notes.contains("of 3 programs"), "{notes}");
    assert!(found["guilty"].as_str().is_some_and(|guilty| guilty.contains("on ")), "{found}");
    // The case needs nothing that is not in its folder.
    fs::remove_dir_all(folder.path("include")).unwrap();
    fs::remove_file(&helper).unwrap();
    let toml = fs::read_to_string(folder.path("case/case.toml")).unwrap();
    assert!(toml.contains("execution/0-helper-O0.o") && toml.contains("-lm"), "{toml}");
    let checked = json(&["case", "check", &folder.path("case"), "--json"]);
    assert_eq!(checked["cases"][0]["status"], "reproduces", "{checked}");

    let fine = folder.write("fine.c", "int fine(void) { return 0; }\n");
    let start = folder.write("start.c", "int fine(void); int main(void) { return fine(); }\n");
    let case = folder.path("none");
    let args = ["triage", "-o", &case, "--", &tool("clang"), "-O2", &fine, &start];
    let (code, said) = failure(&args);
    assert_eq!(code, 6, "{said}");
    assert!(said.contains("no program of the command makes the whole fail"), "{said}");
}

#[test]
fn every_ending_of_cxx_is_taken_and_assembly_is_linked_as_it_is() {
    let folder = Folder::new();
    let source = "#include <iostream>\nextern \"C\" int add(int, int);\nint main() {\n  \
                  try { if (add(3, 4) != 7) throw 1; std::cout << \"seven\\n\"; }\n  \
                  catch (int) { std::cout << \"none\\n\"; }\n  return 0;\n}\n";
    let assembly = folder.write(
        "add.s",
        ".text\n.globl add\nadd: lea (%rdi,%rsi), %eax\nret\n.section .note.GNU-stack,\"\",@progbits\n",
    );
    let check = |name: &str, compiler: &str, expected: (i32, &str)| {
        let program = folder.write(name, source);
        let out = folder.path("none");
        let args = ["triage", "-o", &out, "--", compiler, "-O1", &program, &assembly, "-o", "prog"];
        let (code, said) = failure(&args);
        assert_eq!((code, said.contains(expected.1)), (expected.0, true), "{name}: {said}");
    };
    let fine = (6, "the program does what it should");
    for name in ["a.cc", "a.cpp", "a.C"] {
        check(name, &tool("clang++"), fine);
    }
    check("a.cxx", &tool("clang++"), fine);
    check("a.c", &tool("clang++"), (1, "name it `.cpp`"));
}

/// What a real clang writes when it crashes on a program: the script, and its text.
fn reproducer(folder: &Folder, name: &str, text: &str, flags: &[&str]) -> PathBuf {
    let source = folder.write(name, text);
    let mut clang = clang_command(folder);
    let ended =
        clang.args(flags).args(["-c", &source, "-o", &folder.path("x.o")]).output().unwrap();
    assert!(!ended.status.success(), "clang does not crash");
    let is_script = |path: &Path| path.extension().is_some_and(|ending| ending == "sh");
    let entries = fs::read_dir(folder.0.path()).unwrap().map(|entry| entry.unwrap().path());
    let script = entries.into_iter().find(|path| is_script(path)).expect("clang wrote no script");
    fs::remove_file(source).unwrap();
    script
}

#[expect(clippy::disallowed_methods, reason = "clang as a user starts it")]
fn clang_command(folder: &Folder) -> Command {
    let mut command = Command::new(tool("clang"));
    command.env("TMPDIR", folder.0.path());
    command
}

#[expect(clippy::disallowed_methods, reason = "tar as a user starts it")]
fn pack(archive: &Path, folder: &Path) {
    let tar = Command::new("tar").arg("-czf").arg(archive).arg("-C").arg(folder).arg(".").status();
    assert!(tar.unwrap().success());
}

#[test]
fn a_crash_of_the_front_end_is_said_to_be_one_and_reduced() {
    let folder = Folder::new();
    let text = "int used(int n) { return n; }\nint other(void) { return 7; }\n\
                #pragma clang __debug crash\nint more;\n";
    let script = reproducer(&folder, "crashing.c", text, &["-O2", "-DX=1"]);
    // As people attach it to a bug report.
    let archive = Folder::new();
    let packed = archive.path("crashing.tar.gz");
    pack(Path::new(&packed), script.parent().unwrap());
    for input in [script.display().to_string(), packed] {
        // Every candidate starts clang.
        let found = folder.triage_within("20s", &[&input]);
        assert_eq!((&found["kind"], &found["in_front_end"]), (&"crash".into(), &true.into()));
        assert_eq!((&found["guilty"], &found["files"]), (&Value::Null, &Value::Array(vec![])));
        let issue = fs::read_to_string(folder.path("case/report.md")).unwrap();
        assert!(issue.contains("clang's front end fails"), "{issue}");
        let toml = fs::read_to_string(folder.path("case/case.toml")).unwrap();
        assert!(toml.contains("clang = \"19\""), "{toml}");
        let reduced = fs::read_to_string(folder.path("case/reduced.c")).unwrap();
        assert!(reduced.contains("__debug crash") && !reduced.contains("return 7"), "{reduced}");
    }
}

#[test]
fn a_crash_of_llvm_that_clang_wrote_down_is_one_of_a_machine_pass() {
    let folder = Folder::new();
    // The scheduler for VLIW machines has no resources to count on this one.
    let text = "int f(int a, int b) { return a * b + a; }\n";
    let script = reproducer(&folder, "llvm.c", text, &["-O2", "-mllvm", "-pre-RA-sched=vliw-td"]);
    let found = folder.triage(&[&script.display().to_string()]);
    assert_eq!((&found["in_front_end"], &found["kind"]), (&false.into(), &"crash".into()));
    assert_eq!(found["machine_pass"]["name"], "x86-isel", "{found}");
}

/// LLVM believes its user that `add` never returns: so the program ends otherwise.
fn goes_wrong(ir: &str, llvm: &str) {
    let passes = ["--passes", "forceattrs,simplifycfg", "--option=-force-attribute=add:noreturn"];
    let end = |more: &[&str]| {
        let own = ["run", ir, "--llvm", llvm, "--execute", "--json"];
        let output = run(&[&own[..], more].concat());
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        (said["stdout"].clone(), said["exit"].clone())
    };
    let right = (Value::from("7\n"), Value::from(0));
    assert_eq!(end(&["--passes", "no-op-module"]), right);
    assert_ne!(end(&passes), right);
}

#[test]
fn rust_and_objective_c_go_in_as_ir() {
    let folder = Folder::new();
    let source = |name: &str| testdata(&format!("languages/{name}"));
    let module = folder.path("add.ll");
    let flags = ["-S", "-emit-llvm", "-O2", "-Xclang", "-disable-llvm-passes", "-o", &module];
    let ended = clang_command(&folder).args(flags).arg(source("add.m")).status().unwrap();
    assert!(ended.success(), "no IR of Objective-C");
    goes_wrong(&module, "19");

    let Some(major) = llvm_of_rustc() else { return };
    let module = folder.path("add.bc");
    rustc(&["--emit=llvm-bc", "-o", &module, &source("add.rs")]);
    match optsleuth_compiler::llvm::find(major) {
        Ok(_) => goes_wrong(&module, &major.to_string()),
        Err(_) => {
            let (code, said) = failure(&["run", &module, "--llvm", "19", "--passes", "sroa"]);
            assert!(code != 0 && said.contains("cannot load"), "{said}");
        }
    }
}

/// The LLVM that the usual rustc has.
fn llvm_of_rustc() -> Option<u32> {
    let said = rustc(&["-vV"]);
    let version = said.lines().find_map(|line| line.strip_prefix("LLVM version: "))?.to_owned();
    version.split('.').next()?.parse().ok()
}

/// What rustc writes, with the flags of docs/other-languages.md where it compiles.
#[expect(clippy::disallowed_methods, reason = "rustc as a user starts it")]
fn rustc(args: &[&str]) -> String {
    let mut rustc = Command::new("rustc");
    if args.len() > 1 {
        rustc.args(["-C", "opt-level=2", "-C", "no-prepopulate-passes", "-C", "codegen-units=1"]);
        rustc.args(["-C", "panic=abort", "--crate-type=lib"]);
    }
    let ended = rustc.args(args).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}
