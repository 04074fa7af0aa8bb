//! LLVM itself is behind the fence: in the session that reads a case's module,
//! and in the child that runs passes over it.

use optsleuth_model::Outcome;

use crate::ready::{children, ir, loaded, program, request};

#[test]
fn a_session_has_no_rights_and_filtered_calls_before_it_runs_anything() {
    let worker = loaded(&program("sum.c"));
    let sessions = children(worker.process_id().unwrap());
    let [session] = sessions[..] else { panic!("{sessions:?}") };
    let status = std::fs::read_to_string(format!("/proc/{session}/status")).unwrap();
    for line in ["CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1"] {
        assert!(status.contains(line), "{line} is not in {status}");
    }
    assert!(status.contains("Seccomp:\t2"), "{status}");
}

#[test]
fn a_pass_that_writes_files_does_not_write_outside_the_private_directory() {
    let outside = tempfile::tempdir_in(std::env::temp_dir()).unwrap();
    // The pass makes a file name of the function's: from the private directory
    // up to the temporary one, and down again.
    let place = outside.path().strip_prefix(std::env::temp_dir()).unwrap();
    let name = format!("/../../{}/bait", place.display());
    let text = format!("define void @\"{name}\"() {{\n  ret void\n}}\n");
    let mut worker = loaded(&ir(&text));
    let result = worker.run(&request("function(dot-cfg)")).unwrap();
    assert_eq!(result.outcome, Outcome::Ok(None));
    let written: Vec<_> = std::fs::read_dir(outside.path()).unwrap().collect();
    assert!(written.is_empty(), "{written:?}");
}
