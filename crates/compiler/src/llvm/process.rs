//! The process behind a worker: starting it, one call, and what came back.
//!
//! Knows nothing of retries or of what is loaded; that is [`super::worker`]'s.
//!
//! **Invariant:** a call that gets no answer is [`CallError::Lost`], and nothing
//! that the process wrote is believed then.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::fs::MemfdFlags;
use zerocopy::{FromZeros, IntoBytes};

use optsleuth_model::{
    Authorship, Coverage, Interpretation, Invocation, Limits, Outcome, Ruling, RunResult, Step,
};

use super::classify::{Evidence, NoOutcome, classify};
use super::protocol::wire::{
    self, AUTHORS_AREA, AUTHORS_OFFSET, BITS_OFFSET, INVOCATION_OFFSET, MAX_TRANSFER,
    MEMORY_FILE_BYTES, PROTOCOL_VERSION, REQUEST_OFFSET, RESPONSE_OFFSET, STDERR_OFFSET,
    STDOUT_OFFSET, WINDOW_BITS_OFFSET,
};
use super::protocol::{self, AuthorAreas, End, Hello, Op, Payload, Report, Verdict};
use super::provisioned::Provisioned;
use crate::CompilerError;
use crate::diagnostics::first_error;
use crate::spawn::Daemon;
use crate::surroundings::Surroundings;
use crate::workdir::Workdir;

/// How much longer than its own limits a worker may take to answer.
const GRACE: Duration = Duration::from_secs(5);
/// What a worker may take to start, on a machine that is busy.
const START_TIME: Duration = Duration::from_secs(60);

/// The part of a worker's directory that executed programs may write to. The
/// worker knows it by the same name.
const PRIVATE: &str = "private";

/// The process behind a worker, and what is shared with it.
#[derive(Debug)]
pub(super) struct Process {
    socket: UnixStream,
    memory: File,
    sequence: u32,
    pub(super) hello: Hello,
    pub(super) is_loaded: bool,
    // The fields below are dropped in this order: first the worker, which may
    // use the directory, then the directory.
    pub(super) daemon: Daemon,
    pub(super) workdir: Workdir,
    /// See [`Provisioned::with_shadows`].
    with_shadows: bool,
}

/// A call that came back without an answer.
#[derive(Debug)]
pub(super) enum CallError {
    Lost(&'static str),
    Fatal(CompilerError),
}

impl From<CompilerError> for CallError {
    fn from(error: CompilerError) -> CallError {
        CallError::Fatal(error)
    }
}

impl Process {
    pub(super) fn start(provisioned: &Provisioned) -> Result<Process, CompilerError> {
        let io = |doing| move |source| CompilerError::Io { doing, source };
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
        let hello = Hello::default();
        let mut process = Process {
            socket,
            memory,
            sequence: 0,
            hello,
            is_loaded: false,
            daemon,
            workdir,
            with_shadows: provisioned.with_shadows,
        };
        process.greet(provisioned)?;
        Ok(process)
    }

    fn greet(&mut self, provisioned: &Provisioned) -> Result<(), CompilerError> {
        let root = self.workdir.path().as_os_str().as_encoded_bytes();
        let payload = Payload::default().bytes(root).finish();
        let limits = Limits { compile: START_TIME, ..Limits::STANDARD };
        let report = self.call(Op::Hello, &payload, &limits).map_err(|error| match error {
            CallError::Fatal(error) => error,
            CallError::Lost(how) => {
                CompilerError::Protocol(format!("it was lost at its start ({how})"))
            }
        })?;
        let reply =
            self.response(&report).map_err(|_| CompilerError::Trouble(report.message.clone()))?;
        let hello = Hello::decode(&reply)
            .ok_or_else(|| CompilerError::Protocol("its greeting is too short".to_owned()))?;
        let expected = (PROTOCOL_VERSION, size_of::<wire::Report>(), &provisioned.install.version);
        let major = |version: &str| version.split('.').next().map(str::to_owned);
        let fits = hello.protocol == expected.0
            && hello.report_bytes as usize == expected.1
            && major(&hello.version) == major(expected.2);
        if !fits {
            return Err(CompilerError::Protocol(format!(
                "expected {expected:?}, it said {hello:?}"
            )));
        }
        if !hello.aslr_off {
            tracing::warn!("addresses cannot be fixed on this machine: runs may differ a little");
        }
        if !hello.seccomp {
            return Err(CompilerError::NoSandbox);
        }
        self.hello = hello;
        Ok(())
    }

    /// One request and its answer.
    pub(super) fn call(
        &mut self,
        op: Op,
        payload: &[u8],
        limits: &Limits,
    ) -> Result<Report, CallError> {
        let with_shadows = limits.with_shadows || self.with_shadows;
        let limits = &Limits { with_shadows, ..*limits };
        if payload.len() as u64 > MAX_TRANSFER {
            return Err(CompilerError::TooLarge { bytes: payload.len(), most: MAX_TRANSFER }.into());
        }
        let io = |doing| move |source| CallError::Fatal(CompilerError::Io { doing, source });
        self.sequence = self.sequence.wrapping_add(1);
        self.memory
            .write_all_at(payload, REQUEST_OFFSET)
            .map_err(io("write to the shared memory"))?;
        let frame = protocol::frame(op, self.sequence, payload.len(), limits);
        self.socket.write_all(frame.as_bytes()).map_err(|_| CallError::Lost("it is gone"))?;
        self.socket
            .set_read_timeout(Some(protocol::longest(limits) + GRACE))
            .map_err(io("set a time limit"))?;
        let mut reply = wire::Reply::new_zeroed();
        self.socket.read_exact(reply.as_mut_bytes()).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                CallError::Lost("it did not answer in time")
            }
            _ => CallError::Lost("it ended"),
        })?;
        if reply.sequence != self.sequence {
            return Err(CallError::Lost("it answered another request"));
        }
        let mut report = wire::Report::new_zeroed();
        self.memory
            .read_exact_at(report.as_mut_bytes(), 0)
            .map_err(io("read the shared memory"))?;
        Report::decode(&report).map_err(|error| CompilerError::Protocol(error.to_string()).into())
    }

    /// Puts the files that a program finds into its directory, which is empty before
    /// and after every run.
    pub(super) fn fill_private(&self, surroundings: &Surroundings) -> Result<(), CallError> {
        surroundings.fill(&self.workdir.file(PRIVATE)).map_err(|source| {
            CompilerError::Io { doing: "copy the program's files", source }.into()
        })
    }

    fn read(&self, offset: u64, bytes: u64) -> Result<Vec<u8>, CallError> {
        let mut data = vec![0; usize::try_from(bytes).unwrap_or(0)];
        self.memory
            .read_exact_at(&mut data, offset)
            .map_err(|source| CompilerError::Io { doing: "read the shared memory", source })?;
        Ok(data)
    }

    pub(super) fn response(&self, report: &Report) -> Result<Vec<u8>, CallError> {
        match report.verdict {
            protocol::Verdict::Ok => self.read(RESPONSE_OFFSET, report.response_bytes),
            _ => Err(CompilerError::Trouble(report.message.clone()).into()),
        }
    }

    /// The report of a child's end -> result; see [`Worker::run_in_child`].
    pub(super) fn result(
        &self,
        provisioned: &Provisioned,
        report: &Report,
        list_invocations: bool,
    ) -> Result<(RunResult, Option<String>), CallError> {
        let needs_log = list_invocations || report.current_invocation.is_some();
        let invocations: Vec<Invocation> = if needs_log {
            protocol::invocations(&self.read(INVOCATION_OFFSET, report.invocation_bytes)?)
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
        let stderr = self.read(STDERR_OFFSET, report.stderr_bytes)?;
        let said = String::from_utf8_lossy(&stderr).into_owned();
        let outcome = classify(Evidence {
            report,
            frames,
            invocation: ended_in,
            stdout: self.read(STDOUT_OFFSET, report.stdout_bytes)?,
            stderr,
        });
        let (outcome, needs_process) = match outcome {
            Ok(outcome) => (outcome, None),
            Err(NoOutcome::NeedsProcess(reason)) => (Outcome::Ok(None), Some(reason)),
            Err(NoOutcome::Killed) => return Err(CallError::Lost("it was killed")),
            Err(NoOutcome::BadOptions(text)) => return Err(CompilerError::BadOptions(text).into()),
            Err(NoOutcome::BadPipeline(text)) => {
                return Err(CompilerError::BadPipeline(text).into());
            }
            Err(NoOutcome::BadModule(message)) => {
                return Err(CompilerError::BadModule { name: String::new(), message }.into());
            }
            Err(NoOutcome::DoesNotCompile(text)) => {
                return Err(CompilerError::FrontEndRefuses(first_error(&text)).into());
            }
            Err(NoOutcome::BadEdit(text)) => return Err(CompilerError::BadEdit(text).into()),
            Err(NoOutcome::CannotCall(text)) => return Err(CompilerError::CannotCall(text).into()),
            Err(NoOutcome::Trouble(text)) => return Err(CompilerError::Trouble(text).into()),
        };
        let whole = outcome == Outcome::Ok(None) && report.end == End::Exited;
        let emitted = match whole || matches!(outcome, Outcome::Ok(Some(_))) {
            true => self.read(RESPONSE_OFFSET, report.response_bytes)?,
            false => Vec::new(),
        };
        let is_crash = matches!(outcome, Outcome::Crash(_));
        let result = RunResult {
            outcome,
            said: if is_crash { said } else { String::new() },
            stack: report.frames.clone(),
            asserted_at: asserted_at(report),
            emitted,
            interpretation: None,
            n_items: report.n_items,
            n_invocations: report.n_invocations,
            invocations: if list_invocations { invocations } else { Vec::new() },
            coverage: None,
            window: None,
            authorship: None,
            wall: Duration::from_nanos(report.wall_ns),
            cpu: Duration::from_nanos(report.cpu_ns),
            pipeline: Duration::from_nanos(report.pipeline_ns),
            peak_memory: report.peak_memory,
        };
        Ok((result, needs_process))
    }

    /// The referee's word, for a run whose passes came to an end.
    pub(super) fn interpretation(&self, report: &Report) -> Result<Interpretation, CallError> {
        let limit = match (report.end, report.verdict) {
            (End::TimeLimit, _) => Some("interpreting it takes too long"),
            (End::MemoryLimit, _) | (_, protocol::Verdict::OutOfMemory) => {
                Some("interpreting it takes too much memory")
            }
            _ => None,
        };
        if let Some(why) = limit {
            return Ok(no_verdict(why));
        }
        let answer = self.response(report)?;
        protocol::decode_interpretation(&answer).ok_or_else(|| {
            CompilerError::Protocol("the referee's answer is malformed".into()).into()
        })
    }

    /// What the last child executed, and what of that in its window.
    pub(super) fn coverage(
        &self,
        report: &Report,
    ) -> Result<(Option<Coverage>, Option<Coverage>), CallError> {
        let n_bytes = u64::from(self.hello.n_blocks).div_ceil(8);
        let read = |offset| self.read(offset, n_bytes).map(|bits| Coverage::from_bits(&bits));
        let window = match report.has_window {
            true => Some(read(WINDOW_BITS_OFFSET)?),
            false => None,
        };
        Ok((Some(read(BITS_OFFSET)?), window))
    }

    /// Who wrote what in the last child's window.
    pub(super) fn authorship(
        &self,
        provisioned: &Provisioned,
        report: &Report,
    ) -> Result<Authorship, CallError> {
        let counts = report.authors;
        let area = |number, bytes| self.read(AUTHORS_OFFSET + number * AUTHORS_AREA, bytes);
        if counts.places_cut {
            tracing::warn!("more instructions than the lists of places hold");
        }
        let areas = AuthorAreas {
            events: area(0, counts.event_bytes)?,
            stacks: area(1, counts.stack_bytes)?,
            before: area(2, counts.before_bytes)?,
            after: match counts.after_bytes {
                bytes if bytes > 0 && !counts.places_cut => Some(area(3, bytes)?),
                _ => None,
            },
            n_cut: counts.n_events_cut.max(counts.places_cut.into()),
        };
        let (traps, symbols) = (provisioned.traps()?, provisioned.symbols());
        let mut known = HashMap::new();
        let mut frame =
            |address| known.entry(address).or_insert_with(|| traps.frame(symbols, address)).clone();
        Ok(protocol::decode_authorship(&areas, &mut frame))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The worker ends when its host hangs up, and cleans up after itself.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        self.daemon.finish(Duration::from_secs(2));
    }
}

/// The referee did not come to a verdict.
pub(super) fn no_verdict(why: &str) -> Interpretation {
    Interpretation {
        ruling: Ruling::NoVerdict { end: Step { what: why.to_owned(), place: None } },
        stdout: Vec::new(),
        stderr: Vec::new(),
        n_steps: 0,
        depends_on_layout: false,
        trace: String::new(),
        observed: Vec::new(),
    }
}

/// Where the assertion stands that a child reports: the line behind its text.
fn asserted_at(report: &Report) -> Option<String> {
    let is_one = report.verdict == Verdict::Assertion;
    is_one.then(|| report.message.lines().nth(1).map(str::to_owned)).flatten()
}
