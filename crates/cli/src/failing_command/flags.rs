//! What the flags of opt, llc, clang and gcc are to a triage.
//!
//! **Invariant:** tables and lookups. A flag that no table has goes to the compiler
//! as it is.

use optsleuth_model::OptLevel;

use super::Tool;

/// What becomes of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It says where and in what form the result goes.
    Output,
    /// The same with the next word.
    OutputWithValue,
    /// Nothing is linked.
    StopsBeforeLinking,
    /// It goes to the compiler.
    Compiler,
    /// The same with the next word.
    CompilerWithValue,
    /// It goes to the linker.
    Linker,
    /// The same with the next word.
    LinkerWithValue,
    /// It goes to both.
    Both,
    /// It cannot be followed, and why.
    Refused(&'static str),
}

use Meaning::{
    Both, Compiler, CompilerWithValue, Linker, LinkerWithValue, Output, OutputWithValue, Refused,
    StopsBeforeLinking,
};

const NOT_COMPILED: &str = "nothing is compiled";
const PROFILE: &str = "passes need its profile, which is not part of the command";
const RUNTIME: &str = "it adds passes that are clang's own, and not those of the level";
const BEHIND: &str =
    "clang handles it behind its front end; name the option of LLVM with `-mllvm` instead";
const PLUGIN: &str = "a plug-in is not part of the compiler";
const MACHINE_IR: &str = "machine IR is neither read nor written";

/// Flags of the drivers, as whole words.
const OF_DRIVERS: [(&str, Meaning); 56] = [
    ("-v", Output),
    ("-f", Output),
    ("-pipe", Output),
    ("-save-temps", Output),
    ("-MD", Output),
    ("-MMD", Output),
    ("-MP", Output),
    ("-o", OutputWithValue),
    ("-MF", OutputWithValue),
    ("-MT", OutputWithValue),
    ("-MQ", OutputWithValue),
    ("-c", StopsBeforeLinking),
    ("-S", StopsBeforeLinking),
    ("-emit-llvm", StopsBeforeLinking),
    ("-shared", StopsBeforeLinking),
    ("-I", CompilerWithValue),
    ("-D", CompilerWithValue),
    ("-U", CompilerWithValue),
    ("-include", CompilerWithValue),
    ("-imacros", CompilerWithValue),
    ("-isystem", CompilerWithValue),
    ("-iquote", CompilerWithValue),
    ("-idirafter", CompilerWithValue),
    ("-isysroot", CompilerWithValue),
    ("-mllvm", CompilerWithValue),
    ("-target", CompilerWithValue),
    ("-Xclang", CompilerWithValue),
    ("-x", CompilerWithValue),
    ("-arch", CompilerWithValue),
    ("--param", CompilerWithValue),
    ("-L", LinkerWithValue),
    ("-l", LinkerWithValue),
    ("-T", LinkerWithValue),
    ("-u", LinkerWithValue),
    ("-z", LinkerWithValue),
    ("-Xlinker", LinkerWithValue),
    ("-pthread", Both),
    ("-fopenmp", Both),
    ("-static", Linker),
    ("-rdynamic", Linker),
    ("-pie", Linker),
    ("-no-pie", Linker),
    ("-s", Linker),
    ("-nostdlib", Linker),
    ("-nodefaultlibs", Linker),
    ("-nostartfiles", Linker),
    ("-E", Refused(NOT_COMPILED)),
    ("-M", Refused(NOT_COMPILED)),
    ("-MM", Refused(NOT_COMPILED)),
    ("-fsyntax-only", Refused(NOT_COMPILED)),
    ("-###", Refused(NOT_COMPILED)),
    ("--coverage", Refused("it adds a pass that is not one of the level")),
    ("-ftest-coverage", Refused("it adds a pass that is not one of the level")),
    ("-r", Refused("it makes an object of several")),
    ("-cc1", Refused("give the driver's command: `clang -###` of it prints this one")),
    ("-", Refused("the program has to be in a file")),
];

/// The same by how they begin, after those above; the first that fits.
const BEGINNINGS: [(&str, Meaning); 18] = [
    ("-save-temps=", Output),
    ("-fsave-optimization-record", Output),
    ("-ftime-trace", Output),
    ("-fno-lto", Output),
    ("-flto", Refused("code of several files is optimized when they are linked")),
    ("-fprofile-", Refused(PROFILE)),
    ("-fcs-profile", Refused(PROFILE)),
    ("-fauto-profile", Refused(PROFILE)),
    ("-fplugin", Refused(PLUGIN)),
    ("-fpass-plugin", Refused(PLUGIN)),
    ("-l", Linker),
    ("-L", Linker),
    ("-Wl,", Linker),
    ("-static-", Linker),
    ("-shared-lib", Linker),
    ("-fuse-ld=", Linker),
    ("-stdlib=", Both),
    ("-print-", Refused(NOT_COMPILED)),
];

/// Flags of clang alone: what its driver or its back end does with them is not in the
/// IR that its front end makes. gcc is called as it is.
const OF_CLANG: [(&str, Meaning); 8] = [
    ("-fno-vectorize", Refused(BEHIND)),
    ("-fno-tree-vectorize", Refused(BEHIND)),
    ("-fno-slp-vectorize", Refused(BEHIND)),
    ("-fno-tree-slp-vectorize", Refused(BEHIND)),
    ("-fglobal-isel", Refused(BEHIND)),
    ("-fexperimental-isel", Refused(BEHIND)),
    ("-fsplit-machine-functions", Refused(BEHIND)),
    ("-fbasic-block-sections", Refused(BEHIND)),
];

/// Sanitizers whose checks are in the IR that clang's front end makes, whatever comes
/// after it.
const IN_THE_FRONT_END: [&str; 26] = [
    "undefined",
    "alignment",
    "bool",
    "builtin",
    "bounds",
    "array-bounds",
    "enum",
    "float-cast-overflow",
    "float-divide-by-zero",
    "function",
    "implicit-conversion",
    "integer",
    "integer-divide-by-zero",
    "nonnull-attribute",
    "null",
    "nullability",
    "object-size",
    "pointer-overflow",
    "return",
    "returns-nonnull-attribute",
    "shift",
    "shift-base",
    "shift-exponent",
    "signed-integer-overflow",
    "unreachable",
    "vla-bound",
];

/// Options of opt and llc that say what to write.
const OF_TOOLS: [(&str, Meaning); 13] = [
    ("-c", Output),
    ("-S", Output),
    ("-f", Output),
    ("-quiet", Output),
    ("-disable-output", Output),
    ("-o", OutputWithValue),
    ("-passes", CompilerWithValue),
    ("-run-pass", Refused(MACHINE_IR)),
    ("-start-before", Refused(MACHINE_IR)),
    ("-start-after", Refused(MACHINE_IR)),
    ("-stop-before", Refused(MACHINE_IR)),
    ("-stop-after", Refused(MACHINE_IR)),
    ("-load-pass-plugin", Refused(PLUGIN)),
];

/// What a flag is to a tool.
pub(super) fn meaning(flag: &str, tool: Tool) -> Meaning {
    let named = |table: &[(&str, Meaning)]| {
        table.iter().find(|(known, _)| flag == *known).map(|(_, meaning)| *meaning)
    };
    let before_value = |table: &[(&str, Meaning)]| {
        let name = flag.split_once('=')?.0;
        table.iter().find(|(known, _)| name == *known).map(|(_, meaning)| *meaning)
    };
    match tool {
        Tool::Opt | Tool::Llc => match named(&OF_TOOLS).or_else(|| before_value(&OF_TOOLS)) {
            Some(OutputWithValue | CompilerWithValue) if flag.contains('=') => {
                if flag.starts_with("-o=") { Output } else { Compiler }
            }
            Some(meaning) => meaning,
            // `-filetype=obj`: whatever the form is, the same code is generated.
            None if flag.starts_with("-filetype=") => Output,
            None => Compiler,
        },
        Tool::Clang => {
            if let Some(sanitizers) = flag.strip_prefix("-fsanitize=") {
                return sanitized(sanitizers);
            }
            named(&OF_CLANG).or_else(|| of_drivers(flag)).unwrap_or(Compiler)
        }
        Tool::Gcc => match flag.starts_with("-fsanitize=") {
            true => Both,
            false => of_drivers(flag).unwrap_or(Compiler),
        },
    }
}

fn of_drivers(flag: &str) -> Option<Meaning> {
    let by_name = OF_DRIVERS.iter().find(|(known, _)| flag == *known);
    let by_beginning = || BEGINNINGS.iter().find(|(known, _)| flag.starts_with(known));
    let (_, meaning) = by_name.or_else(by_beginning)?;
    Some(*meaning)
}

/// A list of clang's sanitizers: those that passes make cannot be followed.
fn sanitized(list: &str) -> Meaning {
    match list.split(',').all(|name| IN_THE_FRONT_END.contains(&name)) {
        true => Both,
        false => Refused(RUNTIME),
    }
}

/// The level that a flag asks for.
pub(super) fn level_of(flag: &str, tool: Tool) -> Option<OptLevel> {
    match flag {
        "-O0" => Some(OptLevel::O0),
        "-O1" | "-O" => Some(OptLevel::O1),
        // For gcc it is a level of its own, which comes last as a flag.
        "-Og" if tool == Tool::Clang => Some(OptLevel::O1),
        "-O2" => Some(OptLevel::O2),
        "-O3" | "-O4" | "-Ofast" => Some(OptLevel::O3),
        "-Os" => Some(OptLevel::Os),
        "-Oz" => Some(OptLevel::Oz),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sanitizer_is_followed_where_the_front_end_makes_its_checks() {
        let check = |flag: &str, tool: Tool, expected: bool| {
            let is_refused = matches!(meaning(flag, tool), Refused(_));
            assert_eq!(!is_refused, expected, "{flag}");
        };
        check("-fsanitize=undefined,integer", Tool::Clang, true);
        check("-fsanitize=undefined,address", Tool::Clang, false);
        check("-fsanitize=memory", Tool::Clang, false);
        check("-fsanitize=address", Tool::Gcc, true);
        check("-fno-sanitize=all", Tool::Clang, true);
        check("-fno-vectorize", Tool::Clang, false);
        check("-fno-vectorize", Tool::Gcc, true);
    }

    #[test]
    fn options_of_llvms_tools_are_not_flags_of_drivers() {
        assert_eq!(meaning("-licm-max-num-uses-traversed=1", Tool::Opt), Compiler);
        assert_eq!(meaning("-lower-interleaved-accesses=0", Tool::Llc), Compiler);
        assert_eq!(meaning("-lz", Tool::Clang), Linker);
        assert_eq!(meaning("-o=x.s", Tool::Llc), Output);
        assert!(matches!(meaning("-stop-after=isel", Tool::Llc), Refused(_)));
    }
}
