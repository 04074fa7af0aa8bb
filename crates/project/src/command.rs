//! One command of a build: words -> what it reads and makes.
//!
//! Stands between the recorder, which sees commands go by, and the project, which
//! repeats some of them. Only the words of C compilers and of `ar` are understood;
//! what is not stays as it is and is never repeated.
//!
//! **Invariant:** nothing is run here. Files are looked at only to know them again.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

/// A command of a build, as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Where it was started.
    pub dir: PathBuf,
    /// The real program.
    pub program: PathBuf,
    pub args: Vec<String>,
    pub work: Work,
}

/// What a command is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// One source becomes one object.
    Compile { source: PathBuf, object: FileIdentity },
    /// Objects and libraries become a program, a library or an archive.
    Combine { inputs: Vec<FileIdentity>, output: PathBuf },
}

/// A file that can be known again after it was moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    pub path: PathBuf,
    /// Device and number of the file there. `None` if there is none.
    pub inode: Option<(u64, u64)>,
}

/// What the words of a compiler ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// `-c`: this source, into this object.
    Compile { source: String, object: PathBuf },
    /// To link; sources are compiled on the way.
    Link { sources: Vec<String>, inputs: Vec<PathBuf>, output: PathBuf },
    /// Anything else: preprocessing, assembly, questions, standard input, several
    /// sources with `-c`.
    Other,
}

/// Words of which the next one is the value, as clang and gcc both have them.
const WITH_VALUE: [&str; 27] = [
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-x",
    "-u",
    "-z",
    "-T",
    "-target",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-mllvm",
    "--param",
    "-arch",
];
const SOURCES: [&str; 9] = ["c", "i", "cc", "cpp", "cxx", "c++", "C", "ii", "cp"];

/// Flags that write files beside the object.
const DEPENDENCIES: [&str; 4] = ["-MD", "-MMD", "-MP", "-MG"];
const DEPENDENCY_FILES: [&str; 3] = ["-MF", "-MT", "-MQ"];

/// The beginnings of words that only the preprocessor reads.
const PREPROCESSING: [&str; 10] =
    ["-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-M", "-Wp,"];

/// Words of a compiler -> what they ask for, seen from `dir`.
pub fn request(args: &[String], dir: &Path) -> Request {
    let args = expanded(args, dir);
    let (mut sources, mut inputs) = (Vec::new(), Vec::new());
    let (mut folders, mut output) = (Vec::new(), None);
    let (mut compiles, mut is_other) = (false, false);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let value = WITH_VALUE.contains(&word.as_str()).then(|| words.next()).flatten();
        match (word.as_str(), value) {
            ("-c", _) => compiles = true,
            (
                "-S" | "-E" | "-M" | "-MM" | "-fsyntax-only" | "-" | "-###" | "--version" | "-x",
                _,
            ) => {
                is_other = true;
            }
            ("-o", Some(path)) => output = Some(dir.join(path)),
            ("-L", Some(path)) => folders.push(dir.join(path)),
            ("-l", Some(name)) => inputs.extend(library(name, &folders)),
            (_, Some(_)) => {}
            (word, None) => match word.split_at_checked(2) {
                Some(("-o", path)) if !path.is_empty() && !word.starts_with("-object") => {
                    output = Some(dir.join(path));
                }
                Some(("-L", path)) => folders.push(dir.join(path)),
                Some(("-l", name)) => inputs.extend(library(name, &folders)),
                _ if word.starts_with('-') => {}
                _ if is_source(word) => sources.push(word.to_owned()),
                _ => inputs.push(dir.join(word)),
            },
        }
    }
    match (is_other, compiles, sources.as_slice()) {
        (false, true, [source]) => {
            let object = output.unwrap_or_else(|| dir.join(object_name(source)));
            Request::Compile { source: source.clone(), object }
        }
        (false, false, _) if !sources.is_empty() || !inputs.is_empty() => {
            Request::Link { sources, inputs, output: output.unwrap_or_else(|| dir.join("a.out")) }
        }
        _ => Request::Other,
    }
}

/// Words of `ar` -> what it puts where; nothing if it does not write an archive.
pub fn archived(args: &[String], dir: &Path) -> Option<(Vec<PathBuf>, PathBuf)> {
    let args = expanded(args, dir);
    let operation = args.first()?.trim_start_matches('-');
    if !operation.contains(['r', 'q', 's']) || operation.contains(['t', 'p', 'x', 'd']) {
        return None;
    }
    let mut files = args[1..].iter().filter(|word| !word.starts_with('-'));
    let output = dir.join(files.next()?);
    Some((files.map(|file| dir.join(file)).collect(), output))
}

/// The words for another object of the same source: at these flags, which come last
/// and so win, and without anything else written.
pub fn recompile(args: &[String], flags: &[String], object: &Path) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" => drop(words.next()),
            file if DEPENDENCY_FILES.contains(&file) => drop(words.next()),
            flag if DEPENDENCIES.contains(&flag) => {}
            flag if flag.starts_with("-MF") || flag.starts_with("-Wp,-M") => {}
            flag if flag.starts_with("-o") && flag.len() > 2 && !flag.starts_with("-object") => {}
            _ => kept.push(word.clone()),
        }
    }
    kept.extend(flags.iter().cloned());
    kept.extend(["-o".to_owned(), object.display().to_string()]);
    kept
}

/// The flags of a command that compiles and links, as a compilation takes them.
pub fn without_inputs(args: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let value = WITH_VALUE.contains(&word.as_str()).then(|| words.next()).flatten();
        let is_link = ["-o", "-l", "-L"].iter().any(|flag| word.starts_with(flag));
        let is_input = value.is_none() && !word.starts_with('-');
        if !is_link && !is_input && !word.starts_with("-Wl,") {
            kept.extend([Some(word), value].into_iter().flatten().cloned());
        }
    }
    kept
}

/// The flags for a source that is preprocessed already.
pub fn without_preprocessing(flags: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = flags.iter();
    while let Some(word) = words.next() {
        let value = WITH_VALUE.contains(&word.as_str()).then(|| words.next()).flatten();
        let is_gone = PREPROCESSING.iter().any(|flag| word.starts_with(flag))
            || DEPENDENCIES.contains(&word.as_str())
            || word == "-c";
        if !is_gone {
            kept.extend([Some(word), value].into_iter().flatten().cloned());
        }
        // The level has the last word elsewhere, and is -O3 there.
        if word == "-Ofast" {
            kept.push("-ffast-math".to_owned());
        }
    }
    kept
}

/// A compiler's level: the last word on it.
pub fn level_of(args: &[String]) -> &str {
    let is_level = |word: &&String| word.starts_with("-O") && !word.starts_with("-Ob");
    args.iter().rev().find(is_level).map_or("-O0", |word| if word == "-O" { "-O1" } else { word })
}

impl FileIdentity {
    /// The file that is there now. Links are followed.
    pub fn of(path: &Path) -> FileIdentity {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let inode = fs::metadata(&path).ok().map(|file| (file.dev(), file.ino()));
        FileIdentity { path, inode }
    }
}

pub fn is_source(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| SOURCES.contains(&extension))
}

/// What `-c` calls its object where nothing is said.
fn object_name(source: &str) -> PathBuf {
    Path::new(Path::new(source).file_name().unwrap_or_default()).with_extension("o")
}

/// The library that `-lNAME` finds in the folders of the command itself; those of the
/// system are not the project's.
fn library(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let files = [format!("lib{name}.so"), format!("lib{name}.a")];
    let all = folders.iter().flat_map(|folder| files.iter().map(move |file| folder.join(file)));
    all.into_iter().find(|file| file.exists())
}

/// With `@file` replaced by what is in the file.
fn expanded(args: &[String], dir: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for arg in args {
        let file = arg.strip_prefix('@').and_then(|path| fs::read_to_string(dir.join(path)).ok());
        match file.and_then(|text| shlex::split(&text)) {
            Some(words) => all.extend(words),
            None => all.push(arg.clone()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_compilation_says_its_source_and_its_object() {
        let check = |text: &str, source: &str, object: &str| {
            let expected = Request::Compile { source: source.into(), object: object.into() };
            assert_eq!(request(&words(text), Path::new("/p")), expected, "{text}");
        };
        check("-O2 -c -o x.o src/a.c", "src/a.c", "/p/x.o");
        check("-c src/a.c", "src/a.c", "/p/a.o");
        check("-I inc -DX=y.c -MD -MF a.d -c a.cpp -olib/a.lo", "a.cpp", "/p/lib/a.lo");
        check("-include b.c -c /s/a.i -o /o/a.o", "/s/a.i", "/o/a.o");
    }

    #[test]
    fn a_link_says_what_it_takes() {
        let expected = Request::Link {
            sources: words("main.c"),
            inputs: vec!["/p/a.o".into(), "/p/libz.a".into()],
            output: "/p/prog".into(),
        };
        assert_eq!(
            request(&words("-O2 -o prog main.c a.o -L. libz.a -lm"), Path::new("/p")),
            expected
        );
    }

    #[test]
    fn what_makes_no_object_is_left_alone() {
        for text in ["-E a.c", "-S a.c", "--version", "-c a.c b.c", "-x c -", "-v"] {
            assert_eq!(request(&words(text), Path::new("/p")), Request::Other, "{text}");
        }
    }

    #[test]
    fn an_archive_is_what_is_first() {
        let check = |text: &str, expected: Option<(&[&str], &str)>| {
            let expected = expected.map(|(files, output)| {
                (files.iter().map(PathBuf::from).collect::<Vec<_>>(), PathBuf::from(output))
            });
            assert_eq!(archived(&words(text), Path::new("/p")), expected, "{text}");
        };
        check("rcs libz.a a.o b.o", Some((&["/p/a.o", "/p/b.o"], "/p/libz.a")));
        check("cru x/liby.a", Some((&[], "/p/x/liby.a")));
        check("t libz.a", None);
    }

    #[test]
    fn another_object_of_a_source_writes_nothing_else() {
        let again = recompile(
            &words("-O2 -MD -MP -MF a.d -DX -c a.c -o a.o"),
            &words("-O0"),
            Path::new("/v/O0.o"),
        );
        assert_eq!(again, words("-O2 -DX -c a.c -O0 -o /v/O0.o"));
    }

    #[test]
    fn a_compilation_on_the_way_to_a_link_has_its_flags() {
        let flags = without_inputs(&words("-O2 -D X a.c b.o -L. -lz -Wl,-x -o prog -pthread"));
        assert_eq!(flags, words("-O2 -D X -pthread"));
    }

    #[test]
    fn a_preprocessed_source_needs_no_folders_and_no_names() {
        let flags = words("-O2 -D X=1 -Iinc -include a.h -MD -MF a.d -fPIC --param p=1 -c -Ofast");
        assert_eq!(
            without_preprocessing(&flags),
            words("-O2 -fPIC --param p=1 -Ofast -ffast-math")
        );
    }

    #[test]
    fn the_last_level_counts() {
        let check = |text: &str, expected| assert_eq!(level_of(&words(text)), expected, "{text}");
        check("-O2 -c a.c -Os", "-Os");
        check("-O -c a.c", "-O1");
        check("-c a.c -Wall", "-O0");
    }
}
