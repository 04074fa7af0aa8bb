//! Flags that say how a program is executed and what is expected of it.

use std::path::PathBuf;

use clap::Args;
use optsleuth_model::Conditions;

/// How the program is executed, and what is expected of it.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "The program's execution")]
pub(crate) struct ExecutionFlags {
    /// Arguments for the program, as a shell splits them: --args '-n 3 "a b"'
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true, value_parser = parse_words)]
    args: Option<Words>,
    /// A file that it reads as standard input
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// A variable of its environment, which is empty otherwise; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_variable)]
    env: Vec<(String, String)>,
    /// A folder with files that it needs; it runs in a copy of it
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,
    /// A flag for the linker, as in --ldflag=-lz; may be given several times
    #[arg(long = "ldflag", value_name = "FLAG", allow_hyphen_values = true)]
    ldflags: Vec<String>,
    /// A file with what it should print; what the unoptimized program prints if not given
    #[arg(long, value_name = "FILE")]
    expect_output: Option<PathBuf>,
    /// What it should exit with; alone, it makes the output irrelevant
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..=255))]
    expect_exit: Option<i32>,
    /// A script that gets the program's path, and exits with 0 if the program is right; it
    /// is fenced in as programs are, unless --trust is given. For a project, a command line
    #[arg(long, value_name = "SCRIPT", conflicts_with_all = ["expect_output", "expect_exit"])]
    check: Option<PathBuf>,
}

/// Words of one flag.
#[derive(Clone, Debug)]
struct Words(Vec<String>);

impl ExecutionFlags {
    /// The check of a project, which is any command line.
    pub(crate) fn check_command(&self) -> Option<String> {
        self.check.as_ref().map(|check| check.display().to_string())
    }

    /// With paths as they were given.
    pub(crate) fn conditions(&self) -> Conditions {
        Conditions {
            args: self.args.clone().map(|Words(words)| words).unwrap_or_default(),
            env: self.env.iter().cloned().collect(),
            stdin: self.stdin.clone(),
            files: self.files.clone(),
            companions: Vec::new(),
            ldflags: self.ldflags.clone(),
            expect_output: self.expect_output.clone(),
            expect_exit: self.expect_exit,
            check: self.check.clone(),
            unlinked: false,
        }
    }
}

fn parse_words(text: &str) -> Result<Words, String> {
    shlex::split(text).map(Words).ok_or_else(|| "a quote is not closed".to_owned())
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give NAME=VALUE".to_owned()),
    }
}
