//! Names that the legacy pass manager had, and what they are called now.
//!
//! Papers, old bug reports and scripts name passes as `opt -early-cse-memssa`
//! took them. LLVM dropped that syntax; the names below are the ones whose
//! spelling changed. A name that is the same today is not listed.

/// What became of a legacy pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Called one of these now, the first that the LLVM at hand knows.
    Renamed(&'static [&'static str]),
    /// There is no counterpart, for this reason.
    Gone(&'static str),
}

const ALIAS_ANALYSIS: Fate =
    Fate::Gone("alias analyses are no passes any more: choose them with `-aa-pipeline=...`");

/// Legacy name, without its dash, and its fate.
const TABLE: &[(&str, Fate)] = &[
    ("basic-aa", ALIAS_ANALYSIS),
    ("basicaa", ALIAS_ANALYSIS),
    ("block-freq", Fate::Renamed(&["require<block-freq>"])),
    ("branch-prob", Fate::Renamed(&["require<branch-prob>"])),
    ("cfl-anders-aa", ALIAS_ANALYSIS),
    ("cfl-steens-aa", ALIAS_ANALYSIS),
    ("constprop", Fate::Renamed(&["instsimplify"])),
    ("da", Fate::Renamed(&["require<da>"])),
    ("demanded-bits", Fate::Renamed(&["require<demanded-bits>"])),
    ("die", Fate::Renamed(&["dce"])),
    ("domtree", Fate::Renamed(&["require<domtree>"])),
    ("early-cse-memssa", Fate::Renamed(&["early-cse<memssa>"])),
    ("functionattrs", Fate::Renamed(&["function-attrs"])),
    ("globals-aa", Fate::Renamed(&["require<globals-aa>"])),
    ("ipconstprop", Fate::Renamed(&["ipsccp"])),
    ("lazy-value-info", Fate::Renamed(&["require<lazy-value-info>"])),
    ("loop-extract-single", Fate::Renamed(&["loop-extract<single>"])),
    ("loop-guard-widening", Fate::Renamed(&["guard-widening"])),
    ("loop-unswitch", Fate::Renamed(&["simple-loop-unswitch<nontrivial>"])),
    ("loops", Fate::Renamed(&["require<loops>"])),
    ("loweratomic", Fate::Renamed(&["lower-atomic"])),
    ("lowerinvoke", Fate::Renamed(&["lower-invoke"])),
    ("lowerswitch", Fate::Renamed(&["lower-switch"])),
    ("memdep", Fate::Renamed(&["require<memdep>"])),
    ("memoryssa", Fate::Renamed(&["require<memoryssa>"])),
    ("postdomtree", Fate::Renamed(&["require<postdomtree>"])),
    ("prune-eh", Fate::Gone("it was removed; `function-attrs` infers what it inferred")),
    ("rpo-functionattrs", Fate::Renamed(&["rpo-function-attrs"])),
    ("scalar-evolution", Fate::Renamed(&["require<scalar-evolution>"])),
    ("scalarrepl", Fate::Renamed(&["sroa"])),
    ("scev-aa", ALIAS_ANALYSIS),
    ("scoped-noalias-aa", ALIAS_ANALYSIS),
    ("simplify-libcalls", Fate::Renamed(&["instcombine"])),
    ("targetlibinfo", Fate::Renamed(&["require<targetlibinfo>"])),
    ("tbaa", ALIAS_ANALYSIS),
    ("tti", Fate::Renamed(&["require<targetir>"])),
];

/// Looks a legacy name up, with or without its dash.
pub fn fate(name: &str) -> Option<Fate> {
    let name = name.trim_start_matches('-');
    TABLE.iter().find(|(legacy, _)| *legacy == name).map(|(_, fate)| *fate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_no_name_twice() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn names_are_found_with_and_without_a_dash() {
        assert_eq!(fate("-early-cse-memssa"), Some(Fate::Renamed(&["early-cse<memssa>"])));
        assert_eq!(fate("loop-unswitch"), fate("-loop-unswitch"));
        assert!(matches!(fate("-prune-eh"), Some(Fate::Gone(_))));
        assert_eq!(fate("-sroa"), None);
    }
}
