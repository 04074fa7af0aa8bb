//! What clang writes when it crashes: a script, and the preprocessed source beside it
//! -> the command.
//!
//! The script says in a comment what the driver was given, and calls the front end
//! with the preprocessed source.

use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_model::is_source;

use super::{CommandError, FailingCommand};

/// Reads a script that clang wrote when it crashed.
pub(crate) fn of_reproducer(script: &Path, text: &str) -> Result<FailingCommand, CommandError> {
    let missing = || CommandError::NoReproducer(script.to_owned());
    let arguments = text.lines().find_map(|line| line.strip_prefix("# Driver args:"));
    let called = text.lines().find(|line| !line.starts_with('#') && line.contains("-cc1"));
    let (arguments, called) = arguments.zip(called).ok_or_else(missing)?;
    // ` "/usr/lib/llvm-19/bin/clang" "-cc1" ... "x-1a2b3c.c"`.
    let called = quoted(called);
    let (compiler, source) = called.first().zip(called.last()).ok_or_else(missing)?;
    let mut words = vec![compiler.clone()];
    let is_program = |word: &String| !word.starts_with('-') && is_source(Path::new(word));
    // Whatever was linked with it, it is the compilation that crashed.
    words.push("-c".to_owned());
    words.extend(quoted(arguments).into_iter().filter(|word| !is_program(word)));
    words.push(source.clone());
    let mut command = FailingCommand::read(&words)?;
    command.companions.clear();
    // It lies beside the script, with all that it includes in it.
    command.flags = without_includes(&command.flags);
    if let (Some(folder), [program]) = (script.parent(), &mut command.programs[..])
        && let Some(name) = program.file_name()
    {
        *program = folder.join(name);
    }
    Ok(command)
}

/// The only script in a folder and the folders in it, as an archive of a reproducer has.
pub(crate) fn script_in(folder: &Path, archive: &Path) -> Result<PathBuf, CommandError> {
    let mut scripts = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => scripts.push(entry.path()),
                _ => {}
            }
        }
    }
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "sh"));
    match <[PathBuf; 1]>::try_from(scripts) {
        Ok([script]) => Ok(script),
        Err(scripts) => Err(CommandError::NoScript(archive.to_owned(), scripts.len())),
    }
}

/// Flags without what a preprocessed text has followed already.
fn without_includes(flags: &[String]) -> Vec<String> {
    let mut flags = flags.iter();
    let mut left = Vec::new();
    while let Some(flag) = flags.next() {
        match flag.as_str() {
            "-include" | "-imacros" => {
                flags.next();
            }
            _ => left.push(flag.clone()),
        }
    }
    left
}

/// The words of a line in which clang put each into quotes.
fn quoted(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('"') {
        let mut word = String::new();
        let mut letters = rest[start + 1..].char_indices();
        let end = loop {
            match letters.next() {
                Some((_, '\\')) => word.extend(letters.next().map(|(_, letter)| letter)),
                Some((at, '"')) => break start + 1 + at + 1,
                Some((_, letter)) => word.push(letter),
                None => return words, // It ends within a word.
            }
        };
        words.push(word);
        rest = &rest[end..];
    }
    words
}

#[cfg(test)]
mod tests {
    use optsleuth_model::OptLevel;

    use super::super::Asked;
    use super::*;

    #[test]
    fn a_crash_reproducer_is_a_command() {
        let text = "# Crash reproducer for Debian clang version 19.1.7
# Driver args: \"-O2\" \"-D\" \"X=\\\"y\\\"\" \"-include\" \"a.h\" \"-c\" \"src/x.c\" \"-o\" \"x.o\"
# Original command:  \"/usr/lib/llvm-19/bin/clang\" \"-cc1\" \"-O2\" \"src/x.c\"
 \"/usr/lib/llvm-19/bin/clang\" \"-cc1\" \"-O2\" \"x-1a2b3c.c\"
";
        let command = of_reproducer(Path::new("/tmp/x-1a2b3c.sh"), text).unwrap();
        assert_eq!(command.compiler, Path::new("/usr/lib/llvm-19/bin/clang"));
        assert_eq!(command.programs, [Path::new("/tmp/x-1a2b3c.c")]);
        assert_eq!(command.asked, Asked::Level(OptLevel::O2));
        assert_eq!(command.flags, ["-D", "X=\"y\""]);
        let error = of_reproducer(Path::new("x.sh"), "echo").unwrap_err();
        assert!(error.to_string().contains("`x.sh` has no line"));
    }
}
