//! Passes that gcc cannot do without.
//!
//! gcc does not say which passes later ones rely on. The plug-in takes those for
//! required that provide a property (a CFG, SSA form, RTL) and those without a dump;
//! the others were found out by skipping each pass of gcc 11 and 12, alone and
//! together, on programs of many kinds (docs/gcc.md). What is left shows on the
//! case's own program.
//!
//! **Invariant:** no I/O.

/// Passes without which gcc ends in an internal error, or makes a broken program. A
/// name without a number stands for all its numbers.
pub(super) const ALWAYS: &[&str] = &[
    // What provides a property, for gccs that no plug-in looks into.
    "rtl-expand",
    "rtl-into_cfglayout",
    "tree-cfg",
    "tree-cplxlower",
    "tree-eh",
    "tree-lower",
    "tree-ompexp",
    "tree-omplower",
    "tree-ssa",
    "tree-stdarg",
    "tree-veclower",
    // Begins and ends of data-flow and loop information.
    "rtl-dfinit",
    "rtl-dfinish",
    "rtl-loop2_done",
    "rtl-loop2_init",
    "rtl-outof_cfglayout",
    "tree-loopdone",
    "tree-loopinit",
    // Summaries that the inliner reads, and their end.
    "ipa-free-fnsummary",
    "ipa-visibility",
    "tree-local-fnsummary",
    // From GIMPLE to instructions that a machine has.
    "rtl-init-regs",
    "rtl-ira",
    "rtl-pro_and_epilogue",
    "rtl-reload",
    "rtl-split",
    "rtl-stack",
    "rtl-vregs",
    "tree-isel",
    // Writing them.
    "rtl-dwarf2",
    "rtl-eh_ranges",
    "rtl-final",
    "rtl-shorten",
];

/// Whether a pass is in a list, by its name with or without its number.
pub(super) fn is_among<S: AsRef<str>>(pass: &str, list: &[S]) -> bool {
    let bare = pass.trim_end_matches(|c: char| c.is_ascii_digit());
    list.iter().any(|name| name.as_ref() == pass || name.as_ref() == bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_all_its_numbers() {
        assert!(is_among("rtl-split3", ALWAYS));
        assert!(is_among("tree-isel", ALWAYS));
        assert!(!is_among("tree-dse2", &["tree-dse1"]));
        assert!(!is_among("rtl-splitting", ALWAYS));
    }
}
