//! Programs by the real csmith, clang, gcc and workers.

use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, OnceLock};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::workers::LlvmChoice;
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_model::{Emit, Limits, ProgramEnd, RunRequest, Silent};

use super::*;

/// One workers for all: two workers of LLVM 19.
fn workers() -> MutexGuard<'static, Workers> {
    static BENCH: OnceLock<Mutex<Workers>> = OnceLock::new();
    let start = || {
        let choice = LlvmChoice::Version(19);
        let workers = NonZero::new(2);
        let workers = Workers::set_up(&choice, Targets::Native, Flavor::Plain, workers, &Silent);
        Mutex::new(workers.unwrap())
    };
    BENCH.get_or_init(start).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Programs that are kept in this folder alone.
fn programs(source: ProgramSource, seed: u64, cache: &Path) -> Programs {
    let plan = ProgramPlan { source, size: SizeProfile::Small, min_bytes: None, seed };
    Programs::keeping(plan, &mut workers(), Kept::in_folder(cache.to_owned())).unwrap()
}

fn make(programs: &Programs, numbers: Range<u64>) -> Vec<Made> {
    programs.make(&mut workers().pool, numbers, &Silent).unwrap()
}

fn names(made: &[Made]) -> Vec<&str> {
    made.iter().filter_map(|made| made.program.as_ref()).map(|p| p.name.as_str()).collect()
}

#[test]
fn a_program_depends_on_its_number_and_seed_alone() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = ProgramSource::Csmith(Swarm::Default);
    let first = make(&programs(source.clone(), 7, one.path()), 0..4);
    assert_eq!(names(&first), ["csmith-000000", "csmith-000001", "csmith-000002", "csmith-000003"]);
    // Afresh, by one worker, without those before it.
    let again = programs(source.clone(), 7, other.path());
    let alone = again.make_one(workers().pool.first(), 2).unwrap();
    assert_eq!(alone, first[2]);
    let third = first[2].program.as_ref().unwrap();
    assert_eq!(third.program.name, "program.ll");
    let ir = String::from_utf8(third.program.ir.clone()).unwrap();
    assert!(ir.contains("define") && !ir.contains("source_filename") && !ir.contains("/tmp"));
    let Source::C(text) = &third.source else { panic!("csmith writes C") };
    assert!(text.contains("main") && !text.contains("#include"));
    assert_eq!(third.expected.end, ProgramEnd::Exited(0));
    assert!(third.expected.stdout.starts_with(b"checksum = "));
    let of_another_seed = make(&programs(source, 8, other.path()), 2..3);
    assert_ne!(of_another_seed[0].program, first[2].program);
}

#[test]
fn what_was_kept_is_used_unless_it_is_damaged() {
    let cache = tempfile::tempdir().unwrap();
    let source = ProgramSource::Csmith(Swarm::Default);
    let first = make(&programs(source.clone(), 21, cache.path()), 0..2);
    let files = || -> Vec<PathBuf> {
        let entries = fs::read_dir(cache.path()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let n_rejected: usize = first.iter().map(|made| made.rejected.len()).sum();
    assert_eq!(files().len(), 2 + n_rejected);
    assert_eq!(make(&programs(source.clone(), 21, cache.path()), 0..2), first);
    for file in files() {
        fs::write(file, "damaged").unwrap();
    }
    assert_eq!(make(&programs(source.clone(), 21, cache.path()), 0..2), first);
    for file in files() {
        assert_ne!(fs::read(file).unwrap(), b"damaged");
    }
    // That it is used at all: a verdict nobody would come to.
    let changed = programs(source, 21, cache.path());
    let sham: Verdict = Err((Rejection::Undefined, "so it is said".to_owned()));
    for file in files() {
        changed.kept.write(&file.file_name().unwrap().to_string_lossy(), &sham);
    }
    let rejected = &make(&changed, 0..1)[0].rejected;
    assert_eq!(rejected[0].what, "so it is said");
}

#[test]
fn swarms_write_other_programs() {
    let cache = tempfile::tempdir().unwrap();
    let mut texts: Vec<Source> = Vec::new();
    for swarm in Swarm::ALL {
        let programs = programs(ProgramSource::Csmith(swarm), 3, cache.path());
        assert_eq!(programs.count(), None);
        let made = make(&programs, 0..1);
        let program = made[0].program.clone().unwrap();
        assert!(!texts.contains(&program.source));
        texts.push(program.source);
    }
}

/// A folder of programs, what is taken of it and why the rest is not.
fn check(files: &[(&str, &[u8])], taken: &[&str], rejected: &[(&str, Rejection)]) -> Vec<Made> {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let source = ProgramSource::Folder(folder.path().to_owned());
    let programs = programs(source.clone(), 1, cache.path());
    let made = make(&programs, 0..1000);
    assert_eq!(names(&made), taken);
    let all: Vec<&Rejected> = made.iter().flat_map(|made| &made.rejected).collect();
    let reasons: Vec<(&str, Rejection)> =
        all.iter().map(|one| (one.name.as_str(), one.reason)).collect();
    assert_eq!(reasons, rejected, "{all:?}");
    assert!(all.iter().all(|one| !one.what.contains(&*folder.path().to_string_lossy())));
    assert_eq!(make(&programs, 0..1000), made, "from the cache");
    made
}

#[test]
fn only_what_is_defined_and_ends_is_taken_of_a_folder() {
    let made = check(
        &[
            // Just behind it, where every compiler leaves a zero.
            ("array.c", b"int a[3]; int main(int n, char **v) { return a[n + 2]; }"),
            ("broken.c", b"int main(void) { return x; }"),
            ("endless.c", b"volatile int x; int main(void) { for (;;) x++; return 0; }"),
            (
                "good.c",
                b"#include <stdio.h>\n#include <assert.h>\n\
                  int main(void) { assert(1 + 1 == 2); puts(__FILE__); return 3; }",
            ),
            (
                "overflow.c",
                b"int main(int n, char **v) { int x = 0x7fffffff; x += n; return x == 3; }",
            ),
            ("notes.txt", b"nothing"),
            (
                "uninitialized.c",
                b"#include <stdio.h>\n\
                  int main(int n, char **v) { int a[4]; printf(\"%d\\n\", a[n]); return 0; }",
            ),
            ("warned.c", b"int f(int x) { } int main(void) { return f(1) & 0; }"),
        ],
        &["good.c"],
        &[
            ("array.c", Rejection::Undefined),
            ("broken.c", Rejection::DoesNotCompile),
            ("endless.c", Rejection::DoesNotEnd),
            ("overflow.c", Rejection::Undefined),
            ("uninitialized.c", Rejection::CompilersDisagree),
            ("warned.c", Rejection::Undefined),
        ],
    );
    let good = made.iter().find_map(|made| made.program.as_ref()).unwrap();
    assert_eq!(good.expected.stdout, b"good.c\n");
    assert_eq!(good.expected.end, ProgramEnd::Exited(3));
}

#[test]
fn memory_that_is_not_there_is_undefined_where_anybody_looks() {
    let behind: &[u8] = b"#include <stdlib.h>\n\
        int main(int n, char **v) { int *p = calloc(n, 4); p[n] = 0; return p[n]; }";
    let checker = {
        let mut workers = workers();
        let install = workers.install.clone();
        Checker::new(&install, workers.pool.first()).unwrap()
    };
    // No installed clang may have the library.
    match checker.notes().iter().any(|note| note.contains("address sanitizer")) {
        true => check(&[("behind.c", behind)], &["behind.c"], &[]),
        false => check(&[("behind.c", behind)], &[], &[("behind.c", Rejection::Undefined)]),
    };
}

#[test]
fn ir_is_taken_where_it_keeps_its_promises() {
    let ir = |text: &str| {
        format!("; ModuleID = '/home/me/x.ll'\ntarget triple = \"x86_64-pc-linux-gnu\"\n{text}")
            .into_bytes()
    };
    let overflow = "define i32 @main(i32 %n, ptr %v) {\n\
        %x = add nsw i32 2147483647, %n\n %y = and i32 %x, 0\n ret i32 %y\n}\n";
    let made = check(
        &[
            ("broken.ll", &ir("define i32 @main() { ret i64 %x }")),
            ("good.ll", &ir("define i32 @main() {\n ret i32 5\n}\n")),
            ("nowhere.ll", &ir("define i32 @f() { ret i32 1 }")),
            ("overflow.ll", &ir(overflow)),
        ],
        &["good.ll"],
        &[
            ("broken.ll", Rejection::DoesNotCompile),
            ("nowhere.ll", Rejection::DoesNotCompile),
            ("overflow.ll", Rejection::Undefined),
        ],
    );
    let good = made[1].program.as_ref().unwrap();
    assert_eq!(good.source, Source::Ir);
    assert_eq!(good.expected.end, ProgramEnd::Exited(5));
    assert!(!String::from_utf8_lossy(&good.program.ir).contains("/home"));
    // The same as bitcode.
    let bitcode = {
        let mut workers = workers();
        let worker = workers.pool.first();
        worker.load(&good.program, &[], Limits::STANDARD).unwrap();
        let request = RunRequest { emit: Emit::Bitcode, ..RunRequest::new(None) };
        worker.run(&request).unwrap().emitted
    };
    let made = check(&[("good.bc", &bitcode)], &["good.bc"], &[]);
    let same = made[0].program.as_ref().unwrap();
    assert_eq!(same.expected, good.expected);
    assert!(String::from_utf8_lossy(&same.program.ir).contains("define i32 @main"));
}

#[test]
fn a_folder_without_programs_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "nothing").unwrap();
    assert!(matches!(files(folder.path()), Err(HuntError::EmptyFolder(_))));
    assert!(matches!(files(&folder.path().join("gone")), Err(HuntError::Case(CaseError::Io(_)))));
}

#[test]
fn small_c_is_left_out_where_more_is_asked_for() {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(folder.path().join("tiny.c"), "int main(void) { return 0; }").unwrap();
    let source = ProgramSource::Folder(folder.path().to_owned());
    let mut programs = programs(source, 1, cache.path());
    assert_eq!(names(&make(&programs, 0..1)), ["tiny.c"]);
    programs.plan.min_bytes = Some(100);
    assert_eq!(make(&programs, 0..1)[0].rejected[0].reason, Rejection::TooSmall);
}
