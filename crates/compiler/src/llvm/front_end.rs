//! Front-end servers: workers with clang's libraries, which make IR of C.
//!
//! One is the plain worker's objects, one more, and clang's archives beside all
//! of LLVM's. It serves every other worker of its LLVM: those are not made
//! larger by a front end, and a faulty LLVM does not compile the programs that
//! are to show its fault.
//!
//! **Invariant:** LLVM and clang in a server are as they are installed: neither
//! probes nor faults.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fs_err as fs;
use optsleuth_model::{Limits, Outcome, RunResult};

use super::embedded::{FRONT_END, SOURCES, Source};
use super::install::Install;
use super::process::{CallError, Process};
use super::protocol::{Op, Payload};
use super::provision::{
    Parts, Recipe, Step, compile, finish, in_cache, is_archive, link, objects_in, objects_of,
    plain_entry, recipe, remove_sources, stamp, write_sources,
};
use super::provisioned::{Flavor, Provisioned, Targets};
use super::worker::ATTEMPTS;
use crate::CompilerError;
use crate::c_source::CSource;
use crate::spawn::Tool;

/// clang's libraries from the front end down, in the order of their uses. Not
/// every clang has all of them.
const LIBRARIES: [&str; 16] = [
    "CodeGen",
    "Frontend",
    "Driver",
    "Options",
    "Serialization",
    "Parse",
    "Sema",
    "AnalysisLifetimeSafety",
    "Analysis",
    "Edit",
    "APINotes",
    "ASTMatchers",
    "AST",
    "Support",
    "Lex",
    "Basic",
];

/// What of an LLVM's clang is installed to build a server from.
pub(crate) struct FrontEndParts {
    /// `None`: no headers.
    pub(crate) header: Option<PathBuf>,
    /// `None`: no archives.
    pub(crate) archive: Option<PathBuf>,
}

impl FrontEndParts {
    pub(crate) fn find(install: &Install) -> FrontEndParts {
        let existing = |path: PathBuf| path.is_file().then_some(path);
        let headers = Tool::new(&install.llvm_config).arg("--includedir").text();
        let header = |folder| Path::new(&folder).join("clang/Frontend/CompilerInstance.h");
        FrontEndParts {
            header: headers.ok().map(header).and_then(existing),
            archive: existing(archive(install, "Frontend")),
        }
    }

    /// Whether a server can be built.
    pub(crate) fn are_complete(&self) -> bool {
        self.header.is_some() && self.archive.is_some()
    }
}

fn archive(install: &Install, library: &str) -> PathBuf {
    install.lib.join(format!("libclang{library}.a"))
}

/// The server for this LLVM: from the cache, or built now.
fn provision(
    install: &Install,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<Provisioned, CompilerError> {
    let targets = Targets::Native;
    let recipe = recipe(install, targets)?;
    let plain = plain_entry(install, &recipe, targets, progress)?;
    let libraries = libraries(install)?;
    let entry = in_cache(&key(&recipe, &libraries), progress, |folder, progress| {
        build(install, &recipe, libraries.clone(), &plain, folder, progress)?;
        finish(&Provisioned::new(install, folder, targets, Flavor::Plain), folder, progress)
    })?;
    Ok(Provisioned::new(install, &entry, targets, Flavor::Plain))
}

/// clang's archives, then all of LLVM's: the linker takes what it needs. An
/// extension that LLVM was built with may not be installed, and is not needed.
fn libraries(install: &Install) -> Result<Vec<String>, CompilerError> {
    let clang = LIBRARIES.iter().map(|name| archive(install, name).display().to_string());
    let llvm = install.link_arguments(&["all"])?;
    let is_there = |library: &String| !is_archive(library) || Path::new(library).is_file();
    Ok(clang.chain(llvm).filter(is_there).collect())
}

fn key(recipe: &Recipe, libraries: &[String]) -> String {
    let mut hash = blake3::Hasher::new();
    let stamps = libraries.iter().map(|library| stamp(Path::new(library)));
    for text in FRONT_END.iter().map(|source| source.text.to_owned()).chain(stamps) {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    format!("{}-front-end-{}", recipe.key, &hash.finalize().to_hex()[..16])
}

fn build(
    install: &Install,
    recipe: &Recipe,
    libraries: Vec<String>,
    plain: &Path,
    folder: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<(), CompilerError> {
    let headers = SOURCES.iter().filter(|source| source.name.ends_with(".h"));
    let needed: Vec<&Source> = headers.chain(FRONT_END).collect();
    write_sources(needed.iter().copied(), folder)?;
    compile(install, recipe, FRONT_END, folder, progress)?;
    progress(Step::Linking);
    let own = objects_of(FRONT_END, folder);
    let parts = Parts { objects: [objects_in(plain), own.clone()].concat(), libraries };
    link(install, recipe, &parts, folder)?;
    remove_sources(needed.iter().copied(), folder)?;
    Ok(own.iter().try_for_each(fs::remove_file)?)
}

/// Servers of one LLVM: as many as compile at the same time.
#[derive(Debug)]
pub(crate) struct Servers {
    provisioned: Provisioned,
    idle: Mutex<Vec<Process>>,
}

impl Servers {
    /// Builds what is needed; a server starts when there is work for it.
    pub(crate) fn prepare(
        install: &Install,
        progress: &mut (dyn FnMut(Step) + Send),
    ) -> Result<Servers, CompilerError> {
        Ok(Servers { provisioned: provision(install, progress)?, idle: Mutex::default() })
    }

    /// C -> the text of its IR; `Err` inside is clang's failure. `arguments` are
    /// those behind `-cc1`, as seen from `directory`.
    pub(crate) fn compile(
        &self,
        source: &CSource,
        arguments: &[String],
        directory: &Path,
        limits: Limits,
    ) -> Result<Result<Vec<u8>, RunResult>, CompilerError> {
        let payload = Payload::default()
            .bytes(directory.as_os_str().as_encoded_bytes())
            .bytes(source.name.as_bytes())
            .bytes(&source.text)
            .texts(arguments)
            .finish();
        let mut how = "";
        for _ in 0..ATTEMPTS {
            let mut process = self.take()?;
            match self.call(&mut process, &payload, limits) {
                Err(CallError::Lost(lost)) => {
                    tracing::warn!(how = lost, "front end lost, starting another");
                    how = lost;
                }
                Err(CallError::Fatal(error)) => {
                    self.put_back(process);
                    return Err(error);
                }
                Ok(result) => {
                    self.put_back(process);
                    return Ok(match result.outcome {
                        Outcome::Ok(_) => Ok(result.emitted),
                        _ => Err(result),
                    });
                }
            }
        }
        Err(CompilerError::Lost { attempts: ATTEMPTS, how })
    }

    fn call(
        &self,
        process: &mut Process,
        payload: &[u8],
        limits: Limits,
    ) -> Result<RunResult, CallError> {
        let report = process.call(Op::Compile, payload, &limits)?;
        let (result, _) = process.result(&self.provisioned, &report, false)?;
        Ok(result)
    }

    fn take(&self) -> Result<Process, CompilerError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| Process::start(&self.provisioned), Ok)
    }

    fn put_back(&self, process: Process) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }
}
