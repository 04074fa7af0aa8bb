//! Plain archives -> instrumented archives, and after linking -> the code map.
//!
//! The first half rewrites; the linker then decides which functions live; the
//! second half reads from the linked worker where their marks ended up.
//!
//! **Invariant:** a member that cannot be instrumented is linked as it is and
//! listed by name and reason; it is never dropped.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use fs_err as fs;
use object::{Object, ObjectSymbol};
use optsleuth_model::doctor::{Instrumentation, LeftAlone};
use optsleuth_model::{CodeFunction, CodeMap, CodeObject, FileId, FunctionId, HEADERS, Origin};
use optsleuth_objcov::{
    ArchiveOptions, FunctionIndex, Lines, Linkage, MemberReport, PROBE_SYMBOL_PREFIX, START_SYMBOL,
    STOP_SYMBOL, boundary_objects, instrument_archive,
};
use rayon::prelude::*;

use super::source_tree::{known_as, source_file};
use super::symbols::demangle;
use crate::CompilerError;

/// More members than any archive has; the next archive's numbers start there.
const NUMBERS_PER_ARCHIVE: u32 = 1 << 16;

/// Archives with probes, on disk, and what is known about them.
pub(crate) struct Covered {
    /// To be linked before everything else.
    pub(crate) first: PathBuf,
    /// To be linked after everything else.
    pub(crate) last: PathBuf,
    /// In the order of the plain archives.
    pub(crate) archives: Vec<PathBuf>,
    members: Vec<(String, Vec<MemberReport>)>,
}

/// Instruments archives into a folder, several at a time. `done` is told how
/// many are finished.
pub(crate) fn instrument(
    archives: &[PathBuf],
    folder: &Path,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Covered, CompilerError> {
    let (first_bytes, last_bytes) = boundary_objects();
    let (first, last) = (folder.join("first.o"), folder.join("last.o"));
    fs::write(&first, first_bytes)?;
    fs::write(&last, last_bytes)?;
    let n_done = AtomicUsize::new(0);
    let one = |(number, archive): (usize, &PathBuf)| {
        let bytes = fs::read(archive)?;
        let beside = archive.parent().unwrap_or(Path::new("."));
        let options = ArchiveOptions {
            first_object_id: number as u32 * NUMBERS_PER_ARCHIVE,
            thin_member: &|name| fs::read(beside.join(name)).ok(),
        };
        let result = instrument_archive(&bytes, &options).map_err(|source| {
            CompilerError::Archive { doing: "instrument", path: archive.clone(), source }
        })?;
        let output = folder.join(format!("{number:03}.a"));
        fs::write(&output, &result.bytes)?;
        done(n_done.fetch_add(1, Ordering::Relaxed) + 1);
        Ok((output, (archive.display().to_string(), result.members)))
    };
    // Longest first would balance better; two threads and a few huge archives
    // whose members are parallel as well do not need it.
    let results: Vec<_> =
        archives.par_iter().enumerate().map(one).collect::<Result<Vec<_>, CompilerError>>()?;
    let (archives, members) = results.into_iter().unzip();
    Ok(Covered { first, last, archives, members })
}

impl Covered {
    /// How many members there are, and which were left alone.
    pub(crate) fn summary(&self) -> Instrumentation {
        let mut summary = Instrumentation::default();
        for (archive, members) in &self.members {
            for member in members {
                summary.n_members += 1;
                match &member.outcome {
                    Ok(_) => summary.n_instrumented += 1,
                    Err(reason) => summary.left_alone.push(LeftAlone {
                        archive: file_name(archive),
                        member: member.name.clone(),
                        reason: reason.to_string(),
                    }),
                }
            }
        }
        summary
    }

    /// The code map of the worker that was linked from these archives, some of
    /// whose members may be zoomed.
    pub(crate) fn code_map(
        &self,
        worker: &Path,
        zoomed: &[ZoomedMember],
    ) -> Result<CodeMap, CompilerError> {
        let marks = Marks::read(worker)?;
        let headers = HeaderCode::find(&self.members);
        let header_files = self.header_files(zoomed)?;
        let source = zoomed.first().map(|member| member.source.clone());
        let mut map = CodeMap { n_blocks: marks.n_blocks, source, ..CodeMap::default() };
        let mut file_ids: BTreeMap<String, FileId> = BTreeMap::new();
        for (archive, members) in &self.members {
            // Copies with other members are gone once the worker is linked.
            let copied = zoomed.iter().find(|anew| anew.is_in(archive));
            let original = copied.map_or(archive, |anew| &anew.archive);
            for (position, member) in members.iter().enumerate() {
                let Ok(functions) = &member.outcome else { continue };
                let object = map.objects.len() as u32;
                let anew = zoomed.iter().find(|anew| anew.replaces(archive, position));
                map.objects.push(CodeObject {
                    archive: original.clone(),
                    member: member.name.clone(),
                    position: position as u32,
                    zoomed: anew.map(|anew| anew.object.display().to_string()),
                });
                let source = source_file(archive, &member.name);
                for function in functions {
                    let Some(&start) = marks.starts.get(&function.probe_symbol) else {
                        continue; // The linker dropped it.
                    };
                    let name = demangle(&function.symbol);
                    let file = match headers.contains(function, &name) {
                        true => header_files.get(&function.symbol).map_or(HEADERS, String::as_str),
                        false => &source,
                    };
                    let next = FileId(file_ids.len() as u32);
                    let file = *file_ids.entry(file.to_owned()).or_insert(next);
                    map.functions.push(code_function(function, name, file, object, start));
                }
            }
        }
        let mut files = vec![String::new(); file_ids.len()];
        for (name, id) in file_ids {
            files[id.0 as usize] = name;
        }
        map.files = files;
        find_hosts(&mut map);
        Ok(map)
    }

    /// The same where all objects have debug information and lie beside their
    /// archives: every function belongs to the file in which it is written, as
    /// `known_as` calls it.
    pub(crate) fn code_map_by_lines(
        &self,
        program: &Path,
        known_as: &dyn Fn(&str) -> Option<String>,
    ) -> Result<CodeMap, CompilerError> {
        let marks = Marks::read(program)?;
        let mut map = CodeMap { n_blocks: marks.n_blocks, ..CodeMap::default() };
        let mut file_ids: HashMap<String, FileId> = HashMap::new();
        for (archive, members) in &self.members {
            let beside = Path::new(archive).parent().unwrap_or(Path::new("."));
            for (position, member) in members.iter().enumerate() {
                let Ok(functions) = &member.outcome else { continue };
                let path = beside.join(&member.name);
                let lines = fs::read(&path).ok().and_then(|bytes| Lines::read(&bytes).ok()?);
                let object = map.objects.len() as u32;
                map.objects.push(CodeObject {
                    archive: archive.clone(),
                    member: member.name.clone(),
                    position: position as u32,
                    zoomed: Some(path.display().to_string()),
                });
                for function in functions {
                    let Some(&start) = marks.starts.get(&function.probe_symbol) else { continue };
                    let place =
                        lines.as_ref().and_then(|all| all.find(function.section, function.start));
                    let file = place.and_then(|place| known_as(place.file));
                    let file = file.unwrap_or_else(|| file_name(&member.name));
                    let next = FileId(file_ids.len() as u32);
                    let file = *file_ids.entry(file.clone()).or_insert_with(|| {
                        map.files.push(file);
                        next
                    });
                    let name = demangle(&function.symbol);
                    map.functions.push(code_function(function, name, file, object, start));
                }
            }
        }
        find_hosts(&mut map);
        Ok(map)
    }

    /// Functions of zoomed objects that stand in LLVM's headers, by symbol. The
    /// linker may have kept another object's copy; it is of the same header.
    fn header_files(
        &self,
        zoomed: &[ZoomedMember],
    ) -> Result<HashMap<String, String>, CompilerError> {
        let mut files = HashMap::new();
        for (archive, members) in &self.members {
            for (position, member) in members.iter().enumerate() {
                let anew = zoomed.iter().find(|anew| anew.replaces(archive, position));
                let (Some(anew), Ok(functions)) = (anew, &member.outcome) else { continue };
                let lines = Lines::read(&fs::read(&anew.object)?).ok().flatten();
                let Some(lines) = lines else { continue };
                for function in functions {
                    let place = lines.find(function.section, function.start);
                    if let Some(path) = place.and_then(|place| known_as(&anew.source, place.file)) {
                        files.entry(function.symbol.clone()).or_insert(path);
                    }
                }
            }
        }
        Ok(files)
    }
}

/// Sets every function's host. In its own file alone: headers have none.
fn find_hosts(map: &mut CodeMap) {
    let ids = (0u32..).map(FunctionId).zip(&map.functions);
    let by_symbol: HashMap<(FileId, &str), FunctionId> =
        ids.map(|(id, function)| ((function.file, function.symbol.as_str()), id)).collect();
    let host = |function: &CodeFunction| {
        let known = |symbol: &str| by_symbol.get(&(function.file, symbol)).copied();
        host_symbols(&function.symbol).find_map(|symbol| known(&symbol))
    };
    let hosts: Vec<Option<FunctionId>> = map.functions.iter().map(host).collect();
    for (function, host) in map.functions.iter_mut().zip(hosts) {
        function.host = host;
    }
}

/// The symbols that a function's host may have, the nearest first. `_ZZfE...` is
/// something inside `_Zf` (Itanium C++ ABI, 5.1.6), and `_Zf.part.0` is cut out
/// of it. Where the inner name ends is found by trying.
fn host_symbols(symbol: &str) -> impl Iterator<Item = String> + '_ {
    let whole = symbol.split_once('.').map(|(base, _)| base.to_owned());
    let inside = symbol.strip_prefix("_ZZ").unwrap_or_default();
    let ends = inside.match_indices('E').map(|(at, _)| at).collect::<Vec<_>>();
    let inner = ends.into_iter().rev().map(move |end| format!("_Z{}", &inside[..end]));
    whole.into_iter().chain(inner)
}

/// An object that takes the place of an archive's own.
#[derive(Clone, Debug)]
pub(crate) struct ZoomedMember {
    /// The distribution's archive.
    pub(crate) archive: String,
    pub(crate) position: u32,
    pub(crate) object: PathBuf,
    /// The folder of LLVM's source.
    pub(crate) source: String,
}

impl ZoomedMember {
    /// Whether it stands there, in the archive or in a copy of it.
    fn replaces(&self, archive: &str, position: usize) -> bool {
        self.position as usize == position && self.is_in(archive)
    }

    /// Whether this is its archive, or a copy of it.
    fn is_in(&self, archive: &str) -> bool {
        file_name(&self.archive) == file_name(archive)
    }
}

fn code_function(
    function: &FunctionIndex,
    name: String,
    file: FileId,
    object: u32,
    start: u32,
) -> CodeFunction {
    let mut blocks: Vec<(u32, u32)> = Vec::new();
    let mut offsets = Vec::new();
    let mut by_slot = function.blocks.clone();
    by_slot.sort_by_key(|block| block.slot);
    for block in by_slot {
        let id = start + block.slot;
        match blocks.last_mut() {
            Some((_, end)) if *end == id => *end = id + 1,
            _ => blocks.push((id, id + 1)),
        }
        offsets.push(block.offset);
    }
    let origin = Origin { object, section: function.section, start: function.start, offsets };
    CodeFunction { symbol: function.symbol.clone(), name, file, host: None, blocks, origin }
}

/// Where the marks of each section lie in a linked worker.
struct Marks {
    starts: HashMap<String, u32>,
    n_blocks: u32,
}

impl Marks {
    fn read(worker: &Path) -> Result<Marks, CompilerError> {
        let bytes = fs::read(worker)?;
        let file = object::File::parse(&*bytes).map_err(|_| CompilerError::NoMarks("symbols"))?;
        let address = |name: &'static str| {
            let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
            symbol.map(|symbol| symbol.address()).ok_or(CompilerError::NoMarks(name))
        };
        let (first, last) = (address(START_SYMBOL)?, address(STOP_SYMBOL)?);
        let starts = file
            .symbols()
            .filter_map(|symbol| {
                let name = symbol.name().ok()?;
                let inside = name.starts_with(PROBE_SYMBOL_PREFIX)
                    && (first..last).contains(&symbol.address());
                inside.then(|| (name.to_owned(), (symbol.address() - first) as u32))
            })
            .collect();
        Ok(Marks { starts, n_blocks: (last - first) as u32 })
    }
}

/// Which functions are written in headers. The linker keeps one copy of many;
/// blaming the file whose copy it kept would be chance.
struct HeaderCode {
    shared: HashSet<String>,
    clones: HashMap<String, u32>,
}

/// Containers of LLVM and the standard library. An instance over a local type
/// is local to its object, but its code is the header's all the same.
const CONTAINERS: [&str; 12] = [
    "std::",
    "llvm::DenseMap",
    "llvm::DenseSet",
    "llvm::FoldingSet",
    "llvm::MapVector",
    "llvm::SetVector",
    "llvm::SmallDenseMap",
    "llvm::SmallPtrSet",
    "llvm::SmallSet",
    "llvm::SmallVector",
    "llvm::StringMap",
    "llvm::detail::DenseSetImpl",
];

impl HeaderCode {
    fn find(members: &[(String, Vec<MemberReport>)]) -> HeaderCode {
        let mut code = HeaderCode { shared: HashSet::new(), clones: HashMap::new() };
        let reports = members.iter().flat_map(|(_, members)| members);
        for function in reports.filter_map(|member| member.outcome.as_ref().ok()).flatten() {
            match function.linkage {
                Linkage::Comdat | Linkage::Weak => {
                    code.shared.insert(function.symbol.clone());
                }
                Linkage::Local if function.symbol.contains('.') => {
                    *code.clones.entry(function.symbol.clone()).or_default() += 1;
                }
                Linkage::Local | Linkage::Global => {}
            }
        }
        code
    }

    fn contains(&self, function: &FunctionIndex, name: &str) -> bool {
        let symbol = &function.symbol;
        match function.linkage {
            Linkage::Comdat | Linkage::Weak => true,
            Linkage::Global => false,
            Linkage::Local => {
                // `.isra`, `.part`, `.constprop`: pieces cut out of a function.
                let base = symbol.split('.').next().unwrap_or(symbol);
                let is_file_local = base.starts_with("_ZL") || base.contains("_GLOBAL__N_");
                let is_clone_of_many =
                    !is_file_local && self.clones.get(symbol).is_some_and(|&count| count > 1);
                self.shared.contains(base)
                    || is_clone_of_many
                    || CONTAINERS.iter().any(|container| qualified(name).starts_with(container))
            }
        }
    }
}

/// A demangled name without its return type, up to its first arguments.
fn qualified(name: &str) -> &str {
    let bare = name.split(['<', '(']).next().unwrap_or(name);
    bare.rsplit(' ').next().unwrap_or(bare)
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(symbol: &str, linkage: Linkage) -> FunctionIndex {
        FunctionIndex {
            symbol: symbol.to_owned(),
            section: 1,
            probe_symbol: String::new(),
            linkage,
            start: 0,
            end: 1,
            blocks: Vec::new(),
        }
    }

    #[test]
    fn a_lambda_and_a_cut_out_part_belong_to_their_function() {
        let check = |symbol: &str, host: &str| {
            assert!(host_symbols(symbol).any(|found| found == host), "{symbol}");
        };
        check("_ZZN4llvm3GVN3runEvENK3$_0clEi", "_ZN4llvm3GVN3runEv");
        check("_ZZN4llvm3GVN3runERNS_1FEENKUlvE_clEv", "_ZN4llvm3GVN3runERNS_1FE");
        check("_ZL5helpsi.part.0", "_ZL5helpsi");
        assert_eq!(host_symbols("_ZN4llvm3GVN3runEv").count(), 0);
    }

    #[test]
    fn code_of_headers_is_told_from_code_of_files() {
        let member =
            |functions| MemberReport { name: "x.o".into(), object_id: 0, outcome: Ok(functions) };
        let members = vec![(
            "lib.a".to_owned(),
            vec![
                member(vec![
                    function("_Z6sharedv", Linkage::Comdat),
                    function("_Z3cutv.isra.0", Linkage::Local),
                ]),
                member(vec![function("_Z3cutv.isra.0", Linkage::Local)]),
            ],
        )];
        let headers = HeaderCode::find(&members);
        let check = |symbol: &str, linkage, expected: bool| {
            let name = demangle(symbol);
            assert_eq!(headers.contains(&function(symbol, linkage), &name), expected, "{symbol}");
        };
        check("_Z6sharedv", Linkage::Comdat, true);
        check("_Z6sharedv.part.0", Linkage::Local, true);
        check("_Z3cutv.isra.0", Linkage::Local, true);
        check("_Z3ownv", Linkage::Global, false);
        check("_ZL5helpsi", Linkage::Local, false);
        check("_ZL5helpsi.isra.0", Linkage::Local, false);
        // A lambda inside a function that takes a `std::optional`.
        check("_ZZN4llvm4MineC1ESt8optionalIiEENK3$_0clEv", Linkage::Local, false);
        check("_ZNSt6vectorIN12_GLOBAL__N_11TESaIS1_EE3endEv", Linkage::Local, true);
    }

    /// As of gcc: objects beside their archive, each function in the file of its
    /// lines.
    #[test]
    fn functions_belong_to_the_files_in_which_they_are_written() {
        use crate::llvm::find;
        use crate::spawn::Tool;

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("gcc")).unwrap();
        fs::write(path("gcc/half.h"), "static int half(int x) { return x / 2; }\n").unwrap();
        let source = "#include \"half.h\"\nint use(int x) { return half(x) + half(x + 1); }\n";
        fs::write(path("gcc/use.c"), source).unwrap();
        fs::write(path("main.c"), "int use(int);\nint main(void) { return use(7); }\n").unwrap();
        let install = find(19).unwrap();
        let tool = |name: &str| Tool::new(install.tool(name).unwrap()).directory(folder.path());
        tool("clang").args(["-g1", "-O0", "-c", "gcc/use.c"]).check().unwrap();
        tool("clang").args(["-c", "main.c"]).check().unwrap();
        tool("llvm-ar").args(["rcs", "libuse.a", "use.o"]).check().unwrap();
        fs::create_dir(path("out")).unwrap();
        let covered = instrument(&[path("libuse.a")], &path("out"), &|_| {}).unwrap();
        let linked = tool("clang").arg(&covered.first).arg("main.o").args(&covered.archives);
        linked.arg(&covered.last).args(["-no-pie", "-o", "program"]).check().unwrap();
        let below = |path: &str| path.rfind("gcc/").map(|at| path[at..].to_owned());
        let map = covered.code_map_by_lines(&path("program"), &below).unwrap();
        let file = |name: &str| {
            let function = map.functions.iter().find(|function| function.name == name).unwrap();
            map.file(function.file).to_owned()
        };
        assert_eq!((file("use").as_str(), file("half").as_str()), ("gcc/use.c", "gcc/half.h"));
        assert_eq!(map.objects[0].zoomed, Some(path("use.o").display().to_string()));
    }

    /// A user's own build: a small archive with debug information, from source
    /// to line.
    #[test]
    fn blocks_of_an_archive_with_debug_information_have_lines() {
        use crate::llvm::{block_lines, find};
        use crate::spawn::Tool;
        use optsleuth_model::Coverage;

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let source = "int sign(int x) {\n  if (x < 0)\n    return -1;\n  return x > 0;\n}\n";
        fs::write(path("sign.c"), source).unwrap();
        fs::write(path("main.c"), "int sign(int);\nint main(void) { return sign(7); }\n").unwrap();
        let install = find(19).unwrap();
        let tool = |name: &str| Tool::new(install.tool(name).unwrap()).directory(folder.path());
        tool("clang").args(["-g", "-O0", "-c", "sign.c"]).check().unwrap();
        tool("clang").args(["-c", "main.c"]).check().unwrap();
        tool("llvm-ar").args(["rcs", "libsign.a", "sign.o"]).check().unwrap();

        fs::create_dir(path("out")).unwrap();
        let covered = instrument(&[path("libsign.a")], &path("out"), &|_| {}).unwrap();
        let linked = tool("clang").arg(&covered.first).arg("main.o").args(&covered.archives);
        linked.arg(&covered.last).args(["-no-pie", "-o", "program"]).check().unwrap();
        let map = covered.code_map(&path("program"), &[]).unwrap();
        assert_eq!(map.functions.len(), 1);
        assert_eq!(map.functions[0].name, "sign");
        assert_eq!(map.files, ["libsign.a/sign"]);

        let all = Coverage::of(map.functions[0].block_ids());
        let lines = block_lines(&map, &all).unwrap();
        assert!(lines.files[0].ends_with("sign.c"), "{:?}", lines.files);
        let found: Vec<u32> = lines.hits(&all).keys().map(|(_, line)| *line).collect();
        assert_eq!(found, [1, 3, 4, 5]);
    }
}
