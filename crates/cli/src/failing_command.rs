//! A failing command of `opt`, clang or gcc, as a person would paste it -> what is
//! to be triaged.
//!
//! clang's crash reproducers are such commands, too: a script with a comment that
//! has the driver's arguments, and the preprocessed source beside it.
//!
//! **Invariant:** pure, but for reading a script. What a flag means is never
//! guessed: those that only say what to write and where are left out, those that
//! cannot be followed are refused by name, and all others go to the compiler.

use std::path::{Path, PathBuf};

use optsleuth_model::OptLevel;

/// What a command asks of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailingCommand {
    /// As it was called: a name or a path.
    pub(crate) compiler: PathBuf,
    pub(crate) tool: Tool,
    pub(crate) program: PathBuf,
    pub(crate) asked: Asked,
    /// All other flags, in their order.
    pub(crate) flags: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Opt,
    Clang,
    Gcc,
}

/// What is to be done with the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Passes(String),
    Level(OptLevel),
}

impl Asked {
    /// The level; that of no passes where none is asked for.
    pub(crate) fn level(&self) -> OptLevel {
        match self {
            Asked::Level(level) => *level,
            Asked::Passes(_) => OptLevel::O0,
        }
    }
}

/// Why a command cannot be followed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum CommandError {
    #[error("`{0}` is none of opt, clang and gcc")]
    UnknownTool(String),
    #[error("the command names no program to compile")]
    NoProgram,
    #[error("the command names several programs: `{0}` and `{1}`")]
    SeveralPrograms(String, String),
    #[error("`{0}` cannot be followed: {1}")]
    Refused(String, &'static str),
    #[error("`{0}` needs a value")]
    NoValue(String),
    #[error("a case says itself how its program is executed: in `[execution]` of its case.toml")]
    ExecutionOfCase,
    #[error("`{}` has no line with clang's arguments", .0.display())]
    NoReproducer(PathBuf),
}

/// Flags that say where and in what form the result goes.
const OF_OUTPUT: [&str; 9] =
    ["-c", "-S", "-emit-llvm", "-disable-output", "-f", "-pipe", "-v", "-save-temps", "-quiet"];
/// Those that do so with the next word.
const OF_OUTPUT_WITH_VALUE: [&str; 4] = ["-o", "-MF", "-MT", "-MQ"];
/// Flags whose value is the next word.
const WITH_VALUE: [&str; 14] = [
    "-I",
    "-D",
    "-U",
    "-include",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-mllvm",
    "-target",
    "-Xclang",
    "-x",
    "-arch",
    "-passes",
    "--param",
];
/// What cannot be followed, and why; as a whole or as the beginning of a flag.
const REFUSED: [(&str, &str); 7] = [
    ("-flto", "code of several files is optimized when they are linked"),
    ("-E", "nothing is compiled"),
    ("-fsyntax-only", "nothing is compiled"),
    ("-M", "nothing is compiled"),
    ("-fprofile-use", "the profile is not part of the command"),
    ("-fprofile-instr-use", "the profile is not part of the command"),
    ("-fpass-plugin", "the plug-in is not part of LLVM"),
];
/// `-MD` and its relatives compile as well.
const DEPENDENCIES: [&str; 3] = ["-MD", "-MMD", "-MP"];

impl FailingCommand {
    /// Reads a command, word by word.
    pub(crate) fn read(words: &[String]) -> Result<FailingCommand, CommandError> {
        let [compiler, rest @ ..] = words else { return Err(CommandError::NoProgram) };
        let tool = tool_of(compiler)?;
        let mut asked = match tool {
            Tool::Opt => Asked::Passes(String::new()),
            Tool::Clang | Tool::Gcc => Asked::Level(OptLevel::O0),
        };
        let (mut program, mut flags) = (None, Vec::new());
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            // LLVM's own tools take two dashes for one.
            let flag = match word.strip_prefix("--") {
                Some(bare) if tool == Tool::Opt => format!("-{bare}"),
                _ => word.clone(),
            };
            let mut value = || words.next().ok_or(CommandError::NoValue(flag.clone()));
            if DEPENDENCIES.contains(&flag.as_str()) || OF_OUTPUT.contains(&flag.as_str()) {
                continue;
            }
            if OF_OUTPUT_WITH_VALUE.contains(&flag.as_str()) {
                value()?;
                continue;
            }
            if let Some((_, why)) = REFUSED.iter().find(|(known, _)| is_flag(&flag, known)) {
                return Err(CommandError::Refused(flag, why));
            }
            if let Some(level) = level_of(&flag, tool) {
                if flag == "-Ofast" {
                    flags.push("-ffast-math".to_owned());
                }
                asked = match tool {
                    Tool::Opt => Asked::Passes(format!("default<{}>", level.name())),
                    Tool::Clang | Tool::Gcc => Asked::Level(level),
                };
            } else if let Some(passes) = flag.strip_prefix("-passes=") {
                asked = Asked::Passes(passes.trim_matches(['\'', '"']).to_owned());
            } else if WITH_VALUE.contains(&flag.as_str()) {
                let value = value()?.clone();
                match flag.as_str() {
                    "-passes" => asked = Asked::Passes(value),
                    _ => flags.extend([flag, value]),
                }
            } else if flag.starts_with("-o") && tool != Tool::Opt && flag.len() > 2 {
                // `-ofile`.
            } else if flag.starts_with('-') && flag.len() > 1 {
                flags.push(flag);
            } else {
                let next = PathBuf::from(word);
                if let Some(first) = program.replace(next) {
                    let first: PathBuf = first;
                    let first = first.display().to_string();
                    return Err(CommandError::SeveralPrograms(first, word.clone()));
                }
            }
        }
        let program = program.ok_or(CommandError::NoProgram)?;
        Ok(FailingCommand { compiler: PathBuf::from(compiler), tool, program, asked, flags })
    }

    /// The flags for clang, and those that it hands to LLVM.
    pub(crate) fn flags_of_llvm(&self) -> (Vec<String>, Vec<String>) {
        let (mut for_clang, mut for_llvm) = (Vec::new(), Vec::new());
        let mut flags = self.flags.iter().cloned();
        while let Some(flag) = flags.next() {
            match flag.as_str() {
                "-mllvm" => for_llvm.extend(flags.next()),
                _ => for_clang.push(flag),
            }
        }
        (for_clang, for_llvm)
    }

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
        let is_source = |word: &String| {
            let ends = |ending: &str| Path::new(word).extension().is_some_and(|own| own == ending);
            !word.starts_with('-') && ["c", "i", "cc", "cpp", "cxx", "C"].iter().any(|e| ends(e))
        };
        words.extend(quoted(arguments).into_iter().filter(|word| !is_source(word)));
        words.push(source.clone());
        let mut command = FailingCommand::read(&words)?;
        // It lies beside the script.
        if let (Some(folder), Some(name)) = (script.parent(), command.program.file_name()) {
            command.program = folder.join(name);
        }
        Ok(command)
    }
}

/// Whether a word is a flag, with or without what may follow it.
fn is_flag(word: &str, flag: &str) -> bool {
    word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

fn tool_of(compiler: &str) -> Result<Tool, CommandError> {
    let name = Path::new(compiler).file_name().unwrap_or_default().to_string_lossy().into_owned();
    // `x86_64-linux-gnu-gcc-12`.
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    match bare.rsplit('-').next().unwrap_or(bare) {
        "opt" => Ok(Tool::Opt),
        "clang" => Ok(Tool::Clang),
        "gcc" => Ok(Tool::Gcc),
        _ => Err(CommandError::UnknownTool(compiler.to_owned())),
    }
}

fn level_of(flag: &str, tool: Tool) -> Option<OptLevel> {
    match flag {
        "-O0" => Some(OptLevel::O0),
        "-O1" | "-O" => Some(OptLevel::O1),
        // For gcc it is a level of its own, which comes last as a flag.
        "-Og" if tool == Tool::Clang => Some(OptLevel::O1),
        "-O2" => Some(OptLevel::O2),
        "-O3" | "-O4" | "-Ofast" => Some(OptLevel::O3),
        "-Os" => Some(OptLevel::Os),
        "-Oz" => Some(OptLevel::Oz),
        _ => None,
    }
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
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn commands_of_three_compilers_are_read() {
        let check = |line: &str, tool: Tool, asked: Asked, program: &str, flags: &str| {
            let command = FailingCommand::read(&words(line)).unwrap();
            assert_eq!((command.tool, &command.asked), (tool, &asked), "{line}");
            assert_eq!(command.program, Path::new(program), "{line}");
            assert_eq!(command.flags, words(flags), "{line}");
        };
        let passes = |text: &str| Asked::Passes(text.to_owned());
        check("opt-19 -passes=gvn,sroa x.ll -S -o y.ll", Tool::Opt, passes("gvn,sroa"), "x.ll", "");
        check(
            "/usr/lib/llvm-14/bin/opt --passes gvn --enable-x=1 a/x.bc",
            Tool::Opt,
            passes("gvn"),
            "a/x.bc",
            "-enable-x=1",
        );
        check("opt -O2 x.ll -disable-output", Tool::Opt, passes("default<O2>"), "x.ll", "");
        check(
            "clang-19 -Iinclude -D X=1 -c x.c -O1 -O2 -o x.o -MMD -MF x.d -mavx2",
            Tool::Clang,
            Asked::Level(OptLevel::O2),
            "x.c",
            "-Iinclude -D X=1 -mavx2",
        );
        check(
            "x86_64-linux-gnu-gcc-12 x.c -Os -fno-dce",
            Tool::Gcc,
            Asked::Level(OptLevel::Os),
            "x.c",
            "-fno-dce",
        );
        check("gcc x.c", Tool::Gcc, Asked::Level(OptLevel::O0), "x.c", "");
        let command = "clang -mllvm -slp-threshold=1 -mavx2 x.c";
        let (for_clang, for_llvm) = FailingCommand::read(&words(command)).unwrap().flags_of_llvm();
        assert_eq!((for_clang, for_llvm), (words("-mavx2"), words("-slp-threshold=1")));
        let fast = Asked::Level(OptLevel::O3);
        check("clang -Ofast x.c", Tool::Clang, fast, "x.c", "-ffast-math");
    }

    #[test]
    fn what_cannot_be_followed_is_refused_by_name() {
        let check = |line: &str, said: &str| {
            let error = FailingCommand::read(&words(line)).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        };
        check("rustc -O x.rs", "`rustc` is none of");
        check("clang -O2 -c", "no program");
        check("clang -O2 a.c b.c", "`a.c` and `b.c`");
        check("clang -O2 -flto=thin a.c", "`-flto=thin` cannot be followed");
        check("gcc -M a.c", "`-M`");
        check("opt -passes", "`-passes` needs a value");
    }

    #[test]
    fn a_crash_reproducer_is_a_command() {
        let text = "# Crash reproducer for Debian clang version 19.1.7
# Driver args: \"-O2\" \"-D\" \"X=\\\"y\\\"\" \"-c\" \"src/x.c\" \"-o\" \"x.o\"
# Original command:  \"/usr/lib/llvm-19/bin/clang\" \"-cc1\" \"-O2\" \"src/x.c\"
 \"/usr/lib/llvm-19/bin/clang\" \"-cc1\" \"-O2\" \"x-1a2b3c.c\"
";
        let command = FailingCommand::of_reproducer(Path::new("/tmp/x-1a2b3c.sh"), text).unwrap();
        assert_eq!(command.compiler, Path::new("/usr/lib/llvm-19/bin/clang"));
        assert_eq!(command.program, Path::new("/tmp/x-1a2b3c.c"));
        assert_eq!(command.asked, Asked::Level(OptLevel::O2));
        assert_eq!(command.flags, ["-D", "X=\"y\""]);
        let error = FailingCommand::of_reproducer(Path::new("x.sh"), "echo").unwrap_err();
        assert!(error.to_string().contains("`x.sh` has no line"));
    }
}
