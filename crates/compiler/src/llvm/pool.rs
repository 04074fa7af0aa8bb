//! Several workers with the same module, for many runs at once.
//!
//! **Invariant:** results come in the order of the requests, one for each,
//! whichever worker made them and however many had to be replaced.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use optsleuth_model::{Limits, PassRegistry, Program, RunRequest, RunResult};

use super::provisioned::Provisioned;
use super::worker::Worker;
use crate::CompilerError;
use crate::surroundings::Surroundings;

/// Workers of one LLVM.
#[derive(Debug)]
pub struct Pool {
    workers: Vec<Worker>,
}

impl Pool {
    /// As many workers as there are cores.
    pub fn start(provisioned: &Provisioned) -> Result<Pool, CompilerError> {
        let n_cores = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Pool::of_size(provisioned, n_cores)
    }

    /// Starts this many workers, whatever the number of cores.
    pub fn of_size(
        provisioned: &Provisioned,
        n_workers: NonZero<usize>,
    ) -> Result<Pool, CompilerError> {
        let workers =
            (0..n_workers.get()).map(|_| Worker::start(provisioned)).collect::<Result<_, _>>()?;
        Ok(Pool { workers })
    }

    /// Every pass that this LLVM registers, asked of one worker.
    pub fn passes(&mut self) -> Result<PassRegistry, CompilerError> {
        self.first().passes()
    }

    /// What programs get from now on when they are executed.
    pub fn surround(&mut self, surroundings: Surroundings) {
        let shared = Arc::new(surroundings);
        self.workers.iter_mut().for_each(|worker| worker.surround(&shared));
    }

    /// One of the workers, for work that is not to be shared.
    pub fn first(&mut self) -> &mut Worker {
        &mut self.workers[0] // Never empty: `of_size` takes a non-zero number.
    }

    /// All of them, for work that each does with a program of its own.
    pub fn workers(&mut self) -> &mut [Worker] {
        &mut self.workers
    }

    /// How many workers there are.
    pub fn size(&self) -> usize {
        self.workers.len()
    }

    /// The workers' processes, to look at from outside.
    pub fn process_ids(&self) -> Vec<u32> {
        self.workers.iter().filter_map(Worker::process_id).collect()
    }

    /// How many processes had to be replaced so far.
    pub fn n_replaced(&self) -> u32 {
        self.workers.iter().map(Worker::n_replaced).sum()
    }

    /// Loads a module into every worker.
    pub fn load(
        &mut self,
        program: &Program,
        options: &[String],
        limits: Limits,
    ) -> Result<(), CompilerError> {
        thread::scope(|scope| {
            let load = |worker| scope.spawn(move || Worker::load(worker, program, options, limits));
            let threads: Vec<_> = self.workers.iter_mut().map(load).collect();
            threads.into_iter().try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })
    }

    /// Runs all requests, as many at a time as there are workers. `done` is
    /// told after each how many are finished.
    pub fn run_all(
        &mut self,
        requests: &[RunRequest],
        done: &(dyn Fn(usize) + Sync),
    ) -> Vec<Result<RunResult, CompilerError>> {
        let n_done = AtomicUsize::new(0);
        self.run_while(requests, &|| true, &|result, _| {
            done(n_done.fetch_add(1, Ordering::Relaxed) + 1);
            result
        })
    }

    /// Runs requests, in their order, as long as `keep_going` says so before
    /// each. What a run gives, and how long its worker was occupied with it,
    /// goes through `digest` on the thread that made it. The results are those
    /// of the first requests: what was begun is ended.
    pub fn run_while<T: Send>(
        &mut self,
        requests: &[RunRequest],
        keep_going: &(dyn Fn() -> bool + Sync),
        digest: &(dyn Fn(RunResult, Duration) -> T + Sync),
    ) -> Vec<Result<T, CompilerError>> {
        self.each_while(None, requests, keep_going, &|worker, _, request| {
            let begun = Instant::now();
            let result = worker.run(request);
            let occupied = begun.elapsed();
            result.map(|result| digest(result, occupied))
        })
    }

    /// Does jobs, in their order, as long as `keep_going` says so before each:
    /// whatever `work` does with a worker, which may load other programs. Each
    /// has one of `beside` with it, as far as there are any. The results are
    /// those of the first jobs.
    pub fn each_while<J: Sync, T: Send>(
        &mut self,
        beside: Option<&mut Pool>,
        jobs: &[J],
        keep_going: &(dyn Fn() -> bool + Sync),
        work: &(dyn Fn(&mut Worker, Option<&mut Worker>, &J) -> T + Sync),
    ) -> Vec<T> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<Option<T>>> = Mutex::new(jobs.iter().map(|_| None).collect());
        let work = |worker: &mut Worker, mut partner: Option<&mut Worker>| {
            while keep_going() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(index) else { return };
                let result = work(worker, partner.as_deref_mut(), job);
                results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
            }
        };
        thread::scope(|scope| {
            let partners = beside.into_iter().flat_map(|pool| pool.workers.iter_mut().map(Some));
            let partners = partners.chain(std::iter::repeat_with(|| None));
            for (worker, partner) in self.workers.iter_mut().zip(partners) {
                let work = &work;
                scope.spawn(move || work(worker, partner));
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_iter().flatten().collect()
    }
}
