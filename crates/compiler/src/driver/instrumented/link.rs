//! A build tree of gcc -> cc1 with probes, and its code map.
//!
//! `make -n` says what cc1 is linked from. Its main program is replaced by ours,
//! everything else gets probes.
//!
//! **Invariant:** an object that cannot be instrumented is linked as it is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::{CC1, CODE_MAP, GccStep};
use crate::CompilerError;
use crate::llvm::covered;
use crate::spawn::Tool;

/// The worker's side of it: our main program, and the plug-in's code.
const SOURCES: [(&str, &str); 3] = [
    ("cc1.cpp", include_str!("../../../../../plugin/cc1.cpp")),
    ("cc1.h", include_str!("../../../../../plugin/cc1.h")),
    ("optsleuth_gcc_plugin.cpp", include_str!("../../../../../plugin/optsleuth_gcc_plugin.cpp")),
];

/// Links in a folder; the code map is written last.
pub(super) fn link(
    tree: &Path,
    folder: &Path,
    progress: &mut dyn FnMut(GccStep),
) -> Result<(), CompilerError> {
    let gcc = tree.join("gcc");
    let command = link_command(&gcc)?;
    let work = folder.join("linking");
    let _ = fs::remove_dir_all(&work); // What a killed attempt left.
    fs::create_dir_all(&work).map_err(CompilerError::Cache)?;
    let own = compile_own(&gcc, &command.compiler, &work)?;
    progress(GccStep::Instrumenting);
    // Objects of the front end are in no archive.
    let front = work.join("front.a");
    let objects =
        command.objects.iter().filter(|name| *name != "main.o").map(|name| gcc.join(name));
    // Thin: names stay paths.
    Tool::new("ar").arg("rcsT").arg(&front).args(objects).check()?;
    let mut archives = vec![front];
    archives.extend(command.archives.iter().map(|name| gcc.join(name)));
    let covered = covered::instrument(&archives, &work, &|_| {})?;
    progress(GccStep::Linking);
    let cc1 = work.join(CC1);
    let (front, rest) = covered.archives.split_first().ok_or_else(|| no_tree(tree))?;
    Tool::new(&command.compiler)
        .directory(&gcc)
        .args(&command.flags)
        .arg(&covered.first)
        .args(&own)
        .arg("-Wl,--whole-archive")
        .arg(front)
        .args(["-Wl,--no-whole-archive", "-Wl,--start-group"])
        .args(rest)
        .arg("-Wl,--end-group")
        .args(&command.libraries)
        .arg(&covered.last)
        .args(["-no-pie", "-o"])
        .arg(&cc1)
        .check()?;
    let map = covered.code_map_by_lines(&cc1, &known_as)?;
    let bytes = postcard::to_stdvec(&map).map_err(std::io::Error::other)?;
    // A map of another cc1 must not stand beside this one, whatever ends us here.
    let _ = fs::remove_file(folder.join(CODE_MAP));
    fs::rename(&cc1, folder.join(CC1)).map_err(CompilerError::Cache)?;
    fs::write(work.join(CODE_MAP), bytes).map_err(CompilerError::Cache)?;
    fs::rename(work.join(CODE_MAP), folder.join(CODE_MAP)).map_err(CompilerError::Cache)?;
    fs::remove_dir_all(&work).map_err(CompilerError::Cache)
}

fn no_tree(tree: &Path) -> CompilerError {
    CompilerError::NotAGccBuild(tree.to_owned())
}

/// What gcc's own build links cc1 from.
#[derive(Debug, PartialEq, Eq)]
struct LinkCommand {
    compiler: String,
    flags: Vec<String>,
    objects: Vec<String>,
    archives: Vec<String>,
    /// `-lmpc` and the like.
    libraries: Vec<String>,
}

fn link_command(gcc: &Path) -> Result<LinkCommand, CompilerError> {
    let no_tree = || no_tree(gcc.parent().unwrap_or(gcc));
    if !gcc.join("cc1").is_file() {
        return Err(no_tree());
    }
    let dry = Tool::new("make").directory(gcc).args(["-n", "-W", "main.o", "cc1"]).text()?;
    read_command(&dry).ok_or_else(no_tree)
}

/// Finds the link of cc1 in what make would do.
fn read_command(dry: &str) -> Option<LinkCommand> {
    let joined = dry.replace("\\\n", " ");
    let line = joined.lines().find(|line| line.contains(" -o cc1 "))?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let compiler = words.next()?;
    let mut command = LinkCommand {
        compiler,
        flags: Vec::new(),
        objects: Vec::new(),
        archives: Vec::new(),
        libraries: Vec::new(),
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" => _ = words.next(),
            "-no-pie" => {}
            // The make rule moves the result into its place.
            "&&" | "||" | ";" => break,
            object if object.ends_with(".o") => command.objects.push(word),
            archive if archive.ends_with(".a") => command.archives.push(word),
            library if library.starts_with("-l") || library.starts_with("-L") => {
                command.libraries.push(word);
            }
            _ => command.flags.push(word),
        }
    }
    // Some stand there twice, for the linker's sake.
    let mut seen = BTreeSet::new();
    command.archives.retain(|archive| seen.insert(archive.clone()));
    Some(command)
}

/// Compiles our own two sources against the build tree.
fn compile_own(gcc: &Path, compiler: &str, work: &Path) -> Result<Vec<PathBuf>, CompilerError> {
    for (name, text) in SOURCES {
        fs::write(work.join(name), text).map_err(CompilerError::Cache)?;
    }
    let makefile = fs::read_to_string(gcc.join("Makefile"))?;
    let source = makefile.lines().find_map(|line| line.strip_prefix("srcdir = "));
    let source = gcc.join(source.unwrap_or_default().trim());
    let above = |name: &str| format!("-I{}", source.join("..").join(name).display());
    let mut objects = Vec::new();
    for (name, _) in SOURCES.iter().filter(|(name, _)| name.ends_with(".cpp")) {
        let object = work.join(Path::new(name).with_extension("o"));
        Tool::new(compiler)
            .directory(gcc)
            .args(["-c", "-O1", "-fno-PIE", "-fno-exceptions", "-fno-rtti", "-w"])
            .args(["-DIN_GCC", "-DHAVE_CONFIG_H", "-DOPTSLEUTH_IN_CC1", "-I."])
            .arg(format!("-I{}", source.display()))
            .args(["include", "libcpp/include", "libdecnumber", "libbacktrace"].map(above))
            .arg("-I../libdecnumber")
            .arg(work.join(name))
            .arg("-o")
            .arg(&object)
            .check()?;
        objects.push(object);
    }
    Ok(objects)
}

/// A path of gcc's as people know it: `gcc/tree-ssa-dom.cc`. Files that the build
/// generates have their bare names.
pub(crate) fn known_as(path: &str) -> Option<String> {
    const PARTS: [&str; 4] = ["/gcc/", "/libcpp/", "/libiberty/", "/include/"];
    let part = PARTS.iter().filter_map(|part| path.rfind(part)).max()?;
    let below = &path[part + 1..];
    // `build/gcc/insn-recog.cc` stands beside `source/gcc/tree.cc`.
    Some(below.strip_prefix("gcc/./").map_or(below.to_owned(), |name| format!("gcc/{name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_of_cc1_is_found_in_what_make_would_do() {
        let dry = "build/genchecksum > x\ng++ -no-pie -O1 -static-libgcc -o cc1 c/c-lang.o \\\n  \
                   main.o libbackend.a ../libcpp/libcpp.a libbackend.a -lmpc -L./x -lgmp && true\n";
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let expected = LinkCommand {
            compiler: "g++".to_owned(),
            flags: words("-O1 -static-libgcc"),
            objects: words("c/c-lang.o main.o"),
            archives: words("libbackend.a ../libcpp/libcpp.a"),
            libraries: words("-lmpc -L./x -lgmp"),
        };
        assert_eq!(read_command(dry), Some(expected));
        assert_eq!(read_command("make: Nothing to be done"), None);
    }

    #[test]
    fn files_have_the_names_that_people_know() {
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(known_as(path).as_deref(), expected, "{path}");
        };
        check("/x/gcc-12.2.0/gcc/tree-ssa-dom.cc", Some("gcc/tree-ssa-dom.cc"));
        check("/x/build/gcc/../../source/gcc/c/c-decl.cc", Some("gcc/c/c-decl.cc"));
        check("/x/source/gcc/../libcpp/lex.cc", Some("libcpp/lex.cc"));
        check("/x/build/gcc/insn-recog.cc", Some("gcc/insn-recog.cc"));
        check("/usr/share/x.c", None);
    }
}
