//! Workers that are killed while they work: nothing is lost, nothing counted
//! twice.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use optsleuth_compiler::llvm::Pool;
use optsleuth_model::{Emit, Limits, Outcome, RunRequest};
use rustix::process::{Pid, Signal, kill_process};

use crate::ready::{children, program, provisioned, request};

const N_RUNS: usize = 1000;

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = kill_process(pid, Signal::KILL);
}

#[test]
fn runs_that_were_begun_are_ended_and_are_the_first_ones() {
    let mut pool = Pool::of_size(&provisioned(), NonZero::new(2).unwrap()).unwrap();
    pool.load(&program("sum.c"), &[], Limits::STANDARD).unwrap();
    let passes = ["function(sroa)", "function(sroa,instcombine)", "default<O1>"];
    let requests: Vec<RunRequest> =
        (0..60).map(|i| RunRequest { emit: Emit::Text, ..request(passes[i % 3]) }).collect();
    let n_begun = AtomicUsize::new(0);
    let keep_going = || n_begun.fetch_add(1, Ordering::SeqCst) < 20;
    let results = pool.run_while(&requests, &keep_going, &|result, _| result.emitted);
    assert_eq!(results.len(), 20);
    for (request, result) in requests.iter().zip(results) {
        assert_eq!(pool.first().run(request).unwrap().emitted, result.unwrap());
    }
    assert!(pool.run_while(&requests, &|| false, &|result, _| result.emitted).is_empty());
}

/// A thousand runs on two workers, with a kill after every two hundred.
fn check(victim: impl Fn(u32) -> Vec<u32> + Sync) {
    let mut pool = Pool::of_size(&provisioned(), NonZero::new(2).unwrap()).unwrap();
    pool.load(&program("sum.c"), &[], Limits::STANDARD).unwrap();
    // Every run is different, so that a result in the wrong place shows.
    let requests: Vec<RunRequest> = (0..N_RUNS)
        .map(|i| {
            let passes = ["function(sroa)", "function(sroa,instcombine)", "default<O1>"][i % 3];
            RunRequest { emit: Emit::Text, ..request(passes) }
        })
        .collect();
    let expected: Vec<Vec<u8>> =
        requests[..3].iter().map(|r| pool.first().run(r).unwrap().emitted).collect();
    let workers = pool.process_ids();
    let killed = Mutex::new(0);
    let results = pool.run_all(&requests, &|done| {
        if done % 200 == 100 {
            for &worker in &workers {
                for pid in victim(worker) {
                    kill(pid);
                    *killed.lock().unwrap() += 1;
                }
            }
        }
    });
    assert_eq!(results.len(), N_RUNS);
    for (i, result) in results.into_iter().enumerate() {
        let result = result.unwrap();
        assert_eq!(result.outcome, Outcome::Ok(None), "run {i}");
        assert!(result.emitted == expected[i % 3], "run {i} has another run's module");
    }
    assert!(*killed.lock().unwrap() > 0, "nobody was killed");
    assert!(pool.n_replaced() > 0, "nobody was replaced");
}

#[test]
fn a_killed_zygote_is_replaced() {
    check(|worker| vec![worker]);
}

#[test]
fn a_killed_session_is_replaced() {
    check(children);
}

#[test]
fn a_killed_run_is_repeated() {
    check(|worker| children(worker).into_iter().flat_map(children).collect());
}

#[test]
fn a_stopped_worker_is_replaced() {
    let mut pool = Pool::of_size(&provisioned(), NonZero::new(1).unwrap()).unwrap();
    let limits = Limits {
        compile: std::time::Duration::from_millis(100),
        execute: std::time::Duration::from_millis(100),
        ..Limits::STANDARD
    };
    pool.load(&program("sum.c"), &[], limits).unwrap();
    for worker in pool.process_ids() {
        for pid in children(worker) {
            let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            kill_process(pid, Signal::STOP).unwrap();
        }
    }
    let result = pool.first().run(&RunRequest { limits, ..request("function(sroa)") }).unwrap();
    assert_eq!(result.outcome, Outcome::Ok(None));
    assert_eq!(pool.n_replaced(), 1);
}
