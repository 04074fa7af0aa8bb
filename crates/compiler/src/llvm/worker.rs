//! One worker: a fork server that holds a module and runs pipelines over it.
//!
//! A worker that dies, hangs or is killed is replaced, its module is loaded
//! again, and the run is repeated; the caller gets one result per run.
//!
//! **Invariant:** what goes wrong with the harness comes back as [`CompilerError`],
//! what goes wrong with LLVM as an [`Outcome`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use optsleuth_model::{
    Emit, Execute, Execution, Limits, Outcome, PassRegistry, Program, ProgramShape, RunRequest,
    RunResult,
};

use super::link;
use super::options;
use super::process::{CallError, Process, no_verdict};
use super::protocol::{self, Op, Payload};
use super::provisioned::Provisioned;
use super::shape;
use crate::CompilerError;
use crate::surroundings::Surroundings;

/// A worker that is killed more often than this has an enemy.
pub(super) const ATTEMPTS: u32 = 3;

/// What fences an executed program in, on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// System calls are filtered: no network, no other process.
    pub seccomp: bool,
    /// Files outside the private directory cannot be written. Without it, no
    /// file can.
    pub landlock_abi: u32,
    /// Addresses are the same in every run.
    pub aslr_off: bool,
}

/// A fork server for one LLVM, with at most one module loaded.
#[derive(Debug)]
pub struct Worker {
    provisioned: Provisioned,
    process: Option<Process>,
    loaded: Option<Loaded>,
    n_replaced: u32,
    /// What programs get that are executed.
    surroundings: Arc<Surroundings>,
}

/// What the worker was told to load.
#[derive(Debug)]
struct Loaded {
    program: Program,
    options: Vec<String>,
    limits: Limits,
    /// LLVM failed on reading it: then this is every run's result.
    failed: Option<RunResult>,
    /// A run of it could not be executed in the child: the next ones do not try.
    needs_process: bool,
}

impl Worker {
    /// Starts the process and greets it; nothing is loaded yet.
    pub fn start(provisioned: &Provisioned) -> Result<Worker, CompilerError> {
        let process = Process::start(provisioned)?;
        Ok(Worker {
            provisioned: provisioned.clone(),
            process: Some(process),
            loaded: None,
            n_replaced: 0,
            surroundings: Arc::default(),
        })
    }

    /// What fences programs in here.
    pub fn sandbox(&self) -> Option<Sandbox> {
        self.process.as_ref().map(|process| Sandbox {
            seccomp: process.hello.seccomp,
            landlock_abi: process.hello.landlock_abi,
            aslr_off: process.hello.aslr_off,
        })
    }

    /// The process to look at from outside; `None` between two of them.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.daemon.id())
    }

    /// How often the process had to be replaced.
    pub fn n_replaced(&self) -> u32 {
        self.n_replaced
    }

    /// What programs get from now on when they are executed, whoever compiled them.
    pub fn surround(&mut self, surroundings: &Arc<Surroundings>) {
        self.surroundings = Arc::clone(surroundings);
    }

    /// What programs get when they are executed.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// Does something with a program that is not the case's own.
    pub fn without_surroundings<T>(&mut self, work: impl FnOnce(&mut Worker) -> T) -> T {
        let own = std::mem::take(&mut self.surroundings);
        let done = work(self);
        self.surroundings = own;
        done
    }

    fn needs_process(&self) -> bool {
        self.surroundings.need_process()
            || self.loaded.as_ref().is_some_and(|loaded| loaded.needs_process)
    }

    /// Every pass that this LLVM registers.
    pub fn passes(&mut self) -> Result<PassRegistry, CompilerError> {
        let text = self.retrying(|worker| {
            let process = worker.process()?;
            let report = process.call(Op::Passes, &[], &Limits::STANDARD)?;
            // The session, if there was one, made way for this.
            process.is_loaded = false;
            process.response(&report)
        })?;
        Ok(PassRegistry::parse(&String::from_utf8_lossy(&text))?)
    }

    /// Loads a module under these LLVM options, for all runs to come. Options that
    /// name a program, a file or a plug-in are refused.
    pub fn load(
        &mut self,
        program: &Program,
        options: &[String],
        limits: Limits,
    ) -> Result<(), CompilerError> {
        options::check(options)?;
        if let Some(process) = &mut self.process {
            process.is_loaded = false;
        }
        self.loaded = Some(Loaded {
            program: program.clone(),
            options: options.to_vec(),
            limits,
            failed: None,
            needs_process: false,
        });
        self.retrying(Worker::ensure_loaded)
    }

    /// Runs passes over the loaded module.
    pub fn run(&mut self, request: &RunRequest) -> Result<RunResult, CompilerError> {
        match request.execute {
            Execute::No if request.interpret.is_some() && self.surroundings.need_process() => {
                self.run_uninterpreted(request)
            }
            Execute::No => self.run_in_child(request, false).map(|(result, _)| result),
            Execute::AsProcess => self.run_as_process(request),
            Execute::InChild if self.needs_process() => self.run_as_process(request),
            Execute::InChild => match self.run_in_child(request, true)? {
                (result, None) => Ok(result),
                (_, Some(reason)) => {
                    tracing::debug!(reason, "executed as a process");
                    if let Some(loaded) = &mut self.loaded {
                        loaded.needs_process = true;
                    }
                    self.run_as_process(request)
                }
            },
        }
    }

    /// The referee knows neither arguments nor input, and says so.
    fn run_uninterpreted(&mut self, request: &RunRequest) -> Result<RunResult, CompilerError> {
        let (mut result, _) =
            self.run_in_child(&RunRequest { interpret: None, ..request.clone() }, false)?;
        if result.outcome == Outcome::Ok(None) {
            let why = match self.surroundings.leave_unlinked() {
                true => "it is a part of a project, and no program by itself",
                false => "the program is executed with arguments, input or files",
            };
            result.interpretation = Some(no_verdict(why));
        }
        Ok(result)
    }

    /// The shape of the loaded program, as it is before any pass.
    pub fn shape(&mut self) -> Result<ProgramShape, CompilerError> {
        let result = self.run(&RunRequest { emit: Emit::Shape, ..RunRequest::new(None) })?;
        match result.outcome {
            Outcome::Ok(_) => shape::parse(&String::from_utf8_lossy(&result.emitted))
                .map_err(|error| CompilerError::Protocol(error.to_string())),
            other => Err(CompilerError::NoShape(other.kind())),
        }
    }

    /// Executes a program file under the sandbox.
    pub fn execute(&mut self, file: &Path, limits: Limits) -> Result<Execution, CompilerError> {
        let (execution, _) = self.execute_timed(file, limits)?;
        Ok(execution)
    }

    /// One run in a child. The text beside the result says why the program has
    /// to be executed as a process instead, if it has to.
    fn run_in_child(
        &mut self,
        request: &RunRequest,
        execute: bool,
    ) -> Result<(RunResult, Option<String>), CompilerError> {
        self.retrying(|worker| {
            worker.ensure_loaded()?;
            if let Some(failed) = worker.loaded.as_ref().and_then(|loaded| loaded.failed.clone()) {
                return Ok((failed, None));
            }
            let provisioned = worker.provisioned.clone();
            let name = worker.loaded.as_ref().map_or("", |loaded| &loaded.program.name).to_owned();
            let process = worker.process()?;
            if (request.coverage || request.authors) && process.hello.n_blocks == 0 {
                return Err(CompilerError::NotInstrumented.into());
            }
            let traps = match request.authors {
                true => provisioned.traps()?.entries.as_slice(),
                false => &[],
            };
            let payload = protocol::run_payload(request, execute, traps);
            let report = process.call(Op::Run, &payload, &request.limits)?;
            // What goes wrong before the pipeline is the edit's doing.
            if request.edit.is_some() && report.phase == protocol::Phase::Start {
                return Err(CompilerError::BadEdit(report.message).into());
            }
            let (mut result, reason) = process
                .result(&provisioned, &report, request.list_invocations)
                .map_err(|error| named(error, name.clone()))?;
            let interprets =
                request.interpret.as_ref().is_some_and(|asked| asked.self_test.is_none());
            if interprets && result.outcome == Outcome::Ok(None) {
                result.interpretation = Some(process.interpretation(&report)?);
                result.emitted.clear();
            }
            if request.coverage {
                (result.coverage, result.window) = process.coverage(&report)?;
            }
            if request.authors && report.has_window {
                result.authorship = Some(process.authorship(&provisioned, &report)?);
            }
            Ok((result, reason))
        })
    }

    /// A program lies in its worker's directory and is lost with it: then it is
    /// compiled and linked again.
    fn run_as_process(&mut self, request: &RunRequest) -> Result<RunResult, CompilerError> {
        for _ in 1..ATTEMPTS {
            let n_replaced = self.n_replaced;
            match self.try_run_as_process(request) {
                Err(CompilerError::Trouble(_)) if self.n_replaced > n_replaced => {}
                other => return other,
            }
        }
        self.try_run_as_process(request)
    }

    fn try_run_as_process(&mut self, request: &RunRequest) -> Result<RunResult, CompilerError> {
        let not_executed = RunRequest { execute: Execute::No, ..request.clone() };
        let to_object = RunRequest { emit: Emit::Object, ..not_executed.clone() };
        let (mut result, _) = self.run_in_child(&to_object, false)?;
        if result.outcome == Outcome::Ok(None) {
            let program = match self.link(&result.emitted) {
                Ok(program) => program,
                Err(error) => {
                    result.emitted.clear();
                    result.outcome = self.judge_link_error(&to_object, error)?;
                    return Ok(result);
                }
            };
            let (execution, wall) = self.execute_timed(&program, request.limits)?;
            result.outcome = Outcome::Ok(Some(execution));
            result.wall += wall;
        }
        result.emitted = match request.emit {
            Emit::Object => result.emitted,
            Emit::Nothing => Vec::new(),
            Emit::Text | Emit::Bitcode | Emit::Shape => {
                self.run_in_child(&not_executed, false)?.0.emitted
            }
        };
        Ok(result)
    }

    /// Links an object, in the worker's own directory: whoever removes that
    /// removes the program.
    fn link(&mut self, object: &[u8]) -> Result<PathBuf, CompilerError> {
        let lost = |_| CompilerError::Lost { attempts: 1, how: "before linking" };
        let workdir = &self.process().map_err(lost)?.workdir;
        let (file, program) = (workdir.file("program.o"), workdir.file("program"));
        std::fs::write(&file, object)
            .map_err(|source| CompilerError::Io { doing: "write an object", source })?;
        if self.surroundings.leave_unlinked() {
            return Ok(file);
        }
        let more = self.surroundings.link_words();
        link::link_program(&self.provisioned.install, object, &file, &program, &more)?;
        Ok(program)
    }

    /// A program that links unoptimized but not after the passes was broken by
    /// them.
    fn judge_link_error(
        &mut self,
        request: &RunRequest,
        error: CompilerError,
    ) -> Result<Outcome, CompilerError> {
        if !matches!(error, CompilerError::ToolFailed { .. }) {
            return Err(error);
        }
        let plain = RunRequest { passes: None, ..request.clone() };
        let (reference, _) = self.run_in_child(&plain, false)?;
        match self.link(&reference.emitted) {
            Ok(_) => Ok(Outcome::CodegenFailure { message: error.to_string() }),
            Err(_) => Err(CompilerError::DoesNotLink(Box::new(error))),
        }
    }

    fn execute_timed(
        &mut self,
        file: &Path,
        limits: Limits,
    ) -> Result<(Execution, Duration), CompilerError> {
        let surroundings = Arc::clone(&self.surroundings);
        if let Some(judged) = surroundings.judge_freely(file, limits) {
            return judged;
        }
        let start = surroundings.start(file);
        let op = if start.is_script { Op::Check } else { Op::Exec };
        let payload = Payload::default()
            .bytes(start.file.as_os_str().as_encoded_bytes())
            .texts(&start.args)
            .texts(&start.env)
            .bytes(start.stdin.as_os_str().as_encoded_bytes())
            .finish();
        self.retrying(|worker| {
            let provisioned = worker.provisioned.clone();
            let process = worker.process()?;
            process.fill_private(&surroundings)?;
            let report = process.call(op, &payload, &limits)?;
            match process.result(&provisioned, &report, false)? {
                (RunResult { outcome: Outcome::Ok(Some(execution)), wall, .. }, _) => {
                    Ok((surroundings.seen(execution), wall))
                }
                (other, _) => Err(CompilerError::Protocol(format!("executed: {other:?}")).into()),
            }
        })
    }

    /// Repeats what was lost with its worker.
    fn retrying<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Worker) -> Result<T, CallError>,
    ) -> Result<T, CompilerError> {
        let mut how = "";
        for _ in 0..ATTEMPTS {
            match attempt(self) {
                Ok(value) => return Ok(value),
                Err(CallError::Fatal(error)) => return Err(error),
                Err(CallError::Lost(lost)) => {
                    tracing::warn!(how = lost, "worker lost, starting another");
                    how = lost;
                    self.process = None;
                    self.n_replaced += 1;
                }
            }
        }
        Err(CompilerError::Lost { attempts: ATTEMPTS, how })
    }

    fn process(&mut self) -> Result<&mut Process, CallError> {
        if self.process.is_none() {
            self.process = Some(Process::start(&self.provisioned)?);
        }
        self.process.as_mut().ok_or(CallError::Lost("no process"))
    }

    fn ensure_loaded(&mut self) -> Result<(), CallError> {
        let provisioned = self.provisioned.clone();
        if self.process()?.is_loaded {
            return Ok(());
        }
        let Some(Loaded { program, options, limits, failed: None, .. }) = &self.loaded else {
            return match &self.loaded {
                Some(_) => Ok(()), // It failed, and would fail again.
                None => Err(CompilerError::Protocol("no module was loaded".to_owned()).into()),
            };
        };
        let payload = Payload::default()
            .texts(options)
            .bytes(program.name.as_bytes())
            .bytes(&program.ir)
            .finish();
        let (name, limits) = (program.name.clone(), *limits);
        let process = self.process()?;
        let report = process.call(Op::Load, &payload, &limits)?;
        if report.session_loaded {
            process.is_loaded = true;
            return Ok(());
        }
        match process.result(&provisioned, &report, false) {
            Ok((result, _)) => {
                if let Some(loaded) = &mut self.loaded {
                    loaded.failed = Some(result);
                }
                Ok(())
            }
            Err(error) => Err(named(error, name)),
        }
    }
}

/// A process does not know what its module is called.
fn named(error: CallError, name: String) -> CallError {
    match error {
        CallError::Fatal(CompilerError::BadModule { message, .. }) => {
            // The session's words for it; see worker/session.cpp.
            CallError::Fatal(match message.starts_with("no code generator") {
                true => CompilerError::ForeignTarget { name, message },
                false => CompilerError::BadModule { name, message },
            })
        }
        CallError::Fatal(_) | CallError::Lost(_) => error,
    }
}
