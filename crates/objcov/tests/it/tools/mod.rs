//! Real compilers, linkers and programs for the tests; everything happens in a temporary folder.
#![expect(clippy::disallowed_methods, reason = "tests run real tools")]

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use object::{Object as _, ObjectSymbol as _, SymbolKind};
use optsleuth_objcov::{FunctionIndex, ObjcovError, Options, boundary_objects, instrument_object};
use tempfile::TempDir;

/// A temporary folder with the boundary objects and the writer of hits in it.
pub struct Bench {
    pub dir: TempDir,
}

/// How to translate and link.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    pub compiler: &'a str,
    pub flags: &'a [&'a str],
    pub link_flags: &'a [&'a str],
}

/// How the observer works: see `programs/observer.c`.
#[derive(Debug, Clone, Copy)]
pub enum Method {
    Traps,
    Steps,
    /// Steps begin at this address, one of those observed.
    StepsFrom(u64),
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Traps => f.write_str("traps"),
            Method::Steps => f.write_str("steps"),
            Method::StepsFrom(address) => write!(f, "steps:{address:x}"),
        }
    }
}

/// An instrumented program that has run.
pub struct Trial {
    pub functions: Vec<FunctionIndex>,
    hits: Vec<u8>,
    start: u64,
    symbols: HashMap<String, u64>,
}

/// The folder of the test programs.
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Runs `command` with its arguments, without input.
pub fn run(command: &[&str], dir: &Path, envs: &[(&str, &str)]) -> Output {
    Command::new(command[0])
        .args(&command[1..])
        .envs(envs.iter().copied())
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}", command[0]))
}

/// Like [`run`], and insists on success.
pub fn must(command: &[&str], dir: &Path) -> String {
    let output = run(command, dir, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} failed:\n{stderr}", command.join(" "));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Bench {
    pub fn new() -> Bench {
        let dir = TempDir::new().expect("temporary folder");
        let (first, last) = boundary_objects();
        fs::write(dir.path().join("first.o"), first).expect("write");
        fs::write(dir.path().join("last.o"), last).expect("write");
        let hits = programs().join("hits.c");
        must(&["gcc", "-O1", "-fPIC", "-c", path(&hits), "-o", "hits.o"], dir.path());
        Bench { dir }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Translates `source` of the test programs to `object`.
    pub fn compile(&self, setup: Setup<'_>, source: &str, object: &str) -> Vec<u8> {
        let source = programs().join(source);
        let is_cpp = source.extension().is_some_and(|extension| extension == "cpp");
        let compiler = if is_cpp { setup.cpp_compiler() } else { setup.compiler };
        let command = [&[compiler], setup.flags, &["-c", path(&source), "-o", object]].concat();
        must(&command, self.path());
        fs::read(self.path().join(object)).expect("object")
    }

    /// Instruments `object` in place of a copy named `instrumented`.
    pub fn instrument(
        &self,
        bytes: &[u8],
        object_id: u32,
        instrumented: &str,
    ) -> Result<Vec<FunctionIndex>, ObjcovError> {
        let result = instrument_object(bytes, &Options { object_id })?;
        fs::write(self.path().join(instrumented), &result.bytes).expect("write");
        Ok(result.functions)
    }

    /// Links `inputs` into `program`.
    pub fn link(&self, setup: Setup<'_>, inputs: &[&str], program: &str) {
        let command =
            [&[setup.cpp_compiler()], setup.link_flags, inputs, &["-pthread", "-o", program]]
                .concat();
        must(&command, self.path());
    }

    /// Links `inputs` with the boundary objects around them and the writer of hits.
    pub fn link_framed(&self, setup: Setup<'_>, inputs: &[&str], program: &str) {
        let framed = [&["-Wl,--wrap=_exit", "first.o"], inputs, &["hits.o", "last.o"]].concat();
        self.link(setup, &framed, program);
    }

    /// Runs the plain and the instrumented program and insists on equal behaviour.
    pub fn compare(
        &self,
        plain: &str,
        instrumented: &str,
        functions: Vec<FunctionIndex>,
        what: &str,
    ) -> Trial {
        let hits = self.path().join(format!("{instrumented}.hits"));
        let run = |program: &str| {
            let program = self.path().join(program);
            run(&[path(&program)], self.path(), &[("OBJCOV_HITS", path(&hits))])
        };
        let (old, new) = (run(plain), run(instrumented));
        assert_eq!(old.status, new.status, "{what}: {}", String::from_utf8_lossy(&new.stderr));
        assert_eq!(
            String::from_utf8_lossy(&old.stdout),
            String::from_utf8_lossy(&new.stdout),
            "{what}"
        );
        assert_eq!(
            String::from_utf8_lossy(&old.stderr),
            String::from_utf8_lossy(&new.stderr),
            "{what}"
        );
        let symbols = self.symbols(instrumented);
        let start = symbols["__start___objcov"];
        Trial { functions, hits: fs::read(&hits).expect("hits"), start, symbols }
    }

    /// Addresses of the symbols of `program`.
    pub fn symbols(&self, program: &str) -> HashMap<String, u64> {
        self.every_symbol(program).into_iter().collect()
    }

    /// The symbols that `program` defines and their addresses; several may have the same name.
    pub fn every_symbol(&self, program: &str) -> Vec<(String, u64)> {
        let bytes = fs::read(self.path().join(program)).expect("program");
        let file = object::File::parse(&*bytes).expect("program");
        let is_name = |kind| !matches!(kind, SymbolKind::File | SymbolKind::Section);
        let defined =
            file.symbols().filter(|symbol| !symbol.is_undefined() && is_name(symbol.kind()));
        let named =
            defined.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address())));
        named.collect()
    }

    /// Which of `addresses` are executed by `command`, a position-dependent program, and what it prints.
    pub fn observe(
        &self,
        command: &[&str],
        envs: &[(&str, &str)],
        addresses: &BTreeSet<u64>,
        method: Method,
    ) -> (BTreeSet<u64>, Output) {
        let source = programs().join("observer.c");
        must(&["gcc", "-O2", path(&source), "-o", "observer"], self.path());
        let list = addresses.iter().map(|address| format!("{address:x}\n")).collect::<String>();
        fs::write(self.path().join("addresses"), list).expect("write");
        let observer = ["./observer", &method.to_string(), "addresses", "seen"];
        let output = run(&[&observer, command].concat(), self.path(), envs);
        assert!(output.status.success(), "the observer failed: {}", output.status);
        let seen = fs::read_to_string(self.path().join("seen")).expect("addresses");
        let parse = |line| u64::from_str_radix(line, 16).expect("address");
        (seen.lines().map(parse).collect(), output)
    }
}

impl<'a> Setup<'a> {
    /// The compiler's form for C++, which also links.
    fn cpp_compiler(self) -> &'a str {
        match self.compiler {
            "gcc" => "g++",
            "clang-19" => "clang++-19",
            compiler => compiler,
        }
    }
}

impl Trial {
    /// Per block of `function`: was it executed? `None` if the linker dropped this copy.
    pub fn hits(&self, function: &FunctionIndex) -> Option<Vec<bool>> {
        let base = self.symbols.get(&function.probe_symbol)? - self.start;
        let hit = |slot: u32| self.hits[base as usize + slot as usize] != 0;
        Some(function.blocks.iter().map(|block| hit(block.slot)).collect())
    }

    /// The executed functions must be plausible, going by the names the test programs use.
    pub fn check_names(&self, all_used_are_called: bool, what: &str) {
        let mut has_main = false;
        for function in &self.functions {
            let Some(hits) = self.hits(function) else {
                continue;
            };
            let name = &function.symbol;
            let is_any = hits.contains(&true);
            assert!(!(name.contains("unused_") && is_any), "{what}: {name} was not called");
            if !name.contains(".cold") && function.blocks[0].offset == function.start {
                assert_eq!(is_any, hits[0], "{what}: {name} was entered in the middle");
            }
            let is_used = name.contains("used_") && !name.contains("unused_");
            if name == "main" || all_used_are_called && is_used {
                assert!(hits[0], "{what}: {name} was called");
            }
            has_main |= name == "main";
        }
        assert!(has_main, "{what}: no main");
    }
}

/// The path as text.
pub fn path(path: &Path) -> &str {
    path.to_str().expect("path in UTF-8")
}
