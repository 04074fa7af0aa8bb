//! `optsleuth completions`: what a shell has to know to complete our commands.

use std::io::Write;

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;

use crate::Arguments;
use crate::exit::Exit;
use crate::failure::Failure;

/// Print what a shell needs to complete commands and options
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth completions bash > ~/.local/share/bash-completion/completions/optsleuth
  optsleuth completions fish > ~/.config/fish/completions/optsleuth.fish
  optsleuth completions zsh > ~/.zfunc/_optsleuth     # with ~/.zfunc in fpath

`make install` puts all three into their places.")]
pub(crate) struct Completions {
    #[arg(value_name = "SHELL")]
    shell: SupportedShell,
}

/// The shells whose places `make install` knows.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SupportedShell {
    Bash,
    Zsh,
    Fish,
}

impl Completions {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let shell = match self.shell {
            SupportedShell::Bash => Shell::Bash,
            SupportedShell::Zsh => Shell::Zsh,
            SupportedShell::Fish => Shell::Fish,
        };
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "optsleuth", &mut text);
        std::io::stdout().write_all(&text)?;
        Ok(Exit::Clean)
    }
}

#[cfg(test)]
mod tests {
    use clap::Command;
    use optsleuth_compiler::spawn::Tool;

    use super::*;

    /// Every command that is not hidden, as the words that call it, and what can
    /// follow it: commands and long options.
    fn commands() -> Vec<(Vec<String>, Vec<String>)> {
        fn walk(command: &Command, words: &[String], found: &mut Vec<(Vec<String>, Vec<String>)>) {
            let words = [words, &[command.get_name().to_owned()]].concat();
            let visible = || command.get_subcommands().filter(|inner| !inner.is_hide_set());
            let options = command.get_arguments().filter_map(|argument| argument.get_long());
            let names = visible().map(|inner| inner.get_name().to_owned());
            found.push((words.clone(), names.chain(options.map(|o| format!("--{o}"))).collect()));
            visible().for_each(|inner| walk(inner, &words, found));
        }
        let mut found = Vec::new();
        walk(&Arguments::command(), &[], &mut found);
        found
    }

    fn completions(shell: Shell) -> String {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "optsleuth", &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn bash_completes_every_command_and_option() {
        let mut script = completions(Shell::Bash);
        for (words, _) in commands() {
            let line = words.join(" ");
            for begin in ["''", "--"] {
                script += &format!(
                    "COMP_WORDS=({line} {begin}); COMP_CWORD={n}; COMPREPLY=()\n\
                     _optsleuth optsleuth {begin} {last}; echo {line}: ${{COMPREPLY[*]}}\n",
                    n = words.len(),
                    last = words.last().unwrap(),
                );
            }
        }
        let said = Tool::new("bash").args(["--norc", "-c", &script]).text().unwrap();
        for (words, followers) in commands() {
            let prefix = format!("{}: ", words.join(" "));
            let offered: Vec<&str> =
                said.lines().filter_map(|line| line.strip_prefix(&prefix)).collect();
            let offered = offered.join(" ");
            for follower in followers {
                let is_offered = offered.split(' ').any(|word| word == follower);
                assert!(is_offered, "{prefix}{follower} is not among {offered}");
            }
        }
    }

    #[test]
    fn zsh_and_fish_are_told_of_every_command_and_option() {
        let (zsh, fish) = (completions(Shell::Zsh), completions(Shell::Fish));
        for (_, followers) in commands() {
            for follower in followers {
                let option = follower.strip_prefix("--").map(|name| format!("-l {name}"));
                let in_fish = option.unwrap_or_else(|| format!("-a \"{follower}\""));
                assert!(zsh.contains(&follower) && fish.contains(&in_fish), "{follower}");
            }
        }
    }

    #[test]
    fn every_command_has_a_manual_page_and_nothing_else_has() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("share/man/man1");
        super::super::man::write_pages(&pages).unwrap();
        let mut written: Vec<String> = std::fs::read_dir(&pages)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        written.sort();
        let mut expected: Vec<String> =
            commands().iter().map(|(words, _)| format!("{}.1", words.join("-"))).collect();
        expected.sort();
        assert_eq!(written, expected);
        for (words, followers) in commands() {
            let page = std::fs::read_to_string(pages.join(words.join("-") + ".1")).unwrap();
            for follower in followers {
                let written = follower.replace('-', "\\-");
                assert!(page.contains(&written), "{words:?} {follower}");
            }
        }
    }
}
