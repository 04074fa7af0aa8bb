//! Blocks of a covered worker -> source lines, from the debug information of
//! the archives it was made of.
//!
//! Distributions ship archives without any; a user's own build may have it.
//! Read when lines are asked for, not when the worker is built: the debug
//! information of an LLVM is many times its code.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use fs_err as fs;
use object::read::archive::ArchiveFile;
use optsleuth_model::{
    BlockId, BlockLines, CodeFunction, CodeMap, CodeObject, CodePlace, Coverage, FunctionId,
};
use optsleuth_objcov::{Lines, nth_instruction};

use super::source_tree::known_as;
use crate::CompilerError;

/// The lines of all blocks in the objects that a coverage touches. Objects
/// without debug information, or with damaged one, have none.
pub fn block_lines(map: &CodeMap, coverage: &Coverage) -> Result<BlockLines, CompilerError> {
    let mut by_object: BTreeMap<u32, Vec<&CodeFunction>> = BTreeMap::new();
    for function in &map.functions {
        by_object.entry(function.origin.object).or_default().push(function);
    }
    let is_covered = |function: &&CodeFunction| {
        function.blocks.iter().any(|&(from, end)| coverage.count_range(from, end) > 0)
    };
    let mut archives: HashMap<&str, Vec<u8>> = HashMap::new();
    let mut result = BlockLines::default();
    let mut file_ids: HashMap<String, u32> = HashMap::new();
    for (object, functions) in by_object {
        if !functions.iter().any(is_covered) {
            continue;
        }
        let object = &map.objects[object as usize];
        if !archives.contains_key(object.archive.as_str()) {
            archives.insert(&object.archive, fs::read(&object.archive)?);
        }
        let Some(lines) = object_lines(&archives[object.archive.as_str()], object) else {
            continue;
        };
        for function in functions {
            for (block, &offset) in function.block_ids().zip(&function.origin.offsets) {
                let Some(found) = lines.find(function.origin.section, offset) else { continue };
                let next = file_ids.len() as u32;
                let file = *file_ids.entry(found.file.to_owned()).or_insert_with(|| {
                    result.files.push(found.file.to_owned());
                    next
                });
                result.lines.insert(block, (file, found.line));
            }
        }
    }
    Ok(result)
}

/// The line table of one member.
fn object_lines(archive: &[u8], object: &CodeObject) -> Option<Lines> {
    let file = ArchiveFile::parse(archive).ok()?;
    let member = file.members().nth(object.position as usize)?.ok()?;
    let thin;
    let bytes = if member.is_thin() {
        let beside = Path::new(&object.archive).parent()?;
        thin = fs::read(beside.join(String::from_utf8_lossy(member.name()).as_ref())).ok()?;
        &thin
    } else {
        member.data(archive).ok()?
    };
    match Lines::read(bytes) {
        Ok(lines) => lines,
        Err(error) => {
            tracing::warn!(member = object.member, %error, "no lines");
            None
        }
    }
}

/// Lines of instructions and the text around them, for a covered worker some of
/// whose objects have debug information. Objects are read when they are asked
/// about.
#[derive(Debug)]
pub struct SourceLines<'m> {
    map: &'m CodeMap,
    /// Of the source; `None` where nothing was compiled from any.
    folder: Option<&'m str>,
    /// What a file of debug information is called, by folder and path.
    known_as: fn(&str, &str) -> Option<String>,
    owners: Vec<Option<FunctionId>>,
    objects: HashMap<u32, Option<ObjectLines>>,
    /// Where the files lie that places were found in.
    files: HashMap<String, PathBuf>,
}

#[derive(Debug)]
struct ObjectLines {
    bytes: Vec<u8>,
    lines: Lines,
}

impl<'m> SourceLines<'m> {
    pub fn new(map: &'m CodeMap) -> SourceLines<'m> {
        SourceLines::named(map, map.source.as_deref(), known_as)
    }

    /// The same for code with other names.
    pub(crate) fn named(
        map: &'m CodeMap,
        folder: Option<&'m str>,
        known_as: fn(&str, &str) -> Option<String>,
    ) -> SourceLines<'m> {
        let (objects, files) = (HashMap::new(), HashMap::new());
        SourceLines { map, folder, known_as, owners: map.owners(), objects, files }
    }

    /// The place of a block's n-th instruction. `None` where the worker's objects
    /// do not say, or it is not the compiler's own code.
    pub fn place(&mut self, block: BlockId, nth: u32) -> Option<CodePlace> {
        let folder = self.folder?;
        let function = self.map.function((*self.owners.get(block.0 as usize)?)?);
        let origin = &function.origin;
        let map = self.map;
        let read = || ObjectLines::read(map.objects.get(origin.object as usize)?);
        let object = self.objects.entry(origin.object).or_insert_with(read).as_ref()?;
        let index = function.block_ids().position(|own| own == block)?;
        let start = *origin.offsets.get(index)?;
        let offset = match nth {
            0 => start,
            _ => nth_instruction(&object.bytes, origin.section, start, nth).unwrap_or(start),
        };
        let found = object.lines.find(origin.section, offset)?;
        let path = (self.known_as)(folder, found.file)?;
        self.files.entry(path.clone()).or_insert_with(|| PathBuf::from(found.file));
        Some(CodePlace { path, line: found.line, column: found.column })
    }

    /// The text of a file that a place was found in.
    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.files.get(path)?).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl ObjectLines {
    fn read(object: &CodeObject) -> Option<ObjectLines> {
        let bytes = fs::read(object.zoomed.as_ref()?).ok()?;
        let lines = Lines::read(&bytes).ok()??;
        Some(ObjectLines { bytes, lines })
    }
}
