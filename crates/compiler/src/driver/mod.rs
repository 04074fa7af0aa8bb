//! A compiler as its users call it: `gcc-12 -O2 program.c -o program`.
//!
//! C and a level go in; a program file comes out, or how the compiler failed.
//! `find.rs` says which compilers there are, `complaint.rs` what one means,
//! `backtrace.rs` which functions it names, `plugin.rs` looks into a gcc.
//!
//! **Invariant:** a compiler that crashes leaves nothing behind: its temporary
//! files are in a folder of ours, and it writes no reproducers.

pub(crate) mod backtrace;
mod complaint;
mod find;
mod gcc;
mod instrumented;
mod plugin;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use optsleuth_model::{CompilerSpec, Crash, Limits, OptLevel, is_cxx};

use crate::CompilerError;
use crate::csmith;
use crate::spawn::{Tool, find_on_path, is_executable};
use crate::workdir::Workdir;
pub use instrumented::{CoveredCc1, GccSource, GccStep};
pub use plugin::{GccPlugin, PluginLog, PluginOrders, PluginParts};

/// The kernel ends what uses up its CPU time. Waiting is limited to so much more
/// that a busy machine is not taken for a compiler that never ends.
const WALL_PER_CPU: u32 = 20;
/// For starting, and for telling a crash.
const ALLOWANCE: Duration = Duration::from_secs(5);
/// The limit is meant for what a compiler uses; its own image and libraries come
/// on top. A worker gets the same.
const ROOM: u64 = 2 << 30;

/// glibc's headers, as clang preprocesses them, define types that gcc has built
/// in. Such a text is known by its first line of these, and gets other names.
const GLIBC_FOR_CLANG: &str = "typedef float _Float32;";
const RENAMED: [&str; 5] = [
    "-D_Float32=_Float32_",
    "-D_Float64=_Float64_",
    "-D_Float32x=_Float32x_",
    "-D_Float64x=_Float64x_",
    // In the glibc of Debian 13; that of Debian 12 leaves it to compilers.
    "-D_Float128=_Float128_",
];

/// Whose compiler it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// `clang`, from any vendor.
    Clang,
    /// `gcc`; a clang under that name is refused.
    Gcc,
}

impl Family {
    /// Every family, in the order in which lists name them.
    pub const ALL: [Family; 2] = [Family::Clang, Family::Gcc];

    /// What its command is called, without a number.
    pub fn name(self) -> &'static str {
        match self {
            Family::Clang => "clang",
            Family::Gcc => "gcc",
        }
    }

    /// The other one: a second opinion.
    pub fn other(self) -> Family {
        match self {
            Family::Clang => Family::Gcc,
            Family::Gcc => Family::Clang,
        }
    }

    /// Has it write no reproducers into the system's temporary folder.
    fn tidy_flags(self) -> &'static [&'static str] {
        match self {
            Family::Clang => &["-fno-crash-diagnostics"],
            Family::Gcc => &[],
        }
    }

    /// What a text needs that other compilers preprocessed.
    fn flags_for(self, text: &[u8]) -> &'static [&'static str] {
        let defines = || String::from_utf8_lossy(text).contains(GLIBC_FOR_CLANG);
        match self {
            Family::Gcc if defines() => &RENAMED,
            Family::Gcc | Family::Clang => &[],
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A compiler that was asked who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// `gcc-12`; its path where it was named by that.
    pub name: String,
    /// Decides how its complaints are read.
    pub family: Family,
    /// `12.2.0`.
    pub version: String,
    /// `12`.
    pub major: u32,
    /// The file that is started.
    pub path: PathBuf,
    /// The first line of what it says of itself.
    pub said: String,
}

/// What a compiler made of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compiled {
    /// A program file.
    Program,
    /// Nothing, and it says why: the program's fault, or the linker's.
    Refused(String),
    /// It crashed.
    Crash(Box<Crash>),
    /// It used up its time.
    Hang,
    /// It used up its memory.
    Memory,
}

impl Driver {
    /// What a case says of it.
    pub fn spec(&self) -> CompilerSpec {
        let by = match self.name.contains('/') {
            true => self.name.clone(),
            false => self.major.to_string(),
        };
        match self.family {
            Family::Clang => CompilerSpec::Clang(by),
            Family::Gcc => CompilerSpec::Gcc(by),
        }
    }

    /// The command that compiles a C file to a program, as a user would type
    /// it. `text` is what the file holds; `flags` are the user's (`-I`, `-D`);
    /// the level has the last word.
    pub fn command(
        &self,
        source: &Path,
        text: &[u8],
        level: OptLevel,
        flags: &[String],
        program: &Path,
    ) -> Tool {
        Tool::new(self.path_for(source))
            .args(csmith::include_flags(text))
            .args(self.family.flags_for(text))
            .args(flags)
            .arg(format!("-{}", level.name()))
            .arg("-w")
            .arg(source)
            .arg("-o")
            .arg(program)
            .args(["-lm", "-lpthread"])
    }

    /// The command for a program in this file's language: for C++, the one beside that
    /// links C++'s library, where there is one.
    fn path_for(&self, source: &Path) -> PathBuf {
        match is_cxx(source) {
            true => self.for_cxx().unwrap_or_else(|| self.path.clone()),
            false => self.path.clone(),
        }
    }

    /// `g++-12` beside `gcc-12`, `clang++-19` beside `clang-19`.
    pub(crate) fn for_cxx(&self) -> Option<PathBuf> {
        let name = self.path.file_name()?.to_str()?;
        let (from, to) = match self.family {
            Family::Clang => ("clang", "clang++"),
            Family::Gcc => ("gcc", "g++"),
        };
        let beside = self.path.with_file_name(name.replacen(from, to, 1));
        let is_another = is_executable(&beside) && beside != self.path;
        is_another.then_some(beside).or_else(|| find_on_path(&format!("{to}-{}", self.major)))
    }

    /// Compiles a C file to a program, within the limits for compilers.
    pub fn compile(
        &self,
        source: &Path,
        level: OptLevel,
        flags: &[String],
        program: &Path,
        limits: Limits,
    ) -> Result<Compiled, CompilerError> {
        self.compile_in(Path::new("."), source, level, flags, program, limits)
    }

    /// The same in this folder, from which flags may name others.
    pub fn compile_in(
        &self,
        dir: &Path,
        source: &Path,
        level: OptLevel,
        flags: &[String],
        program: &Path,
        limits: Limits,
    ) -> Result<Compiled, CompilerError> {
        let folder = Workdir::new()?;
        let text = std::fs::read(source).unwrap_or_default();
        let tool = self
            .command(source, &text, level, flags, program)
            .directory(dir)
            .args(self.family.tidy_flags())
            .env("TMPDIR", folder.path())
            // Complaints are read here.
            .env("LC_ALL", "C")
            .cpu(limits.compile)
            .time(limits.compile * WALL_PER_CPU + ALLOWANCE)
            .memory(limits.memory.saturating_add(ROOM));
        let ended = tool.output()?;
        let compiled = complaint::judge(self.family, &ended, limits.compile)
            .map_err(|how| tool.failed(&ended, how))?;
        Ok(match compiled {
            Compiled::Program if !program.is_file() => {
                Compiled::Refused("it made no program file".to_owned())
            }
            other => other,
        })
    }
}
