//! The project's own tree, with other objects in it: objects -> links -> check -> verdict.
//!
//! Stands between the search for guilty units, which chooses objects, and the user's
//! check, which is any command line and runs as the user runs it: with their rights, in
//! the folder of the build, and with a time limit.
//!
//! **Invariant:** one verdict at a time; only what an object goes into is linked again.
//! A link that fails is trouble of ours, never a verdict. What is in the tree is told by
//! its files, so that a search that was killed leaves nothing that the next one trusts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use optsleuth_compiler::spawn::{Tool, ToolEnd, ToolOutput};
use optsleuth_model::{Progress, Silent, signal_name};

use crate::ProjectError;
use crate::command::{Command, recompile};
use crate::project::{Project, Unit};

/// What a check says of a choice of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    Passes,
    Fails(String),
}

/// Objects of some units: the number of each, and what it is.
pub type Objects = BTreeMap<usize, Vec<u8>>;

/// The tree of a project.
pub struct Tree<'a> {
    project: &'a Project,
    check: String,
    /// Who may ask to end early.
    progress: &'a dyn Progress,
    /// What a check may take.
    pub limit: Duration,
    /// Every link gets sanitizers.
    sanitized: bool,
    pub n_links: usize,
    pub n_checks: usize,
}

/// Before it is known how long a check takes.
const FIRST_LIMIT: Duration = Duration::from_secs(1800);
/// A check that takes so many times what a passing one took does not end.
const PATIENCE: u32 = 10;
const LEAST_LIMIT: Duration = Duration::from_secs(10);
/// What links get, where sanitizers are asked.
const SANITIZERS: &str = "-fsanitize=address,undefined";
/// There while objects may be newer than what is linked from them.
const UNLINKED: &str = "unlinked";
/// Held while somebody changes the tree and looks at it.
const LOCK: &str = "lock";

impl<'a> Tree<'a> {
    /// A tree in which nothing is changed yet.
    pub fn new(project: &'a Project, check: &str, progress: &'a dyn Progress) -> Tree<'a> {
        let (check, limit) = (check.to_owned(), FIRST_LIMIT);
        Tree { project, check, progress, limit, sanitized: false, n_links: 0, n_checks: 0 }
    }

    /// What the check says where these units have these objects, and all others those of
    /// the build.
    pub fn judge(&mut self, objects: &Objects) -> Result<Judged, ProjectError> {
        let lock = fs::File::create(self.project.folder.join(LOCK))?;
        lock.lock()?;
        self.install(objects)?;
        let tool = self.tool();
        self.run(&tool)
    }

    /// The same with sanitizers linked in. What they wrote into this folder.
    pub fn judge_sanitized(
        &mut self,
        objects: &Objects,
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
        // What is linked now must not stay, whatever its objects are.
        self.sanitized = false;
        fs::write(self.project.folder.join(UNLINKED), "")?;
        self.install(&Objects::new())?;
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

    /// Puts objects into their places, and links what they go into.
    pub fn install(&mut self, objects: &Objects) -> Result<(), ProjectError> {
        let mark = self.project.folder.join(UNLINKED);
        let links_all = mark.exists();
        let mut changed = Vec::new();
        for unit in &self.project.units {
            let built;
            let object = match objects.get(&unit.number) {
                Some(object) => object,
                None => {
                    built = fs::read(self.project.object(unit, "built"))?;
                    &built
                }
            };
            for place in &unit.places {
                if links_all || fs::read(place)? != *object {
                    fs::write(&mark, "")?;
                    // In place, so that other names of the same file hold it, too.
                    fs::write(place, object)?;
                    changed.push(place.clone());
                }
            }
        }
        for command in self.project.affected(changed) {
            let mut args = again(command);
            if self.sanitized && !is_archiver(command) {
                args.push(SANITIZERS.to_owned());
            }
            let tool = Tool::new(&command.program).args(&args).directory(&command.dir);
            tool.check().map_err(|error| ProjectError::DoesNotLink(Box::new(error)))?;
            self.n_links += 1;
        }
        match mark.exists() {
            true => Ok(fs::remove_file(mark)?),
            false => Ok(()),
        }
    }

    fn tool(&self) -> Tool {
        // A check is a command line of the user's, so a shell is what it is for.
        Tool::new("sh")
            .args(["-c", &self.check])
            .directory(&self.project.head.dir)
            .time(self.limit)
            .memory(u64::MAX)
    }

    fn run(&mut self, tool: &Tool) -> Result<Judged, ProjectError> {
        self.n_checks += 1;
        let output = tool.output_unless(&|| self.progress.stop_requested())?;
        if self.progress.stop_requested() {
            return Err(ProjectError::Interrupted);
        }
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

    /// Puts the objects of the build back.
    pub fn restore(&self) -> Result<(), ProjectError> {
        Tree::new(self, "", &Silent).install(&Objects::new())
    }

    /// The unoptimized objects of all units but some.
    pub fn unoptimized_but(
        &self,
        optimized: impl Fn(usize) -> bool,
    ) -> Result<Objects, ProjectError> {
        let others = self.units.iter().filter(|unit| !optimized(unit.number));
        others.map(|unit| Ok((unit.number, fs::read(self.object(unit, "O0"))?))).collect()
    }
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
