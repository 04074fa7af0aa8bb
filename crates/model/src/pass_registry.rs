//! The passes of one LLVM, as that LLVM lists them.
//!
//! The text is what `PassBuilder::printPassNames` prints: sections headed
//! `Function passes with params:` and the like, one indented name a line.

use std::collections::BTreeMap;
use std::fmt;

use crate::ModelError;

/// What a pass is applied to. Ordered from the outside in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The whole module.
    Module,
    /// A strongly connected component of the call graph.
    Cgscc,
    /// A function.
    Function,
    /// A loop or a loop nest.
    Loop,
}

impl Level {
    /// All levels, from the outside in.
    pub const ALL: [Level; 4] = [Level::Module, Level::Cgscc, Level::Function, Level::Loop];

    /// LLVM's word, in a pipeline as well.
    pub fn name(self) -> &'static str {
        match self {
            Level::Module => "module",
            Level::Cgscc => "cgscc",
            Level::Function => "function",
            Level::Loop => "loop",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One pass at one level.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PassInfo {
    /// Its name in a pipeline, without parameters.
    pub name: String,
    /// What it is applied to.
    pub level: Level,
    /// The parameters it takes, in LLVM's words; empty for none.
    pub params: Vec<String>,
}

/// Every pass and analysis of one LLVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassRegistry {
    passes: Vec<PassInfo>, // Invariant: sorted by name, then level.
    analyses: BTreeMap<String, Vec<Level>>,
}

/// Whole pipelines that go by a name. They are not in LLVM's list.
const PIPELINES: [&str; 5] = ["default", "thinlto-pre-link", "thinlto", "lto-pre-link", "lto"];

impl PassRegistry {
    /// Reads the list that LLVM prints.
    pub fn parse(text: &str) -> Result<PassRegistry, ModelError> {
        let mut passes = Vec::new();
        let mut analyses: BTreeMap<String, Vec<Level>> = BTreeMap::new();
        let mut section = Section::Other;
        for line in text.lines() {
            match (line.strip_prefix("  "), section) {
                (None, _) => section = Section::of_heading(line),
                (Some(name), Section::Passes(level)) => {
                    passes.push(PassInfo { name: name.to_owned(), level, params: Vec::new() });
                }
                (Some(name), Section::PassesWithParams(level)) => {
                    let at = name.rfind('<').unwrap_or(name.len());
                    let params = name[at..].trim_start_matches('<').trim_end_matches('>');
                    passes.push(PassInfo {
                        name: name[..at].to_owned(),
                        level,
                        params: params.split(';').map(str::to_owned).collect(),
                    });
                }
                (Some(name), Section::Analyses(level)) => {
                    analyses.entry(name.to_owned()).or_default().push(level);
                }
                (Some(_), Section::Other) => {}
            }
        }
        for (level, heading) in [
            (Level::Module, "Module passes:"),
            (Level::Function, "Function passes:"),
            (Level::Loop, "Loop passes:"),
        ] {
            if !passes.iter().any(|pass| pass.level == level) {
                return Err(ModelError::Registry(heading));
            }
        }
        passes.sort_by(|a, b| a.name.cmp(&b.name).then(a.level.cmp(&b.level)));
        passes.dedup_by(|a, b| a.name == b.name && a.level == b.level);
        Ok(PassRegistry { passes, analyses })
    }

    /// All passes, by name.
    pub fn passes(&self) -> &[PassInfo] {
        &self.passes
    }

    /// The levels at which `name`, with its parameters if any, is a pass; from
    /// the outside in; empty for an unknown name.
    pub fn levels(&self, name: &str) -> Vec<Level> {
        if let Some(analysis) = argument(name, "require").or_else(|| argument(name, "invalidate"))
            && let Some(levels) = self.analyses.get(analysis)
        {
            return levels.clone();
        }
        if PIPELINES.iter().any(|pipeline| argument(name, pipeline).is_some()) {
            return vec![Level::Module];
        }
        let base = match name.rfind('<') {
            Some(at) if name.ends_with('>') => &name[..at],
            _ => name,
        };
        let mut levels: Vec<Level> = self
            .passes
            .iter()
            .filter(|pass| pass.name == name || (pass.name == base && !pass.params.is_empty()))
            .map(|pass| pass.level)
            .collect();
        levels.sort();
        levels.dedup();
        levels
    }

    /// Whether a pass of this name takes this parameter.
    pub fn takes_parameter(&self, name: &str, parameter: &str) -> bool {
        let takes = |pass: &PassInfo| pass.params.iter().any(|known| known == parameter);
        self.passes.iter().any(|pass| pass.name == name && takes(pass))
    }

    /// Up to three names close to a mistyped one, nearest first.
    pub fn similar(&self, name: &str) -> Vec<String> {
        let base = name.split('<').next().unwrap_or(name);
        let plain = base.replace('-', "");
        let mut near: Vec<(usize, &str)> = self
            .passes
            .iter()
            .map(|pass| {
                let distance = strsim::damerau_levenshtein(base, &pass.name);
                let same_letters = pass.name.replace('-', "") == plain;
                (if same_letters { 0 } else { distance }, pass.name.as_str())
            })
            .filter(|(distance, _)| *distance <= 1 + base.len() / 4)
            .collect();
        near.sort();
        near.dedup();
        near.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
    }
}

/// `X` of `outer<X>`.
fn argument<'a>(name: &'a str, outer: &str) -> Option<&'a str> {
    name.strip_prefix(outer)?.strip_prefix('<')?.strip_suffix('>')
}

#[derive(Clone, Copy)]
enum Section {
    Passes(Level),
    PassesWithParams(Level),
    Analyses(Level),
    Other,
}

impl Section {
    fn of_heading(line: &str) -> Section {
        let Some((first, rest)) = line.split_once(' ') else {
            return Section::Other;
        };
        let level = match first {
            "Module" => Level::Module,
            "CGSCC" => Level::Cgscc,
            "Function" => Level::Function,
            "LoopNest" | "Loop" => Level::Loop,
            _ => return Section::Other,
        };
        match rest {
            "passes:" => Section::Passes(level),
            "passes with params:" => Section::PassesWithParams(level),
            "analyses:" => Section::Analyses(level),
            _ => Section::Other,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A small registry in LLVM's own format.
    pub(crate) fn small() -> PassRegistry {
        PassRegistry::parse(
            "Module passes:\n  globaldce\n  globalopt\n  verify\n  no-op-module\n  invalidate<all>\n\
             Module passes with params:\n  loop-extract<single>\n\
             Module analyses:\n  callgraph\n\
             CGSCC passes:\n  argpromotion\n  invalidate<all>\n\
             CGSCC passes with params:\n  inline<only-mandatory>\n  function-attrs<skip-non-recursive>\n\
             Function passes:\n  dce\n  gvn\n  instcombine\n  lower-switch\n  print<domtree>\n  verify\n  invalidate<all>\n\
             Function passes with params:\n  early-cse<memssa>\n  sroa<preserve-cfg;modify-cfg>\n\
             Function analyses:\n  domtree\n\
             LoopNest passes:\n  loop-interchange\n\
             Loop passes:\n  indvars\n  loop-deletion\n  invalidate<all>\n\
             Loop passes with params:\n  licm<allowspeculation>\n  simple-loop-unswitch<nontrivial;trivial>\n\
             Machine function passes (WIP):\n  dead-mi-elimination\n",
        )
        .unwrap()
    }

    fn check(name: &str, levels: &[Level]) {
        assert_eq!(small().levels(name), levels, "{name}");
    }

    #[test]
    fn levels_come_from_the_section_a_pass_stands_in() {
        check("globalopt", &[Level::Module]);
        check("inline", &[Level::Cgscc]);
        check("sroa", &[Level::Function]);
        check("loop-interchange", &[Level::Loop]);
        check("verify", &[Level::Module, Level::Function]);
        check("dead-mi-elimination", &[]);
    }

    #[test]
    fn parameters_are_not_part_of_the_name() {
        check("sroa<modify-cfg>", &[Level::Function]);
        check("gvn<pre>", &[]); // This registry says it takes none.
        check("print<domtree>", &[Level::Function]);
        check("default<O2>", &[Level::Module]);
        check("default", &[]);
    }

    #[test]
    fn analyses_are_required_at_their_own_level() {
        check("require<domtree>", &[Level::Function]);
        check("require<callgraph>", &[Level::Module]);
        check("require<nothing>", &[]);
    }

    #[test]
    fn a_mistyped_name_brings_up_its_neighbours() {
        assert_eq!(small().similar("instcombin"), ["instcombine"]);
        assert_eq!(small().similar("lowerswitch"), ["lower-switch"]);
        assert_eq!(small().similar("quite-another-thing"), Vec::<String>::new());
    }

    #[test]
    fn a_text_that_is_no_registry_is_refused() {
        assert!(PassRegistry::parse("hello\n  world\n").is_err());
    }
}
