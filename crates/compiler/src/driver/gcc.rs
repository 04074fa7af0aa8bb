//! What a gcc tells of itself: its configuration, the passes that it runs at a
//! level, and its debug counters.

use std::path::Path;

use optsleuth_model::OptLevel;

use super::Driver;
use crate::CompilerError;
use crate::csmith;
use crate::spawn::Tool;
use crate::workdir::Workdir;

/// A group of passes that optimizes by itself. Others only hold passes together,
/// and later passes rely on what is in them.
const OPTIMIZING_GROUP: &str = "tree-vect";

impl Driver {
    /// What `gcc -v` says, as GCC's bug tracker asks for it.
    pub fn verbose_version(&self) -> Result<String, CompilerError> {
        let said = Tool::new(&self.path).arg("-v").env("LC_ALL", "C").check()?;
        Ok(String::from_utf8_lossy(&said.stderr).trim().to_owned())
    }

    /// A C program in one text, with the preprocessor's line markers. `flags` are the
    /// user's.
    pub fn preprocess(&self, source: &Path, flags: &[String]) -> Result<String, CompilerError> {
        let unreadable = |source_error| CompilerError::UnreadableProgram {
            path: source.to_owned(),
            source: source_error,
        };
        let text = std::fs::read(source).map_err(unreadable)?;
        let folder = Workdir::new()?;
        let output = folder.file("program.i");
        Tool::new(&self.path)
            .args(["-E", "-w"])
            .args(csmith::include_flags(&text))
            .args(flags)
            .arg(source)
            .arg("-o")
            .arg(&output)
            .env("LC_ALL", "C")
            .check()
            .map_err(|error| CompilerError::DoesNotCompile {
                path: source.to_owned(),
                source: Box::new(error),
            })?;
        Ok(String::from_utf8_lossy(&fs_err::read(&output)?).into_owned())
    }

    /// The passes that gcc runs at this level, as its options name them, in their
    /// order; without groups, and without those that have no name for options.
    pub fn passes(&self, level: OptLevel, flags: &[String]) -> Result<Vec<String>, CompilerError> {
        let said = self.asked_with("-fdump-passes", level, flags)?;
        Ok(pass_list(&said))
    }

    /// The optimizations that are on at this level, each as the flag that switches it
    /// off.
    pub fn optimizations(&self, level: OptLevel) -> Result<Vec<String>, CompilerError> {
        let said = Tool::new(&self.path)
            .args(["-Q", "--help=optimizers"])
            .arg(format!("-{}", level.name()))
            .env("LC_ALL", "C")
            .text()?;
        Ok(switched_on(&said))
    }

    /// The names of its debug counters: each counts one kind of transformation, and
    /// `-fdbg-cnt=NAME:N` allows the first N of them.
    pub fn counters(&self) -> Result<Vec<String>, CompilerError> {
        let said = self.asked_with("-fdbg-cnt-list", OptLevel::O0, &[])?;
        let rows = said.lines().skip_while(|line| !line.starts_with("---")).skip(1);
        Ok(rows.filter_map(|row| row.split_whitespace().next()).map(str::to_owned).collect())
    }

    /// What gcc prints about itself when it compiles nothing.
    fn asked_with(
        &self,
        option: &str,
        level: OptLevel,
        flags: &[String],
    ) -> Result<String, CompilerError> {
        let folder = Workdir::new()?;
        let (empty, out) = (folder.file("empty.c"), folder.file("empty.s"));
        fs_err::write(&empty, "")?;
        let said = Tool::new(&self.path)
            .args(flags)
            .arg(format!("-{}", level.name()))
            .args(["-w", "-S", option])
            .arg(empty)
            .arg("-o")
            .arg(out)
            .env("TMPDIR", folder.path())
            .env("LC_ALL", "C")
            .check()?;
        // Up to some version the one, then the other.
        let text = [said.stdout, said.stderr].concat();
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// Reads `-Q --help=optimizers`: an option and its state per line.
fn switched_on(said: &str) -> Vec<String> {
    let flag = |line: &str| {
        let (option, state) = line.trim().split_once(char::is_whitespace)?;
        let is_on = state.trim() == "[enabled]";
        is_on.then(|| option.strip_prefix("-f").map(|name| format!("-fno-{name}"))).flatten()
    };
    said.lines().filter_map(flag).collect()
}

/// Reads `-fdump-passes`: a line per pass, deeper where it lies in a group.
fn pass_list(said: &str) -> Vec<String> {
    let rows: Vec<(usize, &str, bool)> = said
        .lines()
        .filter_map(|line| {
            let (name, state) = line.rsplit_once(':')?;
            let depth = name.len() - name.trim_start().len();
            Some((depth, name.trim(), state.trim() == "ON"))
        })
        .collect();
    let mut passes: Vec<String> = Vec::new();
    for (place, &(depth, name, is_on)) in rows.iter().enumerate() {
        let holds_others = rows.get(place + 1).is_some_and(|&(next, ..)| next > depth);
        let is_named = !name.starts_with('*') && name.contains('-');
        if is_on && is_named && (!holds_others || name == OPTIMIZING_GROUP) {
            passes.push(name.to_owned());
        }
    }
    passes.dedup();
    passes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_can_be_switched_off() {
        let said = "The following options control optimizations:\n  -O<number>   \t\t\n\
                    \x20 -fdce              [enabled]\n  -faggressive-loop-optimizations \t[enabled]\n\
                    \x20 -fvect-cost-model=  dynamic\n  -ftree-vectorize   [disabled]\n";
        assert_eq!(switched_on(said), ["-fno-dce", "-fno-aggressive-loop-optimizations"]);
    }

    #[test]
    fn groups_and_what_is_off_are_left_out() {
        let said = "   *warn_unused_result   :  ON\n   tree-lower    :  ON\n\
                    \x20  ipa-opt_local_passes  :  ON\n      tree-ccp1   :  ON\n\
                    \x20     tree-ubsan  :  OFF\n   tree-vect  :  ON\n      tree-dce6 :  ON\n";
        assert_eq!(pass_list(said), ["tree-lower", "tree-ccp1", "tree-vect", "tree-dce6"]);
    }
}
