//! A failing command of opt, llc, clang or gcc, as a person would paste it -> what is
//! to be triaged.
//!
//! clang's crash reproducers are such commands, too (`reproducer.rs`).
//!
//! **Invariant:** pure, but for reading a folder of scripts. What a flag means is never
//! guessed: those that only say what to write and where are left out, those of the
//! linker are kept for it, those that cannot be followed are refused by name, and all
//! others go to the compiler (`flags.rs`).

mod flags;
mod reproducer;

use std::path::{Path, PathBuf};

use optsleuth_model::{Language, OptLevel};

use flags::{Meaning, level_of, meaning};
pub(crate) use reproducer::{of_reproducer, script_in};

/// What a command asks of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailingCommand {
    /// As it was called, but by the name that it has for C: a name or a path.
    pub(crate) compiler: PathBuf,
    pub(crate) tool: Tool,
    /// What is compiled, in the order of the command; never empty.
    pub(crate) programs: Vec<PathBuf>,
    pub(crate) asked: Asked,
    /// All other flags, in their order.
    pub(crate) flags: Vec<String>,
    /// Objects and assembly that are linked with them.
    pub(crate) companions: Vec<PathBuf>,
    /// What else the linker is told.
    pub(crate) link_words: Vec<String>,
    /// Whether it makes a program.
    pub(crate) links: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Opt,
    Llc,
    Clang,
    Gcc,
}

/// What is to be done with the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Passes(String),
    Level(OptLevel),
    /// No pass: code is generated at this level.
    Codegen(OptLevel),
}

impl Asked {
    /// The level; that of no passes where none is asked for.
    pub(crate) fn level(&self) -> OptLevel {
        match self {
            Asked::Level(level) | Asked::Codegen(level) => *level,
            Asked::Passes(_) => OptLevel::O0,
        }
    }
}

/// Why a command cannot be followed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum CommandError {
    #[error("`{0}` is none of opt, llc, clang and gcc")]
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
    #[error("`{path}` has {n} scripts, and a crash reproducer has one", path = .0.display(), n = .1)]
    NoScript(PathBuf, usize),
}

impl FailingCommand {
    /// Reads a command, word by word.
    pub(crate) fn read(words: &[String]) -> Result<FailingCommand, CommandError> {
        let [called, rest @ ..] = words else { return Err(CommandError::NoProgram) };
        let called = Called::read(called)?;
        let asked = match called.tool {
            Tool::Opt => Asked::Passes(String::new()),
            Tool::Llc => Asked::Codegen(OptLevel::O2),
            Tool::Clang | Tool::Gcc => Asked::Level(OptLevel::O0),
        };
        let mut command = FailingCommand {
            compiler: called.compiler,
            tool: called.tool,
            programs: Vec::new(),
            asked,
            flags: Vec::new(),
            companions: Vec::new(),
            link_words: Vec::new(),
            links: matches!(called.tool, Tool::Clang | Tool::Gcc),
        };
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            if word.starts_with('-') {
                command.take_flag(word, &mut words)?;
            } else {
                command.take_file(word)?;
            }
        }
        match &command.programs[..] {
            [] => return Err(CommandError::NoProgram),
            [first, second, ..] if matches!(called.tool, Tool::Opt | Tool::Llc) => {
                let [first, second] = [first, second].map(|path| path.display().to_string());
                return Err(CommandError::SeveralPrograms(first, second));
            }
            _ => {}
        }
        let is_c = |path: &&PathBuf| Language::of_path(path) == Some(Language::C);
        if let Some(c) = command.programs.iter().find(is_c).filter(|_| called.for_cxx) {
            let why = "this compiler takes it for C++: name it `.cpp`";
            return Err(CommandError::Refused(c.display().to_string(), why));
        }
        Ok(command)
    }

    fn take_flag<'a>(
        &mut self,
        word: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), CommandError> {
        // LLVM's own tools take two dashes for one.
        let flag = match word.strip_prefix("--") {
            Some(bare) if matches!(self.tool, Tool::Opt | Tool::Llc) => format!("-{bare}"),
            _ => word.to_owned(),
        };
        if let Some(level) = level_of(&flag, self.tool) {
            if flag == "-Ofast" {
                self.flags.push("-ffast-math".to_owned());
            }
            self.asked = match self.tool {
                Tool::Opt => Asked::Passes(format!("default<{}>", level.name())),
                Tool::Llc => Asked::Codegen(level),
                Tool::Clang | Tool::Gcc => Asked::Level(level),
            };
            return Ok(());
        }
        if let Some(passes) = flag.strip_prefix("-passes=").filter(|_| self.tool == Tool::Opt) {
            self.asked = Asked::Passes(passes.trim_matches(['\'', '"']).to_owned());
            return Ok(());
        }
        let mut value = || rest.next().cloned().ok_or(CommandError::NoValue(flag.clone()));
        match meaning(&flag, self.tool) {
            Meaning::Output => {}
            Meaning::OutputWithValue => {
                value()?;
            }
            Meaning::StopsBeforeLinking => self.links = false,
            Meaning::CompilerWithValue => match (flag.as_str(), value()?) {
                ("-passes", passes) => self.asked = Asked::Passes(passes),
                ("-I" | "-isystem" | "-iquote" | "-idirafter" | "-include" | "-imacros", path) => {
                    self.flags.extend([flag, absolute(&path)]);
                }
                (_, value) => self.flags.extend([flag, value]),
            },
            Meaning::Linker => self.link_words.push(absolute_library(&flag)),
            Meaning::LinkerWithValue => {
                let value = value()?;
                match flag.as_str() {
                    "-L" | "-l" => {
                        self.link_words.push(absolute_library(&format!("{flag}{value}")))
                    }
                    _ => self.link_words.extend([flag, value]),
                }
            }
            Meaning::Both => {
                self.link_words.push(flag.clone());
                self.flags.push(flag);
            }
            Meaning::Refused(why) => return Err(CommandError::Refused(flag, why)),
            // `-ofile`.
            Meaning::Compiler
                if flag.starts_with("-o") && matches!(self.tool, Tool::Clang | Tool::Gcc) => {}
            Meaning::Compiler => match flag.strip_prefix("-I") {
                Some(folder) if matches!(self.tool, Tool::Clang | Tool::Gcc) => {
                    self.flags.push(format!("-I{}", absolute(folder)));
                }
                _ => self.flags.push(flag),
            },
        }
        Ok(())
    }

    /// A word that is a file: a program, or what is linked with it.
    fn take_file(&mut self, word: &str) -> Result<(), CommandError> {
        let path = PathBuf::from(word);
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        match (self.tool, ending.as_ref()) {
            _ if word.starts_with('@') => {
                let why = "write the words of that file into the command";
                return Err(CommandError::Refused(word.to_owned(), why));
            }
            (Tool::Llc, "mir") => {
                let why = "machine IR is neither read nor written";
                return Err(CommandError::Refused(word.to_owned(), why));
            }
            (Tool::Opt | Tool::Llc, _) => self.programs.push(path),
            (Tool::Clang | Tool::Gcc, "S") => {
                let why = "it is assembly to be preprocessed: make a `.s` or a `.o` of it first";
                return Err(CommandError::Refused(word.to_owned(), why));
            }
            (Tool::Clang | Tool::Gcc, "o" | "a" | "s") => self.companions.push(path),
            (Tool::Clang | Tool::Gcc, _) if ending == "so" || word.contains(".so.") => {
                self.link_words.push(absolute(word));
            }
            (Tool::Clang | Tool::Gcc, _) => self.programs.push(path),
        }
        Ok(())
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
}

/// A library or a folder of libraries, wherever the linker is started.
fn absolute_library(flag: &str) -> String {
    match flag.strip_prefix("-L") {
        Some(folder) => format!("-L{}", absolute(folder)),
        None => flag.to_owned(),
    }
}

fn absolute(path: &str) -> String {
    match std::path::absolute(path) {
        Ok(path) => path.display().to_string(),
        Err(_) => path.to_owned(),
    }
}

/// Who is called.
struct Called {
    /// By the name that it has for C: `gcc-12` for `g++-12`.
    compiler: PathBuf,
    tool: Tool,
    for_cxx: bool,
}

impl Called {
    fn read(word: &str) -> Result<Called, CommandError> {
        let path = Path::new(word);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // `x86_64-linux-gnu-gcc-12`.
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let (tool, for_c) = match bare.rsplit('-').next().unwrap_or(bare) {
            "opt" => (Tool::Opt, None),
            "llc" => (Tool::Llc, None),
            "clang" => (Tool::Clang, None),
            "gcc" => (Tool::Gcc, None),
            "clang++" => (Tool::Clang, Some(name.replacen("clang++", "clang", 1))),
            "g++" => (Tool::Gcc, Some(name.replacen("g++", "gcc", 1))),
            _ => return Err(CommandError::UnknownTool(word.to_owned())),
        };
        Ok(match for_c {
            Some(name) => Called { compiler: path.with_file_name(name), tool, for_cxx: true },
            None => Called { compiler: path.to_owned(), tool, for_cxx: false },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn commands_of_the_compilers_are_read() {
        let check = |line: &str, tool: Tool, asked: Asked, program: &str, flags: &str| {
            let command = FailingCommand::read(&words(line)).unwrap();
            assert_eq!((command.tool, &command.asked), (tool, &asked), "{line}");
            assert_eq!(command.programs, [Path::new(program)], "{line}");
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
            "clang-19 -I/include -D X=1 -c x.c -O1 -O2 -o x.o -MMD -MF x.d -mavx2",
            Tool::Clang,
            Asked::Level(OptLevel::O2),
            "x.c",
            "-I/include -D X=1 -mavx2",
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
        check("opt -O2 a.ll b.ll", "`a.ll` and `b.ll`");
        check("clang a.o b.o -o prog", "no program");
        check("clang++ -O2 a.c", "`a.c` cannot be followed: this compiler takes it for C++");
        check("clang -O2 @words", "`@words` cannot be followed");
        check("clang -O2 a.c start.S", "`start.S` cannot be followed");
        check("clang -fsanitize=address a.c", "`-fsanitize=address` cannot be followed");
        check("llc -run-pass=isel a.ll", "`-run-pass=isel` cannot be followed");
        check("clang -O2 -flto=thin a.c", "`-flto=thin` cannot be followed");
        check("gcc -M a.c", "`-M`");
        check("opt -passes", "`-passes` needs a value");
    }

    #[test]
    fn cxx_compilers_go_by_the_names_they_have_for_c() {
        let check = |line: &str, tool: Tool, compiler: &str| {
            let command = FailingCommand::read(&words(line)).unwrap();
            assert_eq!((command.tool, command.compiler.as_path()), (tool, Path::new(compiler)));
        };
        check("clang++-19 -O2 x.cpp", Tool::Clang, "clang-19");
        check("/usr/lib/llvm-14/bin/clang++ x.C", Tool::Clang, "/usr/lib/llvm-14/bin/clang");
        check("x86_64-linux-gnu-g++-12 x.cc", Tool::Gcc, "x86_64-linux-gnu-gcc-12");
    }

    #[test]
    fn what_is_linked_is_kept_apart_from_what_is_compiled() {
        let line = "clang -O2 a.c sub/b.cpp start.s x.o -L /lib -l m -lz -Wl,-s -pthread -o prog";
        let command = FailingCommand::read(&words(line)).unwrap();
        assert_eq!(command.programs, [Path::new("a.c"), Path::new("sub/b.cpp")]);
        assert_eq!(command.companions, [Path::new("start.s"), Path::new("x.o")]);
        assert_eq!(command.link_words, words("-L/lib -lm -lz -Wl,-s -pthread"));
        assert_eq!((command.flags, command.links), (words("-pthread"), true));
        let command = FailingCommand::read(&words("gcc -c a.c b.c")).unwrap();
        assert!(!command.links);
        let command = FailingCommand::read(&words("llc x.ll -mcpu=skx -o x.s")).unwrap();
        assert_eq!(
            (command.asked, command.flags),
            (Asked::Codegen(OptLevel::O2), words("-mcpu=skx"))
        );
    }
}
