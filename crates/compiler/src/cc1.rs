//! Flags as people write them -> the arguments that clang's front end takes.
//!
//! clang's driver is asked once (`-###` prints and runs nothing), with a file
//! that stands for all to come; what it says holds for any other name.
//!
//! **Invariant:** the arguments name no file of this machine but those that the
//! user's flags and clang's own headers do.

use std::path::Path;

use crate::CompilerError;
use crate::clang::{clang, unless_a_level};
use crate::llvm::Install;
use crate::workdir::Workdir;

/// The arguments behind `-cc1`, for any source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cc1(Vec<Argument>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Argument {
    Word(String),
    /// The source's name without its folder.
    FileName,
    /// `c`, or what preprocessed C is called.
    Language,
    /// The source as it is named.
    Source,
}

impl Cc1 {
    /// Has clang's driver say what cc1 command these flags come to.
    pub(crate) fn ask(install: &Install, flags: &[String]) -> Result<Cc1, CompilerError> {
        let folder = Workdir::new()?;
        let source = folder.file("program.c");
        fs_err::write(&source, "")?;
        let output = clang(install)?
            .args(unless_a_level(flags))
            .args(["-S", "-emit-llvm", "-w"])
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(folder.file("program.ll"))
            .arg("-###")
            .check()
            .map_err(|error| CompilerError::BadCFlags(Box::new(error)))?;
        read(&String::from_utf8_lossy(&output.stderr), &source)
            .ok_or_else(|| CompilerError::NotOneJob(flags.join(" ")))
    }

    /// The arguments for a source of this name, the name itself last.
    pub(crate) fn arguments(&self, source: &str) -> Vec<String> {
        let path = Path::new(source);
        let is_preprocessed = path.extension().is_some_and(|extension| extension == "i");
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let word = |argument: &Argument| match argument {
            Argument::Word(word) => word.clone(),
            Argument::FileName => file_name.clone().into_owned(),
            Argument::Language if is_preprocessed => "cpp-output".to_owned(),
            Argument::Language => "c".to_owned(),
            Argument::Source => source.to_owned(),
        };
        self.0.iter().map(word).collect()
    }
}

/// What the driver printed -> its one job, or `None` where that is not all.
fn read(printed: &str, source: &Path) -> Option<Cc1> {
    let mut jobs = printed.lines().filter(|line| line.starts_with(" \"")).map(words);
    let job = jobs.next()?;
    if jobs.next().is_some() || job.get(1)? != "-cc1" {
        return None;
    }
    let mut found = Vec::new();
    let mut rest = job.into_iter().skip(2);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-o" => drop(rest.next()?),
            "-main-file-name" => {
                rest.next()?;
                found.extend([Argument::Word(word), Argument::FileName]);
            }
            "-x" => {
                let is_c = rest.next()? == "c";
                found.extend([Argument::Word(word), Argument::Language]);
                is_c.then_some(())?;
            }
            name if Path::new(name) == source => found.push(Argument::Source),
            _ => found.push(Argument::Word(word)),
        }
    }
    // Something else is to be written beside the source.
    let folder = source.parent()?.to_str()?;
    let elsewhere =
        |argument: &Argument| matches!(argument, Argument::Word(word) if word.contains(folder));
    let is_whole = found.last() == Some(&Argument::Source) && !found.iter().any(elsewhere);
    is_whole.then_some(Cc1(found))
}

/// The words of a line in which every word is in quotes.
fn words(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut chars = line.chars();
    while chars.by_ref().any(|c| c == '"') {
        let mut word = String::new();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => word.extend(chars.next()),
                _ => word.push(c),
            }
        }
        found.push(word);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = r#" "/bin/clang" "-cc1" "-D" "A=\"x \\ \$y\"" "-main-file-name" "program.c" "-o" "/t/program.ll" "-x" "c" "/t/program.c""#;

    fn check(printed: &str, name: &str, expected: Option<&[&str]>) {
        let found = read(printed, Path::new("/t/program.c")).map(|cc1| cc1.arguments(name));
        let words = found.as_ref().map(|words| words.iter().map(String::as_str).collect());
        assert_eq!(words, expected.map(<[&str]>::to_vec));
    }

    #[test]
    fn quoted_words_are_read_and_the_source_is_exchanged() {
        let define = "A=\"x \\ $y\"";
        let expected = ["-D", define, "-main-file-name", "b.c", "-x", "c", "a/b.c"];
        check(&format!("clang version 19\n{JOB}\n"), "a/b.c", Some(&expected));
    }

    #[test]
    fn a_preprocessed_source_is_called_so() {
        let define = "A=\"x \\ $y\"";
        let expected = ["-D", define, "-main-file-name", "b.i", "-x", "cpp-output", "b.i"];
        check(JOB, "b.i", Some(&expected));
    }

    #[test]
    fn flags_that_make_more_than_a_module_are_refused() {
        check(&format!("{JOB}\n{JOB}\n"), "b.c", None);
        check(&JOB.replace("\"-D\"", "\"-notes=/t/program.gcno\""), "b.c", None);
        check(&JOB.replace("\"c\"", "\"c++\""), "b.c", None);
        check("", "b.c", None);
    }
}
