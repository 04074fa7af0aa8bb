//! Pass sequences: text -> tree -> text, and the nesting that LLVM demands.
//!
//! [`PassSequence`] knows the syntax alone. [`PassSequence::resolve`] brings in
//! one LLVM's registry: it maps legacy names, wraps a flat list in adaptors and
//! says what is wrong with a wrong one, before LLVM sees it.

use std::fmt;
use std::str::FromStr;

use crate::legacy::{self, Fate};
use crate::{Level, ModelError, PassRegistry};

/// One pass, or an adaptor around passes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// Name with parameters, as in `loop-unroll<O2>`.
    pub name: String,
    /// What stands in the parentheses of an adaptor.
    pub inner: Option<Vec<Element>>,
}

/// A non-empty pass sequence, printed exactly as `opt -passes=` takes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PassSequence(Vec<Element>); // Invariant: never empty, at any depth.

/// So many adaptors stand inside each other at most. LLVM's own pipelines have
/// five; every level is one more call, here and in LLVM.
const DEEPEST: usize = 64;

impl Element {
    /// A pass without adaptor.
    pub fn pass(name: impl Into<String>) -> Element {
        Element { name: name.into(), inner: None }
    }

    fn adaptor(name: &str, inner: Vec<Element>) -> Element {
        Element { name: name.to_owned(), inner: Some(inner) }
    }

    /// The name without parameters.
    fn base(&self) -> &str {
        self.name.split('<').next().unwrap_or(&self.name)
    }
}

impl PassSequence {
    /// The sequence of these elements; `None` if there are none.
    pub fn new(elements: Vec<Element>) -> Option<PassSequence> {
        if elements.is_empty() { None } else { Some(PassSequence(elements)) }
    }

    /// The elements at the top level.
    pub fn elements(&self) -> &[Element] {
        &self.0
    }

    /// The same passes in the form this LLVM takes: legacy names replaced, and
    /// top-level passes wrapped in the adaptors they need. Neighbours that need
    /// the same adaptor share one, as they would in LLVM's own pipelines.
    pub fn resolve(&self, registry: &PassRegistry) -> Result<PassSequence, ModelError> {
        let mut renamed = self.0.clone();
        rename(&mut renamed, registry)?;
        let mut groups = Groups::default();
        for element in renamed {
            check_inside(&element, registry)?;
            match level_of(&element, registry)? {
                Level::Module => groups.0.push(Group::AsIs(element)),
                Level::Cgscc => groups.cgscc().push(element),
                Level::Function => groups.function().push(Group::AsIs(element)),
                Level::Loop => groups.in_loop(loop_adaptor(&element)).push(element),
            }
        }
        Ok(PassSequence(groups.0.into_iter().map(Group::into_element).collect()))
    }
}

/// A top-level list in the making. What a person wrote is kept as it is; the
/// adaptors put in here are shared by neighbours.
#[derive(Default)]
struct Groups(Vec<Group>);

enum Group {
    AsIs(Element),
    Cgscc(Vec<Element>),
    Function(Vec<Group>),
    Loop(&'static str, Vec<Element>),
}

impl Groups {
    fn cgscc(&mut self) -> &mut Vec<Element> {
        if !matches!(self.0.last(), Some(Group::Cgscc(_))) {
            self.0.push(Group::Cgscc(Vec::new()));
        }
        match self.0.last_mut() {
            Some(Group::Cgscc(passes)) => passes,
            _ => unreachable!("pushed above"),
        }
    }

    fn function(&mut self) -> &mut Vec<Group> {
        if !matches!(self.0.last(), Some(Group::Function(_))) {
            self.0.push(Group::Function(Vec::new()));
        }
        match self.0.last_mut() {
            Some(Group::Function(groups)) => groups,
            _ => unreachable!("pushed above"),
        }
    }

    fn in_loop(&mut self, adaptor: &'static str) -> &mut Vec<Element> {
        let groups = self.function();
        if !matches!(groups.last(), Some(Group::Loop(last, _)) if *last == adaptor) {
            groups.push(Group::Loop(adaptor, Vec::new()));
        }
        match groups.last_mut() {
            Some(Group::Loop(_, passes)) => passes,
            _ => unreachable!("pushed above"),
        }
    }
}

impl Group {
    fn into_element(self) -> Element {
        match self {
            Group::AsIs(element) => element,
            Group::Cgscc(passes) => Element::adaptor("cgscc", passes),
            Group::Loop(adaptor, passes) => Element::adaptor(adaptor, passes),
            Group::Function(groups) => {
                let inner = groups.into_iter().map(Group::into_element).collect();
                Element::adaptor("function", inner)
            }
        }
    }
}

/// Passes that want MemorySSA kept up to date around them. LLVM's own choice
/// for a flat list is the same.
fn loop_adaptor(element: &Element) -> &'static str {
    match element.base() {
        "licm" | "lnicm" => "loop-mssa",
        _ => "loop",
    }
}

fn rename(elements: &mut [Element], registry: &PassRegistry) -> Result<(), ModelError> {
    for element in elements {
        if let Some(inner) = &mut element.inner {
            rename(inner, registry)?;
            continue;
        }
        let plain = element.name.trim_start_matches('-').to_owned();
        if registry.levels(&plain).is_empty()
            && let Some(fate) = legacy::fate(&plain)
        {
            match fate {
                Fate::Renamed(names) => {
                    let known = names.iter().find(|name| !registry.levels(name).is_empty());
                    if let Some(name) = known {
                        element.name = (*name).to_owned();
                        continue;
                    }
                }
                Fate::Gone(reason) => {
                    return Err(ModelError::GonePass { name: element.name.clone(), reason });
                }
            }
        }
        if element.name.starts_with('-') {
            element.name = plain;
        }
    }
    Ok(())
}

/// The level of the things an adaptor contains.
fn inner_level(adaptor: &str) -> Option<Level> {
    match adaptor {
        "module" | "coro-cond" => Some(Level::Module),
        "cgscc" | "devirt" => Some(Level::Cgscc),
        "function" => Some(Level::Function),
        "loop" | "loop-mssa" => Some(Level::Loop),
        _ => None,
    }
}

/// The level at which an element stands.
fn level_of(element: &Element, registry: &PassRegistry) -> Result<Level, ModelError> {
    match (&element.inner, element.base()) {
        (Some(_), "module" | "coro-cond" | "cgscc" | "function") => Ok(Level::Module),
        (Some(_), "devirt") => Ok(Level::Cgscc),
        (Some(_), "loop" | "loop-mssa") => Ok(Level::Function),
        (Some(inner), "repeat") => level_of(&inner[0], registry),
        (Some(_), _) if registry.levels(&element.name).is_empty() => {
            Err(unknown(element, registry))
        }
        (Some(_), _) => Err(ModelError::NotAnAdaptor(element.name.clone())),
        (None, "repeat") => Err(ModelError::EmptyAdaptor(element.name.clone())),
        (None, base) if inner_level(base).is_some() && registry.levels(base).is_empty() => {
            Err(ModelError::EmptyAdaptor(element.name.clone()))
        }
        (None, _) => {
            let levels = registry.levels(&element.name);
            levels.first().copied().ok_or_else(|| unknown(element, registry))
        }
    }
}

fn unknown(element: &Element, registry: &PassRegistry) -> ModelError {
    let name = element.name.clone();
    let similar = registry.similar(&name);
    ModelError::UnknownPass { name, similar }
}

/// Whether everything inside an adaptor may stand there.
fn check_inside(element: &Element, registry: &PassRegistry) -> Result<(), ModelError> {
    let Some(inner) = &element.inner else {
        return Ok(());
    };
    for child in inner {
        level_of(child, registry)?; // Names the unknown ones.
        check_inside(child, registry)?;
        let Some(expected) = inner_level(element.base()) else {
            continue; // `repeat` takes any level; its children are checked by what is around it.
        };
        if !fits(child, expected, registry)? {
            let level = level_of(child, registry)?;
            return Err(ModelError::MisplacedPass {
                name: child.name.clone(),
                level: level.name(),
                outer: element.name.clone(),
                instead: instead(child, level, expected),
            });
        }
    }
    Ok(())
}

/// Whether an element may stand where things of level `expected` stand.
fn fits(element: &Element, expected: Level, registry: &PassRegistry) -> Result<bool, ModelError> {
    Ok(match (&element.inner, element.base()) {
        (Some(_), "module" | "coro-cond") => expected == Level::Module,
        (Some(_), "cgscc") => matches!(expected, Level::Module | Level::Cgscc),
        (Some(_), "devirt") => expected == Level::Cgscc,
        (Some(_), "function") => expected != Level::Loop,
        (Some(_), "loop" | "loop-mssa") => matches!(expected, Level::Function | Level::Loop),
        (Some(inner), _) => {
            for child in inner {
                if !fits(child, expected, registry)? {
                    return Ok(false);
                }
            }
            true
        }
        (None, _) => registry.levels(&element.name).contains(&expected),
    })
}

fn instead(element: &Element, level: Level, expected: Level) -> String {
    match (expected, level) {
        (Level::Module | Level::Cgscc, Level::Function) => format!("function({element})"),
        (Level::Function, Level::Loop) => format!("{}({element})", loop_adaptor(element)),
        (Level::Module | Level::Cgscc, Level::Loop) => {
            format!("function({}({element}))", loop_adaptor(element))
        }
        (Level::Module, Level::Cgscc) => format!("cgscc({element})"),
        _ => format!("{element} at the top level"),
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(inner) = &self.inner {
            write!(f, "({})", Commas(inner))?;
        }
        Ok(())
    }
}

impl fmt::Display for PassSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Commas(&self.0).fmt(f)
    }
}

struct Commas<'a>(&'a [Element]);

impl fmt::Display for Commas<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, element) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            element.fmt(f)?;
        }
        Ok(())
    }
}

impl FromStr for PassSequence {
    type Err = ModelError;

    /// Reads the new pass manager's syntax, or a legacy list of dashed names
    /// separated by spaces.
    fn from_str(text: &str) -> Result<PassSequence, ModelError> {
        if text.trim_start().starts_with('-') {
            let names = text.split(|c: char| c.is_whitespace() || c == ',');
            let passes: Vec<Element> =
                names.filter(|name| !name.is_empty()).map(Element::pass).collect();
            return PassSequence::new(passes).ok_or(ModelError::MissingName(1));
        }
        let mut parser = Parser { text, at: 0, depth: 0 };
        let elements = parser.list(None)?;
        Ok(PassSequence(elements))
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// How many adaptors are open.
    depth: usize,
}

impl Parser<'_> {
    /// Elements up to the end, or up to the `)` that closes `adaptor`.
    fn list(&mut self, adaptor: Option<&str>) -> Result<Vec<Element>, ModelError> {
        let mut elements = Vec::new();
        loop {
            elements.push(self.element()?);
            let column = self.at + 1;
            match (self.next(), adaptor) {
                (Some(','), _) => {}
                (Some(')'), Some(_)) | (None, None) => return Ok(elements),
                (Some(')'), None) => return Err(ModelError::Unopened(column)),
                (None, Some(adaptor)) => {
                    return Err(ModelError::Unclosed(adaptor.to_owned()));
                }
                (Some(_), _) => return Err(ModelError::MissingComma(column)),
            }
        }
    }

    fn element(&mut self) -> Result<Element, ModelError> {
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.find([',', '(', ')']).unwrap_or(rest.len());
        let name = rest[..end].trim();
        self.at += end;
        if name.is_empty() {
            return Err(ModelError::MissingName(start + 1));
        }
        let mut element = Element::pass(name);
        if self.text[self.at..].starts_with('(') {
            if self.depth == DEEPEST {
                return Err(ModelError::TooDeep { column: self.at + 1, most: DEEPEST });
            }
            self.at += 1;
            self.depth += 1;
            element.inner = Some(self.list(Some(name))?);
            self.depth -= 1;
            let gap = self.text[self.at..].len() - self.text[self.at..].trim_start().len();
            self.at += gap;
        }
        Ok(element)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass_registry::tests::small;

    fn check_error(text: &str, expected: &str) {
        assert_eq!(text.parse::<PassSequence>().unwrap_err().to_string(), expected, "{text}");
    }

    fn resolved(text: &str) -> Result<String, ModelError> {
        Ok(text.parse::<PassSequence>().unwrap().resolve(&small())?.to_string())
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(resolved(text).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn adaptors_inside_each_other_have_a_limit() {
        let nested = |depth: usize| {
            let text = "function(".repeat(depth) + "sroa" + &")".repeat(depth);
            text.parse::<PassSequence>()
        };
        assert_eq!(nested(64).unwrap().elements().len(), 1);
        let error = nested(200_000).unwrap_err();
        let expected =
            "`(` at column 585 is nested too deeply: at most 64 adaptors inside each other";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn text_comes_back_as_it_was() {
        for text in [
            "sroa",
            "default<O2>",
            "function<eager-inv>(sroa<modify-cfg>,loop-mssa(licm,loop(indvars))),globaldce",
            "repeat<3>(cgscc(devirt<4>(inline,function(gvn<no-pre;memdep>))))",
        ] {
            assert_eq!(text.parse::<PassSequence>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn broken_text_is_refused_with_its_place() {
        check_error("", "a pass name is missing at column 1");
        check_error("sroa,,dce", "a pass name is missing at column 6");
        check_error("function()", "a pass name is missing at column 10");
        check_error("function(sroa", "`function(` is never closed");
        check_error("sroa)", "`)` at column 5 closes nothing");
        check_error("function(sroa)dce", "a comma is missing at column 15");
    }

    #[test]
    fn a_flat_list_is_wrapped_and_neighbours_share_an_adaptor() {
        check("sroa,instcombine", "function(sroa,instcombine)");
        check("globalopt,sroa,gvn,globaldce", "globalopt,function(sroa,gvn),globaldce");
        check("licm", "function(loop-mssa(licm))");
        check("sroa,licm,indvars,gvn", "function(sroa,loop-mssa(licm),loop(indvars),gvn)");
        check("indvars,loop-deletion", "function(loop(indvars,loop-deletion))");
        check("inline,argpromotion,dce", "cgscc(inline,argpromotion),function(dce)");
        check("loop(indvars),dce", "function(loop(indvars),dce)");
        check("repeat<2>(sroa,gvn)", "function(repeat<2>(sroa,gvn))");
    }

    #[test]
    fn what_a_person_nested_stays_as_it_is() {
        check("default<O2>", "default<O2>");
        check("function(sroa),function(gvn)", "function(sroa),function(gvn)");
        check("cgscc(inline,function(dce))", "cgscc(inline,function(dce))");
        check("verify,invalidate<all>", "verify,invalidate<all>");
    }

    #[test]
    fn legacy_lists_are_mapped() {
        check("-sroa -early-cse-memssa", "function(sroa,early-cse<memssa>)");
        check(
            "-loop-unswitch,-functionattrs",
            "function(loop(simple-loop-unswitch<nontrivial>)),cgscc(function-attrs)",
        );
        check("lowerswitch", "function(lower-switch)");
        check("-domtree -die", "function(require<domtree>,dce)");
        assert!(matches!(resolved("-prune-eh"), Err(ModelError::GonePass { .. })));
    }

    #[test]
    fn an_unknown_pass_brings_suggestions() {
        let Err(ModelError::UnknownPass { name, similar }) = resolved("function(instcombin)")
        else {
            panic!("not refused");
        };
        assert_eq!((name.as_str(), similar), ("instcombin", vec!["instcombine".to_owned()]));
    }

    #[test]
    fn a_pass_in_the_wrong_adaptor_is_refused_with_a_way_out() {
        let check = |text: &str, way_out: &str| match resolved(text) {
            Err(ModelError::MisplacedPass { instead, .. }) => {
                assert_eq!(instead, way_out, "{text}")
            }
            other => panic!("{text}: {other:?}"),
        };
        check("function(licm)", "loop-mssa(licm)");
        check("function(globalopt)", "globalopt at the top level");
        check("loop(sroa)", "sroa at the top level");
        check("cgscc(dce)", "function(dce)");
        check("module(indvars)", "function(loop(indvars))");
        check("function(repeat<2>(indvars))", "loop(repeat<2>(indvars))");
    }

    #[test]
    fn adaptors_and_passes_are_not_confused() {
        assert_eq!(resolved("function"), Err(ModelError::EmptyAdaptor("function".into())));
        assert_eq!(resolved("sroa(dce)"), Err(ModelError::NotAnAdaptor("sroa".into())));
    }

    fn element() -> impl proptest::strategy::Strategy<Value = Element> {
        use proptest::prelude::*;
        let name = "[a-z][a-z0-9-]{0,8}(<[a-zA-Z0-9;=-]{1,6}>)?";
        let leaf = name.prop_map(Element::pass);
        leaf.prop_recursive(4, 24, 4, move |inner| {
            (name, prop::collection::vec(inner, 1..4))
                .prop_map(|(name, inner)| Element { name, inner: Some(inner) })
        })
    }

    proptest::proptest! {
        #[test]
        fn every_tree_prints_as_text_that_reads_as_the_tree(
            elements in proptest::collection::vec(element(), 1..5)
        ) {
            let sequence = PassSequence::new(elements).unwrap();
            assert_eq!(sequence.to_string().parse::<PassSequence>().as_ref(), Ok(&sequence));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,40}") {
            let _ = text.parse::<PassSequence>();
        }
    }
}
