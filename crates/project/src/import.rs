//! A `compile_commands.json` and a command that links -> a record, as if the build had
//! been watched.
//!
//! **Invariant:** only compilations whose objects are there become units. How objects are
//! linked is not known: the user's command does it, which has to link again what is newer
//! than its result, as `make` and `ninja` do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fs_err as fs;
use optsleuth_compiler::spawn::find_on_path;
use serde::Deserialize;

use crate::ProjectError;
use crate::command::{Command, FileIdentity, Request, Work, request};
use crate::project::{COMMANDS, FAILED, Head, Project, VERSION};

/// What to import, and into what.
#[derive(Clone, Debug)]
pub struct ImportPlan {
    /// Where the record is to be.
    pub folder: PathBuf,
    /// The `compile_commands.json` of a build.
    pub database: PathBuf,
    /// A command line that links again.
    pub relink: String,
}

/// An entry, as far as it is read.
#[derive(Debug, Deserialize)]
struct Entry {
    directory: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// Makes a record of a build that is over.
pub fn import_build(plan: &ImportPlan) -> Result<Project, ProjectError> {
    if plan.folder.exists() {
        return Err(ProjectError::Exists(plan.folder.clone()));
    }
    let unreadable = |why: String| ProjectError::Unreadable { path: plan.database.clone(), why };
    let bytes = fs::read(&plan.database)?;
    let entries: Vec<Entry> =
        serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
    let commands: Vec<Command> = entries.into_iter().filter_map(compilation).collect();
    if commands.is_empty() {
        return Err(ProjectError::NothingRecorded);
    }
    let dir = std::env::current_dir()?;
    let inputs = commands.iter().filter_map(|command| match &command.work {
        Work::Compile { object, .. } => Some(object.clone()),
        Work::Combine { .. } => None,
    });
    let relink = Command {
        dir: dir.clone(),
        program: find_on_path("sh").unwrap_or_else(|| PathBuf::from("/bin/sh")),
        args: vec!["-c".to_owned(), plan.relink.clone()],
        // What it makes is not known; where it makes it is there.
        work: Work::Combine { inputs: inputs.collect(), output: dir.clone() },
    };
    fs::create_dir_all(&plan.folder)?;
    let head = Head {
        version: VERSION,
        dir,
        command: relink.args.clone(),
        llvm: None,
        fault: None,
        tools: BTreeMap::new(),
    };
    head.write(&plan.folder)?;
    let line = |command: &Command| serde_json::to_string(command).map(|line| line + "\n");
    let lines = commands.iter().chain([&relink]).map(line).collect::<Result<String, _>>();
    fs::write(plan.folder.join(COMMANDS), lines.map_err(std::io::Error::from)?)?;
    fs::write(plan.folder.join(FAILED), "")?;
    let project = Project::open(&plan.folder)?;
    project.keep_objects()?;
    Ok(project)
}

/// An entry as a command; none where it is no compilation, or its object is not there.
fn compilation(entry: Entry) -> Option<Command> {
    let Entry { directory: dir, command, arguments } = entry;
    let words = arguments.or_else(|| shlex::split(&command?))?;
    let (program, args) = words.split_first()?;
    let program = match program.contains('/') {
        true => dir.join(program),
        false => find_on_path(program)?,
    };
    let Request::Compile { source, object } = request(args, &dir) else { return None };
    if !object.is_file() {
        return None;
    }
    let (source, object) = (dir.join(source), FileIdentity::of(&object));
    Some(Command { dir, program, args: args.to_vec(), work: Work::Compile { source, object } })
}
