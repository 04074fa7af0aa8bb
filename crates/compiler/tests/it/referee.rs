//! The referee, on modules that say in their first lines what it must say of
//! them, and on programs that machine code executes as well.

use std::path::Path;

use optsleuth_compiler::llvm::{self, Flavor, Targets, Worker};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_compiler::{clang, csmith};
use optsleuth_model::{
    Execute, Execution, Interpret, Interpretation, Limits, Outcome, OutputByte, OutputStream,
    Program, ProgramEnd, Ruling, RunRequest,
};

use crate::ready::{LLVM, ir, loaded, program, provisioned, testdata};

/// Enough for every program here; an endless one ends soon.
const STEPS: u64 = 20_000_000;

fn interpret(worker: &mut Worker, passes: Option<&str>, asked: Interpret) -> Interpretation {
    let passes = passes.map(|text| text.parse().unwrap());
    let request = RunRequest { interpret: Some(asked), ..RunRequest::new(passes) };
    worker.run(&request).unwrap().interpretation.unwrap()
}

fn main_function() -> Interpret {
    Interpret { steps: STEPS, ..Interpret::main() }
}

/// What the referee said, in the words of the expectations.
fn said(interpretation: &Interpretation) -> (String, String) {
    let layout = if interpretation.depends_on_layout { "depends on layout" } else { "defined" };
    match &interpretation.ruling {
        Ruling::Defined { end: ProgramEnd::Signaled(signal), .. } => {
            (format!("signal: {signal}"), String::new())
        }
        Ruling::Defined { end: ProgramEnd::Exited(status), .. } => {
            (format!("{layout}: {status}"), String::new())
        }
        Ruling::Defined { end, .. } => (format!("{end:?}"), String::new()),
        Ruling::Undefined { end, history } => {
            let origin = history.last().map(|step| step.what.clone());
            (format!("undefined: {}", end.what), origin.unwrap_or_default())
        }
        Ruling::NoVerdict { end } => (format!("no verdict: {}", end.what), String::new()),
    }
}

/// Compares what was said with the comments that open a module.
fn complaint(text: &str, interpretation: &Interpretation) -> Option<String> {
    let (verdict, origin) = said(interpretation);
    let expectations = text.lines().map_while(|line| line.strip_prefix("; "));
    for expectation in expectations {
        let (kind, what) = expectation.split_once(": ").unwrap();
        let agrees = match kind {
            "from" => origin.contains(what),
            // The status is all there is; of a sentence, a part will do.
            "defined" | "depends on layout" | "signal" => verdict == expectation,
            _ => verdict.starts_with(kind) && verdict.contains(what),
        };
        if !agrees {
            return Some(format!("expected {expectation:?}, not {verdict:?} from {origin:?}"));
        }
    }
    None
}

#[test]
fn every_kind_of_undefined_behaviour_is_found_and_named() {
    let folder = testdata("referee");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ll"))
        .collect();
    files.sort();
    assert!(files.len() > 150, "{}", files.len());
    let mut worker = Worker::start(&provisioned()).unwrap();
    let mut complaints = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("; "), "{} expects nothing", file.display());
        worker.load(&ir(&text), &[], Limits::STANDARD).unwrap();
        let interpretation = interpret(&mut worker, None, main_function());
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        complaints.extend(complaint(&text, &interpretation).map(|text| format!("{name}: {text}")));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Machine code's end and output, and the referee's after each pipeline.
fn agrees_with_machine_code(worker: &mut Worker, name: &str, pipelines: &[Option<&str>]) {
    let machine = RunRequest { execute: Execute::InChild, ..RunRequest::new(None) };
    let Outcome::Ok(Some(Execution { end, stdout, stderr })) =
        worker.run(&machine).unwrap().outcome
    else {
        panic!("{name} is not executed");
    };
    for passes in pipelines {
        let interpretation = interpret(worker, *passes, main_function());
        let Ruling::Defined { end: its, .. } = interpretation.ruling else {
            panic!("{name} after {passes:?}: {:?}", interpretation.ruling);
        };
        assert_eq!(its, end, "{name} after {passes:?}");
        assert_eq!(interpretation.stdout, stdout, "{name} after {passes:?}");
        assert_eq!(interpretation.stderr, stderr, "{name} after {passes:?}");
    }
}

#[test]
fn a_program_prints_what_machine_code_prints() {
    let oldest = llvm::installed().swap_remove(0);
    for install in [oldest, llvm::find(LLVM).unwrap()] {
        let major = install.major;
        let made = llvm::provision(&install, Targets::Native, Flavor::Plain, &mut |_| {}).unwrap();
        let mut worker = Worker::start(&made).unwrap();
        for name in ["referee/library.c", "sum.c", "aborts.c"] {
            let program = clang::read_program(&install, &testdata(name), &[]).unwrap();
            worker.load(&program, &[], Limits::STANDARD).unwrap();
            let name = format!("{name} by LLVM {major}");
            agrees_with_machine_code(&mut worker, &name, &[None, Some("default<O2>")]);
        }
    }
}

/// Seeds whose programs end, and are defined.
const SEEDS: [u64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

#[test]
fn a_csmith_program_prints_what_machine_code_prints() {
    let folder = Workdir::new().unwrap();
    let mut worker = Worker::start(&provisioned()).unwrap();
    for seed in SEEDS {
        let file = folder.file("program.c");
        csmith::generate(seed, &csmith::SMALL_PROGRAMS, &file).unwrap();
        let program = clang::read_program(&crate::ready::install(), &file, &[]).unwrap();
        worker.load(&program, &[], Limits::STANDARD).unwrap();
        let pipelines = [None, Some("default<O1>"), Some("default<O3>")];
        agrees_with_machine_code(&mut worker, &format!("csmith's {seed}"), &pipelines);
    }
}

#[test]
fn integers_are_what_the_constant_folder_says() {
    let mut worker = loaded(&program("sum.c"));
    let asked = Interpret { self_test: Some(4), ..Interpret::main() };
    let request = RunRequest { interpret: Some(asked), ..RunRequest::new(None) };
    let text = String::from_utf8(worker.run(&request).unwrap().emitted).unwrap();
    assert!(text.contains(", 0 failures"), "{text}");
    let checked: u64 = text.split(' ').next().unwrap().parse().unwrap();
    assert!(checked > 20_000, "{text}");
}

#[test]
fn a_function_is_called_with_arguments_and_its_values_are_listed() {
    let text =
        "define i32 @f(i32 %a, double %b, ptr %c) {\n  %d = add nsw i32 %a, 1\n  ret i32 %d\n}\n";
    let mut worker = loaded(&ir(text));
    let mut call = |arguments: &[&str]| {
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        let asked = Interpret {
            function: "f".to_owned(),
            arguments: Some(arguments),
            trace_lines: 10,
            ..Interpret::main()
        };
        let request = RunRequest { interpret: Some(asked), ..RunRequest::new(None) };
        worker.run(&request).map(|result| result.interpretation.unwrap())
    };
    let three = call(&["2", "1.5", "null"]).unwrap();
    assert!(
        matches!(&three.ruling, Ruling::Defined { value: Some(value), .. } if value == "3"),
        "{three:?}"
    );
    assert!(three.trace.contains("f: %d = add nsw i32 %a, 1  ; 3\n"), "{}", three.trace);
    let most = call(&["2147483647", "1.5", "null"]).unwrap();
    assert_eq!(said(&most).0, "undefined: the exit status is poison");
    let error = call(&["2"]).unwrap_err().to_string();
    assert_eq!(error, "cannot interpret the program: argument 2 of f cannot be made of ``");
    let error = call(&["x", "1", "null"]).unwrap_err().to_string();
    assert_eq!(error, "cannot interpret the program: argument 1 of f cannot be made of `x`");
}

#[test]
fn undefined_behaviour_is_named_with_its_line() {
    let source = "int printf(const char *, ...);\nint check(int x) { return x + 1 > x; }\n\
                  int main(void) { printf(\"%d\\n\", check(2147483647)); return 0; }\n";
    let folder = Workdir::new().unwrap();
    let file = folder.file("overflow.c");
    std::fs::write(&file, source).unwrap();
    let flags = ["-gline-tables-only".to_owned()];
    let program: Program = clang::read_program(&crate::ready::install(), &file, &flags).unwrap();
    let interpretation = interpret(&mut loaded(&program), None, main_function());
    let Ruling::Undefined { end, history } = interpretation.ruling else {
        panic!("{interpretation:?}");
    };
    assert_eq!(end.what, "argument 2 of printf is poison, against noundef");
    let origin = history.last().unwrap();
    assert_eq!(origin.what, "signed overflow: 2147483647 + 1");
    let place = origin.place.as_ref().unwrap();
    assert!(place.instruction.contains("add nsw i32"), "{}", place.instruction);
    let source = place.source.as_ref().unwrap();
    assert_eq!((source.line, source.column), (2, 29));
    assert_eq!(Path::new(&source.file).file_name(), file.file_name());
}

#[test]
fn who_writes_a_byte_is_told_with_the_arguments_and_what_computes_them() {
    let text = "@f = constant [4 x i8] c\"%d\\0A\\00\"\n\
                declare i32 @printf(ptr, ...)\n\
                define i32 @main() {\n  call i32 (ptr, ...) @printf(ptr @f, i32 7)\n  \
                %a = add i32 40, 2\n  call i32 (ptr, ...) @printf(ptr @f, i32 %a)\n  ret i32 3\n}\n";
    let mut worker = loaded(&ir(text));
    let mut observed = |byte: u64| {
        let observe = Some(OutputByte { stream: OutputStream::Out, byte });
        interpret(&mut worker, None, Interpret { observe, ..main_function() })
    };
    // 7\n42\n: the byte in the middle of a text is its call's, too.
    for byte in [2, 3, 4] {
        let said = observed(byte);
        assert_eq!(said.stdout, b"7\n42\n");
        let words: Vec<&str> = said.observed.iter().map(|step| step.what.as_str()).collect();
        assert_eq!(words, ["42\n", "@f", "42"], "{byte}");
        let by = |place: usize| said.observed[place].place.as_ref().map(|p| p.instruction.as_str());
        assert!(by(0).unwrap().contains("@printf"), "{said:?}");
        assert_eq!((by(1), by(2)), (None, Some("%a = add i32 40, 2")));
    }
    assert_eq!(observed(1).observed[0].what, "7\n");
    assert!(observed(5).observed.is_empty());
    let Ruling::Defined { place: Some(place), .. } = observed(0).ruling else { panic!("no end") };
    assert_eq!(place.instruction, "ret i32 3");
}
