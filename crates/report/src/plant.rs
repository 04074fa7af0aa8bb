//! The result of `optsleuth bench plant`: the cases, and what became of the rest.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use optsleuth_model::{Funnel, PlantReport, PlantedCase};
use serde::Serialize;

use crate::{JSON_VERSION, Style, to_json};

#[derive(Serialize)]
struct PlantJson<'a> {
    version: u32,
    llvm: &'a str,
    seed: u64,
    wanted: usize,
    interrupted: bool,
    funnel: Funnel,
    cases: &'a [PlantedCase],
}

pub fn plant_json(report: &PlantReport) -> String {
    let json = PlantJson {
        version: JSON_VERSION,
        llvm: &report.llvm,
        seed: report.seed,
        wanted: report.wanted,
        interrupted: report.interrupted,
        funnel: report.funnel,
        cases: &report.cases,
    };
    to_json(&json)
}

pub fn plant_text(report: &PlantReport, style: Style) -> String {
    let mut out = String::new();
    for case in &report.cases {
        let PlantedCase { id, kind, file, function, passes, .. } = case;
        let plural = if *passes == 1 { "pass" } else { "passes" };
        let _ = writeln!(out, "{}  {kind}, {passes} {plural}", style.heading(id));
        let _ = writeln!(out, "{}", style.quiet(&format!("  {function}  {file}")));
    }
    let Funnel { candidates, tried, unchangeable, no_effect, too_much, unstable, kept } =
        report.funnel;
    let _ = writeln!(
        out,
        "{kept} of {} faults made in LLVM {}{}",
        report.wanted,
        report.llvm,
        if report.interrupted { ", interrupted" } else { "" }
    );
    let counted = |of: fn(&PlantedCase) -> &str| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for case in &report.cases {
            *counts.entry(of(case)).or_default() += 1;
        }
        counts
    };
    let listed = |counts: &BTreeMap<&str, usize>| {
        let parts: Vec<String> = counts.iter().map(|(name, n)| format!("{n} {name}")).collect();
        parts.join(", ")
    };
    let components = counted(|case| &case.component).len();
    let _ = writeln!(out, "  components: {components}");
    let _ = writeln!(out, "  failures:   {}", listed(&counted(|case| &case.kind)));
    let _ = writeln!(out, "  changes:    {}", listed(&counted(|case| &case.change)));
    let _ = writeln!(
        out,
        "  of {candidates} blocks {tried} were tried: {no_effect} without effect, \
         {unchangeable} that cannot be changed, {too_much} that broke too much, \
         {unstable} that did not fail every time"
    );
    out
}
