//! The source files that a pass of gcc is in.
//!
//! gcc does not say so itself. The table is of passes of gcc 11 to 15, by the names of
//! their dumps; a pass that is not here is one whose file is not known. A bug may
//! well be elsewhere: in what a pass uses.
//!
//! **Invariant:** no I/O; a file is named only by a pass's own name.

/// Passes by their names without numbers, and their files without folder and ending:
/// the pass's own first, then those that it has for itself or shares with its likes.
const FILES: &[(&str, &str)] = &[
    ("ipa-cp", "ipa-cp ipa-prop"),
    ("ipa-devirt", "ipa-devirt"),
    ("ipa-fnsummary", "ipa-fnsummary"),
    ("ipa-icf", "ipa-icf"),
    ("ipa-inline", "ipa-inline tree-inline"),
    ("ipa-modref", "ipa-modref"),
    ("ipa-profile", "ipa-profile"),
    ("ipa-pta", "tree-ssa-structalias"),
    ("ipa-pure-const", "ipa-pure-const"),
    ("ipa-simdclone", "omp-simd-clone"),
    ("ipa-sra", "ipa-sra ipa-param-manipulation"),
    ("ipa-static-var", "ipa-reference"),
    ("ipa-visibility", "ipa-visibility"),
    ("rtl-alignments", "final"),
    ("rtl-asmcons", "function"),
    ("rtl-auto_inc_dec", "auto-inc-dec"),
    ("rtl-bbro", "bb-reorder"),
    ("rtl-bypass", "cprop"),
    ("rtl-ce", "ifcvt"),
    ("rtl-cmpelim", "compare-elim"),
    ("rtl-combine", "combine"),
    ("rtl-compgotos", "bb-reorder"),
    ("rtl-cprop", "cprop"),
    ("rtl-cprop_hardreg", "regcprop"),
    ("rtl-cse", "cse"),
    ("rtl-cse_local", "cse"),
    ("rtl-dse", "dse"),
    ("rtl-dwarf", "dwarf2cfi"),
    ("rtl-expand", "cfgexpand expr expmed calls builtins internal-fn optabs"),
    ("rtl-final", "final"),
    ("rtl-fold_mem_offsets", "fold-mem-offsets"),
    ("rtl-fwprop", "fwprop"),
    ("rtl-gcse", "postreload-gcse"),
    ("rtl-hardreg_pre", "gcse"),
    ("rtl-hoist", "gcse"),
    ("rtl-init-regs", "init-regs"),
    ("rtl-ira", "ira"),
    ("rtl-jump", "cfgcleanup"),
    ("rtl-late_combine", "late-combine"),
    ("rtl-loop2_doloop", "loop-doloop"),
    ("rtl-loop2_invariant", "loop-invariant"),
    ("rtl-loop2_unroll", "loop-unroll"),
    ("rtl-mach", "config/i386/i386"),
    ("rtl-mode_sw", "mode-switching"),
    ("rtl-peephole", "recog"),
    ("rtl-postreload", "postreload"),
    ("rtl-pre", "gcse"),
    ("rtl-pro_and_epilogue", "function"),
    ("rtl-ree", "ree"),
    ("rtl-reload", "ira lra lra-assigns lra-constraints lra-remat lra-spills"),
    ("rtl-rnreg", "regrename"),
    ("rtl-rtl pre", "gcse"),
    ("rtl-rtl_dce", "dce"),
    ("rtl-sched", "sched-rgn haifa-sched sched-deps"),
    ("rtl-shorten", "final"),
    ("rtl-sms", "modulo-sched"),
    ("rtl-split", "recog"),
    ("rtl-stack", "reg-stack"),
    ("rtl-store_motion", "store-motion"),
    ("rtl-stv", "config/i386/i386-features"),
    ("rtl-subreg", "lower-subreg"),
    ("rtl-ud_dce", "dce"),
    ("rtl-vartrack", "var-tracking"),
    ("rtl-vregs", "function"),
    ("rtl-vzeroupper", "config/i386/i386-features"),
    ("rtl-web", "web"),
    ("tree-alignfn", "tree-vectorizer"),
    ("tree-asan", "asan"),
    ("tree-backprop", "gimple-ssa-backprop"),
    ("tree-bswap", "gimple-ssa-store-merging"),
    ("tree-cd-dce", "tree-ssa-dce"),
    ("tree-cddce", "tree-ssa-dce"),
    ("tree-ccp", "tree-ssa-ccp"),
    ("tree-cfg", "tree-cfg"),
    ("tree-ch", "tree-ssa-loop-ch"),
    ("tree-ch_vect", "tree-ssa-loop-ch"),
    ("tree-copyprop", "tree-ssa-copy"),
    ("tree-cplxlower", "tree-complex"),
    ("tree-crited", "tree-cfg"),
    ("tree-cunroll", "tree-ssa-loop-ivcanon"),
    ("tree-cunrolli", "tree-ssa-loop-ivcanon"),
    ("tree-dce", "tree-ssa-dce"),
    ("tree-dom", "tree-ssa-dom tree-ssa-scopedtables"),
    ("tree-dse", "tree-ssa-dse"),
    ("tree-ealias", "tree-ssa-structalias"),
    ("tree-early_objsz", "tree-object-size"),
    ("tree-eh", "tree-eh"),
    ("tree-ehcleanup", "tree-eh"),
    ("tree-einline", "ipa-inline tree-inline"),
    ("tree-esra", "tree-sra"),
    ("tree-ethread", "tree-ssa-threadbackward"),
    ("tree-evrp", "gimple-ssa-evrp"),
    ("tree-fab", "tree-ssa-ccp"),
    ("tree-fnsplit", "ipa-split"),
    ("tree-forwprop", "tree-ssa-forwprop"),
    ("tree-fre", "tree-ssa-sccvn"),
    ("tree-graphite", "graphite"),
    ("tree-ifcombine", "tree-ssa-ifcombine"),
    ("tree-ifcvt", "tree-if-conv"),
    ("tree-iftoswitch", "gimple-if-to-switch"),
    ("tree-isel", "gimple-isel"),
    ("tree-isolate-paths", "gimple-ssa-isolate-paths"),
    ("tree-ivcanon", "tree-ssa-loop-ivcanon"),
    ("tree-ivopts", "tree-ssa-loop-ivopts"),
    ("tree-ldist", "tree-loop-distribution"),
    ("tree-lim", "tree-ssa-loop-im"),
    ("tree-linterchange", "gimple-loop-interchange"),
    ("tree-local-pure-const", "ipa-pure-const"),
    ("tree-loopinit", "tree-ssa-loop"),
    ("tree-lversion", "gimple-loop-versioning"),
    ("tree-lower", "gimple-low"),
    ("tree-mergephi", "tree-ssa-phi-merge"),
    ("tree-modref", "ipa-modref"),
    ("tree-nrv", "tree-nrv"),
    ("tree-objsz", "tree-object-size"),
    ("tree-ompexp", "omp-expand"),
    ("tree-omplower", "omp-low"),
    ("tree-optimized", "tree-cfg"),
    ("tree-parloops", "tree-parloops"),
    ("tree-pcom", "tree-predcom"),
    ("tree-phiopt", "tree-ssa-phiopt"),
    ("tree-phiprop", "tree-ssa-phiprop"),
    ("tree-pre", "tree-ssa-pre tree-ssa-sccvn"),
    ("tree-printf-return-value", "gimple-ssa-sprintf"),
    ("tree-profile_estimate", "predict"),
    ("tree-reassoc", "tree-ssa-reassoc"),
    ("tree-recip", "tree-ssa-math-opts"),
    ("tree-retslot", "tree-nrv"),
    ("tree-sanopt", "sanopt"),
    ("tree-sccp", "tree-scalar-evolution"),
    ("tree-sincos", "tree-ssa-math-opts"),
    ("tree-sink", "tree-ssa-sink"),
    ("tree-slp", "tree-vectorizer tree-vect-slp tree-vect-stmts tree-vect-data-refs"),
    ("tree-slsr", "gimple-ssa-strength-reduction"),
    ("tree-split-paths", "gimple-ssa-split-paths"),
    ("tree-sra", "tree-sra"),
    ("tree-ssa", "tree-into-ssa"),
    ("tree-ssplit", "tree-ssa-loop-split"),
    ("tree-stdarg", "tree-stdarg"),
    ("tree-store-merging", "gimple-ssa-store-merging"),
    ("tree-strlen", "tree-ssa-strlen gimple-ssa-sprintf"),
    ("tree-switchconv", "tree-switch-conversion"),
    ("tree-switchlower", "tree-switch-conversion"),
    ("tree-tailc", "tree-tailcall"),
    ("tree-tailr", "tree-tailcall"),
    ("tree-thread", "tree-ssa-threadbackward"),
    ("tree-threadfull", "tree-ssa-threadbackward"),
    ("tree-tracer", "tracer"),
    ("tree-ubsan", "ubsan"),
    ("tree-uncprop", "tree-ssa-uncprop"),
    ("tree-unrolljam", "gimple-loop-jam"),
    ("tree-unswitch", "tree-ssa-loop-unswitch"),
    (
        "tree-vect",
        "tree-vectorizer tree-vect-loop tree-vect-stmts tree-vect-slp tree-vect-loop-manip \
         tree-vect-data-refs tree-vect-patterns",
    ),
    ("tree-veclower", "tree-vect-generic"),
    ("tree-vrp", "tree-vrp"),
    ("tree-vrp-thread", "tree-vrp"),
    ("tree-warn-printf", "tree-ssa-strlen gimple-ssa-sprintf"),
    ("tree-widening_mul", "tree-ssa-math-opts"),
];

/// The first gcc whose files end in `.cc`.
const FIRST_CC: u32 = 12;

/// The files of a pass, from the root of the source of a gcc of this major version.
/// None where they are not known.
pub(super) fn files_of(pass: &str, major: u32) -> Vec<String> {
    let bare = pass.trim_end_matches(|c: char| c.is_ascii_digit());
    let stems = FILES.iter().find(|(name, _)| *name == pass || *name == bare);
    let ending = if major < FIRST_CC { "c" } else { "cc" };
    let stems = stems.iter().flat_map(|(_, stems)| stems.split(' '));
    stems.map(|stem| format!("gcc/{stem}.{ending}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_their_gcc_names_them() {
        let expected = ["gcc/tree-ssa-pre.c", "gcc/tree-ssa-sccvn.c"];
        assert_eq!(files_of("tree-pre", 11), expected);
        assert_eq!(files_of("rtl-combine", 12), ["gcc/combine.cc"]);
        assert_eq!(files_of("rtl-loop2_unroll", 14), ["gcc/loop-unroll.cc"]);
        assert!(files_of("*warn_unused_result", 12).is_empty());
    }

    #[test]
    fn every_pass_has_one_row() {
        let mut names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        let n = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n);
    }
}
