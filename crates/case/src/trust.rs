//! What of a case could run a program or reach a file of its author's choice, and
//! therefore has to be trusted. Case -> words for what is not plain data.
//!
//! Without trust a case names compilers by their numbers, and gives clang and gcc
//! only flags of the lists below. Everything else (`-fplugin`, `-B`, `-wrapper`,
//! `-specs`, `@file`, `-I`, `-include`, `-o`, and what no list knows) is for cases
//! that the user trusts. LLVM options are no matter of trust: those that name files
//! are refused for everybody (`compiler/src/llvm/options.rs`).
//!
//! **Invariant:** pure, and a list of what is allowed: a flag that nobody thought
//! of needs trust.

use optsleuth_compiler::llvm::options;
use optsleuth_model::{Case, CompilerSpec};

/// Flags by themselves.
const WHOLE: &[&str] = &[
    "-ansi",
    "-w",
    "-pedantic",
    "-pthread",
    "-g",
    "-fwrapv",
    "-fcommon",
    "-fexceptions",
    "-ffast-math",
    "-ffinite-math-only",
    "-fassociative-math",
    "-funsafe-math-optimizations",
    "-ffreestanding",
    "-fgnu89-inline",
    "-fms-extensions",
    "-fshort-enums",
    "-fsigned-char",
    "-funsigned-char",
    "-fomit-frame-pointer",
    "-fPIC",
    "-fpic",
    "-fPIE",
    "-fpie",
    "-fvectorize",
    "-fslp-vectorize",
    "-fmerge-all-constants",
    "-fmodulo-sched",
    "-fgcse-las",
    "-fgcse-sm",
];

/// Families of flags that say how to optimize. What follows is letters, digits and
/// dashes, without a value.
const FAMILIES: &[&str] = &[
    "-fno-",
    "-ftree-",
    "-fipa-",
    "-floop-",
    "-funroll-",
    "-fpeel-",
    "-fsplit-",
    "-fstrict-",
    "-finline-",
    "-fira-",
    "-fsched-",
    "-fschedule-",
    "-freorder-",
    "-frename-",
    "-fselective-",
    "-fstack-protector",
    "-ftrapping-",
    "-fversion-loops",
    "-m32",
    "-m64",
    "-mavx",
    "-msse",
    "-mfma",
    "-mbmi",
    "-mno-",
    "-O",
];

/// Flags with a value: a word, a number, a target, never a file.
const WITH_VALUE: &[&str] = &[
    "-std=",
    "--std=",
    "-march=",
    "-mtune=",
    "-mcpu=",
    "--target=",
    "-ffp-contract=",
    "-fbracket-depth=",
    "-fconstexpr-steps=",
    "-fvect-cost-model=",
    "-fsimd-cost-model=",
];

/// What clang's driver may hand on to its front end.
const OF_THE_FRONT_END: &[&str] = &["-disable-llvm-passes", "-disable-O0-optnone"];

/// What of a case needs trust, in the case's own words; nothing, if it is data.
pub fn demands(case: &Case) -> Vec<String> {
    let compiler = match &case.compiler {
        CompilerSpec::LlvmConfig(path) => Some(("llvm-config", path)),
        CompilerSpec::Clang(by) => Some(("clang", by)).filter(|_| by.contains('/')),
        CompilerSpec::Gcc(by) => Some(("gcc", by)).filter(|_| by.contains('/')),
        CompilerSpec::Llvm(_) => None,
    };
    let compiler = compiler.map(|(key, path)| format!("{key} = \"{path}\""));
    let linked = case.execution.ldflags.iter().filter(|flag| !is_library(flag)).cloned();
    compiler.into_iter().chain(strange_flags(&case.cflags)).chain(linked).collect()
}

/// A library of the system's, by its name.
fn is_library(flag: &str) -> bool {
    flag == "-pthread"
        || flag.strip_prefix("-l").is_some_and(|name| !name.is_empty() && is_word(name))
}

/// Those of a C compiler's flags that are on no list.
fn strange_flags(flags: &[String]) -> Vec<String> {
    let mut strange = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        // These belong together with the next word.
        let is_next_harmless: Option<fn(&str) -> bool> = match flag.as_str() {
            "-D" | "-U" => Some(is_macro),
            "-Xclang" => Some(|word| OF_THE_FRONT_END.contains(&word)),
            "-mllvm" => Some(|word| word.starts_with('-') && options::reason(word).is_none()),
            _ => None,
        };
        match is_next_harmless {
            None if !is_harmless(flag) => strange.push(flag.clone()),
            None => {}
            Some(is_harmless) => match rest.next() {
                Some(word) if is_harmless(word) => {}
                Some(word) => strange.push(format!("{flag} {word}")),
                None => strange.push(flag.clone()),
            },
        }
    }
    strange
}

fn is_harmless(flag: &str) -> bool {
    let starts = |prefixes: &[&str], rest: fn(&str) -> bool| {
        prefixes.iter().any(|prefix| flag.strip_prefix(prefix).is_some_and(rest))
    };
    WHOLE.contains(&flag)
        || starts(FAMILIES, is_name)
        || starts(WITH_VALUE, is_word)
        || starts(&["-D", "-U"], is_macro)
        // Not `-Wl,`, `-Wa,` and `-Wp,`, which go to other programs.
        || starts(&["-W"], |name| is_name(name) && !name.is_empty())
}

/// The rest of a flag's name.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c))
}

/// A value that is no path.
fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-._+:".contains(c))
}

/// `NAME` or `NAME=VALUE`; the value is text for the preprocessor.
fn is_macro(text: &str) -> bool {
    let name = text.split(['=', '(']).next().unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strange(flags: &str) -> Vec<String> {
        let flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
        strange_flags(&flags)
    }

    #[test]
    fn flags_that_say_what_c_means_and_how_to_optimize_it_need_no_trust() {
        let plain = "-O2 -Os -w -g -std=gnu11 -DX -DX=1 -D Y=2 -UZ -m32 -mavx2 -march=native \
                     -fwrapv -fno-strict-aliasing -fno-tree-vrp -ftree-vectorize -Wall -Wno-error \
                     -Xclang -disable-llvm-passes -mllvm -slp-threshold=-9 --target=x86_64-linux-gnu";
        assert_eq!(strange(plain), Vec::<String>::new());
    }

    #[test]
    fn flags_that_run_load_read_or_write_something_need_trust() {
        for flag in [
            "-fplugin=evil.so",
            "-fpass-plugin=evil.so",
            "-fplugin-arg-x-y=z",
            "-Bfolder",
            "-wrapper",
            "-specs=evil.specs",
            "--specs=evil.specs",
            "@evil",
            "-Xclang -load",
            "-Xclang -fcolor-diagnostics",
            "-Xlinker --plugin",
            "-Xassembler -o",
            "-mllvm -load=evil.so",
            "-Wl,-plugin,evil.so",
            "-Wa,-o,x",
            "-Wp,-MD,x",
            "-include /etc/shadow",
            "-I/etc",
            "-I .",
            "-imacros x",
            "-o x",
            "-save-temps",
            "-MD",
            "-MF x",
            "-fdump-tree-all",
            "-fprofile-use=x",
            "-ftest-coverage",
            "-fuse-ld=evil",
            "--ld-path=evil",
            "-fcrash-diagnostics-dir=x",
            "-ftime-trace",
            "-fno-x=/etc",
            "-std=../x",
            "-x c++",
            "--config evil.cfg",
            "-lfoo",
            "evil.c",
            "-",
            "-D",
            "-Xclang",
            "-W",
        ] {
            assert_eq!(strange(flag).join(" "), flag);
        }
        // The word behind a flag that takes one is not taken for a flag.
        assert_eq!(strange("-D X -fplugin=x -O2"), ["-fplugin=x"]);
    }
}
