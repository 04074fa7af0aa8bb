//! LLVM options that no worker takes: those that name a program, a file or a
//! plug-in. Options, as `opt` takes them -> the first that is refused.
//!
//! Every option is looked at before a worker or `opt` sees it, whoever gave it.
//! A case is data, and one of these options makes LLVM run, load, read or write
//! what the case's author chose. What is missing in the list is still behind the
//! worker's fence.
//!
//! How the list came about: the hidden help (`opt-NN --help-hidden`) of LLVM 14,
//! 15, 16, 19 and 22, all of its options with a text for a value (`<string>`,
//! `<filename>`, `<directory>` and so on), without those whose text is no name of
//! a file: passes, functions, targets, patterns, colours, prefixes of symbols.
//! Beside them, all that open a window (`view`), because a program shows it.
//!
//! **Invariant:** pure, and by name: a value is never looked up on disk.

use crate::CompilerError;

/// They start a program, or load one.
const PROGRAMS: &[&str] = &[
    "exec-on-ir-change",
    "load",
    "load-pass-plugin",
    "lto-aix-system-assembler",
    "print-changed-diff-path",
    "print-changed-dot-path",
    "x86-lvi-load-opt-plugin",
];

/// They read or write a file, or all of a folder.
const FILES: &[&str] = &[
    "amdgpu-module-splitting-log-dir",
    "amdgpu-module-splitting-print-module-dotcfg",
    "amdgpu-module-splitting-print-partition-summaries",
    "as-secure-log-file",
    "attributor-depgraph-dot-filename-prefix",
    "basic-block-sections",
    "callgraph-dot-filename-prefix",
    "cfg-dot-filename-prefix",
    "cgscc-inline-replay",
    "chr-function-list",
    "chr-module-list",
    "codegen-data-use-path",
    "crash-diagnostics-dir",
    "cs-profile-path",
    "cs-profilegen-file",
    "debugify-export",
    "dfsan-abilist",
    "dot-cfg-dir",
    "dot-cfg-mssa",
    "dot-ddg-filename-prefix",
    "extract-blocks-file",
    "forceattrs-csv-path",
    "fs-profile-file",
    "fs-remapping-file",
    "info-output-file",
    "inliner-interactive-channel-base",
    "instrument-cold-function-only-path",
    "internalize-public-api-file",
    "ir-dump-directory",
    "ir2vec-vocab-path",
    "lowertypetests-read-summary",
    "lowertypetests-write-summary",
    "lto-pass-remarks-output",
    "lto-stats-file",
    "mcfg-dot-filename-prefix",
    "memory-profile-file",
    "memprof-dot-file-path-prefix",
    "memprof-import-summary",
    "mir2vec-vocab-path",
    "ml-inliner-ir2vec-vocab-file",
    "module-summary-dot-file",
    "ms-secure-hotpatch-functions-file",
    "o",
    "opt-bisect-print-ir-path",
    "orderfile-write-mapping",
    "pass-remarks-output",
    "pgo-test-profile-file",
    "pgo-test-profile-remapping-file",
    "polly-dump-after-file",
    "polly-dump-before-file",
    "polly-import-jscop-dir",
    "prefetch-hints-file",
    "print-on-crash-path",
    "profile-context-root",
    "profile-file",
    "profile-remapping-file",
    "regalloc-evict-interactive-channel-base",
    "regalloc-priority-interactive-channel-base",
    "rewrite-map-file",
    "sample-profile-file",
    "sample-profile-inline-replay",
    "sample-profile-remapping-file",
    "save-stats",
    "summary-file",
    "thin-link-bitcode-file",
    "thinlto-workload-def",
    "time-trace-file",
    "use-ctx-profile",
    "verify-di-preserve-export",
    "wholeprogramdevirt-read-summary",
    "wholeprogramdevirt-write-summary",
];

/// Takes options that name nothing outside of LLVM.
pub(crate) fn check(options: &[String]) -> Result<(), CompilerError> {
    match options.iter().find_map(|option| Some((option, reason(option)?))) {
        None => Ok(()),
        Some((option, why)) => Err(CompilerError::RefusedOption { option: option.clone(), why }),
    }
}

/// Why an option is refused; `None` if it is not.
pub fn reason(option: &str) -> Option<&'static str> {
    // LLVM takes one dash or two, and a value behind `=` or as the next word.
    let word = option.strip_prefix("--").or_else(|| option.strip_prefix('-'));
    let name = word.map(|word| word.split_once('=').map_or(word, |(name, _)| name));
    let is = |names: &[&str]| name.is_some_and(|name| names.contains(&name));
    if option.starts_with('@') {
        Some("reads options from a file")
    } else if is(PROGRAMS) {
        Some("runs or loads a program")
    } else if is(FILES) {
        Some("names a file")
    } else if name.is_some_and(opens_window) {
        Some("opens a window")
    } else if option.contains('/') {
        Some("has a path in it")
    } else {
        None
    }
}

/// `view-cfg`, `pgo-view-counts`.
fn opens_window(name: &str) -> bool {
    name.split('-').any(|part| part.starts_with("view"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(option: &str) -> bool {
        reason(option).is_some()
    }

    #[test]
    fn options_that_name_programs_files_or_plug_ins_are_refused_however_they_are_written() {
        for option in [
            "-print-changed-diff-path=evil.sh",
            "--print-changed-diff-path",
            "-exec-on-ir-change=evil.sh",
            "-load=evil.so",
            "--load-pass-plugin=evil.so",
            "-x86-lvi-load-opt-plugin=evil.so",
            "-o",
            "-pass-remarks-output=out.yml",
            "-view-dom",
            "-pgo-view-counts=graph",
            "@options",
            "-some-option-of-llvm-40=/etc/passwd",
            "/etc/passwd",
        ] {
            assert!(refused(option), "{option}");
        }
        let error = check(&["-mcpu=x".to_owned(), "-load=x.so".to_owned()]).unwrap_err();
        let expected = "the LLVM option `-load=x.so` runs or loads a program, so it is refused";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn options_that_say_how_to_compile_are_taken() {
        for option in [
            "-mtriple=x86_64-pc-linux-gnu",
            "-mattr=+avx2,-sse4.1",
            "-slp-threshold=-99999",
            "-print-changed=diff",
            "-enable-load-pre",
            "-loop-vectorize-with-block-frequency",
            "-passes-ep-peephole=dce",
            "x86_64",
        ] {
            assert!(!refused(option), "{option}");
        }
    }
}
