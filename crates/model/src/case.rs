//! `case.toml`: one failure of one compiler. Text -> checked [`Case`] -> text.
//!
//! **Invariant:** a [`Case`] that was read is complete and consistent in
//! itself; whether its files exist and its failure shows is for others to say.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::{CodegenLevel, Conditions, Fault, Language, ModelError, PassSequence, is_source};

/// The version of the format that is read and written.
pub const CASE_VERSION: i64 = 1;
/// The file's name in a case's folder.
pub const CASE_FILE: &str = "case.toml";

/// One failure of one compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub id: String,
    /// What it is about, in a line.
    pub title: Option<String>,
    pub source: Option<String>,
    pub compiler: CompilerSpec,
    /// What was broken in it on purpose.
    pub fault: Option<Fault>,
    /// The program, beside `case.toml`.
    pub input: String,
    /// What the compiler is told to do.
    pub pipeline: Pipeline,
    /// What clang's front end is told, where that is not what follows from the
    /// pipeline (see [`Case::front_end()`]).
    pub front_end: Option<OptLevel>,
    /// LLVM options, as `opt` takes them.
    pub flags: Vec<String>,
    /// For clang, or the compiler itself, if the input is C.
    pub cflags: Vec<String>,
    pub kind: CaseKind,
    /// Of the crash, as `optsleuth run` prints it; any crash counts without it.
    pub signature: Option<String>,
    /// What should happen; for wrong code, what the program should print.
    pub expected: Option<String>,
    /// What happens instead.
    pub observed: Option<String>,
    /// Releases on which it was seen to fail.
    pub fails_in: Vec<String>,
    /// The first release on which it does not.
    pub fixed_in: Option<String>,
    /// What the program is given when it is executed.
    pub execution: Conditions,
    /// The culprit, where it is known.
    pub truth: Option<Truth>,
}

/// Which compiler a case is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompilerSpec {
    /// An installed LLVM, by its number.
    Llvm(String),
    /// The LLVM that this `llvm-config` describes.
    LlvmConfig(String),
    /// clang's driver: an installed one by its number, any other by its path.
    Clang(String),
    /// gcc's, in the same way.
    Gcc(String),
}

/// What the compiler is told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// These passes, in LLVM's words.
    Passes(String),
    /// An optimization level, as in `O2`.
    Level(OptLevel),
    /// No pass: code is generated at this level.
    Codegen(OptLevel),
}

/// An optimization level of clang and gcc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OptLevel {
    O0,
    O1,
    O2,
    O3,
    Os,
    Oz,
}

/// How a compiler can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaseKind {
    /// A signal, an abort, an error exit.
    Crash,
    /// The program does something else than it should.
    WrongCode,
    /// The verifier rejects what the passes made.
    InvalidIr,
    /// It does not end.
    Hang,
    /// It uses up its memory.
    Memory,
    /// The code generator refuses, or crashes.
    Codegen,
}

/// The culprit, as the upstream fix shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// Source files that the fix changed.
    pub files: Vec<String>,
    /// Functions that the fix changed.
    #[serde(default)]
    pub functions: Vec<String>,
    /// How well this is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// Parts of the compiler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_commit: Option<String>,
}

impl CompilerSpec {
    /// Whether it is a compiler as its users call it, and nothing inside of it
    /// can be looked at.
    pub fn is_driver(&self) -> bool {
        match self {
            CompilerSpec::Clang(_) | CompilerSpec::Gcc(_) => true,
            CompilerSpec::Llvm(_) | CompilerSpec::LlvmConfig(_) => false,
        }
    }
}

impl CaseKind {
    pub const ALL: [CaseKind; 6] = [
        CaseKind::Crash,
        CaseKind::WrongCode,
        CaseKind::InvalidIr,
        CaseKind::Hang,
        CaseKind::Memory,
        CaseKind::Codegen,
    ];

    pub fn of_name(name: &str) -> Option<CaseKind> {
        CaseKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The word in `case.toml`.
    pub fn name(self) -> &'static str {
        match self {
            CaseKind::Crash => "crash",
            CaseKind::WrongCode => "wrong-code",
            CaseKind::InvalidIr => "invalid-ir",
            CaseKind::Hang => "hang",
            CaseKind::Memory => "memory",
            CaseKind::Codegen => "codegen",
        }
    }
}

impl OptLevel {
    /// The word in `case.toml`.
    pub fn name(self) -> &'static str {
        match self {
            OptLevel::O0 => "O0",
            OptLevel::O1 => "O1",
            OptLevel::O2 => "O2",
            OptLevel::O3 => "O3",
            OptLevel::Os => "Os",
            OptLevel::Oz => "Oz",
        }
    }
}

impl Pipeline {
    /// The passes, in LLVM's words; empty for none.
    pub fn passes(&self) -> String {
        match self {
            Pipeline::Passes(passes) => passes.clone(),
            Pipeline::Level(level) => format!("default<{}>", level.name()),
            Pipeline::Codegen(_) => String::new(),
        }
    }

    /// Whether all of it is the generation of code.
    pub fn is_codegen(&self) -> bool {
        matches!(self, Pipeline::Codegen(_))
    }

    /// What is done, for people.
    pub fn in_words(&self) -> String {
        match self {
            Pipeline::Passes(_) | Pipeline::Level(_) => self.passes(),
            Pipeline::Codegen(level) => format!("none; code is generated at -{}", level.name()),
        }
    }

    /// How hard the code generator works where the program is executed: as
    /// clang has it for a level, and not at all where only passes are named.
    pub fn codegen(&self) -> CodegenLevel {
        match self {
            Pipeline::Passes(_) => CodegenLevel::O0,
            Pipeline::Level(level) | Pipeline::Codegen(level) => match level {
                OptLevel::O0 => CodegenLevel::O0,
                OptLevel::O1 => CodegenLevel::O1,
                OptLevel::O2 | OptLevel::Os | OptLevel::Oz => CodegenLevel::O2,
                OptLevel::O3 => CodegenLevel::O3,
            },
        }
    }
}

/// The file as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    version: Spanned<i64>,
    id: Spanned<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    compiler: Spanned<CompilerTable>,
    input: Spanned<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passes: Option<Spanned<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<Spanned<OptLevel>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    codegen: Option<Spanned<OptLevel>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    front_end: Option<Spanned<OptLevel>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cflags: Vec<String>,
    kind: CaseKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Spanned<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fails_in: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_in: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution: Option<Spanned<Conditions>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth: Option<Truth>,
}

/// The value of `compiler`: one of the first four.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct CompilerTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    llvm: Option<Spanned<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    llvm_config: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clang: Option<Spanned<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gcc: Option<Spanned<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Spanned<String>>,
}

impl CompilerTable {
    fn new(compiler: &CompilerSpec, fault: Option<&Fault>) -> CompilerTable {
        let plain = |value: &String| Some(Spanned::new(0..0, value.clone()));
        let fault = fault.and_then(|fault| plain(&fault.to_string()));
        match compiler {
            CompilerSpec::Llvm(number) => {
                CompilerTable { llvm: plain(number), fault, ..CompilerTable::default() }
            }
            CompilerSpec::LlvmConfig(path) => {
                CompilerTable { llvm_config: Some(path.clone()), fault, ..CompilerTable::default() }
            }
            CompilerSpec::Clang(by) => {
                CompilerTable { clang: plain(by), fault, ..CompilerTable::default() }
            }
            CompilerSpec::Gcc(by) => {
                CompilerTable { gcc: plain(by), fault, ..CompilerTable::default() }
            }
        }
    }
}

impl Case {
    /// Reads and checks the text of a `case.toml`.
    pub fn parse(text: &str) -> Result<Case, ModelError> {
        let file: CaseFile = toml::from_str(text).map_err(|error| ModelError::Case {
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })?;
        Checker { text }.check(file)
    }

    /// The text of a `case.toml` with this case.
    pub fn to_toml(&self) -> String {
        let plain = |value| Spanned::new(0..0, value);
        let of_level = |level: OptLevel| Some(Spanned::new(0..0, level));
        let (passes, level, codegen) = match &self.pipeline {
            Pipeline::Passes(passes) => (Some(plain(passes.clone())), None, None),
            Pipeline::Level(level) => (None, of_level(*level), None),
            Pipeline::Codegen(level) => (None, None, of_level(*level)),
        };
        let file = CaseFile {
            version: Spanned::new(0..0, CASE_VERSION),
            id: plain(self.id.clone()),
            title: self.title.clone(),
            source: self.source.clone(),
            compiler: Spanned::new(0..0, CompilerTable::new(&self.compiler, self.fault.as_ref())),
            input: plain(self.input.clone()),
            passes,
            level,
            codegen,
            front_end: self.front_end.map(|level| Spanned::new(0..0, level)),
            flags: self.flags.clone(),
            cflags: self.cflags.clone(),
            kind: self.kind,
            signature: self.signature.clone().map(plain),
            expected: self.expected.clone(),
            observed: self.observed.clone(),
            fails_in: self.fails_in.clone(),
            fixed_in: self.fixed_in.clone(),
            execution: (!self.execution.is_empty())
                .then(|| Spanned::new(0..0, self.execution.clone())),
            truth: self.truth.clone(),
        };
        toml::to_string(&file).unwrap_or_else(|error| unreachable!("strings and lists: {error}"))
    }
}

struct Checker<'a> {
    text: &'a str,
}

impl Checker<'_> {
    fn check(&self, file: CaseFile) -> Result<Case, ModelError> {
        if *file.version.get_ref() != CASE_VERSION {
            let message = format!(
                "version {} is not known; this program reads version {CASE_VERSION}",
                file.version.get_ref()
            );
            return Err(self.error(&file.version, message));
        }
        if file.id.get_ref().is_empty() {
            return Err(self.error(&file.id, "`id` is empty".to_owned()));
        }
        if let Some(signature) = &file.signature
            && file.kind != CaseKind::Crash
        {
            let message = "only a crash has a `signature`".to_owned();
            return Err(self.error(signature, message));
        }
        let (compiler, fault) = self.compiler(file.compiler)?;
        self.check_input(&file.input)?;
        if compiler.is_driver() {
            self.check_of_driver(&file.input, file.passes.as_ref(), &file.flags, file.kind)?;
        }
        let front_end = self.front_end(&compiler, &file.input, file.front_end)?;
        if let Some(execution) = &file.execution
            && let Some(mistake) = execution.get_ref().mistake()
        {
            return Err(self.error(execution, mistake));
        }
        if let Some(codegen) = &file.codegen
            && (compiler.is_driver() || is_source(std::path::Path::new(file.input.get_ref())))
        {
            let message = "`codegen` is for IR and an `llvm`; give C and C++ a `level`";
            return Err(self.error(codegen, message.to_owned()));
        }
        let pipeline = self.pipeline(file.passes, file.level, file.codegen)?;
        Ok(Case {
            id: file.id.into_inner(),
            title: file.title,
            source: file.source,
            compiler,
            fault,
            input: file.input.into_inner(),
            pipeline,
            front_end,
            flags: file.flags,
            cflags: file.cflags,
            kind: file.kind,
            signature: file.signature.map(Spanned::into_inner),
            expected: file.expected,
            observed: file.observed,
            fails_in: file.fails_in,
            fixed_in: file.fixed_in,
            execution: file.execution.map(Spanned::into_inner).unwrap_or_default(),
            truth: file.truth,
        })
    }

    fn compiler(
        &self,
        table: Spanned<CompilerTable>,
    ) -> Result<(CompilerSpec, Option<Fault>), ModelError> {
        let at = Spanned::new(table.span(), ());
        let number = |number: Spanned<String>| match number.get_ref().parse::<u32>() {
            Ok(_) => Ok(number.into_inner()),
            Err(_) => {
                let text = number.get_ref();
                let message = format!("`{text}` is not a compiler's number, as in \"19\"");
                Err(self.error(&number, message))
            }
        };
        let by = |by: Spanned<String>| match by.get_ref().starts_with('/') {
            true => Ok(by.into_inner()),
            false => number(by),
        };
        let table = table.into_inner();
        let compiler = match (table.llvm, table.llvm_config, table.clang, table.gcc) {
            (Some(llvm), None, None, None) => CompilerSpec::Llvm(number(llvm)?),
            (None, Some(path), None, None) => CompilerSpec::LlvmConfig(path),
            (None, None, Some(clang), None) => CompilerSpec::Clang(by(clang)?),
            (None, None, None, Some(gcc)) => CompilerSpec::Gcc(by(gcc)?),
            _ => {
                let message =
                    "`compiler` has to have one of `llvm`, `llvm-config`, `clang` and `gcc`";
                return Err(self.error(&at, message.to_owned()));
            }
        };
        let Some(fault) = table.fault else { return Ok((compiler, None)) };
        if compiler.is_driver() {
            return Err(self.error(&fault, "only LLVM can have a `fault`".to_owned()));
        }
        match fault.get_ref().parse::<Fault>() {
            Ok(parsed) => Ok((compiler, Some(parsed))),
            Err(error) => Err(self.error(&fault, format!("`fault`: {error}"))),
        }
    }

    fn check_input(&self, input: &Spanned<String>) -> Result<(), ModelError> {
        let path = std::path::Path::new(input.get_ref());
        let inside = |part| matches!(part, std::path::Component::Normal(_));
        if input.get_ref().is_empty() || !path.components().all(inside) {
            let message = format!(
                "`input` is `{}`, but has to name a file in the case's own folder",
                input.get_ref()
            );
            return Err(self.error(input, message));
        }
        if Language::of_path(path).is_none() {
            let message =
                format!("`input` is `{}`: not a .c, .cpp, .ll or .bc file", input.get_ref());
            return Err(self.error(input, message));
        }
        Ok(())
    }

    /// A driver is given C and a level, and its inside stays hidden.
    fn check_of_driver(
        &self,
        input: &Spanned<String>,
        passes: Option<&Spanned<String>>,
        flags: &[String],
        kind: CaseKind,
    ) -> Result<(), ModelError> {
        let of_drivers = "where `compiler` is `clang` or `gcc`";
        let path = std::path::Path::new(input.get_ref());
        if !is_source(path) {
            let message = format!("`input` has to be a .c or a C++ file {of_drivers}");
            return Err(self.error(input, message));
        }
        if let Some(passes) = passes {
            let message = format!("`level` has to be given, and no `passes`, {of_drivers}");
            return Err(self.error(passes, message));
        }
        let message = match kind {
            CaseKind::InvalidIr | CaseKind::Codegen => {
                format!("`kind` cannot be `{}` {of_drivers}", kind.name())
            }
            CaseKind::Crash | CaseKind::WrongCode | CaseKind::Hang | CaseKind::Memory => {
                if flags.is_empty() {
                    return Ok(());
                }
                format!("`flags` are LLVM's; use `cflags` {of_drivers}")
            }
        };
        Err(ModelError::Case { line: 1, message })
    }

    /// What clang's front end is told apart from the passes.
    fn front_end(
        &self,
        compiler: &CompilerSpec,
        input: &Spanned<String>,
        front_end: Option<Spanned<OptLevel>>,
    ) -> Result<Option<OptLevel>, ModelError> {
        let Some(level) = front_end else { return Ok(None) };
        if compiler.is_driver() {
            let message = "a driver's front end has the `level`; `front_end` is for `llvm`";
            return Err(self.error(&level, message.to_owned()));
        }
        if !is_source(std::path::Path::new(input.get_ref())) {
            let message = "only C and C++ go through a `front_end`";
            return Err(self.error(&level, message.to_owned()));
        }
        Ok(Some(level.into_inner()))
    }

    fn pipeline(
        &self,
        passes: Option<Spanned<String>>,
        level: Option<Spanned<OptLevel>>,
        codegen: Option<Spanned<OptLevel>>,
    ) -> Result<Pipeline, ModelError> {
        match (passes, level, codegen) {
            (Some(passes), None, None) => match passes.get_ref().parse::<PassSequence>() {
                Ok(_) => Ok(Pipeline::Passes(passes.into_inner())),
                Err(error) => {
                    let message = format!("`passes` is not a pass sequence: {error}");
                    Err(self.error(&passes, message))
                }
            },
            (None, Some(level), None) => Ok(Pipeline::Level(level.into_inner())),
            (None, None, Some(level)) => Ok(Pipeline::Codegen(level.into_inner())),
            (_, _, Some(codegen)) => {
                let message = "`codegen` excludes `passes` and `level`";
                Err(self.error(&codegen, message.to_owned()))
            }
            (Some(_), Some(level), None) => {
                Err(self.error(&level, "`level` and `passes` exclude each other".to_owned()))
            }
            (None, None, None) => Err(ModelError::Case {
                line: 1,
                message: "neither `passes` nor `level` nor `codegen` is given".into(),
            }),
        }
    }

    fn error<T>(&self, at: &Spanned<T>, message: String) -> ModelError {
        ModelError::Case { line: line_of(self.text, at.span().start), message }
    }
}

/// The number of the line that holds a byte, from 1.
fn line_of(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"version = 1
id = "sum"
compiler = { llvm = "19" }
input = "sum.c"
passes = "sroa,instcombine"
kind = "wrong-code"
expected = "55"

[truth]
files = ["llvm/lib/Transforms/Scalar/SROA.cpp"]
functions = ["SROA::run"]
"#;

    fn is_error(error: &ModelError, at: usize, part: &str) -> bool {
        matches!(error, ModelError::Case { line, message } if *line == at && message.contains(part))
    }

    fn check_error(from: &str, to: &str, line: usize, message: &str) {
        assert!(GOOD.contains(from), "{from}");
        let error = Case::parse(&GOOD.replace(from, to)).unwrap_err();
        assert!(is_error(&error, line, message), "{error}");
    }

    #[test]
    fn what_is_written_can_be_read() {
        let case = Case::parse(GOOD).unwrap();
        assert_eq!(case.kind, CaseKind::WrongCode);
        assert_eq!(case.pipeline.passes(), "sroa,instcombine");
        assert_eq!(case.truth.as_ref().unwrap().functions, ["SROA::run"]);
        assert_eq!(Case::parse(&case.to_toml()), Ok(case.clone()));
        let odd = Case {
            pipeline: Pipeline::Level(OptLevel::Os),
            front_end: Some(OptLevel::O0),
            compiler: CompilerSpec::LlvmConfig("/opt/llvm/bin/llvm-config".into()),
            title: Some("quotes \" and\nlines".into()),
            flags: vec!["-slp-threshold=-9".into()],
            execution: toml::from_str("args = [\"7\"]\nstdin = \"in\"\n[env]\nA = \"b\"").unwrap(),
            truth: None,
            ..case
        };
        assert_eq!(Case::parse(&odd.to_toml()), Ok(odd.clone()));
        let fault =
            "invert _Z1fv+0x1a in libLLVMAnalysis.a(Loads.cpp.o), was 7510, code 0123456789ab";
        for compiler in [odd.compiler.clone(), CompilerSpec::Llvm("19".into())] {
            let broken = Case { compiler, fault: Some(fault.parse().unwrap()), ..odd.clone() };
            assert_eq!(Case::parse(&broken.to_toml()), Ok(broken));
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        check_error("version = 1", "version = 2", 1, "version 2 is not known");
        check_error("\"sum\"", "\"\"", 2, "`id` is empty");
        check_error("llvm = ", "icc = ", 3, "icc");
        check_error("\"19\"", "\"nineteen\"", 3, "not a compiler's number");
        check_error("llvm = \"19\"", "", 3, "one of `llvm`");
        check_error("llvm = \"19\"", "llvm = \"19\", gcc = \"12\"", 3, "one of `llvm`");
        check_error("\"19\"", "\"19\", fault = \"break it\"", 3, "not a fault");
        let of_gcc = "gcc = \"12\", fault = \"break it\"";
        check_error("llvm = \"19\"", of_gcc, 3, "only LLVM can have a `fault`");
        check_error("sum.c", "../sum.c", 4, "in the case's own folder");
        check_error("sum.c", "/sum.c", 4, "in the case's own folder");
        check_error("sum.c", "sum.txt", 4, "not a .c, .cpp, .ll or .bc file");
        check_error("sroa,instcombine", "sroa,,x", 5, "a pass name is missing");
        check_error("passes =", "pases =", 5, "pases");
        check_error("passes = \"sroa,instcombine\"", "", 1, "neither `passes` nor `level`");
        check_error("passes =", "codegen = \"O2\"\npasses =", 5, "`codegen` is for IR");
        check_error("kind = ", "level = \"O2\"\nkind = ", 6, "exclude each other");
        check_error("wrong-code", "wrong", 6, "wrong-code");
        check_error("files", "flies", 10, "flies");
        check_error("expected", "signature = \"x\"\nexpected", 7, "only a crash");
        check_error("expected = \"55\"", "expected = 55", 7, "string");
        check_error("passes =", "front_end = \"O7\"\npasses =", 5, "O7");
        check_error("id = ", "id ", 2, "");
        check_error("[truth]", "[execution]\nstdin = \"../x\"\n[truth]", 9, "`stdin` is `../x`");
        check_error("[truth]", "[execution]\nstdln = \"x\"\n[truth]", 10, "stdln");
        let error = Case::parse("").unwrap_err();
        assert!(is_error(&error, 1, "version"), "{error}");
    }

    #[test]
    fn a_driver_is_given_c_and_a_level() {
        let of_driver = GOOD
            .replace("llvm = \"19\"", "gcc = \"12\"")
            .replace("passes = \"sroa,instcombine\"", "level = \"O2\"");
        for by in ["\"12\"", "\"/opt/gcc/bin/gcc\""] {
            let text = of_driver.replace("\"12\"", by);
            for text in [text.clone(), text.replace("gcc = ", "clang = ")] {
                let case = Case::parse(&text).unwrap();
                assert!(case.compiler.is_driver());
                assert_eq!(Case::parse(&case.to_toml()), Ok(case));
            }
        }
        let check = |from: &str, to: &str, line: usize, message: &str| {
            assert!(of_driver.contains(from), "{from}");
            let error = Case::parse(&of_driver.replace(from, to)).unwrap_err();
            assert!(is_error(&error, line, message), "{error}");
        };
        check("\"12\"", "\"bin/gcc\"", 3, "not a compiler's number");
        check("sum.c", "sum.ll", 4, "a .c or a C++ file");
        Case::parse(&of_driver.replace("sum.c", "sum.cpp")).expect("drivers take C++");
        Case::parse(&GOOD.replace("sum.c", "sum.cpp")).expect("LLVM takes C++");
        check("level = \"O2\"", "passes = \"sroa\"", 5, "no `passes`");
        check("wrong-code", "invalid-ir", 1, "cannot be `invalid-ir`");
        check("kind", "flags = [\"-x\"]\nkind", 1, "use `cflags`");
        check("kind", "front_end = \"O2\"\nkind", 6, "`front_end` is for `llvm`");
    }

    #[test]
    fn a_level_is_its_default_pipeline_and_its_code_generator() {
        let case = Case::parse(&GOOD.replace("passes = \"sroa,instcombine\"", "level = \"O2\""));
        let case = case.unwrap();
        assert_eq!(case.pipeline.passes(), "default<O2>");
        assert_eq!(case.pipeline.codegen(), CodegenLevel::O2);
        assert_eq!(case.front_end(), OptLevel::O2);
        let old = Case { front_end: Some(OptLevel::O0), ..case.clone() };
        assert_eq!(old.front_end(), OptLevel::O0);
        let ir = Case { input: "sum.ll".into(), ..case };
        assert_eq!(ir.front_end(), OptLevel::O0);
        assert_eq!(Pipeline::Passes("default<O2>".into()).codegen(), CodegenLevel::O0);
        let bare = Case { pipeline: Pipeline::Codegen(OptLevel::O1), ..ir };
        assert_eq!(Case::parse(&bare.to_toml()), Ok(bare.clone()));
        assert_eq!(
            (bare.pipeline.passes(), bare.pipeline.codegen()),
            (String::new(), CodegenLevel::O1)
        );
        let both = bare.to_toml().replace("codegen =", "passes = \"sroa\"\ncodegen =");
        assert!(Case::parse(&both).is_err_and(|error| error.to_string().contains("excludes")));
    }
}
