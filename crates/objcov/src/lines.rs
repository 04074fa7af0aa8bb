//! Source lines: object bytes with DWARF -> file and line of an offset in a text section.
//!
//! Stands beside the rewriting stages: it reads the original object, whose offsets the index keeps.
//! In a relocatable object every section starts at 0 and DWARF names code through relocations, so each
//! text section first gets an address range of its own; then the relocations of the debug sections are
//! applied as a linker would, and the line programs run.
//!
//! **Invariant:** a line is never guessed. Code outside all sequences, compiler-made code (line 0) and files
//! missing from their table have no line; an unknown relocation is an error.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gimli::{DebugLineOffset, DwarfSections, EndianSlice, LittleEndian, SectionId};
use object::elf;

use crate::elf::{Object, Place, Rela, read};
use crate::error::ObjcovError;

/// The source lines of an object's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// Each path once.
    files: Vec<String>,
    /// By section number: where a line starts, in ascending order of distinct offsets.
    sections: BTreeMap<u32, Vec<Row>>,
}

/// A place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine<'a> {
    /// The path as the compiler wrote it, behind the compilation directory if relative.
    /// Invalid UTF-8 is replaced.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where there is none.
    pub column: u32,
}

impl From<gimli::Error> for ObjcovError {
    /// Keeps the words only: the error itself holds addresses, which differ from run to run.
    fn from(error: gimli::Error) -> Self {
        ObjcovError::Dwarf(error.to_string())
    }
}

/// The code from here to the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    offset: u32,
    /// 0 where there is none, as in DWARF.
    line: u32,
    column: u32,
    /// Index into `Lines::files`, if there is a line.
    file: u32,
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
type Header<'a> = gimli::LineProgramHeader<Slice<'a>>;

impl Lines {
    /// Reads the line tables of a relocatable x86-64 object.
    ///
    /// `None` if it has none, or has its debug sections compressed: they are not unpacked.
    ///
    /// # Errors
    /// An [`ObjcovError`] if the object or its debug information is damaged.
    pub fn read(object: &[u8]) -> Result<Option<Lines>, ObjcovError> {
        let parsed = match read::parse(object) {
            Err(ObjcovError::NoCode) => return Ok(None),
            parsed => parsed?,
        };
        if !is_readable(&parsed) {
            return Ok(None);
        }
        let image = Image::new(&parsed);
        let sections = DwarfSections::load(|id| image.load(id))?;
        let mut dwarf = sections.borrow(|data| EndianSlice::new(data, LittleEndian));
        // Units compiled together share their abbreviations.
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        // Damaged tables may share one huge name.
        let files = Files { left: object.len().saturating_mul(16), ..Files::default() };
        let mut collector = Collector { object: &parsed, files, sequences: BTreeMap::new() };
        collector.run(&dwarf)?;
        collector.finish()
    }

    /// The line of the instruction at `offset` of text section `section`, numbered as in the object.
    pub fn find(&self, section: u32, offset: u32) -> Option<SourceLine<'_>> {
        let rows = self.sections.get(&section)?;
        let behind = rows.partition_point(|row| row.offset <= offset);
        let row = rows.get(behind.checked_sub(1)?).filter(|row| row.line != 0)?;
        let file = self.files.get(row.file as usize)?;
        Some(SourceLine { file, line: row.line, column: row.column })
    }
}

/// The sections that lines come from; all others may hold what they like.
const USED: [SectionId; 5] = [
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugStr,
    // These two only tell the compilation directory, up to DWARF 4.
    SectionId::DebugInfo,
    SectionId::DebugAbbrev,
];

/// Is there a line table, and is nothing compressed that it needs?
///
/// Compressors leave small sections alone, so the line table itself may be plain when its strings are not.
fn is_readable(object: &Object<'_>) -> bool {
    let mut has_lines = false;
    for (index, section) in object.sections.iter().enumerate() {
        let Some(id) = used(object, index) else {
            // The older form of compression has names of its own.
            if object.section_name(index).starts_with(b".zdebug_") {
                return false;
            }
            continue;
        };
        if section.flags & u64::from(elf::SHF_COMPRESSED) != 0 {
            return false;
        }
        has_lines |= id == SectionId::DebugLine && !section.data.is_empty();
    }
    has_lines
}

/// Which of the [`USED`] sections this one is, or is a part of.
fn used(object: &Object<'_>, index: usize) -> Option<SectionId> {
    let is_data = object.sections[index].kind != elf::SHT_RELA;
    let name = object.section_name(index);
    USED.into_iter().find(|id| is_data && name == id.name().as_bytes())
}

/// The object as if it were linked.
struct Image<'a> {
    object: &'a Object<'a>,
    /// By section: the number times 2^32 for text, so that an address tells section and offset;
    /// for debug sections the place among those of the same name; 0 for the rest.
    bases: Vec<u64>,
}

impl<'a> Image<'a> {
    fn new(object: &'a Object<'a>) -> Self {
        let mut bases = vec![0; object.sections.len()];
        let mut sizes = [0; USED.len()];
        for (index, base) in bases.iter_mut().enumerate() {
            let slot = USED.iter().position(|&id| Some(id) == used(object, index));
            if object.is_text(index) {
                *base = (index as u64) << 32;
            } else if let Some(slot) = slot {
                *base = sizes[slot];
                sizes[slot] += object.sections[index].data.len() as u64;
            }
        }
        Image { object, bases }
    }

    /// The contents of all sections of this name, one behind the other, with relocations applied.
    fn load(&self, id: SectionId) -> Result<Cow<'a, [u8]>, ObjcovError> {
        let mut data: Cow<'a, [u8]> = Cow::Borrowed(&[]);
        if !USED.contains(&id) {
            return Ok(data);
        }
        for (index, section) in self.object.sections.iter().enumerate() {
            if used(self.object, index) != Some(id) {
                continue;
            }
            let base = data.len();
            // String tables can be large, and need no copy.
            if data.is_empty() {
                data = Cow::Borrowed(&section.data);
            } else {
                data.to_mut().extend_from_slice(&section.data);
            }
            if let Some(relas) = self.object.rela_of[index] {
                let relas = self.object.relas(relas)?;
                self.relocate(index, &relas, data.to_mut().get_mut(base..).unwrap_or_default())?;
            }
        }
        Ok(data)
    }

    /// Applies the relocations of debug section `section` to its contents.
    fn relocate(&self, section: usize, relas: &[Rela], data: &mut [u8]) -> Result<(), ObjcovError> {
        for rela in relas.iter().filter(|rela| rela.kind != elf::R_X86_64_NONE) {
            self.apply(section, rela, data).ok_or(ObjcovError::DebugRelocation {
                section: section as u32,
                offset: rela.offset,
                kind: rela.kind,
            })?;
        }
        Ok(())
    }

    /// Applies one relocation; `None` if its kind is unknown, or its place or value out of range.
    fn apply(&self, section: usize, rela: &Rela, data: &mut [u8]) -> Option<()> {
        let symbol = self.object.symbols.get(rela.symbol as usize)?;
        let base = match symbol.place {
            Place::Section(index) => *self.bases.get(index as usize)?,
            // Belongs to no text section, whatever it is.
            Place::Undefined | Place::Reserved(_) => 0,
        };
        let place = self.bases.get(section)?.wrapping_add(rela.offset);
        let value = base.wrapping_add(symbol.value).wrapping_add_signed(rela.addend);
        let distance = value.wrapping_sub(place);
        match rela.kind {
            elf::R_X86_64_64 | elf::R_X86_64_DTPOFF64 => put(data, rela, value.to_le_bytes()),
            elf::R_X86_64_PC64 => put(data, rela, distance.to_le_bytes()),
            elf::R_X86_64_32 => put(data, rela, u32::try_from(value).ok()?.to_le_bytes()),
            elf::R_X86_64_32S | elf::R_X86_64_DTPOFF32 => {
                put(data, rela, i32::try_from(value as i64).ok()?.to_le_bytes())
            }
            elf::R_X86_64_PC32 => {
                put(data, rela, i32::try_from(distance as i64).ok()?.to_le_bytes())
            }
            _ => None,
        }
    }
}

fn put<const N: usize>(data: &mut [u8], rela: &Rela, value: [u8; N]) -> Option<()> {
    let start = usize::try_from(rela.offset).ok()?;
    data.get_mut(start..start.checked_add(N)?)?.copy_from_slice(&value);
    Some(())
}

/// For line programs up to DWARF 4, which do not know it themselves: the compilation directory.
fn directories<'a>(dwarf: &Dwarf<'a>) -> Result<BTreeMap<usize, Slice<'a>>, ObjcovError> {
    let mut directories = BTreeMap::new();
    let mut units = dwarf.units();
    while let Some(unit) = units.next()? {
        if unit.version() > 4 {
            continue;
        }
        let abbreviations = dwarf.abbreviations(&unit)?;
        let mut entries = unit.entries(&abbreviations);
        let Some(root) = entries.next_dfs()? else { continue };
        let program = root.attr_value(gimli::DW_AT_stmt_list);
        let directory = root.attr_value(gimli::DW_AT_comp_dir);
        if let (Some(gimli::AttributeValue::DebugLineRef(program)), Some(directory)) =
            (program, directory)
        {
            directories.entry(program.0).or_insert(dwarf.attr_line_string(directory)?);
        }
    }
    Ok(directories)
}

/// Gathers what the line programs produce.
struct Collector<'a> {
    object: &'a Object<'a>,
    files: Files,
    /// By section, in file order.
    sequences: BTreeMap<u32, Vec<Sequence>>,
}

/// A contiguous piece of code, never empty.
struct Sequence {
    end: u32,
    /// In ascending order of distinct offsets, the first being the start.
    rows: Vec<Row>,
}

impl Sequence {
    fn start(&self) -> u32 {
        self.rows.first().map_or(self.end, |row| row.offset)
    }
}

impl Collector<'_> {
    /// Runs the line programs, which follow one another without gaps.
    fn run(&mut self, dwarf: &Dwarf<'_>) -> Result<(), ObjcovError> {
        use gimli::Section as _;

        let directories = directories(dwarf)?;
        let mut offset = 0;
        while offset < dwarf.debug_line.reader().len() {
            let directory = directories.get(&offset).copied();
            let program = dwarf.debug_line.program(DebugLineOffset(offset), 8, directory, None)?;
            let header = program.header();
            let size = usize::from(header.format().initial_length_size()) + header.unit_length();
            self.run_program(dwarf, program)?;
            offset += size;
        }
        Ok(())
    }

    fn run_program<'a>(
        &mut self,
        dwarf: &Dwarf<'a>,
        program: gimli::IncompleteLineProgram<Slice<'a>>,
    ) -> Result<(), ObjcovError> {
        let mut known = BTreeMap::new();
        let mut open: Vec<(u64, Row)> = vec![];
        let mut rows = program.rows();
        while let Some((header, row)) = rows.next_row()? {
            if row.end_sequence() {
                self.close(std::mem::take(&mut open), row.address())?;
                continue;
            }
            let file = match known.get(&row.file_index()) {
                Some(&file) => file,
                None => {
                    let file = self.files.add(dwarf, header, row.file_index())?;
                    known.insert(row.file_index(), file);
                    file
                }
            };
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            let (line, file) = line.zip(file).unwrap_or_default();
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
            };
            let row = (row.address(), Row { offset: row.address() as u32, line, column, file });
            // Of several rows for one address the last describes the instruction there.
            match open.last_mut().filter(|last| last.0 == row.0) {
                Some(last) => *last = row,
                None => open.push(row),
            }
        }
        if open.is_empty() {
            Ok(())
        } else {
            Err(ObjcovError::DebugSections("sequence without end"))
        }
    }

    /// Takes the rows of a complete sequence that ends before the address `end`.
    fn close(&mut self, mut rows: Vec<(u64, Row)>, end: u64) -> Result<(), ObjcovError> {
        // A row at the very end describes no code; many sequences have no other.
        rows.pop_if(|last| last.0 == end);
        let Some(&(start, _)) = rows.first() else { return Ok(()) };
        let section = (start >> 32) as usize;
        if !self.object.is_text(section) {
            return Ok(()); // The code was discarded, or is at a fixed address.
        }
        let limit = (start >> 32 << 32) + self.object.sections[section].size;
        let addresses = rows.iter().map(|row| row.0).chain([end]);
        if end > limit || !addresses.is_sorted() {
            return Err(ObjcovError::DebugSections("sequence leaves its section"));
        }
        let rows = rows.into_iter().map(|row| row.1).collect();
        let sequence = Sequence { end: end as u32, rows };
        self.sequences.entry(section as u32).or_default().push(sequence);
        Ok(())
    }

    /// Joins the sequences of each section into one table; `None` if there are none.
    fn finish(self) -> Result<Option<Lines>, ObjcovError> {
        let mut sections = BTreeMap::new();
        for (section, mut sequences) in self.sequences {
            sequences.sort_by_key(Sequence::start);
            if sequences.windows(2).any(|pair| pair[0].end > pair[1].start()) {
                return Err(ObjcovError::DebugSections("sequences overlap"));
            }
            let mut table: Vec<Row> = vec![];
            for sequence in sequences {
                table.pop_if(|gap| gap.offset == sequence.start());
                table.extend(sequence.rows);
                table.push(Row { offset: sequence.end, line: 0, column: 0, file: 0 });
            }
            sections.insert(section, table);
        }
        let files = self.files.paths;
        Ok((!sections.is_empty()).then_some(Lines { files, sections }))
    }
}

/// The paths met so far.
#[derive(Default)]
struct Files {
    paths: Vec<String>,
    numbers: BTreeMap<String, u32>,
    /// How many more bytes of names may be read.
    left: usize,
}

impl Files {
    /// The number of file `index` of this line program; `None` if the program lists no such file.
    fn add(
        &mut self,
        dwarf: &Dwarf<'_>,
        header: &Header<'_>,
        index: u64,
    ) -> Result<Option<u32>, ObjcovError> {
        let Some(file) = header.file(index) else { return Ok(None) };
        let mut path = self.text(dwarf, file.path_name())?;
        // Relative to a directory, which may be relative to the compilation directory, which is the first.
        let mut directory = Some(file.directory_index());
        while let Some(number) = directory.filter(|_| !path.starts_with('/')) {
            path = match header.directory(number) {
                Some(parent) => format!("{}/{path}", self.text(dwarf, parent)?),
                // Nothing tells the compilation directory if a line table stands alone.
                None if number == 0 => path,
                None => return Err(ObjcovError::DebugSections("directory number")),
            };
            directory = (number != 0).then_some(0);
        }
        let next = self.paths.len() as u32;
        let number = *self.numbers.entry(path).or_insert_with_key(|path| {
            self.paths.push(path.clone());
            next
        });
        Ok(Some(number))
    }

    fn text(
        &mut self,
        dwarf: &Dwarf<'_>,
        value: gimli::AttributeValue<Slice<'_>>,
    ) -> Result<String, ObjcovError> {
        let bytes = dwarf.attr_line_string(value)?.slice();
        self.left = self
            .left
            .checked_sub(bytes.len())
            .ok_or(ObjcovError::DebugSections("names too long"))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}
