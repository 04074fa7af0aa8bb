//! Programs for a hunt: from csmith or a folder, each seen to be fit for it.
//!
//! ```text
//! source, seed, number ─► C or IR ─► validity ─► TestProgram, or why not
//!                            └───── kept ─────┘
//! ```
//!
//! **Invariant:** program number `i` of a seed depends on nothing else: not on
//! how many are made, by how many threads, or whether they were kept.
//! A program that is rejected is never used; that it was is always told.

mod kept;
mod rejection;
mod swarm;
mod validity;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, thread};

use fs_err as fs;
use optsleuth_case::workers::Workers;
use optsleuth_compiler::csmith;
use optsleuth_compiler::llvm::{self, Pool, Worker};
use optsleuth_compiler::spawn::ToolEnd;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Execution, Language, Program, Progress, is_cxx};
use optsleuth_triage::TriageError;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::HuntError;
use kept::{Kept, Verdict};
pub use rejection::{Rejected, Rejection, Rejections};
pub use swarm::Swarm;
use validity::{Author, Checker, Unfit, Valid, unwritten, workdir};

/// Where programs come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramSource {
    /// csmith, its probabilities chosen like this.
    Csmith(Swarm),
    /// The `.c`, `.ll` and `.bc` files of a folder, by name.
    Folder(PathBuf),
}

/// How large csmith's programs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeProfile {
    /// Compiled in milliseconds: as many programs and sequences as possible.
    Small,
    /// csmith's own sizes, and at least the 80 KB that the CTOS paper asks for.
    Paper,
}

impl SizeProfile {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            SizeProfile::Small => "small",
            SizeProfile::Paper => "paper",
        }
    }

    /// The least C that counts, unless a plan says otherwise. In smaller
    /// programs hardly anything happens.
    pub fn min_bytes(self) -> usize {
        match self {
            SizeProfile::Small => 3_000,
            SizeProfile::Paper => 80 << 10,
        }
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            SizeProfile::Small => &csmith::SMALL_PROGRAMS,
            SizeProfile::Paper => &[],
        }
    }
}

impl fmt::Display for SizeProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SizeProfile {
    type Err = HuntError;

    fn from_str(text: &str) -> Result<SizeProfile, HuntError> {
        match text {
            "small" => Ok(SizeProfile::Small),
            "paper" => Ok(SizeProfile::Paper),
            _ => Err(HuntError::UnknownSize(text.to_owned())),
        }
    }
}

/// Which programs a hunt is to have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProgramPlan {
    /// Where they come from.
    pub source: ProgramSource,
    /// How large csmith's are; a folder's are as they are.
    pub size: SizeProfile,
    /// The least C that counts, as it was written. `None`: what the size says
    /// for csmith, anything for a folder.
    pub min_bytes: Option<usize>,
    /// csmith's programs follow from it.
    pub seed: u64,
}

/// A program that may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestProgram {
    /// `csmith-000017`, or the file's name.
    pub name: String,
    /// What it was.
    pub source: Source,
    /// Its unoptimized IR, always called `program.ll`.
    pub program: Program,
    /// What it does when it is compiled rightly.
    pub expected: Execution,
}

impl fmt::Display for ProgramPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            ProgramSource::Csmith(Swarm::Default) => write!(f, "csmith, {} programs", self.size),
            ProgramSource::Csmith(swarm) => {
                write!(f, "csmith, {} programs, {swarm} probabilities", self.size)
            }
            // A folder's place is of one machine.
            ProgramSource::Folder(folder) => {
                write!(f, "the folder {}", folder.file_name().unwrap_or_default().display())
            }
        }
    }
}

impl TestProgram {
    /// The name of its file in a case.
    pub fn file_name(&self) -> &'static str {
        match self.source {
            Source::C(_) => "program.c",
            Source::Ir => "program.ll",
        }
    }

    /// That file.
    pub fn text(&self) -> &[u8] {
        match &self.source {
            Source::C(text) => text.as_bytes(),
            Source::Ir => &self.program.ir,
        }
    }
}

/// What a program was before it was IR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// C that includes nothing.
    C(String),
    /// Nothing else.
    Ir,
}

/// What came of one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The number.
    pub index: u64,
    /// The program, if there is one.
    pub program: Option<TestProgram>,
    /// What was tried before it, or instead.
    pub rejected: Vec<Rejected>,
}

/// Makes programs; knows everything that it takes.
#[derive(Debug)]
pub struct Programs {
    plan: ProgramPlan,
    origin: Origin,
    checker: Checker,
    kept: Kept,
    /// What verdicts depend on besides their programs.
    identity: String,
}

#[derive(Debug)]
enum Origin {
    Csmith {
        swarm: Swarm,
        version: String,
        probabilities: String,
    },
    /// Sorted.
    Folder(Vec<PathBuf>),
}

/// csmith has more than enough time with this; what needs more never ends.
const CSMITH_TIME: Duration = Duration::from_secs(4);
/// A number is given up after so many of csmith's programs.
const ATTEMPTS: u64 = 60;

impl Programs {
    /// Finds csmith or the folder's files, gcc and the sanitizers.
    pub fn open(plan: ProgramPlan, workers: &mut Workers) -> Result<Programs, HuntError> {
        let kept = Kept::in_folder(llvm::cache_root()?.join("programs"));
        Programs::keeping(plan, workers, kept)
    }

    fn keeping(
        plan: ProgramPlan,
        workers: &mut Workers,
        kept: Kept,
    ) -> Result<Programs, HuntError> {
        let origin = match &plan.source {
            ProgramSource::Csmith(swarm) => with_csmith(*swarm)?,
            ProgramSource::Folder(folder) => Origin::Folder(files(folder)?),
        };
        let checker = Checker::new(&workers.install, workers.pool.first())?;
        let identity = checker.identity();
        kept.prune();
        Ok(Programs { plan, origin, checker, kept, identity })
    }

    /// How many numbers there are; `None` where there is no end of them.
    pub fn count(&self) -> Option<u64> {
        match &self.origin {
            Origin::Csmith { .. } => None,
            Origin::Folder(files) => Some(files.len() as u64),
        }
    }

    /// What programs are not checked for on this machine, in sentences.
    pub fn notes(&self) -> Vec<String> {
        self.checker.notes()
    }

    /// Programs by their numbers, on all workers, in the order of the numbers.
    /// What the workers have loaded is lost. Ends early when the user wants it
    /// to: then there are fewer.
    pub fn make(
        &self,
        pool: &mut Pool,
        numbers: Range<u64>,
        progress: &dyn Progress,
    ) -> Result<Vec<Made>, HuntError> {
        let end = self.count().map_or(numbers.end, |count| numbers.end.min(count));
        let total = usize::try_from(end.saturating_sub(numbers.start)).unwrap_or(usize::MAX);
        let (next, n_done, failed) =
            (AtomicU64::new(numbers.start), AtomicUsize::new(0), AtomicBool::new(false));
        let results: Mutex<Vec<(u64, Result<Made, HuntError>)>> = Mutex::default();
        progress.step("making programs");
        let work = |worker: &mut Worker| {
            while !progress.stop_requested() && !failed.load(Ordering::Relaxed) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= end {
                    return;
                }
                let made = self.make_one(worker, index);
                if made.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
                results.lock().unwrap_or_else(PoisonError::into_inner).push((index, made));
                progress.count(n_done.fetch_add(1, Ordering::Relaxed) + 1, total);
            }
        };
        thread::scope(|scope| {
            for worker in pool.workers() {
                scope.spawn(|| work(worker));
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, made)| made).collect()
    }

    /// One program, by its number. What the worker has loaded is lost.
    pub fn make_one(&self, worker: &mut Worker, index: u64) -> Result<Made, HuntError> {
        match &self.origin {
            Origin::Csmith { swarm, version, probabilities } => {
                let csmith = Csmith { swarm: *swarm, version, probabilities };
                self.generate(worker, index, &csmith)
            }
            Origin::Folder(files) => {
                let file = usize::try_from(index).ok().and_then(|index| files.get(index));
                match file {
                    Some(file) => self.read(worker, index, file),
                    None => Ok(Made { index, program: None, rejected: Vec::new() }),
                }
            }
        }
    }

    fn generate(
        &self,
        worker: &mut Worker,
        index: u64,
        csmith: &Csmith<'_>,
    ) -> Result<Made, HuntError> {
        let name = format!("csmith-{index:06}");
        let min_bytes = self.plan.min_bytes.unwrap_or(self.plan.size.min_bytes());
        let mut rejected = Vec::new();
        for attempt in 0..ATTEMPTS {
            let draft = csmith.draft(self.plan.seed, index, attempt, self.plan.size);
            let key = self.key(&["csmith", csmith.version, &draft.text(), &min_bytes.to_string()]);
            let verdict = self.known_or(&key, || {
                let (folder, file) = draft.write(min_bytes)?;
                let whole = folder.file("program.c");
                let text = self.checker.preprocess(&file, &whole)?;
                self.checker.check_c(worker, Author::Csmith, &file, &whole, text)
            })?;
            match verdict {
                Ok(valid) => {
                    let program = Some(test_program(name, valid));
                    return Ok(Made { index, program, rejected });
                }
                Err((reason, what)) => {
                    let name = format!("{name}, csmith's seed {}", draft.seed);
                    rejected.push(Rejected { name, reason, what });
                }
            }
        }
        Ok(Made { index, program: None, rejected })
    }

    fn read(&self, worker: &mut Worker, index: u64, file: &Path) -> Result<Made, HuntError> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let verdict = self.verdict_on_file(worker, file)?;
        Ok(match verdict {
            Ok(valid) => {
                let program = Some(test_program(name, valid));
                Made { index, program, rejected: Vec::new() }
            }
            Err((reason, what)) => {
                Made { index, program: None, rejected: vec![Rejected { name, reason, what }] }
            }
        })
    }

    fn verdict_on_file(&self, worker: &mut Worker, file: &Path) -> Result<Verdict, HuntError> {
        let bytes = fs::read(file)?;
        let min_bytes = self.plan.min_bytes.unwrap_or_default();
        let language = Language::of_path(file).unwrap_or(Language::C);
        if language != Language::C {
            let digest = blake3::hash(&bytes).to_hex();
            let key = self.key(&["IR", &digest]);
            return self.known_or(&key, || self.checker.check_ir(worker, language, &bytes));
        }
        if bytes.len() < min_bytes {
            return Ok(Err(too_small(bytes.len(), min_bytes)));
        }
        let folder = workdir()?;
        let whole = folder.file("program.c");
        // Headers are a part of the program: what it is, is known without them.
        let text = match self.checker.preprocess(file, &whole) {
            Ok(text) => text,
            Err(Unfit::Rejected(reason, what)) => return Ok(Err((reason, what))),
            Err(Unfit::Trouble(error)) => return Err(error),
        };
        let key = self.key(&["C", &text]);
        self.known_or(&key, || {
            self.checker.check_c(worker, Author::User, file, &whole, text.clone())
        })
    }

    /// A kept verdict, or a new one, which is kept then.
    fn known_or(
        &self,
        key: &str,
        find: impl FnOnce() -> Result<Valid, Unfit>,
    ) -> Result<Verdict, HuntError> {
        if let Some(known) = self.kept.read(key) {
            return Ok(known);
        }
        let verdict = match find() {
            Ok(valid) => Ok(valid),
            Err(Unfit::Rejected(reason, what)) => Err((reason, what)),
            Err(Unfit::Trouble(error)) => return Err(error),
        };
        self.kept.write(key, &verdict);
        Ok(verdict)
    }

    fn key(&self, parts: &[&str]) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.identity.as_bytes());
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// How csmith is used.
struct Csmith<'a> {
    swarm: Swarm,
    version: &'a str,
    probabilities: &'a str,
}

impl Csmith<'_> {
    /// The program that is tried next for a number. Nothing is made yet.
    fn draft(&self, seed: u64, index: u64, attempt: u64, size: SizeProfile) -> Draft {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.swarm.name().as_bytes());
        for number in [seed, index, attempt] {
            hasher.update(&number.to_le_bytes());
        }
        let drawn = *hasher.finalize().as_bytes();
        let mut rng = ChaCha8Rng::from_seed(drawn);
        // csmith's seeds are of 32 bits with a sign.
        let seed = u64::from(u32::from_le_bytes([drawn[0], drawn[1], drawn[2], drawn[3]]) >> 1);
        let configuration = swarm::configuration(self.swarm, self.probabilities, &mut rng);
        Draft { seed, flags: size.flags(), configuration }
    }
}

/// What csmith is told for one program.
struct Draft {
    seed: u64,
    flags: &'static [&'static str],
    configuration: Option<String>,
}

impl Draft {
    /// All of it, to be known by.
    fn text(&self) -> String {
        let configuration = self.configuration.as_deref().unwrap_or_default();
        format!("{}\n{}\n{configuration}", self.seed, self.flags.join(" "))
    }

    /// Has csmith write it.
    fn write(&self, min_bytes: usize) -> Result<(Workdir, PathBuf), Unfit> {
        let folder = workdir()?;
        let file = folder.file("generated.c");
        let probabilities = match &self.configuration {
            Some(text) => {
                let file = folder.file("drawn.txt");
                fs::write(&file, text).map_err(unwritten)?;
                Some(file)
            }
            None => None,
        };
        let output = csmith::generate_within(
            CSMITH_TIME,
            self.seed,
            self.flags,
            probabilities.as_deref(),
            &file,
        )
        .map_err(HuntError::from)?;
        let what = match output.end {
            ToolEnd::Exited(0) => None,
            ToolEnd::Exited(status) => Some(format!("csmith exits with status {status}")),
            ToolEnd::Signaled(_) | ToolEnd::Timeout => Some("csmith does not end".to_owned()),
        };
        if let Some(what) = what {
            return Err(Unfit::Rejected(Rejection::CsmithFailed, what));
        }
        let bytes = fs::metadata(&file).map_err(unwritten)?.len();
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if bytes < min_bytes {
            let (reason, what) = too_small(bytes, min_bytes);
            return Err(Unfit::Rejected(reason, what));
        }
        Ok((folder, file))
    }
}

fn with_csmith(swarm: Swarm) -> Result<Origin, HuntError> {
    if !csmith::is_installed() {
        return Err(TriageError::NoCsmith.into());
    }
    let folder = workdir()?;
    let version = csmith::version()?;
    let probabilities = csmith::default_probabilities(folder.path())?;
    Ok(Origin::Csmith { swarm, version, probabilities })
}

/// The programs of a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, HuntError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    // C++ is not tested by hunts: csmith and the mutators write C.
    let is_tested = |path: &Path| Language::of_path(path).is_some() && !is_cxx(path);
    files.retain(|path| is_tested(path) && path.is_file());
    files.sort();
    match files.is_empty() {
        true => Err(HuntError::EmptyFolder(folder.to_owned())),
        false => Ok(files),
    }
}

fn too_small(bytes: usize, min_bytes: usize) -> (Rejection, String) {
    (Rejection::TooSmall, format!("{bytes} bytes where {min_bytes} are asked for"))
}

fn test_program(name: String, valid: Valid) -> TestProgram {
    let source = valid.text.map_or(Source::Ir, Source::C);
    TestProgram { name, source, program: valid.program, expected: valid.expected }
}

#[cfg(test)]
mod tests;
