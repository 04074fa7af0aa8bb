//! The one door to child processes.
//!
//! A [`Tool`] runs to its end, or to its time limit, and gives back its status
//! and its whole output. Workers, which live longer, are started here too.
//!
//! **Invariant:** a child leads its own process group, has no standard input,
//! and is killed together with its group. No shell is involved, ever. [`pass_through`]
//! alone is different: it stands for what the user would have run without us.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use landlock::{
    ABI, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, path_beneath_rules,
};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal};

use crate::CompilerError;

/// A tool that works for minutes is stuck.
const STANDARD_TIME: Duration = Duration::from_secs(300);
/// How long a tool may go on after it was told to stop.
const ASKED_EVERY: Duration = Duration::from_millis(200);
/// Linkers map the output file; compilers of big inputs need the rest.
const STANDARD_MEMORY: u64 = 8 << 30;

/// The groups of all tools that run now, for [`kill_all_tools`].
static LIVE: LazyLock<Mutex<BTreeSet<i32>>> = LazyLock::new(Mutex::default);

/// A command to run once.
#[derive(Clone, Debug)]
pub struct Tool {
    program: PathBuf,
    args: Vec<OsString>,
    directory: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
    time: Duration,
    cpu: Option<Duration>,
    memory: u64,
    confined: Option<PathBuf>,
}

/// What a tool left behind when it ended.
#[derive(Clone, Debug)]
pub struct ToolOutput {
    /// A status other than 0 is not an error here; see [`Tool::check`].
    pub end: ToolEnd,
    /// Everything it wrote to standard output.
    pub stdout: Vec<u8>,
    /// Everything it wrote to standard error.
    pub stderr: Vec<u8>,
    /// From its start to its end, with all waiting.
    pub wall: Duration,
}

/// How a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, whoever sent it.
    Signaled(i32),
    /// It was stopped by its time limit.
    Timeout,
}

impl Tool {
    /// A tool by path, or by a name to be looked up on `PATH`.
    pub fn new(program: impl AsRef<Path>) -> Tool {
        Tool {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            directory: None,
            variables: Vec::new(),
            time: STANDARD_TIME,
            cpu: None,
            memory: STANDARD_MEMORY,
            confined: None,
        }
    }

    /// Adds one argument; no shell looks at it.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Tool {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments behind those that it has.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Tool {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Runs it in this directory.
    pub fn directory(mut self, directory: &Path) -> Tool {
        self.directory = Some(directory.to_owned());
        self
    }

    /// Sets an environment variable for it.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Tool {
        self.variables.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Stops it after this time.
    pub fn time(mut self, time: Duration) -> Tool {
        self.time = time;
        self
    }

    /// Has the kernel end it after this much CPU time, in whole seconds: how
    /// busy the machine is then does not decide what comes of it.
    pub fn cpu(mut self, cpu: Duration) -> Tool {
        self.cpu = Some(cpu);
        self
    }

    /// Gives it this much address space.
    pub fn memory(mut self, memory: u64) -> Tool {
        self.memory = memory;
        self
    }

    /// Runs it in this directory, and lets it write below it alone, where the
    /// kernel has Landlock: for a tool whose input comes from somebody else.
    pub fn confined_to(mut self, directory: &Path) -> Tool {
        self.confined = Some(directory.to_owned());
        self.directory(directory).env("TMPDIR", directory)
    }

    /// The command line as a person would paste it into a shell.
    pub fn command_line(&self) -> String {
        let words = std::iter::once(short_name(&self.program)).chain(self.args.clone());
        words.map(|word| quote(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    }

    /// Runs it to its end, whatever that is.
    pub fn output(&self) -> Result<ToolOutput, CompilerError> {
        self.output_unless(&|| false)
    }

    /// The same for a tool that works for long: it is stopped soon after `stop`
    /// says so, and has then used up its time.
    pub fn output_unless(&self, stop: &dyn Fn() -> bool) -> Result<ToolOutput, CompilerError> {
        tracing::debug!(command = %self.command_line(), "run");
        let fail = |source| CompilerError::ToolStart { program: self.program.clone(), source };
        // Files, not pipes: no reader has to keep up, and nothing can deadlock.
        let mut stdout = tempfile::tempfile().map_err(fail)?;
        let mut stderr = tempfile::tempfile().map_err(fail)?;
        let started = Instant::now();
        let mut command = command(&self.program);
        command
            .args(&self.args)
            .stdout(stdout.try_clone().map_err(fail)?)
            .stderr(stderr.try_clone().map_err(fail)?);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let mut child = match &self.confined {
            Some(directory) => Guard::start_confined(command, directory),
            None => Guard::start(command),
        }
        .map_err(fail)?;
        child.register();
        child.limit(Resource::As, self.memory, self.memory);
        // A tool that crashes leaves nothing where it was started.
        child.limit(Resource::Core, 0, 0);
        // If we are killed, only the kernel enforces the deadline. At
        // first by a signal that says what it is about.
        let cpu = self.cpu.unwrap_or(self.time * 4).as_secs().max(1);
        child.limit(Resource::Cpu, cpu, cpu + 1);
        let end = child.wait_until(started + self.time, stop).map_err(fail)?;
        let wall = started.elapsed();
        drop(child);
        Ok(ToolOutput {
            end,
            stdout: read_back(&mut stdout).map_err(fail)?,
            stderr: read_back(&mut stderr).map_err(fail)?,
            wall,
        })
    }

    /// Runs it and takes anything but status 0 for an error.
    pub fn check(&self) -> Result<ToolOutput, CompilerError> {
        let output = self.output()?;
        let how = match output.end {
            ToolEnd::Exited(0) => return Ok(output),
            ToolEnd::Exited(status) => format!("exited with status {status}"),
            ToolEnd::Signaled(signal) => {
                format!("was ended by {}", optsleuth_model::signal_name(signal))
            }
            ToolEnd::Timeout => format!("did not end within {} s", self.time.as_secs()),
        };
        Err(self.failed(&output, how))
    }

    /// The error for a tool that ended so.
    pub(crate) fn failed(&self, output: &ToolOutput, how: String) -> CompilerError {
        let stderr = shorten(&String::from_utf8_lossy(&output.stderr));
        CompilerError::ToolFailed { command: self.command_line(), how, stderr }
    }

    /// Runs it and gives its standard output, trimmed.
    pub fn text(&self) -> Result<String, CompilerError> {
        Ok(String::from_utf8_lossy(&self.check()?.stdout).trim().to_owned())
    }
}

/// Runs a command in the place of this program: with its input and output, in its
/// process group, without limits, and with more variables. Its status, as a shell
/// gives it. For a build, which goes on as it would without us.
#[expect(clippy::disallowed_methods, reason = "the user's own command has no limits of ours")]
pub fn pass_through(
    program: &Path,
    args: &[String],
    variables: &[(String, OsString)],
) -> Result<i32, CompilerError> {
    let fail = |source| CompilerError::ToolStart { program: program.to_owned(), source };
    let variables = variables.iter().map(|(name, value)| (name, value));
    let status = Command::new(program).args(args).envs(variables).status().map_err(fail)?;
    Ok(match end_of(status) {
        ToolEnd::Exited(status) => status,
        ToolEnd::Signaled(signal) => 128 + signal,
        ToolEnd::Timeout => 124,
    })
}

/// A worker process: it lives until it is dropped.
#[derive(Debug)]
pub(crate) struct Daemon(Guard);

impl Daemon {
    /// Starts `program` with these as its descriptors 0 and 1, and nothing of
    /// our environment.
    pub(crate) fn start(program: &Path, stdin: OwnedFd, stdout: OwnedFd) -> io::Result<Daemon> {
        let mut command = command(program);
        command.env_clear().env("LC_ALL", "C").arg0("optsleuth-worker");
        command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::null());
        Ok(Daemon(Guard::start(command)?))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.0.id()
    }

    /// Waits for it to end by itself; kills it when the time is over.
    pub(crate) fn finish(&mut self, time: Duration) {
        let _ = self.0.wait_until(Instant::now() + time, &|| false);
    }
}

/// Kills every tool that runs, for an interrupted program about to end. Workers
/// are left alone: they see their host go, and clean up after themselves.
pub fn kill_all_tools() {
    for &group in LIVE.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        kill_group(group);
    }
}

/// Whether `name` is an executable file on `PATH`, and where.
pub fn find_on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|file| is_executable(file))
}

/// A program's name without its folder, where `PATH` leads to the same file.
fn short_name(program: &Path) -> OsString {
    let name = program.file_name().unwrap_or(program.as_os_str());
    match find_on_path(&name.to_string_lossy()) {
        Some(found) if found == program => name.to_owned(),
        _ => program.as_os_str().to_owned(),
    }
}

/// Whether a file exists and may be executed.
pub fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).process_group(0);
    command
}

/// A child that does not outlive this value.
#[derive(Debug)]
struct Guard(Child);

impl Guard {
    fn start(mut command: Command) -> io::Result<Guard> {
        Ok(Guard(command.spawn()?))
    }

    /// Starts it from a thread that may write below `directory` alone: a child
    /// inherits what its thread may do, and the thread ends here.
    fn start_confined(command: Command, directory: &Path) -> io::Result<Guard> {
        let confined = || {
            confine(directory).map_err(io::Error::other)?;
            Guard::start(command)
        };
        std::thread::scope(|scope| scope.spawn(confined).join())
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Has it killed on an interrupt.
    fn register(&self) {
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).insert(group(&self.0));
    }

    fn limit(&self, resource: Resource, current: u64, maximum: u64) {
        let limit = Rlimit { current: Some(current), maximum: Some(maximum) };
        // A child that has ended already needs no limit.
        let _ = rustix::process::prlimit(Pid::from_raw(group(&self.0)), resource, limit);
    }

    /// Waits for the end, not by looking again and again: a tool's time is
    /// measured here. Only `stop` is asked now and then.
    fn wait_until(&mut self, deadline: Instant, stop: &dyn Fn() -> bool) -> io::Result<ToolEnd> {
        let pid = Pid::from_raw(group(&self.0)).ok_or(io::ErrorKind::NotFound)?;
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(end_of(status));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stop() {
                kill_group(group(&self.0));
                self.0.wait()?;
                return Ok(ToolEnd::Timeout);
            }
            let timeout = Timespec::try_from(left.min(ASKED_EVERY))
                .unwrap_or(Timespec { tv_sec: 3600, tv_nsec: 0 });
            let mut waits = [PollFd::new(&handle, PollFlags::IN)];
            match rustix::event::poll(&mut waits, Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Before the wait: a reaped leader's group number may be reused.
        if matches!(self.0.try_wait(), Ok(None)) {
            kill_group(group(&self.0));
        }
        let _ = self.0.wait();
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).remove(&group(&self.0));
    }
}

/// Takes from this thread the right to write outside of `directory`, as far as the
/// kernel can: without Landlock, nothing changes.
fn confine(directory: &Path) -> Result<(), RulesetError> {
    let writing = AccessFs::from_write(LANDLOCK);
    Ruleset::default()
        .handle_access(writing)?
        .create()?
        .add_rules(path_beneath_rules([directory], writing))?
        .add_rules(path_beneath_rules(["/dev/null"], AccessFs::from_write(LANDLOCK)))?
        .restrict_self()?;
    Ok(())
}

/// The newest version of Landlock that is asked for; an older kernel's does, too.
const LANDLOCK: ABI = ABI::V3;

fn group(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap_or(i32::MAX)
}

fn kill_group(group: i32) {
    if let Some(pid) = Pid::from_raw(group) {
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
}

fn end_of(status: ExitStatus) -> ToolEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => ToolEnd::Exited(code),
        (None, Some(signal)) => ToolEnd::Signaled(signal),
        (None, None) => ToolEnd::Exited(-1),
    }
}

fn read_back(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The first lines of what a tool complains about.
fn shorten(text: &str) -> String {
    text.trim().lines().take(12).collect::<Vec<_>>().join("\n")
}

/// Quotes a word for a POSIX shell where it needs that.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_status_come_back() {
        let output =
            Tool::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]).output().unwrap();
        assert_eq!(output.end, ToolEnd::Exited(3));
        assert_eq!(output.stdout, b"out\n");
        assert_eq!(output.stderr, b"err\n");
    }

    #[test]
    fn a_tool_that_does_not_end_is_stopped_with_its_children() {
        let tool = Tool::new("sh").args(["-c", "sleep 1000 & echo $!; wait"]);
        let output = tool.time(Duration::from_millis(300)).output().unwrap();
        assert_eq!(output.end, ToolEnd::Timeout);
        let pid = String::from_utf8(output.stdout).unwrap();
        // Gone, or killed and waiting for init to reap it. A busy machine takes
        // a while to get there.
        let is_gone = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            state.is_err() || state.is_ok_and(|state| state.contains(") Z "))
        };
        let patience = Instant::now() + Duration::from_secs(20);
        while !is_gone() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(is_gone(), "grandchild survived");
    }

    #[test]
    fn a_confined_tool_writes_below_its_directory_alone() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        std::fs::create_dir(&inside).unwrap();
        let script = "echo a > a; echo b > ../b; echo c > /dev/null && echo null";
        let tool = Tool::new("sh").args(["-c", script]).confined_to(&inside);
        let output = tool.output().unwrap();
        assert!(inside.join("a").exists(), "{output:?}");
        assert!(!folder.path().join("b").exists(), "{output:?}");
        assert_eq!(output.stdout, b"null\n", "{output:?}");
        // We ourselves are not.
        std::fs::write(folder.path().join("b"), "").unwrap();
    }

    #[test]
    fn a_failure_names_the_command_and_its_complaint() {
        let error = Tool::new("sh").args(["-c", "echo broken >&2; exit 1"]).check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`sh -c 'echo broken >&2; exit 1'` exited with status 1:\n    broken"
        );
    }

    #[test]
    fn a_missing_tool_is_an_error_of_its_own() {
        let error = Tool::new("no-such-tool-anywhere").output().unwrap_err();
        assert!(matches!(error, CompilerError::ToolStart { .. }));
    }

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quote("-passes=sroa,gvn"), "-passes=sroa,gvn");
        assert_eq!(quote("default<O2>"), "'default<O2>'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
    }
}
