//! Loading C leaves nothing behind. In a process of its own, because it counts
//! what the whole process has.

use std::collections::BTreeMap;
use std::fs;

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::c_front_end::{CSource, Compiled, FrontEnd};
use optsleuth_compiler::llvm::Worker;
use optsleuth_compiler::spawn::Tool;
use optsleuth_model::Limits;

use crate::ready::{install, provisioned, request};

/// Set in the process that counts.
const ALONE: &str = "OPTSLEUTH_TEST_ALONE";

/// What a process can leave behind.
#[derive(Debug, PartialEq, Eq)]
struct Traces {
    n_descendants: usize,
    n_files: usize,
    n_descriptors: usize,
}

impl Traces {
    fn count() -> Traces {
        let own = format!("optsleuth-{:010}-", std::process::id());
        let temporary = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let is_ours = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&own);
        let n_in = |entry: fs::DirEntry| fs::read_dir(entry.path()).map_or(0, Iterator::count);
        Traces {
            n_descendants: n_descendants(std::process::id()),
            n_files: temporary.filter(is_ours).map(|entry| 1 + n_in(entry)).sum(),
            n_descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
        }
    }
}

fn n_descendants(ancestor: u32) -> usize {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse() else { continue };
        // Whoever ended meanwhile has no file.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let parent = fields.split_whitespace().nth(1).and_then(|field| field.parse().ok());
        children.entry(parent.unwrap_or(0)).or_default().push(pid);
    }
    let mut found = vec![ancestor];
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        found.extend(children.get(pid).cloned().unwrap_or_default());
        next += 1;
    }
    found.len() - 1
}

#[test]
fn a_thousand_loads_leave_no_process_and_no_file() {
    // `cargo test` runs all tests of a binary in one process.
    if std::env::var_os(ALONE).is_none() {
        let name = "c_front_end_leaves_nothing::a_thousand_loads_leave_no_process_and_no_file";
        let own = std::env::current_exe().unwrap();
        let alone = Tool::new(own).args(["--exact", name]).env(ALONE, "").memory(u64::MAX);
        let told = alone.check().unwrap();
        assert!(String::from_utf8_lossy(&told.stdout).contains("1 passed"));
        return;
    }
    let front_end = FrontEnd::prepare(&install(), &[], &mut |_| {}).unwrap();
    let mut worker = Worker::start(&provisioned()).unwrap();
    let mut load = |number: u32| {
        let source = |text: String| CSource { name: "f.c".to_owned(), text: text.into_bytes() };
        let broken = source("int".to_owned());
        let refused = front_end.compile(&broken, Limits::STANDARD);
        assert!(matches!(refused, Err(CompilerError::FrontEndRefuses(_))));
        let good = source(format!("int f(int x) {{ return x + {number}; }}\n"));
        let Ok(Compiled::Ir(program)) = front_end.compile(&good, Limits::STANDARD) else {
            panic!("{number} does not compile");
        };
        worker.load(&program, &[], Limits::STANDARD).unwrap();
        worker.run(&request("function(sroa)")).unwrap();
        assert_eq!(worker.n_replaced(), 0);
    };
    load(0); // Starts the server.
    let before = Traces::count();
    (1..=500).for_each(load);
    assert_eq!(Traces::count(), before);
    assert!(before.n_descendants >= 2 && before.n_files >= 2, "{before:?}");
    drop((worker, front_end));
    let after = Traces::count();
    assert_eq!((after.n_descendants, after.n_files), (0, 0));
}
