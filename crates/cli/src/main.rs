//! The command line: flags -> plan -> job -> report -> exit code.
//!
//! One file per subcommand. **Invariant:** nothing is decided here about
//! compilers; this crate reads words and prints words.
#![expect(clippy::print_stderr, reason = "this crate talks to the terminal")]

mod command;
mod exit;
mod failing_command;
mod failure;
mod interrupt;
mod progress;
mod remedy;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use optsleuth_model::in_words;

use crate::command::Command;
use crate::exit::Exit;

/// Finds bugs in optimizing compilers and names the code that causes them.
#[derive(Debug, Parser)]
#[command(name = "optsleuth", version, max_term_width = 100)]
struct Arguments {
    /// Say more: every command that is run, on standard error
    #[arg(long, short, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Clean }.into();
        }
    };
    let level = if arguments.verbose { tracing::Level::DEBUG } else { tracing::Level::WARN };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    if let Err(error) = interrupt::handle() {
        eprintln!("warning: an interrupt may leave processes behind: {error}");
    }
    match arguments.command.run(arguments.verbose) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("error: {}", in_words(&error));
            if let Some(help) = remedy::remedy(&error) {
                eprintln!("help: {help}");
            }
            remedy::exit(&error).into()
        }
    }
}
