//! What a worker gives the programs that it executes: the conditions of a case with
//! their files found. Beside [`Worker::execute`]: arguments, variables, input and a
//! filled directory go in, and what does not matter is left out of the execution.
//!
//! **Invariant:** a script of a case that is not trusted is run by the worker alone,
//! behind its fence.
//!
//! [`Worker::execute`]: crate::llvm::Worker::execute

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use optsleuth_model::{Conditions, Execution, Limits, ProgramEnd};

use crate::CompilerError;
use crate::spawn::{Tool, ToolEnd, is_executable, quote};
use crate::workdir::Workdir;

/// Where a fenced script finds its tools.
const PATH: &str = "PATH=/usr/local/bin:/usr/bin:/bin";
/// Waiting is limited to this many times the CPU time, as in a worker.
const WALL_PER_CPU: u32 = 4;

/// The conditions of a case, with their files found.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// With absolute paths.
    conditions: Conditions,
    /// Where those begin.
    folder: PathBuf,
    expected_output: Option<Vec<u8>>,
    /// The script that judges programs is trusted, and runs as any other.
    is_free: bool,
}

/// How a program is to be started.
pub(crate) struct Start {
    /// The program, or the script that judges it.
    pub(crate) file: PathBuf,
    pub(crate) is_script: bool,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<String>,
    pub(crate) stdin: PathBuf,
}

/// What a script that links gets for an object where it is to take the unoptimized one
/// that the project itself has.
pub const NO_OBJECT: &str = "/dev/null";

/// More than any queue of links and checks takes.
const LINKS_AND_CHECKS: Duration = Duration::from_secs(3600);

impl Surroundings {
    /// Finds the files, whose paths begin in this folder. What is missing is an error.
    pub fn find(
        conditions: &Conditions,
        folder: &Path,
        is_free: bool,
    ) -> Result<Surroundings, CompilerError> {
        let folder = std::path::absolute(folder)?;
        let conditions = conditions.inside(&folder);
        for (key, path) in conditions.paths() {
            let is_there = if key == "files" { path.is_dir() } else { path.is_file() };
            if !is_there {
                return Err(CompilerError::NoFileOfExecution { key, path: path.to_owned() });
            }
        }
        if let Some(script) = conditions.check.as_ref().filter(|script| !is_executable(script)) {
            return Err(CompilerError::CheckNotExecutable(script.clone()));
        }
        let expected_output = match &conditions.expect_output {
            Some(path) => Some(fs_err::read(path)?),
            None => None,
        };
        Ok(Surroundings { conditions, folder, expected_output, is_free })
    }

    /// Whether programs have to be linked and started by themselves.
    pub fn need_process(&self) -> bool {
        self.conditions.need_process()
    }

    /// Whether a script judges programs.
    pub fn has_check(&self) -> bool {
        self.conditions.check.is_some()
    }

    /// Whether that script links them.
    pub fn leave_unlinked(&self) -> bool {
        self.conditions.unlinked
    }

    /// What the linker gets beside the program.
    pub fn link_words(&self) -> Vec<String> {
        self.conditions.link_words()
    }

    /// How a person starts the program, in the folder that the files are in.
    pub fn command_line(&self) -> String {
        self.for_people(&self.conditions.command_line(quote))
    }

    /// A command as a person types it in the folder that the files are in.
    pub fn for_people(&self, command: &str) -> String {
        match self.folder.as_os_str().is_empty() {
            true => command.to_owned(),
            false => command.replace(&format!("{}/", self.folder.display()), ""),
        }
    }

    /// What is wrong with what the unoptimized program does, where something was
    /// expected of it.
    pub fn objection(&self, reference: &Execution) -> Option<String> {
        if let Some(script) = &self.conditions.check {
            let script = script.file_name().unwrap_or_default().to_string_lossy();
            let said = [&reference.stderr, &reference.stdout]
                .map(|stream| String::from_utf8_lossy(stream).trim().to_owned());
            let said = said.iter().find_map(|text| text.lines().next());
            let said = said.map(|line| format!(": {line}")).unwrap_or_default();
            return match reference.end {
                ProgramEnd::Exited(0) => None,
                ProgramEnd::Exited(status) => {
                    Some(format!("the check `{script}` ends with status {status} on it{said}"))
                }
                _ => Some(format!("the check `{script}` does not come to an end on it{said}")),
            };
        }
        if let Some(status) = self.conditions.expect_exit
            && reference.end != ProgramEnd::Exited(status)
        {
            let found = match reference.end {
                ProgramEnd::Exited(found) => format!("exits with status {found}"),
                _ => "does not exit".to_owned(),
            };
            return Some(format!("it {found}, and was expected to exit with status {status}"));
        }
        let expected = self.expected_output.as_ref()?;
        (*expected != reference.stdout).then(|| {
            let [found, wanted] =
                [&reference.stdout, expected].map(|bytes| String::from_utf8_lossy(bytes));
            let mut lines = found.lines().chain([""]).zip(wanted.lines().chain([""]));
            match lines.find(|(found, wanted)| found != wanted) {
                Some((found, wanted)) => {
                    format!("it prints `{found}` where `{wanted}` was expected")
                }
                None => "it prints another end of a line than was expected".to_owned(),
            }
        })
    }

    /// Leaves out of an execution what does not matter.
    pub(crate) fn seen(&self, execution: Execution) -> Execution {
        match self.conditions.ignore_output() {
            true => Execution { stdout: Vec::new(), ..execution },
            false => execution,
        }
    }

    /// How a program file is started in a worker.
    pub(crate) fn start(&self, program: &Path) -> Start {
        let Conditions { args, env, stdin, check, .. } = &self.conditions;
        let mut variables: Vec<String> =
            env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (file, mut words) = match check {
            None => (program, Vec::new()),
            Some(script) => {
                variables.insert(0, PATH.to_owned());
                (script.as_path(), vec![program.display().to_string()])
            }
        };
        words.extend(args.iter().cloned());
        Start {
            file: file.to_owned(),
            is_script: check.is_some(),
            args: words,
            env: variables,
            stdin: stdin.clone().unwrap_or_default(),
        }
    }

    /// Copies the files for the program into its working directory.
    pub(crate) fn fill(&self, directory: &Path) -> io::Result<()> {
        match &self.conditions.files {
            Some(files) => copy_folder(files, directory),
            None => Ok(()),
        }
    }

    /// Where the script that judges programs is trusted: its judgement, without a fence.
    pub(crate) fn judge_freely(
        &self,
        program: &Path,
        limits: Limits,
    ) -> Option<Result<(Execution, Duration), CompilerError>> {
        let script = self.conditions.check.as_ref().filter(|_| self.is_free)?;
        Some(self.run_script(script, program, limits))
    }

    fn run_script(
        &self,
        script: &Path,
        program: &Path,
        limits: Limits,
    ) -> Result<(Execution, Duration), CompilerError> {
        let folder = Workdir::new()?;
        self.fill(folder.path())?;
        let time = match self.leave_unlinked() {
            // It has a limit of its own, and waits for others that link at the same place.
            true => LINKS_AND_CHECKS,
            false => limits.execute * WALL_PER_CPU + Duration::from_secs(1),
        };
        let mut tool = Tool::new(script)
            .arg(program)
            .args(&self.conditions.args)
            .directory(folder.path())
            .time(time);
        for (name, value) in &self.conditions.env {
            tool = tool.env(name, value);
        }
        let ended = tool.output()?;
        let end = match ended.end {
            // A script that links has answers for right and wrong; others are trouble.
            ToolEnd::Exited(status) if self.leave_unlinked() && !(0..=1).contains(&status) => {
                let failed = tool.failed(&ended, format!("exited with status {status}"));
                return Err(CompilerError::DoesNotLink(Box::new(failed)));
            }
            ToolEnd::Exited(status) => ProgramEnd::Exited(status),
            ToolEnd::Signaled(signal) => ProgramEnd::Signaled(signal),
            ToolEnd::Timeout => ProgramEnd::Timeout,
        };
        Ok((Execution { end, stdout: Vec::new(), stderr: ended.stderr }, ended.wall))
    }
}

/// Copies what is in a folder, the modes of files included.
pub fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        match fs_err::metadata(&path)?.is_dir() {
            true => copy_folder(&path, &place)?,
            false => _ = fs_err::copy(&path, &place)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(conditions: Conditions, output: Option<&str>) -> Surroundings {
        let expected_output = output.map(|text| text.as_bytes().to_vec());
        Surroundings { conditions, expected_output, ..Surroundings::default() }
    }

    #[test]
    fn an_unoptimized_program_that_is_not_as_expected_is_objected_to() {
        let ran = |status, stdout: &str| Execution {
            end: ProgramEnd::Exited(status),
            stdout: stdout.into(),
            stderr: b"no sum\nin it\n".to_vec(),
        };
        let exits = found(Conditions { expect_exit: Some(3), ..Conditions::default() }, None);
        assert_eq!(exits.objection(&ran(3, "x")), None);
        let said = exits.objection(&ran(0, "")).unwrap();
        assert_eq!(said, "it exits with status 0, and was expected to exit with status 3");
        assert_eq!(exits.seen(ran(3, "x")).stdout, b"");
        let prints = found(Conditions::default(), Some("a\nb\n"));
        assert_eq!(prints.objection(&ran(9, "a\nb\n")), None);
        let said = prints.objection(&ran(0, "a\nc\n")).unwrap();
        assert_eq!(said, "it prints `c` where `b` was expected");
        assert_eq!(prints.seen(ran(3, "x")).stdout, b"x");
        let check = Conditions { check: Some("/a/ok.sh".into()), ..Conditions::default() };
        let said = found(check, None).objection(&ran(1, "")).unwrap();
        assert_eq!(said, "the check `ok.sh` ends with status 1 on it: no sum");
    }
}
