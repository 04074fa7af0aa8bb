//! A RUN line of a regression test -> passes and flags of a case. Pure.
//!
//! **Invariant:** a line means here what it means to a shell, or it is refused
//! with the reason; nothing that changes what `opt` does is dropped.

use optsleuth_model::PassSequence;

/// What a RUN line asks of `opt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptCommand {
    /// As `-passes=` has them.
    pub passes: String,
    /// All other options that matter to the passes.
    pub flags: Vec<String>,
}

/// Programs that hand the module on as it is, or look at the result.
const BEFORE: [&str; 2] = ["cat", "llvm-as"];
const AFTER: [&str; 3] = ["FileCheck", "count", "llvm-dis"];

const EMPTY: &str = "the command is empty";

/// Options of `opt` about its output, which is not what a case is about.
const OUTPUT: [&str; 4] = ["S", "f", "disable-output", "time-passes"];

/// Reads a RUN line, with or without its `; RUN:`. The error says in words why it
/// cannot be a case.
pub fn opt_command(line: &str) -> Result<OptCommand, String> {
    let line = line.split_once("RUN:").map_or(line, |(_, command)| command);
    let words = shlex::split(line).ok_or("a quote is not closed")?;
    let mut found: Option<OptCommand> = None;
    for command in commands(&words) {
        let name = program(&command).ok_or(EMPTY)?;
        let is_opt = name == "opt" || name.strip_prefix("opt-").is_some_and(is_number);
        match &mut found {
            None if BEFORE.contains(&name.as_str()) => {}
            None if is_opt => found = Some(options(&command[1..])?),
            None => return Err(format!("it runs `{name}`, and a case is about `opt`")),
            Some(_) if AFTER.contains(&name.as_str()) => {}
            Some(_) => {
                return Err(format!(
                    "it runs several commands (`opt` and `{name}`), and a case has one"
                ));
            }
        }
    }
    found.ok_or_else(|| EMPTY.to_owned())
}

/// The commands of a line, without what goes from and to files.
fn commands(words: &[String]) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut skip_file = false;
    for word in words.iter().flat_map(|word| at_operators(word)) {
        let is_file = std::mem::take(&mut skip_file);
        match word {
            _ if is_file => {}
            "|" | "&&" | "||" | ";" | "|&" => commands.push(Vec::new()),
            _ => match redirection(word) {
                Some("") => skip_file = true,
                Some(_) => {}
                None => commands.last_mut().into_iter().for_each(|last| last.push(word.to_owned())),
            },
        }
    }
    commands
}

/// A word at whose ends a shell sees an operator: `%s|FileCheck`, `%s;`.
/// Inside an option these characters were quoted.
fn at_operators(word: &str) -> Vec<&str> {
    if word.starts_with('-') {
        return vec![word];
    }
    if let Some(before) = word.strip_suffix(';').filter(|before| !before.is_empty()) {
        return vec![before, ";"];
    }
    match word.split_once('|') {
        Some(("", "" | "|" | "&")) | None => vec![word],
        Some(("", after)) => vec!["|", after],
        Some((before, "")) => vec![before, "|"],
        Some((before, after)) => vec![before, "|", after],
    }
}

/// What follows `<`, `>`, `2>`, `&>` in the same word; `None` for other words.
fn redirection(word: &str) -> Option<&str> {
    let word = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
    let file = word.strip_prefix(">>").or_else(|| word.strip_prefix('>'));
    file.or_else(|| word.strip_prefix('<'))
}

/// The name of the program that a command runs, without its folder.
fn program(command: &[String]) -> Option<String> {
    let word = command.first()?;
    Some(word.rsplit('/').next().unwrap_or(word).trim_start_matches('%').to_owned())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn needs_file(word: &str) -> String {
    format!("`{word}` needs a file of LLVM's test suite")
}

/// `opt`'s options, without its name.
fn options(words: &[String]) -> Result<OptCommand, String> {
    let mut passes: Option<String> = None;
    let mut flags: Vec<String> = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if word == "%s" || word == "-" {
            continue;
        }
        if word.contains('%') {
            return Err(needs_file(word));
        }
        let Some(option) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
            return Err(format!("`{word}` is neither an option nor the input"));
        };
        let (name, mut value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        // A word that is no option is the value of the option before it.
        let is_value = |next: &&String| !next.starts_with('-') && *next != "%s";
        if value.is_none() && !OUTPUT.contains(&name) {
            value = words.next_if(is_value).cloned();
        }
        let pipeline = match (name, &value) {
            ("passes" | "p", Some(value)) => Some(value.clone()),
            ("O0" | "O1" | "O2" | "O3" | "Os" | "Oz", None) => Some(format!("default<{name}>")),
            _ => None,
        };
        match (pipeline, value) {
            (Some(_), _) if passes.is_some() => return Err("it names passes twice".to_owned()),
            (Some(pipeline), _) => passes = Some(pipeline),
            _ if OUTPUT.contains(&name) || name == "o" => {}
            (None, Some(value)) if value.contains('%') => {
                return Err(needs_file(&format!("-{name}={value}")));
            }
            (None, Some(value)) => flags.push(format!("-{name}={value}")),
            (None, None) => flags.push(format!("-{name}")),
        }
    }
    let passes = passes.ok_or("it names no passes: neither -passes= nor an optimization level")?;
    match passes.parse::<PassSequence>() {
        Ok(_) => Ok(OptCommand { passes, flags }),
        Err(error) => Err(format!("`{passes}` is not a pass sequence: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, passes: &str, flags: &[&str]) {
        let expected = OptCommand {
            passes: passes.to_owned(),
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        };
        assert_eq!(opt_command(line), Ok(expected), "{line}");
    }

    fn refused(line: &str, why: &str) {
        let error = opt_command(line).unwrap_err().to_string();
        assert!(error.contains(why), "{line}: {error}");
    }

    #[test]
    fn passes_are_found_in_every_spelling() {
        for line in [
            "opt -passes=sroa %s",
            "opt --passes=sroa -S < %s",
            "opt -S -passes sroa < %s",
            "opt -p sroa -disable-output %s",
            "; RUN: opt < %s -passes='sroa' -S | FileCheck %s",
            "%opt -passes=\"sroa\" <%s -o - 2>&1|FileCheck %s --check-prefix=A",
            "/usr/bin/opt-19 -passes=sroa %s -o /dev/null 2> /dev/null",
            "cat %s | opt -passes=sroa >/dev/null",
            "opt -passes=sroa %s| FileCheck %s",
            "opt -passes=sroa %s |FileCheck %s",
        ] {
            check(line, "sroa", &[]);
        }
        check("opt -O2 %s", "default<O2>", &[]);
        let line = "opt -passes='print<domtree>,loop(indvars)' -S < %s 2>&1";
        check(line, "print<domtree>,loop(indvars)", &[]);
    }

    #[test]
    fn other_options_are_flags_in_their_order() {
        check(
            "opt -S -mtriple riscv64 --mattr=+v,+f -passes=dse -some-threshold=-7 -flag < %s",
            "dse",
            &["-mtriple=riscv64", "-mattr=+v,+f", "-some-threshold=-7", "-flag"],
        );
        check("opt -flag %s -passes=dse", "dse", &["-flag"]);
        check("opt -passes=dse -text='two words' %s", "dse", &["-text=two words"]);
    }

    #[test]
    fn what_is_no_single_run_of_opt_is_refused() {
        refused("llc -O2 < %s", "`llc`");
        refused("not opt -passes=dse %s", "`not`");
        refused("alive-tv %s", "`alive-tv`");
        refused("opt -passes=dse %s | opt -passes=verify", "several commands (`opt` and `opt`)");
        refused("opt -passes=dse %s && llc %s", "`llc`");
        refused("opt -passes=dse %s; llc %s", "`llc`");
        refused("opt -passes=dse -passes=sroa %s", "twice");
        refused("opt -dse -S < %s", "names no passes");
        refused("opt -passes=dse -profile=%S/Inputs/x.prof %s", "-profile=%S/Inputs/x.prof");
        refused("opt -passes='dse(' %s", "not a pass sequence");
        refused("opt -passes=dse %t", "%t");
        refused("opt other.ll -passes=dse", "`other.ll`");
        refused("opt -passes='dse %s", "quote");
        refused("", "empty");
    }
}
