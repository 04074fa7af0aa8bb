//! What no compiler checks: the map in DESIGN.md, file headers, error types, links.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        found.push(entry?.path());
    }
    found.sort();
    Ok(found)
}

/// Crates that may use fewer of ours than all that stand above them in DESIGN.md.
const MAY_USE: [(&str, &[&str]); 9] = [
    ("model", &[]),
    ("objcov", &[]),
    ("search", &["model"]),
    ("select", &["model"]),
    ("mutate", &["model"]),
    ("rank", &["model"]),
    ("eval", &["model"]),
    ("case", &["model", "compiler"]),
    ("report", &["model", "eval"]),
];

/// The crates in DESIGN.md's tree, in its order.
fn design_crates() -> anyhow::Result<Vec<String>> {
    let design = fs::read_to_string(root().join("DESIGN.md"))?;
    let tree = design.split("```").find(|block| block.contains("crates/")).context("no tree")?;
    let lines = tree.lines().skip_while(|line| !line.starts_with("crates/")).skip(1);
    Ok(lines
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.trim().split_once("/ ").map(|(name, _)| name.to_owned()))
        .collect())
}

#[test]
fn design_lists_every_crate() -> anyhow::Result<()> {
    let listed: BTreeSet<String> = design_crates()?.into_iter().collect();
    let there: BTreeSet<String> = entries(&root().join("crates"))?
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    ensure!(listed == there, "DESIGN.md lists the crates {listed:?}, there are {there:?}");
    Ok(())
}

/// For its tests, a crate may use any other.
#[test]
fn crates_use_only_what_the_design_allows() -> anyhow::Result<()> {
    let crates = design_crates()?;
    for (position, name) in crates.iter().enumerate() {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml"))?;
        let manifest: toml::Table = manifest.parse()?;
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        let narrow = MAY_USE.iter().find(|(narrow, _)| narrow == name).map(|(_, allowed)| *allowed);
        for used in dependencies.into_iter().flat_map(toml::Table::keys) {
            let Some(used) = used.strip_prefix("optsleuth-") else { continue };
            let is_above = crates[..position].iter().any(|above| above == used);
            let is_allowed = narrow.is_none_or(|allowed| allowed.contains(&used));
            ensure!(is_above && is_allowed, "{name} must not use {used}: see DESIGN.md");
        }
    }
    Ok(())
}

/// A file opens with what it is.
#[test]
fn every_source_file_has_a_header() -> anyhow::Result<()> {
    let root = root();
    let mut folders = vec![root.join("crates"), root.join("xtask"), root.join("worker")];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            let header = match extension {
                _ if path.is_dir() => {
                    folders.push(path);
                    continue;
                }
                "rs" => "//!",
                "cpp" | "h" => "//",
                _ => continue,
            };
            let text = fs::read_to_string(&path)?;
            ensure!(text.starts_with(header), "{} has no header", path.display());
        }
    }
    Ok(())
}

/// The public types of a text that derive `Error`.
fn public_errors(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (names, rest) in text.split("#[derive(").skip(1).filter_map(|it| it.split_once(")]")) {
        let is_error = |name: &str| matches!(name.trim(), "Error" | "thiserror::Error");
        let is_item =
            |line: &&str| ["pub", "enum ", "struct "].iter().any(|it| line.starts_with(it));
        let item = rest.lines().find(is_item).unwrap_or_default();
        let public = item.strip_prefix("pub enum ").or_else(|| item.strip_prefix("pub struct "));
        if names.split(',').any(is_error) {
            found.extend(public.and_then(|it| it.split([' ', '(', '<']).next()));
        }
    }
    found
}

/// Whoever uses a crate has one error of it to handle.
#[test]
fn no_crate_has_two_public_error_types() -> anyhow::Result<()> {
    for crate_folder in entries(&root().join("crates"))? {
        let (mut found, mut folders) = (Vec::new(), vec![crate_folder.join("src")]);
        while let Some(folder) = folders.pop() {
            for path in entries(&folder)? {
                match path.extension() {
                    _ if path.is_dir() => folders.push(path),
                    Some(extension) if extension == "rs" => {
                        let text = fs::read_to_string(&path)?;
                        found.extend(public_errors(&text).into_iter().map(str::to_owned));
                    }
                    _ => {}
                }
            }
        }
        ensure!(found.len() <= 1, "{} has {found:?}", crate_folder.display());
    }
    Ok(())
}

#[test]
fn public_error_types_are_told_from_others() {
    let text = "#[derive(Debug, thiserror::Error)]\n#[error(\n  \"an enum {0}\"\n)]\npub struct A(u8);\n\
                #[derive(Error)]\n/// An enum.\n#[non_exhaustive]\npub enum B {}\n\
                #[derive(thiserror::Error)]\npub(crate) enum C {}\n\
                #[derive(Debug)]\npub enum Error {}\n";
    assert_eq!(public_errors(text), ["A", "B"]);
}

/// What differs between LLVMs is in the worker's `compat.h`, under a name.
#[test]
fn only_one_file_asks_for_the_version_of_llvm() -> anyhow::Result<()> {
    let worker = root().join("worker");
    let mut files = entries(&worker)?;
    files.extend(entries(&worker.join("referee"))?);
    for path in files.iter().filter(|path| path.is_file()) {
        let asks = fs::read_to_string(path)?.contains("LLVM_VERSION_MAJOR");
        ensure!(!asks || path.ends_with("compat.h"), "{} asks; see compat.h", path.display());
    }
    Ok(())
}

/// Relative links in Markdown files lead to files.
#[test]
fn links_lead_somewhere() -> anyhow::Result<()> {
    let root = root();
    let mut folders =
        vec![root.clone(), root.join("docs"), root.join("docs/benchmarks"), root.join("testdata")];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if path.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            let text = fs::read_to_string(&path)?;
            for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let file = target.split('#').next().unwrap_or_default();
                if file.is_empty() || file.contains("://") {
                    continue;
                }
                ensure!(folder.join(file).exists(), "{}: no {target}", path.display());
            }
        }
    }
    Ok(())
}
