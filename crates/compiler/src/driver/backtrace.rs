//! The functions that a crashed compiler names, innermost first.
//!
//! clang prints its stack in two ways, with `llvm-symbolizer` and without:
//! ```text
//!  #5 0x00007fdca721a3fc clang::Parser::f(int) (/usr/lib/libclang-cpp.so+0xc1a3fc)
//! 5  libclang-cpp.so.19.1 0x00007f5301a1a3fc clang::Parser::f(int) + 92
//! ```
//! gcc names a function and, in the next line, where it is:
//! ```text
//! 0xb3f1b4 vect_transform_stmt(vec_info*, _stmt_vec_info*)
//!         ../../src/gcc/tree-vect-stmts.cc:11008
//! ```
//!
//! **Invariant:** pure; a frame without a name is no frame.

/// Ways to report a crash, and what starts any program: they tell nothing.
const UNTELLING: [&str; 26] = [
    "llvm::sys::",
    "llvm::report_fatal_error",
    "llvm::reportFatal",
    "llvm::report_bad_alloc_error",
    "llvm::llvm_unreachable_internal",
    "SignalHandler",
    "CrashRecoverySignalHandler",
    "PrintStackTraceSignalHandler",
    "__restore_rt",
    "__pthread_kill",
    "pthread_kill",
    "gsignal",
    "raise",
    "abort",
    "__assert_fail",
    "__libc_start",
    "call_init",
    "_start",
    "main",
    "crash_signal",
    "internal_error",
    "fancy_abort",
    "diagnostic_report_diagnostic",
    "diagnostic_context::",
    "diagnostic_impl",
    "???",
];

/// The frames of clang's stack dump.
pub(crate) fn of_clang(said: &str) -> Vec<String> {
    said.lines().filter_map(clang_frame).filter(|name| is_telling(name)).collect()
}

/// The frames of gcc's.
pub(super) fn of_gcc(said: &str) -> Vec<String> {
    let frame = |line: &str| {
        let (address, name) = line.split_once(' ')?;
        is_address(address).then(|| name.trim().to_owned())
    };
    said.lines().filter_map(frame).filter(|name| is_telling(name)).collect()
}

fn clang_frame(line: &str) -> Option<String> {
    let (number, rest) = line.trim_start().split_once(' ')?;
    let digits = number.strip_prefix('#').unwrap_or(number);
    digits.parse::<u32>().ok()?;
    let at = rest.find("0x")?;
    let (address, name) = rest[at..].split_once(' ')?;
    if !is_address(address) {
        return None;
    }
    // The place comes last: ` (file+0x12)`, ` + 92`, ` /folder/File.cpp:12:3`.
    let place = [" (/", " + ", " /", " ./"].iter().filter_map(|mark| name.find(mark)).min();
    let name = name[..place.unwrap_or(name.len())].trim();
    // A frame without a name has nothing but its place.
    (!name.is_empty() && !name.starts_with("(/")).then(|| name.to_owned())
}

fn is_address(word: &str) -> bool {
    word.strip_prefix("0x")
        .is_some_and(|hex| !hex.is_empty() && hex.chars().all(|c| c.is_ascii_hexdigit()))
}

fn is_telling(name: &str) -> bool {
    let is_same = |known: &&str| match name.strip_prefix(*known) {
        Some(rest) => {
            known.ends_with(':') || known.starts_with('_') || !rest.starts_with(is_of_a_name)
        }
        None => false,
    };
    !name.is_empty() && !UNTELLING.iter().any(is_same)
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == ':'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_clang_name_the_same_functions() {
        let symbolized = "\
 #0 0x00007fdc9f8b73c6 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/lib/libLLVM.so+0xeb7)
 #1 0x00007fdc9f8b7a8b (/lib/libLLVM.so+0xeb7a8b)
 #2 0x00007fdc9e45a050 __restore_rt ./signal/../sysdeps/restore.S:13:0
 #3 0x00007fdca721a3fc clang::Parser::f(clang::Token*) (/lib/libclang-cpp.so+0xc1a3fc)
 #4 0x00007fdca721a3fd main /src/clang/driver.cpp:12:3
#10 0x00007fdca721a3fe (anonymous namespace)::g(int) /src/clang/lib/G.cpp:12:3
";
        let plain = "\
0  libLLVM.so.19.1      0x00007f52fa0b73c6 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) + 54
1  libLLVM.so.19.1      0x00007f52fa0b7a8b
3  libclang-cpp.so.19.1 0x00007f5301a1a3fc clang::Parser::f(clang::Token*) + 92
10 clang                0x0000559bc7213bf9 (anonymous namespace)::g(int) + 5881
18 libc.so.6            0x00007f52f9045305 __libc_start_main + 133
";
        let names = ["clang::Parser::f(clang::Token*)", "(anonymous namespace)::g(int)"];
        assert_eq!(of_clang(symbolized), names);
        assert_eq!(of_clang(plain), names);
    }

    #[test]
    fn the_numbered_lines_before_clangs_stack_are_no_frames() {
        let said = "0.\tProgram arguments: clang -cc1 0x12 x\n1.\t<eof> parser at end of file\n";
        assert_eq!(of_clang(said), [""; 0]);
    }

    #[test]
    fn gccs_frames_are_those_with_a_name() {
        let said = "\
0xe3f5a7 crash_signal
\t../../src/gcc/toplev.cc:322
0x7f3a4c2b3d5f ???
\t./signal/../sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c:0
0xb3f1b4 vect_transform_stmt(vec_info*, _stmt_vec_info*)
\t../../src/gcc/tree-vect-stmts.cc:11008
0xb3f1b5 main_block_label
\t../../src/gcc/tree-cfg.cc:1
0x11 is no frame of 0x1g
";
        let names = [
            "vect_transform_stmt(vec_info*, _stmt_vec_info*)",
            "main_block_label",
            "is no frame of 0x1g",
        ];
        assert_eq!(of_gcc(said), names);
    }
}
