//! The machine's cores: which there are, and how to stay on one.
//!
//! Who measures several things at the same time keeps each to a core of its
//! own, with all the processes that it starts.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores this process may use.
pub fn available() -> Vec<usize> {
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect(),
        Err(_) => Vec::new(),
    }
}

/// Keeps this thread, and every thread and process that it starts from now on,
/// on one core. Where the system refuses, nothing changes but the clock.
pub fn stay_on(core: usize) {
    let mut set = CpuSet::new();
    set.set(core);
    if let Err(error) = sched_setaffinity(None, &set) {
        tracing::warn!(%error, core, "cannot stay on one core");
    }
}

/// Does something with as many threads as this thread has cores. The threads
/// that the whole program shares for such work were started elsewhere, and
/// would take others' cores.
pub fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let n_threads = available().len().max(1);
    match rayon::ThreadPoolBuilder::new().num_threads(n_threads).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_on_one_core_starts_stays_there() {
        let cores = available();
        let &core = cores.last().unwrap();
        let thread = std::thread::spawn(move || {
            stay_on(core);
            let heir = std::thread::spawn(available).join().unwrap();
            (available(), heir, alone(|| (rayon::current_num_threads(), available())))
        });
        assert_eq!(thread.join().unwrap(), (vec![core], vec![core], (1, vec![core])));
        assert_eq!(available(), cores);
    }
}
