//! Which layer of a compiler a file is in, and how much that counts.
//!
//! Fixes of an optimizer go to its passes, sometimes to what these ask, rarely to
//! what everything is built on.
//!
//! Where code generation fails, it is the code generator whose files count most.
//!
//! **Invariant:** a path decides, and of the case only which half of the compiler fails.

const PASSES: f64 = 1.0;
const ANALYSES: f64 = 0.5;
const BASE: f64 = 0.1;

/// gcc has no folders for its layers; its file names begin in certain ways.
const ANALYSES_OF_GCC: [&str; 16] = [
    "config/",
    "fold-const",
    "generic-match",
    "gimple-fold",
    "gimple-match",
    "gimple-range",
    "range-op",
    "tree-affine",
    "tree-chrec",
    "tree-data-ref",
    "tree-dfa",
    "tree-scalar-evolution",
    "tree-ssa-alias",
    "tree-ssanames",
    "value-range",
    "vr-values",
];
#[rustfmt::skip]
const BASE_OF_GCC: [&str; 36] = [
    "alloc-pool", "bitmap", "builtins", "cfg", "cgraph", "df-", "diagnostic", "dominance",
    "double-int", "dumpfile", "emit-rtl", "et-forest", "explow", "function", "ggc",
    "gimple-iterator", "gimple-pretty", "gimple.", "hash", "input.", "insn-", "internal-fn",
    "jump", "langhooks", "opts", "passes", "plugin", "pretty-print", "real", "recog", "rtl",
    "stor-layout", "toplev", "tree.", "tree-diagnostic", "varpool",
];

/// What a file of LLVM or gcc counts.
pub(crate) fn layer(path: &str, in_codegen: bool) -> f64 {
    match path.strip_prefix("gcc/") {
        Some(name) => layer_of_gcc(name),
        None if in_codegen => layer_in_codegen(path),
        None if path.contains("lib/Transforms/") => PASSES,
        None if path.contains("lib/Analysis/") => ANALYSES,
        None => BASE,
    }
}

fn layer_in_codegen(path: &str) -> f64 {
    let is_in = |folder: &str| path.contains(folder);
    if is_in("lib/CodeGen/") || is_in("lib/Target/") {
        PASSES
    } else if is_in("lib/Analysis/") || is_in("lib/MC/") || is_in("lib/Transforms/") {
        ANALYSES
    } else {
        BASE
    }
}

fn layer_of_gcc(name: &str) -> f64 {
    let begins = |names: &[&str]| names.iter().any(|known| name.starts_with(known));
    let is_front_end = name.contains('/') && !name.starts_with("config/");
    if is_front_end || name.ends_with(".h") || begins(&BASE_OF_GCC) {
        BASE
    } else if begins(&ANALYSES_OF_GCC) {
        ANALYSES
    } else {
        PASSES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_count_most_and_what_all_is_built_on_least() {
        let check = |path: &str, expected: f64| assert_eq!(layer(path, false), expected, "{path}");
        check("llvm/lib/Transforms/Scalar/GVN.cpp", PASSES);
        check("llvm/lib/Analysis/Loads.cpp", ANALYSES);
        check("llvm/lib/IR/Value.cpp", BASE);
        check("llvm/include/llvm/ADT/StringRef.h", BASE);
        check("gcc/tree-ssa-dom.cc", PASSES);
        check("gcc/combine.cc", PASSES);
        check("gcc/config/i386/i386.cc", ANALYSES);
        check("gcc/tree-ssa-alias.cc", ANALYSES);
        check("gcc/c/c-parser.cc", BASE);
        check("gcc/vec.h", BASE);
        check("gcc/rtlanal.cc", BASE);
        check("libcpp/lex.cc", BASE);
        assert_eq!(layer("llvm/lib/CodeGen/RegAllocGreedy.cpp", false), BASE);
        assert_eq!(layer("llvm/lib/CodeGen/RegAllocGreedy.cpp", true), PASSES);
        assert_eq!(layer("llvm/lib/Target/X86/X86ISelLowering.cpp", true), PASSES);
        assert_eq!(layer("llvm/lib/IR/Value.cpp", true), BASE);
    }
}
