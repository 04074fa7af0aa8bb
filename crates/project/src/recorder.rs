//! `optsleuth build -- make`: a build goes on as it would without us, and every
//! compilation and every link is written down.
//!
//! The build sees compilers of ours: small scripts that call `optsleuth recorded`,
//! which calls the real compiler and writes one line about it. After the build they
//! call the real compiler directly, so that a check may compile, too.
//!
//! **Invariant:** the real compiler gets the words it was given, and its status is
//! passed on. A command that was not understood is run and not recorded; a compilation
//! that failed is recorded apart. Lines are
//! written whole, after the command ended: what a line reads is made by lines above it.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_case::workers::LlvmChoice;
use optsleuth_compiler::spawn::{find_on_path, pass_through, quote};
use optsleuth_model::Fault;

use crate::ProjectError;
use crate::command::{
    Command, FileIdentity, Request, Work, archived, is_source, request, without_inputs,
};
use crate::faulty::compile_with_fault;
use crate::project::{COMMANDS, FAILED, Head, Project, RECORDING, VERSION};

/// What to build and how.
#[derive(Clone, Debug)]
pub struct BuildPlan {
    /// Where the record is to be.
    pub folder: PathBuf,
    /// Take this LLVM's clang for every C and C++ compiler that the build calls.
    pub llvm: Option<LlvmChoice>,
    /// Break that clang on purpose.
    pub fault: Option<Fault>,
    /// The build's own words.
    pub command: Vec<String>,
    /// What our compilers call.
    pub optsleuth: PathBuf,
}

/// Programs that a build may call a compiler.
const C_COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];
const CXX_COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];
const ARCHIVERS: [&str; 3] = ["ar", "gcc-ar", "llvm-ar"];
/// Versions under which distributions install compilers.
const VERSIONS: std::ops::RangeInclusive<u32> = 9..=23;

/// Runs a build and records it. The build's exit status, and what was recorded.
pub fn record_build(plan: &BuildPlan) -> Result<(i32, Option<Project>), ProjectError> {
    if plan.folder.exists() {
        return Err(ProjectError::Exists(plan.folder.clone()));
    }
    fs::create_dir_all(&plan.folder)?;
    let folder = fs::canonicalize(&plan.folder)?;
    let tools = tools(plan)?;
    let dir = std::env::current_dir()?;
    let head = Head {
        version: VERSION,
        dir,
        command: plan.command.clone(),
        llvm: plan.llvm.as_ref().map(LlvmChoice::find).transpose()?.map(|llvm| llvm.llvm_config),
        fault: plan.fault.as_ref().map(ToString::to_string),
        tools,
    };
    head.write(&folder)?;
    fs::write(folder.join(COMMANDS), "")?;
    fs::write(folder.join(FAILED), "")?;
    let bin = folder.join("bin");
    write_compilers(&head.tools, &folder, &bin, &plan.optsleuth)?;
    fs::write(folder.join(RECORDING), "")?;
    let ended = run_build(plan, &bin, &head.tools);
    fs::remove_file(folder.join(RECORDING))?;
    let status = ended?;
    Ok(match Project::open(&folder) {
        Ok(project) => {
            project.keep_objects()?;
            (status, Some(project))
        }
        Err(ProjectError::NothingRecorded) => (status, None),
        Err(error) => return Err(error),
    })
}

fn run_build(
    plan: &BuildPlan,
    bin: &Path,
    tools: &BTreeMap<String, PathBuf>,
) -> Result<i32, ProjectError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(bin.to_owned()).chain(std::env::split_paths(&path));
    let joined = std::env::join_paths(all).map_err(std::io::Error::other)?;
    let mut variables = vec![("PATH".to_owned(), joined)];
    for (variable, usual) in [("CC", "cc"), ("CXX", "c++"), ("AR", "ar")] {
        // The user's own choice, as far as it is a compiler that we stand for.
        let own = std::env::var(variable).ok();
        let name = own.as_deref().and_then(|word| Path::new(word).file_name()?.to_str());
        let name = name.filter(|name| tools.contains_key(*name)).unwrap_or(usual);
        if tools.contains_key(name) {
            variables.push((variable.to_owned(), bin.join(name).into()));
        }
    }
    let [program, args @ ..] = plan.command.as_slice() else {
        return Err(ProjectError::NoCompiler("command to build with".to_owned()));
    };
    Ok(pass_through(Path::new(program), args, &variables)?)
}

/// Names that a build may use -> the real programs.
fn tools(plan: &BuildPlan) -> Result<BTreeMap<String, PathBuf>, ProjectError> {
    let own = match &plan.llvm {
        Some(choice) => {
            let install = choice.find()?;
            let missing = |name: &str| ProjectError::NoCompiler(format!("{name} of this LLVM"));
            let clang = install.tool("clang").ok_or_else(|| missing("clang"))?;
            let clangxx = install.tool("clang++");
            Some((clang.clone(), clangxx.unwrap_or(clang)))
        }
        None => None,
    };
    let mut tools = BTreeMap::new();
    let families = [(C_COMPILERS, false), (CXX_COMPILERS, true)];
    for (names, is_cxx) in families {
        for name in names {
            let versions = VERSIONS.map(|version| format!("{name}-{version}"));
            for name in std::iter::once(name.to_owned()).chain(versions) {
                let real = match &own {
                    Some((clang, clangxx)) => Some(if is_cxx { clangxx } else { clang }.clone()),
                    None => find_on_path(&name),
                };
                tools.extend(real.map(|real| (name, real)));
            }
        }
    }
    for name in ARCHIVERS {
        tools.extend(find_on_path(name).map(|real| (name.to_owned(), real)));
    }
    match tools.keys().any(|name| !ARCHIVERS.contains(&name.as_str())) {
        true => Ok(tools),
        false => Err(ProjectError::NoCompiler("C compiler".to_owned())),
    }
}

/// A small program for each name. It needs neither us nor the record once the build
/// is over.
fn write_compilers(
    tools: &BTreeMap<String, PathBuf>,
    folder: &Path,
    bin: &Path,
    optsleuth: &Path,
) -> Result<(), ProjectError> {
    fs::create_dir_all(bin)?;
    for (name, real) in tools {
        let word = |path: &Path| quote(&path.display().to_string());
        let script = format!(
            "#!/bin/sh\n\
             # Stands for a compiler while `optsleuth build` runs.\n\
             if [ -e {} ]; then exec {} recorded {} {name} -- \"$@\"; fi\n\
             exec {} \"$@\"\n",
            word(&folder.join(RECORDING)),
            word(optsleuth),
            word(folder),
            word(real),
        );
        let file = bin.join(name);
        fs::write(&file, script)?;
        fs::set_permissions(&file, Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// What one of our compilers does: the real one's work, and a line about it. The real
/// one's status.
pub fn run_recorded(folder: &Path, name: &str, args: &[String]) -> Result<i32, ProjectError> {
    let head = Head::read(folder)?;
    let real = head.tools.get(name).ok_or_else(|| ProjectError::NoCompiler(name.to_owned()))?;
    let recorder = Recorder { folder, head: &head, real, dir: std::env::current_dir()? };
    if ARCHIVERS.contains(&name) {
        return recorder.archive(args);
    }
    match request(args, &recorder.dir) {
        Request::Compile { source, object } => recorder.compile(args, &source, &object),
        Request::Link { sources, inputs, output } if sources.is_empty() => {
            recorder.combine(args, &inputs, &output)
        }
        Request::Link { sources, inputs, output } => {
            recorder.compile_and_link(args, &sources, inputs, &output)
        }
        Request::Other => recorder.pass(args),
    }
}

struct Recorder<'a> {
    folder: &'a Path,
    head: &'a Head,
    real: &'a Path,
    dir: PathBuf,
}

impl Recorder<'_> {
    fn pass(&self, args: &[String]) -> Result<i32, ProjectError> {
        Ok(pass_through(self.real, args, &[])?)
    }

    fn compile(&self, args: &[String], source: &str, object: &Path) -> Result<i32, ProjectError> {
        let status = match &self.head.fault {
            Some(fault) => compile_with_fault(self.head, fault, self.real, args, object)?,
            None => self.pass(args)?,
        };
        let (source, object) = (self.dir.join(source), FileIdentity::of(object));
        let file = if status == 0 { COMMANDS } else { FAILED };
        self.write(file, args, Work::Compile { source, object })?;
        Ok(status)
    }

    fn combine(
        &self,
        args: &[String],
        inputs: &[PathBuf],
        output: &Path,
    ) -> Result<i32, ProjectError> {
        // What is there before: an output may have the name of an input.
        let inputs = inputs.iter().map(|input| FileIdentity::of(input)).collect();
        let status = self.pass(args)?;
        if status == 0 {
            let output = FileIdentity::of(output).path;
            self.write(COMMANDS, args, Work::Combine { inputs, output })?;
        }
        Ok(status)
    }

    fn archive(&self, args: &[String]) -> Result<i32, ProjectError> {
        match archived(args, &self.dir) {
            Some((inputs, output)) => self.combine(args, &inputs, &output),
            None => self.pass(args),
        }
    }

    /// As a driver does it: objects first, then the link. Ours stay.
    fn compile_and_link(
        &self,
        args: &[String],
        sources: &[String],
        mut inputs: Vec<PathBuf>,
        output: &Path,
    ) -> Result<i32, ProjectError> {
        let objects = self.folder.join("linked");
        fs::create_dir_all(&objects)?;
        let flags = without_inputs(args);
        let mut linked = args.to_vec();
        for source in sources {
            let file = tempfile::Builder::new().suffix(".o").tempfile_in(&objects)?;
            let (_, object) = file.keep().map_err(|error| error.error)?;
            let mut words = flags.clone();
            words.extend(["-c".to_owned(), source.clone()]);
            words.extend(["-o".to_owned(), object.display().to_string()]);
            let status = self.compile(&words, source, &object)?;
            if status != 0 {
                return Ok(status);
            }
            for word in linked.iter_mut().filter(|word| *word == source && is_source(word)) {
                *word = object.display().to_string();
            }
            inputs.push(object);
        }
        self.combine(&linked, &inputs, output)
    }

    fn write(&self, file: &str, args: &[String], work: Work) -> Result<(), ProjectError> {
        let (dir, program) = (self.dir.clone(), self.real.to_owned());
        let command = Command { dir, program, args: args.to_vec(), work };
        let line = serde_json::to_string(&command).map_err(std::io::Error::other)? + "\n";
        // One write at the end of the file: lines of other compilers are beside it.
        let mut file = fs::OpenOptions::new().append(true).open(self.folder.join(file))?;
        Ok(file.write_all(line.as_bytes())?)
    }
}
