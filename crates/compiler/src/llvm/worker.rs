//! One worker: a fork server that holds a module and runs pipelines over it.
//!
//! A worker that dies, hangs or is killed is replaced, its module is loaded
//! again, and the run is repeated; the caller gets one result per run.
//!
//! **Invariant:** what goes wrong with the harness comes back as [`RunError`],
//! what goes wrong with LLVM as an [`Outcome`].

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::MemfdFlags;

use optsleuth_model::{
    Coverage, Emit, Execute, Execution, Invocation, Limits, Outcome, PassRegistry, Program,
    RegistryError, RunRequest, RunResult,
};

use super::classify::{Evidence, NoOutcome, classify};
use super::protocol::{
    self, BITS_OFFSET, End, Hello, INVOCATION_OFFSET, MAX_TRANSFER, MEMORY_FILE_BYTES, Op, Payload,
    REPORT_BYTES, REQUEST_OFFSET, RESPONSE_OFFSET, Report, STDERR_OFFSET, STDOUT_OFFSET,
    WINDOW_BITS_OFFSET,
};
use super::provision::Provisioned;
use crate::link;
use crate::spawn::{Daemon, ToolError};
use crate::workdir::Workdir;

/// A worker that is killed more often than this has an enemy.
const ATTEMPTS: u32 = 3;
/// How much longer than its own limits a worker may take to answer.
const GRACE: Duration = Duration::from_secs(5);
/// What a worker may take to start, on a machine that is busy.
const START_TIME: Duration = Duration::from_secs(60);

/// The part of a worker's directory that executed programs may write to. The
/// worker knows it by the same name.
const PRIVATE: &str = "private";

/// Why a run has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// LLVM does not take these options.
    #[error("LLVM does not accept these options: {0}")]
    BadOptions(String),
    /// The module cannot be read, or is not valid.
    #[error("cannot load `{name}`: {message}")]
    BadModule {
        /// The module's name.
        name: String,
        /// What LLVM says.
        message: String,
    },
    /// LLVM does not take this pipeline.
    #[error("LLVM does not accept this pipeline: {0}")]
    BadPipeline(String),
    /// The program cannot be linked, whatever passes run.
    #[error("the program does not link, even unoptimized")]
    DoesNotLink(#[source] ToolError),
    /// Programs cannot be fenced in on this kernel.
    #[error("this kernel has no seccomp filters, so programs cannot be executed safely")]
    NoSandbox,
    /// Coverage was asked of a plain worker.
    #[error("this worker was not built for coverage")]
    NotInstrumented,
    /// The module or the request is too large for the shared memory.
    #[error("{bytes} bytes are too many for a worker: at most {MAX_TRANSFER} fit")]
    TooLarge {
        /// How many there are.
        bytes: usize,
    },
    /// The worker was lost and replaced, again and again.
    #[error("the worker was lost {attempts} times in a row on the same run ({how})")]
    Lost {
        /// How often it was tried.
        attempts: u32,
        /// How it was lost the last time.
        how: &'static str,
    },
    /// The worker speaks another protocol.
    #[error("the worker does not answer as it should: {0}")]
    Protocol(String),
    /// Something failed inside the worker's own code.
    #[error("the worker failed: {0}")]
    Trouble(String),
    /// LLVM's list of passes cannot be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A file, a socket or a process could not be had.
    #[error("cannot {doing}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

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
}

/// What the worker was told to load.
#[derive(Debug)]
struct Loaded {
    program: Program,
    options: Vec<String>,
    limits: Limits,
    /// LLVM failed on reading it: then this is every run's result.
    failed: Option<RunResult>,
}

/// The process behind a worker, and what is shared with it.
#[derive(Debug)]
struct Process {
    socket: UnixStream,
    memory: File,
    sequence: u32,
    hello: Hello,
    is_loaded: bool,
    // The fields below are dropped in this order: first the worker, which may
    // use the directory, then the directory.
    daemon: Daemon,
    workdir: Workdir,
}

/// A call that came back without an answer.
#[derive(Debug)]
enum CallError {
    Lost(&'static str),
    Fatal(RunError),
}

impl From<RunError> for CallError {
    fn from(error: RunError) -> CallError {
        CallError::Fatal(error)
    }
}

impl Worker {
    /// Starts a worker.
    pub fn start(provisioned: &Provisioned) -> Result<Worker, RunError> {
        let process = Process::start(provisioned)?;
        Ok(Worker {
            provisioned: provisioned.clone(),
            process: Some(process),
            loaded: None,
            n_replaced: 0,
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

    /// This LLVM's passes.
    pub fn passes(&mut self) -> Result<PassRegistry, RunError> {
        let text = self.retrying(|worker| {
            let process = worker.process()?;
            let report = process.call(Op::Passes, &[], &Limits::STANDARD)?;
            // The session, if there was one, made way for this.
            process.is_loaded = false;
            process.response(&report)
        })?;
        Ok(PassRegistry::parse(&String::from_utf8_lossy(&text))?)
    }

    /// Loads a module under these LLVM options, for all runs to come.
    pub fn load(
        &mut self,
        program: &Program,
        options: &[String],
        limits: Limits,
    ) -> Result<(), RunError> {
        if let Some(process) = &mut self.process {
            process.is_loaded = false;
        }
        self.loaded = Some(Loaded {
            program: program.clone(),
            options: options.to_vec(),
            limits,
            failed: None,
        });
        self.retrying(Worker::ensure_loaded)
    }

    /// Runs passes over the loaded module.
    pub fn run(&mut self, request: &RunRequest) -> Result<RunResult, RunError> {
        match request.execute {
            Execute::No => self.run_in_child(request, false).map(|(result, _)| result),
            Execute::AsProcess => self.run_as_process(request),
            Execute::InChild => match self.run_in_child(request, true)? {
                (result, None) => Ok(result),
                (_, Some(reason)) => {
                    tracing::debug!(reason, "executed as a process");
                    self.run_as_process(request)
                }
            },
        }
    }

    /// Executes a program file under the sandbox.
    pub fn execute(&mut self, file: &Path, limits: Limits) -> Result<Execution, RunError> {
        let (execution, _) = self.execute_timed(file, limits)?;
        Ok(execution)
    }

    /// One run in a child. The text beside the result says why the program has
    /// to be executed as a process instead, if it has to.
    fn run_in_child(
        &mut self,
        request: &RunRequest,
        execute: bool,
    ) -> Result<(RunResult, Option<String>), RunError> {
        self.retrying(|worker| {
            worker.ensure_loaded()?;
            if let Some(failed) = worker.loaded.as_ref().and_then(|loaded| loaded.failed.clone()) {
                return Ok((failed, None));
            }
            let provisioned = worker.provisioned.clone();
            let process = worker.process()?;
            if execute && !process.hello.seccomp {
                return Err(RunError::NoSandbox.into());
            }
            if request.coverage && process.hello.n_blocks == 0 {
                return Err(RunError::NotInstrumented.into());
            }
            let payload = protocol::run_payload(request, execute);
            let report = process.call(Op::Run, &payload, &request.limits)?;
            let (mut result, reason) =
                process.result(&provisioned, &report, request.list_invocations)?;
            if request.coverage {
                (result.coverage, result.window) = process.coverage(&report)?;
            }
            Ok((result, reason))
        })
    }

    /// A program lies in its worker's directory and is lost with it: then it is
    /// compiled and linked again.
    fn run_as_process(&mut self, request: &RunRequest) -> Result<RunResult, RunError> {
        for _ in 1..ATTEMPTS {
            let n_replaced = self.n_replaced;
            match self.try_run_as_process(request) {
                Err(RunError::Trouble(_)) if self.n_replaced > n_replaced => {}
                other => return other,
            }
        }
        self.try_run_as_process(request)
    }

    fn try_run_as_process(&mut self, request: &RunRequest) -> Result<RunResult, RunError> {
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
            Emit::Text | Emit::Bitcode => self.run_in_child(&not_executed, false)?.0.emitted,
        };
        Ok(result)
    }

    /// Links an object, in the worker's own directory: whoever removes that
    /// removes the program.
    fn link(&mut self, object: &[u8]) -> Result<PathBuf, LinkError> {
        let lost = |_| LinkError::Io(RunError::Lost { attempts: 1, how: "before linking" });
        let workdir = &self.process().map_err(lost)?.workdir;
        let (file, program) = (workdir.file("program.o"), workdir.file("program"));
        std::fs::write(&file, object)
            .map_err(|source| LinkError::Io(RunError::Io { doing: "write an object", source }))?;
        link::link_program(&self.provisioned.install, &file, &program).map_err(LinkError::Tool)?;
        Ok(program)
    }

    /// A program that links unoptimized but not after the passes was broken by
    /// them.
    fn judge_link_error(
        &mut self,
        request: &RunRequest,
        error: LinkError,
    ) -> Result<Outcome, RunError> {
        let error = match error {
            LinkError::Io(error) => return Err(error),
            LinkError::Tool(error) => error,
        };
        let plain = RunRequest { passes: None, ..request.clone() };
        let (reference, _) = self.run_in_child(&plain, false)?;
        match self.link(&reference.emitted) {
            Ok(_) => Ok(Outcome::CodegenFailure { message: error.to_string() }),
            Err(_) => Err(RunError::DoesNotLink(error)),
        }
    }

    fn execute_timed(
        &mut self,
        file: &Path,
        limits: Limits,
    ) -> Result<(Execution, Duration), RunError> {
        let payload = Payload::default().bytes(file.as_os_str().as_encoded_bytes()).finish();
        self.retrying(|worker| {
            let provisioned = worker.provisioned.clone();
            let process = worker.process()?;
            if !process.hello.seccomp {
                return Err(RunError::NoSandbox.into());
            }
            let report = process.call(Op::Exec, &payload, &limits)?;
            match process.result(&provisioned, &report, false)? {
                (RunResult { outcome: Outcome::Ok(Some(execution)), wall, .. }, _) => {
                    Ok((execution, wall))
                }
                (other, _) => Err(RunError::Protocol(format!("executed: {other:?}")).into()),
            }
        })
    }

    /// Repeats what was lost with its worker.
    fn retrying<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Worker) -> Result<T, CallError>,
    ) -> Result<T, RunError> {
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
        Err(RunError::Lost { attempts: ATTEMPTS, how })
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
        let Some(Loaded { program, options, limits, failed: None }) = &self.loaded else {
            return match &self.loaded {
                Some(_) => Ok(()), // It failed, and would fail again.
                None => Err(RunError::Protocol("no module was loaded".to_owned()).into()),
            };
        };
        let count = u32::try_from(options.len()).unwrap_or(u32::MAX);
        let payload = options
            .iter()
            .fold(Payload::default().number(count), |payload, option| {
                payload.bytes(option.as_bytes())
            })
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
            Err(CallError::Fatal(RunError::BadModule { message, .. })) => {
                Err(RunError::BadModule { name, message }.into())
            }
            Err(other) => Err(other),
        }
    }
}

enum LinkError {
    Io(RunError),
    Tool(ToolError),
}

impl Process {
    fn start(provisioned: &Provisioned) -> Result<Process, RunError> {
        let io = |doing| move |source| RunError::Io { doing, source };
        let memory = rustix::fs::memfd_create("optsleuth", MemfdFlags::CLOEXEC)
            .map(File::from)
            .map_err(|error| io("make shared memory")(error.into()))?;
        memory.set_len(MEMORY_FILE_BYTES).map_err(io("make shared memory"))?;
        let workdir = Workdir::new().map_err(io("make a private directory"))?;
        std::fs::create_dir(workdir.file(PRIVATE)).map_err(io("make a private directory"))?;
        let (socket, theirs) = UnixStream::pair().map_err(io("make a socket"))?;
        let shared = memory.try_clone().map_err(io("make shared memory"))?;
        let daemon =
            Daemon::start(&provisioned.binary, OwnedFd::from(theirs), OwnedFd::from(shared))
                .map_err(io("start the worker"))?;
        let hello = Hello {
            protocol: 0,
            report_bytes: 0,
            seccomp: false,
            landlock_abi: 0,
            aslr_off: false,
            n_blocks: 0,
            version: String::new(),
        };
        let mut process =
            Process { socket, memory, sequence: 0, hello, is_loaded: false, daemon, workdir };
        process.greet(provisioned)?;
        Ok(process)
    }

    fn greet(&mut self, provisioned: &Provisioned) -> Result<(), RunError> {
        let root = self.workdir.path().as_os_str().as_encoded_bytes();
        let payload = Payload::default().bytes(root).finish();
        let limits = Limits { compile: START_TIME, ..Limits::STANDARD };
        let report = self.call(Op::Hello, &payload, &limits).map_err(|error| match error {
            CallError::Fatal(error) => error,
            CallError::Lost(how) => RunError::Protocol(format!("it was lost at its start ({how})")),
        })?;
        let reply =
            self.response(&report).map_err(|_| RunError::Trouble(report.message.clone()))?;
        let hello = Hello::decode(&reply)
            .ok_or_else(|| RunError::Protocol("its greeting is too short".to_owned()))?;
        let expected = (protocol::VERSION, REPORT_BYTES, &provisioned.install.version);
        let major = |version: &str| version.split('.').next().map(str::to_owned);
        let fits = hello.protocol == expected.0
            && hello.report_bytes as usize == expected.1
            && major(&hello.version) == major(expected.2);
        if !fits {
            return Err(RunError::Protocol(format!("expected {expected:?}, it said {hello:?}")));
        }
        if !hello.aslr_off {
            tracing::warn!("addresses cannot be fixed on this machine: runs may differ a little");
        }
        self.hello = hello;
        Ok(())
    }

    /// One request and its answer.
    fn call(&mut self, op: Op, payload: &[u8], limits: &Limits) -> Result<Report, CallError> {
        if payload.len() as u64 > MAX_TRANSFER {
            return Err(RunError::TooLarge { bytes: payload.len() }.into());
        }
        let io = |doing| move |source| CallError::Fatal(RunError::Io { doing, source });
        self.sequence = self.sequence.wrapping_add(1);
        self.memory
            .write_all_at(payload, REQUEST_OFFSET)
            .map_err(io("write to the shared memory"))?;
        let frame = protocol::frame(op, self.sequence, payload.len(), limits);
        self.socket.write_all(&frame).map_err(|_| CallError::Lost("it is gone"))?;
        self.socket
            .set_read_timeout(Some(protocol::longest(limits) + GRACE))
            .map_err(io("set a time limit"))?;
        let mut reply = [0; 8];
        self.socket.read_exact(&mut reply).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                CallError::Lost("it did not answer in time")
            }
            _ => CallError::Lost("it ended"),
        })?;
        if reply[..4] != self.sequence.to_le_bytes() {
            return Err(CallError::Lost("it answered another request"));
        }
        let mut bytes = [0; REPORT_BYTES];
        self.memory.read_exact_at(&mut bytes, 0).map_err(io("read the shared memory"))?;
        Report::decode(&bytes).map_err(|error| RunError::Protocol(error.to_string()).into())
    }

    fn read(&self, offset: u64, bytes: u64) -> Result<Vec<u8>, CallError> {
        let mut data = vec![0; usize::try_from(bytes).unwrap_or(0)];
        self.memory
            .read_exact_at(&mut data, offset)
            .map_err(|source| RunError::Io { doing: "read the shared memory", source })?;
        Ok(data)
    }

    fn response(&self, report: &Report) -> Result<Vec<u8>, CallError> {
        match report.verdict {
            protocol::Verdict::Ok => self.read(RESPONSE_OFFSET, report.response_bytes),
            _ => Err(RunError::Trouble(report.message.clone()).into()),
        }
    }

    /// The report of a child's end -> result; see [`Worker::run_in_child`].
    fn result(
        &self,
        provisioned: &Provisioned,
        report: &Report,
        list_invocations: bool,
    ) -> Result<(RunResult, Option<String>), CallError> {
        let needs_log = list_invocations || report.current_invocation.is_some();
        let invocations: Vec<Invocation> = if needs_log {
            protocol::invocations(&self.read(INVOCATION_OFFSET, report.invocation_bytes.into())?)
        } else {
            Vec::new()
        };
        if report.invocations_cut {
            tracing::warn!(logged = invocations.len(), "more invocations than the log holds");
        }
        let ended_in = report.current_invocation.and_then(|i| invocations.get(i as usize)).cloned();
        let frames = match report.frames.is_empty() {
            true => Vec::new(),
            false => provisioned.symbols().frames(&report.frames),
        };
        let outcome = classify(Evidence {
            report,
            frames,
            invocation: ended_in,
            stdout: self.read(STDOUT_OFFSET, report.stdout_bytes)?,
            stderr: self.read(STDERR_OFFSET, report.stderr_bytes)?,
        });
        let (outcome, needs_process) = match outcome {
            Ok(outcome) => (outcome, None),
            Err(NoOutcome::NeedsProcess(reason)) => (Outcome::Ok(None), Some(reason)),
            Err(NoOutcome::Killed) => return Err(CallError::Lost("it was killed")),
            Err(NoOutcome::BadOptions(text)) => return Err(RunError::BadOptions(text).into()),
            Err(NoOutcome::BadPipeline(text)) => return Err(RunError::BadPipeline(text).into()),
            Err(NoOutcome::BadModule(message)) => {
                return Err(RunError::BadModule { name: String::new(), message }.into());
            }
            Err(NoOutcome::Trouble(text)) => return Err(RunError::Trouble(text).into()),
        };
        let whole = outcome == Outcome::Ok(None) && report.end == End::Exited;
        let emitted = match whole || matches!(outcome, Outcome::Ok(Some(_))) {
            true => self.read(RESPONSE_OFFSET, report.response_bytes)?,
            false => Vec::new(),
        };
        let result = RunResult {
            outcome,
            emitted,
            n_invocations: report.n_invocations,
            invocations: if list_invocations { invocations } else { Vec::new() },
            coverage: None,
            window: None,
            wall: Duration::from_nanos(report.wall_ns),
            cpu: Duration::from_nanos(report.cpu_ns),
            pipeline: Duration::from_nanos(report.pipeline_ns),
            peak_memory: report.peak_memory,
        };
        Ok((result, needs_process))
    }
}

impl Process {
    /// What the last child executed, and what of that in its window.
    fn coverage(&self, report: &Report) -> Result<(Option<Coverage>, Option<Coverage>), CallError> {
        let n_bytes = u64::from(self.hello.n_blocks).div_ceil(8);
        let read = |offset| self.read(offset, n_bytes).map(|bits| Coverage::from_bits(&bits));
        let window = match report.has_window {
            true => Some(read(WINDOW_BITS_OFFSET)?),
            false => None,
        };
        Ok((Some(read(BITS_OFFSET)?), window))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The worker ends when its host hangs up, and cleans up after itself.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        self.daemon.finish(Duration::from_secs(2));
    }
}
