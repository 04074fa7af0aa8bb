//! What clang's front end is told about optimization: a level and the user's flags
//! -> flags for clang and options for LLVM, with which passes see what they see
//! inside `clang -O2`.
//!
//! **Invariant:** at `O0` nothing is added, so that old cases that name passes keep
//! the IR they had.

use std::path::Path;

use crate::{Case, OptLevel, Pipeline, is_source};

/// What `opt` calls the machine that clang optimizes for by itself. Costs depend on
/// it: without this option an array of the program is cheaper to access, and more
/// is inlined than clang inlines.
const POSITION_INDEPENDENT: &str = "-relocation-model=pic";

impl OptLevel {
    /// Flags for clang: its front end does what it does at this level and leaves
    /// the passes to others. The user's come last.
    pub fn clang_flags(self, c_flags: &[String]) -> Vec<String> {
        let own = match self {
            OptLevel::O0 => Vec::new(),
            OptLevel::O1 | OptLevel::O2 | OptLevel::O3 | OptLevel::Os | OptLevel::Oz => {
                let level = format!("-{}", self.name());
                vec![level, "-Xclang".to_owned(), "-disable-llvm-passes".to_owned()]
            }
        };
        [&own, c_flags].concat()
    }

    /// Options for LLVM with what clang made at this level: the user's, and the
    /// machine that clang would optimize for.
    pub fn llvm_options(self, c_flags: &[String], options: &[String]) -> Vec<String> {
        let mut all = options.to_vec();
        let is_named = options.iter().any(|option| option.contains("relocation-model"));
        if self != OptLevel::O0 && !is_named && is_position_independent(c_flags) {
            all.push(POSITION_INDEPENDENT.to_owned());
        }
        all
    }
}

/// Whether clang generates such code under these flags: it does unless the last word
/// on it says no.
fn is_position_independent(c_flags: &[String]) -> bool {
    let word = |flag: &String| match flag.to_ascii_lowercase().as_str() {
        "-fpic" | "-fpie" => Some(true),
        "-fno-pic" | "-fno-pie" => Some(false),
        _ => None,
    };
    c_flags.iter().rev().find_map(word).unwrap_or(true)
}

impl Pipeline {
    /// What clang's front end is told where nothing else is said: a level means
    /// what it means to clang, and passes get unoptimized IR.
    pub fn front_end(&self) -> OptLevel {
        match self {
            Pipeline::Passes(_) | Pipeline::Codegen(_) => OptLevel::O0,
            Pipeline::Level(level) => *level,
        }
    }
}

impl Case {
    /// What clang's front end is told. `O0` for IR, which it never sees, and for a
    /// driver, which tells its own.
    pub fn front_end(&self) -> OptLevel {
        if self.compiler.is_driver() {
            return OptLevel::O0;
        }
        match is_source(Path::new(&self.input)) {
            true => self.front_end.unwrap_or_else(|| self.pipeline.front_end()),
            false => OptLevel::O0,
        }
    }

    /// Flags for the clang that makes IR of the program.
    pub fn clang_flags(&self) -> Vec<String> {
        self.front_end().clang_flags(&self.cflags)
    }

    /// Options that LLVM gets with the program.
    pub fn llvm_options(&self) -> Vec<String> {
        self.front_end().llvm_options(&self.cflags, &self.flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_level_tells_the_front_end_and_passes_do_not() {
        let check = |pipeline: Pipeline, expected: &str| {
            assert_eq!(pipeline.front_end().clang_flags(&words("-DX")), words(expected));
        };
        check(Pipeline::Passes("default<O2>".into()), "-DX");
        check(Pipeline::Level(OptLevel::O0), "-DX");
        check(Pipeline::Level(OptLevel::Oz), "-Oz -Xclang -disable-llvm-passes -DX");
    }

    #[test]
    fn passes_optimize_for_the_machine_that_clang_has() {
        let check = |level: OptLevel, c_flags: &str, options: &str, expected: &str| {
            assert_eq!(level.llvm_options(&words(c_flags), &words(options)), words(expected));
        };
        check(OptLevel::O0, "", "-x", "-x");
        check(OptLevel::O2, "", "-x", "-x -relocation-model=pic");
        check(OptLevel::O2, "-fno-PIE -DX", "", "");
        check(OptLevel::O2, "-fno-pie -fPIC", "", "-relocation-model=pic");
        check(OptLevel::O2, "", "--relocation-model=static", "--relocation-model=static");
    }
}
