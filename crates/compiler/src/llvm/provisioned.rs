//! A worker that is ready to be started: its file, what was written beside it
//! when it was built, and the reasons why there may be none.
//!
//! **Invariant:** nothing is built or started here; `provision` does that.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fs_err as fs;
use optsleuth_model::doctor::Instrumentation;
use optsleuth_model::{BlockId, CodeMap, Coverage, Detour};
use optsleuth_objcov::{Decision, Program};

use super::authors::Traps;
use super::install::Install;
use super::symbols::Symbols;
use crate::CompilerError;
use crate::workdir::Workdir;

pub(super) const WORKER: &str = "worker";
pub(super) const CODE_MAP: &str = "code-map";
pub(super) const SUMMARY: &str = "instrumentation.json";

/// Which code generators a worker has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Targets {
    /// That of this machine.
    #[default]
    Native,
    /// All that this LLVM was built with.
    All,
}

impl Targets {
    /// The components of LLVM to link.
    pub(super) fn components(self) -> Vec<&'static str> {
        let mut components =
            vec!["passes", "irreader", "bitwriter", "codegen", "runtimedyld", "executionengine"];
        components.push(match self {
            Targets::Native => "native",
            Targets::All => "all-targets",
        });
        components
    }
}

/// Something that LLVM decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    pub block: BlockId,
    /// Which instruction of its block it is, from 0.
    pub nth: u32,
    pub kind: ConditionKind,
    /// What makes it decide the other way.
    pub detour: Detour,
}

/// What decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionKind {
    /// A conditional instruction.
    Instruction,
    /// A whole function, which does nothing and returns false or null instead,
    /// or true.
    Return,
}

/// `xor eax, eax; ret` and `mov al, 1; ret`. They take the place of a probe.
const RETURNS: [[u8; 3]; 2] = [[0x31, 0xc0, 0xc3], [0xb0, 0x01, 0xc3]];

/// What a worker is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavor {
    /// Speed alone.
    #[default]
    Plain,
    /// Saying which blocks of LLVM a run executed.
    Covered,
}

/// A worker that is ready to be started.
#[derive(Clone, Debug)]
pub struct Provisioned {
    /// The LLVM it was made of.
    pub install: Install,
    /// The worker's file.
    pub binary: PathBuf,
    /// Which code generators it has.
    pub targets: Targets,
    /// What it was made for.
    pub flavor: Flavor,
    /// It has a sanitizer, which keeps shadows of all memory: its address space is
    /// not limited.
    pub(super) with_shadows: bool,
    /// Some of its files check assertions that its LLVM was built without.
    pub asserts: bool,
    symbols: Arc<OnceLock<Symbols>>,
    traps: Arc<OnceLock<Traps>>,
    /// Where it lies, if it is not to stay.
    _folder: Option<Arc<Workdir>>,
}

impl Provisioned {
    pub(super) fn new(
        install: &Install,
        entry: &Path,
        targets: Targets,
        flavor: Flavor,
    ) -> Provisioned {
        Provisioned {
            install: install.clone(),
            binary: entry.join(WORKER),
            targets,
            flavor,
            with_shadows: false,
            asserts: false,
            symbols: Arc::default(),
            traps: Arc::default(),
            _folder: None,
        }
    }

    /// One that goes with its folder.
    pub(super) fn temporary(
        install: &Install,
        folder: Arc<Workdir>,
        targets: Targets,
        flavor: Flavor,
    ) -> Provisioned {
        let own = Provisioned::new(install, folder.path(), targets, flavor);
        Provisioned { _folder: Some(folder), ..own }
    }

    /// Names what it was made of: another LLVM or source has another.
    pub fn key(&self) -> String {
        let entry = self.binary.parent().and_then(Path::file_name).unwrap_or_default();
        entry.to_string_lossy().into_owned()
    }

    /// The worker's functions; read when the first crash needs them.
    pub(crate) fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::read(&self.binary))
    }

    /// Where authors are trapped in a covered worker; read when the first run
    /// needs them.
    pub(crate) fn traps(&self) -> Result<&Traps, CompilerError> {
        if self.traps.get().is_none() {
            let program = fs::read(&self.binary).map_err(CompilerError::Cache)?;
            let traps = Traps::find(self.symbols(), &program, &self.code_map()?);
            let _ = self.traps.set(traps); // Another thread's are the same.
        }
        self.traps.get().ok_or(CompilerError::NotInstrumented)
    }

    /// What the blocks of a covered worker are.
    pub fn code_map(&self) -> Result<CodeMap, CompilerError> {
        let bytes = fs::read(self.binary.with_file_name(CODE_MAP)).map_err(CompilerError::Cache)?;
        postcard::from_bytes(&bytes).map_err(|error| CompilerError::Cache(io::Error::other(error)))
    }

    /// What is decided in these blocks of a covered worker, by block; what a
    /// function returns, where it begins.
    pub fn detours(&self, blocks: &Coverage) -> Result<Vec<Condition>, CompilerError> {
        conditions(&self.binary, self.symbols(), blocks)
    }

    /// The instructions of blocks that a stack's addresses are, of a return address
    /// the call's. Addresses outside of blocks are left out.
    pub fn instructions(&self, stack: &[u64]) -> Result<Vec<(BlockId, u32)>, CompilerError> {
        if stack.is_empty() {
            return Ok(Vec::new());
        }
        let bytes = fs::read(&self.binary).map_err(CompilerError::Cache)?;
        let program = Program::read(&bytes).ok_or(CompilerError::NotInstrumented)?;
        let mut known: HashMap<u64, Option<(BlockId, u32)>> = HashMap::new();
        let place = |address: &u64| {
            *known.entry(*address).or_insert_with(|| {
                let place = program.place(address.saturating_sub(1))?;
                Some((BlockId(place.block), place.nth))
            })
        };
        Ok(stack.iter().filter_map(place).collect())
    }

    /// The functions of a stack, innermost first, without those that tell nothing.
    pub fn functions_at(&self, stack: &[u64]) -> Vec<String> {
        self.symbols().frames(stack)
    }

    /// What instrumentation did to a covered worker's archives.
    pub fn summary(&self) -> Result<Instrumentation, CompilerError> {
        let bytes = fs::read(self.binary.with_file_name(SUMMARY)).map_err(CompilerError::Cache)?;
        serde_json::from_slice(&bytes).map_err(|error| CompilerError::Cache(error.into()))
    }
}

/// What is decided in these blocks of a program with probes.
pub(crate) fn conditions_of(
    binary: &Path,
    blocks: &Coverage,
) -> Result<Vec<Condition>, CompilerError> {
    conditions(binary, &Symbols::read(binary), blocks)
}

fn conditions(
    binary: &Path,
    symbols: &Symbols,
    blocks: &Coverage,
) -> Result<Vec<Condition>, CompilerError> {
    let program = fs::read(binary).map_err(CompilerError::Cache)?;
    let is_wanted = |block: u32| blocks.contains(BlockId(block));
    let instruction = |decision: Decision| {
        let Decision { block, nth, address, inverted } = decision;
        let detour = Detour { address, bytes: [inverted, 0, 0, 0], length: 1 };
        Condition { block: BlockId(block), nth, kind: ConditionKind::Instruction, detour }
    };
    let found = optsleuth_objcov::decisions(&program, is_wanted);
    let mut found: Vec<Condition> = found.into_iter().map(instruction).collect();
    let program = Program::read(&program).ok_or(CompilerError::NotInstrumented)?;
    let mut entries: Vec<u64> = (symbols.all())
        // A part that was cut out of a function is jumped to, and cannot return.
        .filter(|(_, name)| !name.contains(".cold"))
        .map(|(address, _)| address)
        .collect();
    entries.dedup();
    for address in entries {
        let Some(block) = program.block_at(address).filter(|&block| is_wanted(block)) else {
            continue;
        };
        found.extend(RETURNS.map(|[a, b, c]| Condition {
            block: BlockId(block),
            nth: 0,
            kind: ConditionKind::Return,
            detour: Detour { address, bytes: [a, b, c, 0], length: 3 },
        }));
    }
    found.sort_by_key(|condition| (condition.block, condition.kind));
    Ok(found)
}
