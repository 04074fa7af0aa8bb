//! Modules use each other in one direction: in every folder of every crate, the
//! modules beside each other form no cycle.
//!
//! The texts are read for paths (`crate::a::b`, `super::c`), not compiled. A path
//! counts for the module that declares what it names, also where a module above
//! re-exports that. A module may use what its own parent declares; that is no edge
//! between neighbours. Tests may use anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A module, from the root of its crate: `["reduce", "judge"]`.
type Module = Vec<String>;
/// For the modules of one folder: who uses whom.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The graphs of a crate, by the folder's module.
fn graphs(sources: &BTreeMap<Module, String>) -> BTreeMap<Module, Graph> {
    let mut graphs: BTreeMap<Module, Graph> = BTreeMap::new();
    for (module, text) in sources {
        for path in paths(text, module) {
            let used = declaring(&path, sources);
            let common = module.iter().zip(&used).take_while(|(a, b)| a == b).count();
            if let (Some(user), Some(used)) = (module.get(common), used.get(common)) {
                let graph = graphs.entry(module[..common].to_vec()).or_default();
                graph.entry(user.clone()).or_default().insert(used.clone());
            }
        }
    }
    graphs
}

/// The module that declares what a path names: the innermost one that the path
/// goes through, or one below it that it re-exports the next name from.
fn declaring(path: &[String], sources: &BTreeMap<Module, String>) -> Module {
    let n_modules = (0..=path.len()).rev().find(|&n| sources.contains_key(&path[..n]));
    let (module, rest) = path.split_at(n_modules.unwrap_or_default());
    let Some(name) = rest.first() else { return module.to_vec() };
    let text = sources.get(module).map_or("", String::as_str);
    for (at, _) in text.match_indices("use ") {
        let named = |leaf: &Module| leaf.len() > 1 && leaf.last() == Some(name);
        for leaf in leaves(&text[at + "use ".len()..]).into_iter().filter(named) {
            let target = [module, &leaf].concat();
            // What begins with a child's name leads down, so this ends.
            if sources.contains_key(&target[..=module.len()]) {
                return declaring(&target, sources);
            }
        }
    }
    module.to_vec()
}

/// The paths that a module's text names, from the root of its crate.
fn paths(text: &str, module: &[String]) -> Vec<Module> {
    let mut found = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in text.match_indices(root) {
            let before = text[..at].chars().next_back().unwrap_or(' ');
            if before.is_alphanumeric() || matches!(before, '_' | ':' | '$') {
                continue;
            }
            let mut rest = &text[at..];
            let mut base: Module = Vec::new();
            if let Some(after) = rest.strip_prefix("crate::") {
                rest = after;
            } else {
                base = module.to_vec();
                while let Some(after) = rest.strip_prefix("super::") {
                    base.pop();
                    rest = after;
                }
            }
            found.extend(leaves(rest).into_iter().map(|leaf| [base.clone(), leaf].concat()));
        }
    }
    found
}

/// `a::{b, c::d}` -> `a::b`, `a::c::d`, at the beginning of a text.
fn leaves(text: &str) -> Vec<Module> {
    let mut found = Vec::new();
    read_leaves(text, &[], &mut found);
    found
}

/// Reads one branch of a tree of paths; returns what stands behind it.
fn read_leaves<'t>(text: &'t str, prefix: &[String], found: &mut Vec<Module>) -> &'t str {
    let mut path = prefix.to_vec();
    let mut rest = text;
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        path.extend((end > 0).then(|| rest[..end].to_owned()));
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(after) => rest = after,
            None => break,
        }
    }
    let Some(mut branches) = rest.strip_prefix('{') else {
        found.push(path);
        return rest;
    };
    loop {
        branches = read_leaves(branches.trim_start(), &path, found);
        // ` as name` or `*` may stand before the next branch.
        let Some(at) = branches.find([',', '}']) else { return "" };
        let (is_last, behind) = (branches[at..].starts_with('}'), &branches[at + 1..]);
        branches = behind.trim_start();
        if is_last || branches.starts_with('}') {
            return branches.strip_prefix('}').filter(|_| !is_last).unwrap_or(behind);
        }
    }
}

/// A file's code: no comments on lines of their own, and no items for tests.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, item)) = rest.split_once("#[cfg(test)]\n") {
        code += before;
        // An item of the file ends at a `;` or at a `}` that begins a line.
        let is_short = item.find(';') < item.find('{').or(Some(item.len()));
        let end = if is_short { item.find(';') } else { item.find("\n}") };
        rest = end.map_or("", |end| &item[end..]);
    }
    code += rest;
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    code.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// All modules that a module uses, directly or not.
fn reach<'g>(graph: &'g Graph, module: &str) -> BTreeSet<&'g str> {
    let mut found = BTreeSet::new();
    let mut rest: Vec<&BTreeSet<String>> = graph.get(module).into_iter().collect();
    while let Some(used) = rest.pop() {
        let new: Vec<&str> =
            used.iter().map(String::as_str).filter(|&name| found.insert(name)).collect();
        rest.extend(new.into_iter().filter_map(|name| graph.get(name)));
    }
    found
}

/// The sets of modules that all use each other, directly or not.
fn cycles(graph: &Graph) -> BTreeSet<Vec<&str>> {
    let cycle_of = |module: &String| -> Vec<&str> {
        let uses_it = |user: &&str| reach(graph, user).contains(module.as_str());
        reach(graph, module).into_iter().filter(uses_it).collect()
    };
    graph.keys().map(cycle_of).filter(|modules| !modules.is_empty()).collect()
}

/// Every module of a crate and its code, without modules for tests.
fn sources(src: &Path) -> BTreeMap<Module, String> {
    let mut texts: BTreeMap<Module, String> = BTreeMap::new();
    let mut folders: Vec<(PathBuf, Module)> = vec![(src.to_owned(), Vec::new())];
    while let Some((folder, module)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push((path, [module.clone(), vec![name]].concat()));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let module = match name.as_str() {
                    "mod" | "lib" | "main" => module.clone(),
                    _ => [module.clone(), vec![name]].concat(),
                };
                *texts.entry(module).or_default() += &std::fs::read_to_string(&path).unwrap();
            }
        }
    }
    // A module below one for tests is for tests, too.
    let is_for_tests = |module: &Module| {
        (1..=module.len()).any(|n| {
            let declaration = format!("#[cfg(test)]\nmod {};", module[n - 1]);
            texts.get(&module[..n - 1]).is_some_and(|parent| parent.contains(&declaration))
        })
    };
    let modules = texts.iter().filter(|(module, _)| !is_for_tests(module));
    modules.map(|(module, text)| (module.clone(), code(text))).collect()
}

/// One line per cycle in our crates: `rank: formula, spectrum`.
fn our_cycles() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut lines = BTreeSet::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let sources = sources(&path.join("src"));
        assert!(sources.len() > 1, "{name} has no modules");
        for (folder, graph) in graphs(&sources) {
            let place = [vec![name.clone()], folder].concat().join("::");
            lines.extend(
                cycles(&graph).iter().map(|cycle| format!("{place}: {}", cycle.join(", "))),
            );
        }
    }
    lines
}

#[test]
fn no_crate_has_modules_that_use_each_other_in_a_cycle() {
    let cycles: Vec<String> = our_cycles().into_iter().collect();
    assert!(cycles.is_empty(), "modules that use each other:\n  {}", cycles.join("\n  "));
}

mod tests {
    use super::*;

    /// The cycle among modules, given by name and text; `""` is the crate's root.
    fn check(sources: &[(&str, &str)], expected: &str) {
        let module = |name: &str| {
            name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let sources = sources.iter().map(|(name, text)| (module(name), code(text))).collect();
        let graphs = graphs(&sources);
        let found: Vec<String> =
            graphs.values().flat_map(cycles).map(|cycle| cycle.join(" ")).collect();
        assert_eq!(found.join(", "), expected);
    }

    fn check_leaves(text: &str, expected: &str) {
        let found: Vec<String> = leaves(text).iter().map(|path| path.join("::")).collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn modules_in_a_cycle_are_found() {
        check(&[("", ""), ("a", "use crate::b::{X, Y};"), ("b", "")], "");
        check(&[("", ""), ("a", "use crate::b::{X, Y};"), ("b", "crate::a::f()")], "a b");
        check(
            &[
                ("", ""),
                ("a", "use crate::{\n    b::{self, X},\n    c,\n};"),
                ("b", "use super::{d::Z, c::X};"),
                ("c", "crate::a::f()"),
                ("d", ""),
            ],
            "a b c",
        );
        check(
            &[("", ""), ("a", ""), ("a::b", "use super::c::Y;"), ("a::c", "use crate::a::b;")],
            "b c",
        );
        check(
            &[("", ""), ("a", ""), ("a::x", "super::super::b::f()"), ("b", "use crate::a;")],
            "a b",
        );
    }

    #[test]
    fn a_parent_is_no_neighbour() {
        check(&[("", ""), ("a", "use b::X;"), ("a::b", "use super::Y;")], "");
    }

    #[test]
    fn what_a_parent_re_exports_is_its_childs() {
        let parent = "mod b;\nmod c;\npub use b::{X as Z, Y};\npub use c::d::W;";
        let modules =
            |user| [("", ""), ("a", parent), ("a::b", "use super::c::W;"), ("a::c", user)];
        check(&modules("use super::Y;"), "b c");
        check(&modules("use super::V;"), "");
        check(
            &[("", parent), ("b", "use crate::W;"), ("c", ""), ("c::d", "use crate::b::X;")],
            "b c",
        );
    }

    #[test]
    fn comments_and_tests_are_no_uses() {
        check(&[("", ""), ("a", "// crate::b::x"), ("b", "use crate::a;")], "");
        let test = "#[cfg(test)]\nmod tests {\n    use crate::b;\n}\n";
        check(&[("", ""), ("a", test), ("b", "use crate::a;")], "");
        check(&[("", ""), ("a", &format!("{test}use crate::b;")), ("b", "use crate::a;")], "a b");
        let test = "#[cfg(test)]\nuse crate::b;\nuse crate::c;\n";
        check(&[("", ""), ("a", test), ("b", "use crate::a;"), ("c", "")], "");
        check(&[("", ""), ("a", test), ("b", ""), ("c", "use crate::a;")], "a c");
    }

    #[test]
    fn groups_of_paths_are_taken_apart() {
        check_leaves("a::b;", "a::b");
        check_leaves("a::b as c, d", "a::b");
        check_leaves("a::f(x, y)", "a::f");
        check_leaves("{a, b::c};", "a b::c");
        check_leaves(
            "a::{self, b::{c, d}, e as f, g::*, h}; i",
            "a::self a::b::c a::b::d a::e a::g a::h",
        );
        check_leaves(
            "a::{\n    b,\n    c::{\n        d,\n        e,\n    },\n    f,\n};",
            "a::b a::c::d a::c::e a::f",
        );
    }
}
