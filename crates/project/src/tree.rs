//! The project's own tree, with other objects in it: objects -> links -> check -> verdict.
//!
//! Stands between the search for guilty units, which chooses objects, and the user's
//! check, which is any command line and runs as the user runs it: with their rights, in
//! the folder of the build, and with a time limit.
//!
//! **Invariant:** one verdict at a time; only what an object goes into is linked again.
//! A link that fails is trouble of ours, never a verdict. When this value goes, the
//! objects of the build are back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use optsleuth_compiler::spawn::{Tool, ToolEnd, ToolOutput};
use optsleuth_model::{Progress, signal_name};

use crate::ProjectError;
use crate::command::{Command, recompile};
use crate::project::{Project, Unit};

/// What a check says of a choice of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    Passes,
    Fails(String),
}

/// The tree of a project, and what is in it now.
#[derive(Debug)]
pub struct Tree<'a> {
    project: &'a Project,
    check: String,
    /// What a check may take.
    limit: Duration,
    /// Units whose object is not the build's, and which it is.
    installed: BTreeMap<usize, Vec<u8>>,
    /// Further words for every link, and variables for the check.
    sanitized: bool,
    pub n_links: usize,
    pub n_checks: usize,
}

/// Before it is known how long a check takes.
const FIRST_LIMIT: Duration = Duration::from_secs(1800);
/// A check that takes so many times what a passing one took does not end.
const PATIENCE: u32 = 10;
const LEAST_LIMIT: Duration = Duration::from_secs(10);
/// What links and the check get, where sanitizers are asked.
const SANITIZERS: &str = "-fsanitize=address,undefined";

impl Tree<'_> {
    /// The tree as the build left it, whatever was there since.
    pub fn open<'a>(project: &'a Project, check: &str) -> Result<Tree<'a>, ProjectError> {
        let mut tree = Tree {
            project,
            check: check.to_owned(),
            limit: FIRST_LIMIT,
            installed: BTreeMap::new(),
            sanitized: false,
            n_links: 0,
            n_checks: 0,
        };
        let mut changed = Vec::new();
        for unit in &project.units {
            let built = fs::read(project.object(unit, "built"))?;
            if fs::read(&unit.places[0])? != built {
                write_to_places(unit, &built)?;
                changed.extend(unit.places.iter().cloned());
            }
        }
        tree.link(changed)?;
        Ok(tree)
    }

    /// What the check says where these units have these objects, and all others their
    /// own.
    pub fn judge(&mut self, objects: BTreeMap<usize, Vec<u8>>) -> Result<Judged, ProjectError> {
        self.install(objects)?;
        self.check()
    }

    /// The same with sanitizers linked in. What they wrote.
    pub fn judge_sanitized(
        &mut self,
        objects: BTreeMap<usize, Vec<u8>>,
        log: &Path,
    ) -> Result<(Judged, String), ProjectError> {
        self.sanitized = true;
        let judged = self.install(objects).and_then(|()| {
            let log = log.join("report");
            let options = |more: &str| format!("log_path={}:{more}", log.display());
            let tool = self
                .tool()
                .env("ASAN_OPTIONS", options("detect_leaks=0:verify_asan_link_order=0"))
                .env("UBSAN_OPTIONS", options("print_stacktrace=1:halt_on_error=1"));
            self.run(&tool)
        });
        // What is linked now must not stay.
        let units: Vec<usize> = self.installed.keys().copied().collect();
        self.sanitized = false;
        self.install(BTreeMap::new())?;
        self.link(
            units.iter().flat_map(|&unit| self.project.units[unit].places.clone()).collect(),
        )?;
        let mut written = String::new();
        let mut files: Vec<PathBuf> =
            fs::read_dir(log)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        for file in files {
            written += &String::from_utf8_lossy(&fs::read(file)?);
        }
        Ok((judged?, written))
    }

    /// Passing checks take so long: others get a multiple of it.
    pub fn limit_by(&mut self, passing: Duration) {
        self.limit = (passing * PATIENCE).max(LEAST_LIMIT);
    }

    fn install(&mut self, objects: BTreeMap<usize, Vec<u8>>) -> Result<(), ProjectError> {
        let mut changed = Vec::new();
        for unit in &self.project.units {
            let (old, new) = (self.installed.get(&unit.number), objects.get(&unit.number));
            if old == new {
                continue;
            }
            match new {
                Some(object) => write_to_places(unit, object)?,
                None => {
                    write_to_places(unit, &fs::read(self.project.object(unit, "built"))?)?;
                }
            }
            changed.extend(unit.places.iter().cloned());
        }
        self.installed = objects;
        self.link(changed)
    }

    fn link(&mut self, changed: Vec<PathBuf>) -> Result<(), ProjectError> {
        for command in self.project.affected(changed) {
            let mut args = again(command);
            if self.sanitized && !is_archiver(command) {
                args.push(SANITIZERS.to_owned());
            }
            Tool::new(&command.program).args(&args).directory(&command.dir).check()?;
            self.n_links += 1;
        }
        Ok(())
    }

    fn tool(&self) -> Tool {
        // A check is a command line of the user's, so a shell is what it is for.
        Tool::new("sh")
            .args(["-c", &self.check])
            .directory(&self.project.head.dir)
            .time(self.limit)
            .memory(u64::MAX)
    }

    /// How the check ends as things are, and how long it takes.
    pub fn check(&mut self) -> Result<Judged, ProjectError> {
        let tool = self.tool();
        self.run(&tool)
    }

    fn run(&mut self, tool: &Tool) -> Result<Judged, ProjectError> {
        self.n_checks += 1;
        let output = tool.output()?;
        Ok(match output.end {
            ToolEnd::Exited(0) => Judged::Passes,
            ToolEnd::Exited(status) => {
                Judged::Fails(format!("exits with status {status}{}", last_line(&output)))
            }
            ToolEnd::Signaled(signal) => {
                Judged::Fails(format!("is ended by {}", signal_name(signal)))
            }
            ToolEnd::Timeout => {
                Judged::Fails(format!("does not end within {} s", self.limit.as_secs()))
            }
        })
    }
}

impl Drop for Tree<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.install(BTreeMap::new()) {
            tracing::warn!("the objects of the build could not be put back: {error}");
        }
    }
}

impl Project {
    /// Compiles every unit without optimization, as many at a time as there are cores.
    /// What is there already stays.
    pub fn compile_unoptimized(&self, progress: &dyn Progress) -> Result<(), ProjectError> {
        let missing: Vec<&Unit> =
            self.units.iter().filter(|unit| !self.object(unit, "O0").exists()).collect();
        let done = std::sync::atomic::AtomicUsize::new(0);
        let next = std::sync::Mutex::new(missing.iter());
        let work = || -> Result<(), ProjectError> {
            loop {
                let unit = next.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                let Some(unit) = unit else { return Ok(()) };
                self.compile(unit, &["-O0".to_owned()], &self.object(unit, "O0"))?;
                let n = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
                progress.count(n, missing.len());
            }
        };
        let n_threads = std::thread::available_parallelism().map_or(1, Into::into);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
            let joined = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            joined.collect::<Result<Vec<()>, _>>()
        })?;
        Ok(())
    }

    /// Compiles a unit with more flags, into another file. It is there whole or not at
    /// all.
    pub fn compile(&self, unit: &Unit, flags: &[String], to: &Path) -> Result<(), ProjectError> {
        let Command { dir, program, args, .. } = &unit.command;
        let part = to.with_extension("part");
        Tool::new(program).args(recompile(args, flags, &part)).directory(dir).check()?;
        Ok(fs::rename(part, to)?)
    }
}

fn write_to_places(unit: &Unit, object: &[u8]) -> Result<(), ProjectError> {
    // In place, so that other names of the same file hold it, too.
    Ok(unit.places.iter().try_for_each(|place| fs::write(place, object))?)
}

fn is_archiver(command: &Command) -> bool {
    command.program.file_name().is_some_and(|name| name.to_string_lossy().ends_with("ar"))
}

/// The words to combine once more. `ar q` would append what is in the archive already.
fn again(command: &Command) -> Vec<String> {
    let mut args = command.args.clone();
    if let Some(operation) = args.first_mut().filter(|_| is_archiver(command)) {
        *operation = operation.replace('q', "r");
    }
    args
}

/// The last thing that a check said, which is often why it fails.
fn last_line(output: &ToolOutput) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let short: String = line.chars().take(120).collect();
    if short.is_empty() { short } else { format!(": {short}") }
}
