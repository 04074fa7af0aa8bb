//! A recorded build: what was compiled, what was made of it, and objects to choose from.
//!
//! ```text
//! project/
//!   project.json     where and how it was built
//!   commands.jsonl   one line for each compilation, link and archive
//!   failed.jsonl     the same for compilations that failed
//!   bin/             the compilers that the build saw
//!   linked/          objects of commands that compile and link at once
//!   units/N/         built.o, O0.o
//! ```
//!
//! **Invariant:** a unit's object has a place in the tree as long as the project is
//! open: a compilation whose object is gone, as `configure` makes them, is no unit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::ProjectError;
use crate::command::{Command, FileIdentity, Work};

pub const VERSION: u32 = 1;
pub const COMMANDS: &str = "commands.jsonl";
pub const FAILED: &str = "failed.jsonl";
/// There while a build is recorded.
pub const RECORDING: &str = "recording";
const HEAD: &str = "project.json";

/// How a project was built.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    pub version: u32,
    /// Where its build was started.
    pub dir: PathBuf,
    pub command: Vec<String>,
    /// The `llvm-config` of the LLVM whose clang stood for every compiler.
    pub llvm: Option<PathBuf>,
    /// What was broken in it.
    pub fault: Option<String>,
    /// Names that the build may use -> the real programs.
    pub tools: BTreeMap<String, PathBuf>,
}

/// A recorded build.
#[derive(Clone, Debug)]
pub struct Project {
    pub folder: PathBuf,
    pub head: Head,
    pub units: Vec<Unit>,
    /// What makes programs, libraries and archives, in the order of the build.
    pub combinations: Vec<Command>,
}

/// A source that one command compiles.
#[derive(Clone, Debug)]
pub struct Unit {
    pub number: usize,
    pub source: PathBuf,
    /// Where its object lies, under every name that a link takes it by.
    pub places: Vec<PathBuf>,
    pub command: Command,
}

impl Head {
    pub fn write(&self, folder: &Path) -> Result<(), ProjectError> {
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::other)?;
        Ok(fs::write(folder.join(HEAD), text + "\n")?)
    }

    pub fn read(folder: &Path) -> Result<Head, ProjectError> {
        let path = folder.join(HEAD);
        let text = fs::read_to_string(&path)
            .map_err(|_| ProjectError::NoProject { path: folder.to_owned() })?;
        let head: Head = serde_json::from_str(&text).map_err(|error| ProjectError::Unreadable {
            path: path.clone(),
            why: error.to_string(),
        })?;
        match head.version {
            VERSION => Ok(head),
            other => {
                let why = format!("it is of version {other}, and this optsleuth reads {VERSION}");
                Err(ProjectError::Unreadable { path, why })
            }
        }
    }
}

impl Project {
    /// Whether a folder holds one.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(HEAD).is_file()
    }

    pub fn open(folder: &Path) -> Result<Project, ProjectError> {
        let head = Head::read(folder)?;
        let folder = fs::canonicalize(folder)?;
        let commands = read_commands(&folder.join(COMMANDS))?;
        let units = units(&commands);
        if units.is_empty() {
            return Err(ProjectError::NothingRecorded);
        }
        let combinations = commands
            .into_iter()
            .filter(
                |command| matches!(&command.work, Work::Combine { output, .. } if output.exists()),
            )
            .collect();
        Ok(Project { folder, head, units, combinations })
    }

    /// Copies the objects as the build made them, so that they can come back.
    pub fn keep_objects(&self) -> Result<(), ProjectError> {
        for unit in &self.units {
            let kept = self.object(unit, "built");
            fs::create_dir_all(kept.parent().unwrap_or(&self.folder))?;
            fs::copy(&unit.places[0], kept)?;
        }
        Ok(())
    }

    /// Where a kind of object of a unit is kept.
    pub fn object(&self, unit: &Unit, name: &str) -> PathBuf {
        self.folder.join("units").join(unit.number.to_string()).join(format!("{name}.o"))
    }

    /// A unit as a person calls it.
    pub fn name(&self, unit: &Unit) -> String {
        unit.source.strip_prefix(&self.head.dir).unwrap_or(&unit.source).display().to_string()
    }

    /// The commands that have to run again where these files are new, in their order.
    pub fn affected(&self, files: impl IntoIterator<Item = PathBuf>) -> Vec<&Command> {
        let mut new: BTreeSet<PathBuf> = files.into_iter().collect();
        let mut affected = Vec::new();
        for command in &self.combinations {
            let Work::Combine { inputs, output } = &command.work else { continue };
            if inputs.iter().any(|input| new.contains(&input.path)) {
                new.insert(output.clone());
                affected.push(command);
            }
        }
        affected
    }
}

/// The lines of a record.
pub fn read_commands(path: &Path) -> Result<Vec<Command>, ProjectError> {
    let text = fs::read_to_string(path)?;
    let commands = text.lines().map(serde_json::from_str).collect::<Result<_, _>>();
    commands.map_err(|why: serde_json::Error| ProjectError::Unreadable {
        path: path.to_owned(),
        why: why.to_string(),
    })
}

/// Compilations whose objects are still there. Of two with the same object, the last.
fn units(commands: &[Command]) -> Vec<Unit> {
    let mut places: Vec<Vec<PathBuf>> = vec![Vec::new(); commands.len()];
    let mut by_path: BTreeMap<&Path, usize> = BTreeMap::new();
    let mut by_inode: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    for (number, command) in commands.iter().enumerate() {
        match &command.work {
            Work::Compile { object, .. } => {
                by_path.insert(&object.path, number);
                by_inode.extend(object.inode.map(|inode| (inode, number)));
            }
            // An object may have been moved before it is taken.
            Work::Combine { inputs, .. } => {
                for FileIdentity { path, inode } in inputs {
                    let moved = inode.and_then(|inode| by_inode.get(&inode));
                    let made = moved.or_else(|| by_path.get(path.as_path()));
                    if let Some(&made) = made.filter(|&&made| !places[made].contains(path)) {
                        places[made].push(path.clone());
                    }
                }
            }
        }
    }
    let mut units = Vec::new();
    for (number, (command, mut places)) in commands.iter().zip(places).enumerate() {
        let Work::Compile { source, object } = &command.work else { continue };
        let is_last = by_path.get(object.path.as_path()) == Some(&number);
        places.retain(|place| place.exists());
        if is_last && !places.is_empty() {
            let (source, command) = (source.clone(), command.clone());
            units.push(Unit { number: units.len(), source, places, command });
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(path: &Path) -> FileIdentity {
        FileIdentity::of(path)
    }

    fn command(work: Work) -> Command {
        Command { dir: "/".into(), program: "cc".into(), args: Vec::new(), work }
    }

    #[test]
    fn a_unit_is_known_by_the_place_from_which_it_is_linked() {
        let folder = tempfile::tempdir().unwrap();
        let (object, moved) = (folder.path().join("a.o"), folder.path().join("a.lo"));
        fs::write(&object, "x").unwrap();
        let compiled = Work::Compile { source: "a.c".into(), object: identity(&object) };
        fs::rename(&object, &moved).unwrap();
        let output = folder.path().join("lib.a");
        let combined = Work::Combine { inputs: vec![identity(&moved)], output };
        let gone = FileIdentity { path: folder.path().join("conftest.o"), inode: None };
        let probe = Work::Compile { source: "conftest.c".into(), object: gone };
        let found = units(&[command(probe), command(compiled), command(combined)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].source, Path::new("a.c"));
        assert_eq!(found[0].places, [identity(&moved).path]);
    }
}
