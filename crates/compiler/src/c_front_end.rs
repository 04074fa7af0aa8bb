//! C -> IR, thousands of times: one handle per LLVM and flags.
//!
//! Stands before [`Worker::load`]: what comes out is the text that
//! `clang -S -emit-llvm` writes, and is loaded as any other module. Where clang's
//! libraries are installed, a server with clang inside makes it, in a child per
//! program; elsewhere clang's command is started, with the same arguments.
//!
//! **Invariant:** a source never lies on disk under its own name, and nothing
//! that was written for it stays.
//!
//! [`Worker::load`]: crate::llvm::Worker::load

use std::path::{Path, PathBuf};
use std::time::Duration;

use optsleuth_model::{
    Crash, CrashCause, Limits, Outcome, Program, RunResult, Signature, Stage, signal_name,
};

use crate::CompilerError;
pub use crate::c_source::CSource;
use crate::cc1::Cc1;
use crate::csmith;
use crate::diagnostics::first_error;
use crate::llvm::{FrontEndParts, Install, Servers, Step};
use crate::spawn::{Tool, ToolEnd, ToolOutput};
use crate::workdir::Workdir;

/// Address space for clang's own libraries, on top of what it may use.
const ROOM: u64 = 2 << 30;
/// Waiting is limited to this many times the CPU time, as in a worker.
const WALL_PER_CPU: u32 = 4;
/// What clang ends with after an error that it takes for its own.
const FATAL_ERROR: i32 = 70;
/// Stands between a name and the file that holds the text.
const REMAPS: char = ';';
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// What came of a source that is a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Compiled {
    /// Its IR.
    Ir(Program),
    /// The front end crashed or used up a limit: every run's result.
    Failed(Box<RunResult>),
}

/// Compiles C with one LLVM's clang and one set of flags. Any number of threads
/// may use it at the same time.
#[derive(Debug)]
pub struct FrontEnd {
    install: Install,
    /// Where relative paths in the flags begin.
    directory: PathBuf,
    usual: Cc1,
    /// The same with csmith's headers, where those are installed.
    with_csmith: Option<Cc1>,
    /// `None`: clang's command.
    servers: Option<Servers>,
}

impl FrontEnd {
    /// The fastest one that this machine allows; `progress` hears of what has to
    /// be built for it. What cannot be built is no error: there is the command.
    pub fn prepare(
        install: &Install,
        flags: &[String],
        progress: &mut (dyn FnMut(Step) + Send),
    ) -> Result<FrontEnd, CompilerError> {
        let by_command = FrontEnd::by_command(install, flags)?;
        if !FrontEndParts::find(install).are_complete() {
            return Ok(by_command);
        }
        let servers = match Servers::prepare(install, progress) {
            Ok(servers) => Some(servers),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "no front-end server: clang is started for every program");
                None
            }
        };
        Ok(FrontEnd { servers, ..by_command })
    }

    /// One that starts clang for every program.
    pub fn by_command(install: &Install, flags: &[String]) -> Result<FrontEnd, CompilerError> {
        let with_csmith = match csmith::include_flags(csmith::INCLUDE.as_bytes()) {
            headers if headers.is_empty() => None,
            headers => Some(Cc1::ask(install, &[&headers[..], flags].concat())?),
        };
        let usual = Cc1::ask(install, flags)?;
        let directory = std::env::current_dir()
            .map_err(|source| CompilerError::Io { doing: "find the current directory", source })?;
        let install = install.clone();
        Ok(FrontEnd { install, directory, usual, with_csmith, servers: None })
    }

    /// Whether clang is inside a server, and no process is started per program.
    pub fn is_inside(&self) -> bool {
        self.servers.is_some()
    }

    /// Compiles one program.
    pub fn compile(&self, source: &CSource, limits: Limits) -> Result<Compiled, CompilerError> {
        let needs_csmith = !csmith::include_flags(&source.text).is_empty();
        let with_csmith = self.with_csmith.as_ref().filter(|_| needs_csmith);
        let arguments = with_csmith.unwrap_or(&self.usual).arguments(&source.name);
        let compiled = match &self.servers {
            Some(servers) => servers.compile(source, &arguments, &self.directory, limits)?,
            None => self.run_clang(source, &arguments, limits)?,
        };
        Ok(match compiled {
            Ok(ir) => Compiled::Ir(Program { name: module_name(&source.name), ir }),
            Err(result) => Compiled::Failed(Box::new(result)),
        })
    }

    /// The way without a server: `Err` inside is clang's failure.
    fn run_clang(
        &self,
        source: &CSource,
        arguments: &[String],
        limits: Limits,
    ) -> Result<Result<Vec<u8>, RunResult>, CompilerError> {
        if source.name.contains(REMAPS) {
            let message = format!("clang's command takes no name with `{REMAPS}`; rename it");
            return Err(CompilerError::BadModule { name: source.name.clone(), message });
        }
        let io = |doing| move |source| CompilerError::Io { doing, source };
        let folder = Workdir::new().map_err(io("make a temporary directory"))?;
        let (text, output) = (folder.file("source"), folder.file("module"));
        std::fs::write(&text, &source.text).map_err(io("write a C program"))?;
        let clang = self.install.tool("clang").unwrap_or_else(|| "clang".into());
        let ended = Tool::new(clang)
            .arg("-cc1")
            .args(["-remap-file", &format!("{}{REMAPS}{}", source.name, text.display())])
            .arg("-o")
            .arg(&output)
            .args(arguments)
            .directory(&self.directory)
            .cpu(limits.compile)
            .time(limits.compile * WALL_PER_CPU + Duration::from_secs(1))
            .memory(limits.memory.saturating_add(ROOM))
            .output()
            .map_err(|error| CompilerError::ClangGone(Box::new(error)))?;
        match judge(&ended, limits)? {
            None => Ok(Ok(std::fs::read(&output).map_err(io("read clang's output"))?)),
            Some(outcome) => Ok(Err(failed(outcome, ended.wall))),
        }
    }
}

/// The name of a source's module, as everywhere.
fn module_name(source: &str) -> String {
    Path::new(source).with_extension("ll").display().to_string()
}

/// How clang's command ended: `None` is well.
fn judge(ended: &ToolOutput, limits: Limits) -> Result<Option<Outcome>, CompilerError> {
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let crash = |cause, message: Option<String>| {
        let signature = match (&message, cause) {
            (Some(text), _) => Signature::of_text(text),
            (None, CrashCause::Signal(signal)) => Signature::of_frames(&signal_name(signal), &[]),
            (None, _) => Signature::of_text(""),
        };
        let (frames, stage) = (Vec::new(), Stage::Parse);
        let invocation = None;
        Outcome::Crash(Box::new(Crash { signature, cause, message, frames, stage, invocation }))
    };
    Ok(Some(match ended.end {
        ToolEnd::Exited(0) => return Ok(None),
        ToolEnd::Exited(FATAL_ERROR) => crash(CrashCause::FatalError, Some(first_error(&stderr))),
        ToolEnd::Exited(_) => return Err(CompilerError::FrontEndRefuses(first_error(&stderr))),
        ToolEnd::Timeout => {
            return Err(CompilerError::Lost { attempts: 1, how: "clang did not end" });
        }
        ToolEnd::Signaled(SIGXCPU | SIGKILL) if ended.wall >= limits.compile => {
            Outcome::Timeout { invocation: None }
        }
        ToolEnd::Signaled(SIGKILL) => {
            return Err(CompilerError::Lost { attempts: 1, how: "clang was killed" });
        }
        ToolEnd::Signaled(signal) => crash(CrashCause::Signal(signal), None),
    }))
}

/// The result of every run of a program that the front end fails on.
fn failed(outcome: Outcome, wall: Duration) -> RunResult {
    RunResult {
        outcome,
        stack: Vec::new(),
        said: String::new(),
        asserted_at: None,
        emitted: Vec::new(),
        interpretation: None,
        n_items: 0,
        n_invocations: 0,
        invocations: Vec::new(),
        coverage: None,
        window: None,
        authorship: None,
        wall,
        cpu: Duration::ZERO,
        pipeline: Duration::ZERO,
        peak_memory: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(end: ToolEnd, stderr: &str, seconds: u64) -> ToolOutput {
        let wall = Duration::from_secs(seconds);
        ToolOutput { end, stdout: Vec::new(), stderr: stderr.as_bytes().to_vec(), wall }
    }

    fn judged(end: ToolEnd, stderr: &str, seconds: u64) -> String {
        match judge(&ended(end, stderr, seconds), Limits::STANDARD) {
            Ok(outcome) => outcome.map_or("fine", |outcome| outcome.kind()).to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_programs_fault_is_told_from_clangs_and_ours() {
        let said = "x.c:1:2: warning: odd\nx.c:3:4: error: no\nx.c:5:6: error: nor this\n";
        assert_eq!(judged(ToolEnd::Exited(0), said, 1), "fine");
        let error = "the program does not compile: x.c:3:4: error: no";
        assert_eq!(judged(ToolEnd::Exited(1), said, 1), error);
        assert_eq!(judged(ToolEnd::Exited(70), "fatal error: error in backend", 1), "crash");
        assert_eq!(judged(ToolEnd::Signaled(11), "", 1), "crash");
        assert_eq!(judged(ToolEnd::Signaled(24), "", 10), "timeout");
        assert_eq!(judged(ToolEnd::Signaled(9), "", 10), "timeout");
        assert!(judged(ToolEnd::Signaled(9), "", 1).contains("killed"));
        assert!(judged(ToolEnd::Timeout, "", 41).contains("did not end"));
    }
}
