//! The passes that sequences are made of: LLVM's registry -> spelled passes.
//!
//! **Invariant:** every pass that is handed out was resolved by the LLVM under
//! test, so a sequence of them is one that it takes.

use std::collections::BTreeSet;
use std::path::Path;

use fs_err as fs;
use optsleuth_case::workers::Workers;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::distribution;
use optsleuth_model::{Element, Limits, PassInfo, PassRegistry, PassSequence, Program, RunRequest};

use crate::HuntError;

/// Optimizations that have something to do in C programs and do not depend on
/// the machine, as the CTOS paper chose its 114: no printers, no
/// instrumentation, nothing for other languages, for profiles or for code
/// generators. Passes of later LLVMs and of earlier ones are both among them.
const FOR_C: [&str; 116] = [
    "adce",
    "aggressive-instcombine",
    "alignment-from-assumptions",
    "always-inline",
    "argpromotion",
    "assume-builder",
    "assume-simplify",
    "attributor",
    "attributor-cgscc",
    "attributor-light",
    "bdce",
    "break-crit-edges",
    "called-value-propagation",
    "callsite-splitting",
    "canon-freeze",
    "consthoist",
    "constmerge",
    "constraint-elimination",
    "correlated-propagation",
    "dce",
    "deadargelim",
    "dfa-jump-threading",
    "div-rem-pairs",
    "drop-unnecessary-assumes",
    "dse",
    "early-cse",
    "elim-avail-extern",
    "fix-irreducible",
    "flatten-cfg",
    "flattencfg",
    "float2int",
    "function-attrs",
    "function-specialization",
    "globaldce",
    "globalopt",
    "globalsplit",
    "gvn",
    "gvn-hoist",
    "gvn-sink",
    "hotcoldsplit",
    "indvars",
    "infer-alignment",
    "inferattrs",
    "inject-tli-mappings",
    "inline",
    "instcombine",
    "instsimplify",
    "ipsccp",
    "irce",
    "iroutliner",
    "jump-table-to-switch",
    "jump-threading",
    "lcssa",
    "libcalls-shrinkwrap",
    "licm",
    "lnicm",
    "load-store-vectorizer",
    "loop-bound-split",
    "loop-data-prefetch",
    "loop-deletion",
    "loop-distribute",
    "loop-extract",
    "loop-flatten",
    "loop-fusion",
    "loop-idiom",
    "loop-instsimplify",
    "loop-interchange",
    "loop-load-elim",
    "loop-predication",
    "loop-reduce",
    "loop-reroll",
    "loop-rotate",
    "loop-simplify",
    "loop-simplifycfg",
    "loop-sink",
    "loop-term-fold",
    "loop-unroll",
    "loop-unroll-and-jam",
    "loop-unroll-full",
    "loop-vectorize",
    "loop-versioning",
    "loop-versioning-licm",
    "lower-constant-intrinsics",
    "lower-expect",
    "lower-switch",
    "lowerswitch",
    "mem2reg",
    "memcpyopt",
    "mergefunc",
    "mergeicmps",
    "mergereturn",
    "mldst-motion",
    "module-inline",
    "move-auto-init",
    "nary-reassociate",
    "newgvn",
    "partial-inliner",
    "partially-inline-libcalls",
    "reassociate",
    "reg2mem",
    "rpo-function-attrs",
    "scalarizer",
    "sccp",
    "separate-const-offset-from-gep",
    "simple-loop-unswitch",
    "simplifycfg",
    "sink",
    "slp-vectorizer",
    "slsr",
    "speculative-execution",
    "sroa",
    "structurizecfg",
    "tailcallelim",
    "unify-loop-exits",
    "unreachableblockelim",
    "vector-combine",
];

/// Parameters that say something about the harness, not about the program, or
/// that make plain `opt` end with an error by design.
const UNFIT_PARAMETERS: [&str; 5] =
    ["verify-fixpoint", "vectorize-forced-only", "preserve-gv=GV", "O0", "only-mandatory"];

/// From LLVM 17 on, plain `instcombine` ends with an error where it would need
/// a second iteration; the default pipelines use the form that does not.
const INSTCOMBINE: &str = "instcombine";
const LENIENT: &str = "no-verify-fixpoint";

/// Which passes sequences are made of.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassChoice {
    /// Every optimization that fits C programs.
    All,
    /// Of these, what `-O1`, `-O2` or `-O3` run: a report about anything else
    /// is of less interest to LLVM's developers.
    OnlyDefault,
    /// Those that a file lists: one a line, with or without parameters.
    From(std::path::PathBuf),
}

/// A pass in all the ways in which it may be spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spellings {
    /// Without parameters.
    pub(super) name: String,
    /// Each inside the adaptors it needs; the plain one first.
    pub(super) forms: Vec<Element>,
}

/// The passes of a choice, by name. What the workers have loaded is lost.
pub(super) fn passes(
    workers: &mut Workers,
    choice: &PassChoice,
) -> Result<Vec<Spellings>, HuntError> {
    match choice {
        PassChoice::All => accepted(workers, all(workers)),
        PassChoice::OnlyDefault => {
            let default = default_passes(workers);
            let mut found = accepted(workers, all(workers))?;
            found.retain(|pass| default.contains(&pass.name));
            if found.is_empty() { Err(HuntError::NothingToDraw) } else { Ok(found) }
        }
        PassChoice::From(file) => listed(workers, file),
    }
}

fn all(workers: &Workers) -> Vec<Spellings> {
    let is_fit = |name: &&&str| workers.registry.passes().iter().any(|pass| pass.name == **name);
    FOR_C.iter().filter(is_fit).filter_map(|name| spellings(workers, name)).collect()
}

/// Without the forms that LLVM refuses: it lists parameters that it does not
/// take, such as `globaldce<in-lto-post-link>` of LLVM 19.
fn accepted(workers: &mut Workers, found: Vec<Spellings>) -> Result<Vec<Spellings>, HuntError> {
    let empty = Program { name: "empty.ll".to_owned(), ir: Vec::new() };
    workers.pool.load(&empty, &[], Limits::STANDARD)?;
    let forms = found.iter().flat_map(|pass| &pass.forms);
    let request = |form: &Element| RunRequest::new(PassSequence::new(vec![form.clone()]));
    let requests: Vec<RunRequest> = forms.map(request).collect();
    let results = workers.pool.run_all(&requests, &|_| ());
    let mut is_taken =
        results.iter().map(|result| !matches!(result, Err(CompilerError::BadPipeline(_))));
    let mut left = Vec::new();
    for mut pass in found {
        pass.forms.retain(|_| is_taken.next().unwrap_or(false));
        if !pass.forms.is_empty() {
            left.push(pass);
        }
    }
    Ok(left)
}

fn spellings(workers: &Workers, name: &str) -> Option<Spellings> {
    let lenient = name == INSTCOMBINE && workers.registry.takes_parameter(INSTCOMBINE, LENIENT);
    let plain = if lenient { format!("{name}<{LENIENT}>") } else { name.to_owned() };
    let variants = parameters(&workers.registry, name).into_iter().map(|parameter| match lenient {
        true => format!("{name}<{LENIENT};{parameter}>"),
        false => format!("{name}<{parameter}>"),
    });
    let forms: Vec<Element> = std::iter::once(plain)
        .chain(variants)
        .filter_map(|text| resolved(workers, &text))
        .collect();
    (!forms.is_empty()).then(|| Spellings { name: name.to_owned(), forms })
}

/// The parameters of a pass that need no value.
fn parameters(registry: &PassRegistry, name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let own = |pass: &&PassInfo| pass.name == name;
    for parameter in registry.passes().iter().filter(own).flat_map(|pass| &pass.params) {
        let is_fit = !parameter.is_empty()
            && !parameter.contains('=')
            && !parameter.contains('<')
            && !UNFIT_PARAMETERS.contains(&parameter.as_str())
            && parameter != LENIENT;
        if is_fit && !found.contains(parameter) {
            found.push(parameter.clone());
        }
    }
    found
}

/// One pass inside its adaptors.
fn resolved(workers: &Workers, text: &str) -> Option<Element> {
    let mut optimizations = workers.passes(text).ok()?.optimizations();
    (optimizations.len() == 1).then(|| optimizations.remove(0))
}

/// The passes that the default pipelines run, by name.
pub(super) fn default_passes(workers: &Workers) -> BTreeSet<String> {
    let printed = ["default<O1>", "default<O2>", "default<O3>"].into_iter().filter_map(|level| {
        let whole = workers.passes(level).ok()?;
        distribution::print_pipeline(&workers.install, &whole).ok()
    });
    let sequences = printed.filter_map(|text| text.trim().parse::<PassSequence>().ok());
    sequences.flat_map(|sequence| names(&sequence)).collect()
}

/// The names of a sequence's passes, in order, without parameters.
pub(super) fn names(sequence: &PassSequence) -> Vec<String> {
    let flat = sequence.flat();
    let elements = flat.as_ref().map(PassSequence::elements).unwrap_or_default();
    elements.iter().map(|element| base_name(&element.name).to_owned()).collect()
}

/// A pass without its parameters.
pub(super) fn base_name(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

/// The name of the pass inside an optimization's adaptors.
pub(super) fn leaf_name(optimization: &Element) -> &str {
    match optimization.inner.as_deref() {
        Some([inner, ..]) => leaf_name(inner),
        Some([]) | None => base_name(&optimization.name),
    }
}

fn listed(workers: &Workers, file: &Path) -> Result<Vec<Spellings>, HuntError> {
    let text = fs::read_to_string(file)?;
    let mut found: Vec<Spellings> = Vec::new();
    for line in
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let name = base_name(line);
        for form in workers.passes(line)?.optimizations() {
            match found.iter_mut().find(|known| known.name == name) {
                Some(known) => known.forms.push(form),
                None => found.push(Spellings { name: name.to_owned(), forms: vec![form] }),
            }
        }
    }
    match found.is_empty() {
        true => Err(HuntError::NoPasses(file.to_owned())),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use optsleuth_compiler::llvm::{Flavor, Targets};

    use super::*;

    #[test]
    fn the_list_is_in_order_and_has_nothing_twice() {
        assert!(FOR_C.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn only_what_llvm_takes_is_drawn() {
        let llvm = optsleuth_case::workers::LlvmChoice::Version(19);
        let one = std::num::NonZero::new(1);
        let mut workers =
            Workers::set_up(&llvm, Targets::Native, Flavor::Plain, one, &optsleuth_model::Silent)
                .unwrap();
        let all = passes(&mut workers, &PassChoice::All).unwrap();
        let forms = |name: &str| {
            let pass = all.iter().find(|pass| pass.name == name).unwrap();
            pass.forms.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        // It lists a parameter for this one, and refuses it.
        assert_eq!(forms("globaldce"), ["globaldce"]);
        assert_eq!(forms("instcombine")[0], "function(instcombine<no-verify-fixpoint>)");
        assert!(forms("licm").contains(&"function(loop-mssa(licm<allowspeculation>))".to_owned()));
        let default = passes(&mut workers, &PassChoice::OnlyDefault).unwrap();
        assert!((40..all.len()).contains(&default.len()), "{}", default.len());
        assert!(!default.iter().any(|pass| pass.name == "structurizecfg"));
    }

    #[test]
    fn the_name_of_a_pass_is_inside_its_adaptors() {
        let sequence: PassSequence =
            "function(loop-mssa(licm<allowspeculation>)),sroa".parse().unwrap();
        assert_eq!(leaf_name(&sequence.optimizations()[0]), "licm");
        assert_eq!(names(&sequence), ["licm", "sroa"]);
    }
}
