//! The findings of `optsleuth doctor`.

use std::fmt::Write as _;
use std::path::PathBuf;

use optsleuth_model::doctor::{Findings, Instrumentation, KernelFinding, LlvmFinding};
use serde::Serialize;

use crate::{JSON_VERSION, Style, to_json};

#[derive(Serialize)]
struct DoctorJson<'a> {
    version: u32,
    healthy: bool,
    #[serde(flatten)]
    findings: &'a Findings,
}

/// The findings as a JSON document.
pub fn doctor_json(findings: &Findings) -> String {
    let json = DoctorJson { version: JSON_VERSION, healthy: findings.is_healthy(), findings };
    to_json(&json)
}

pub fn doctor_text(findings: &Findings, verbose: bool, style: Style) -> String {
    let mut out = String::new();
    for llvm in &findings.llvms {
        llvm_text(&mut out, llvm, verbose, style);
    }
    let _ = writeln!(out, "{}", style.heading("Compilers as their users call them"));
    for driver in &findings.drivers {
        let purpose = "to test, and a second opinion";
        let version = driver.version.as_deref().unwrap_or_default();
        let path = driver.path.as_ref();
        item(&mut out, &driver.name, purpose, path, version, false, &driver.install, style);
        for part in &driver.plugin {
            let name = format!("  {}", part.name);
            let path = part.path.as_ref();
            item(&mut out, &name, part.purpose, path, "", false, &part.install, style);
        }
    }
    let _ = writeln!(out, "{}", style.heading("Other tools"));
    for tool in &findings.tools {
        let version = tool.version.as_deref().unwrap_or_default();
        item(
            &mut out,
            tool.name,
            tool.purpose,
            tool.path.as_ref(),
            version,
            false,
            &tool.install,
            style,
        );
    }
    kernel_text(&mut out, &findings.kernel, style);
    out
}

fn llvm_text(out: &mut String, llvm: &LlvmFinding, verbose: bool, style: Style) {
    let state = match llvm.usable {
        true => style.good("ready"),
        false => style.bad("not usable"),
    };
    let version =
        if llvm.version.is_empty() { llvm.major.to_string() } else { llvm.version.clone() };
    let _ = writeln!(out, "{} {state}", style.heading(&format!("LLVM {version}")));
    if let Some(problem) = &llvm.problem {
        let _ = writeln!(out, "  {problem}");
    }
    for part in &llvm.parts {
        let path = part.path.as_ref();
        item(out, part.name, part.purpose, path, "", part.required, &part.install, style);
    }
    if let Some(summary) = &llvm.instrumentation {
        instrumentation_text(out, summary, verbose, style);
    }
}

fn instrumentation_text(out: &mut String, summary: &Instrumentation, verbose: bool, style: Style) {
    let _ = writeln!(
        out,
        "  {} coverage      {} of {} members have probes, {} blocks; rewritten in {:.1} s",
        style.good("yes"),
        summary.n_instrumented,
        summary.n_members,
        summary.n_blocks,
        summary.rewrite_seconds,
    );
    if verbose {
        for left in &summary.left_alone {
            let name = format!("{}({})", left.archive, left.member);
            let _ = writeln!(out, "      left alone: {name}: {}", left.reason);
        }
    }
}

fn kernel_text(out: &mut String, kernel: &KernelFinding, style: Style) {
    let _ = writeln!(out, "{}", style.heading("This kernel, for executing programs"));
    let mut say = |name: &str, has: bool, with: &str, without: &str| {
        let (mark, text) = match has {
            true => (style.good("yes"), with),
            false => (style.bad("no "), without),
        };
        let _ = writeln!(out, "  {mark} {name:<17} {text}");
    };
    say(
        "seccomp",
        kernel.seccomp,
        "no network, no signals to others, no new processes",
        "programs cannot be executed",
    );
    say(
        "landlock",
        kernel.landlock,
        "files can be written in the private directory only",
        "files cannot be written at all",
    );
    say(
        "fixed addresses",
        kernel.fixed_addresses,
        "runs repeat exactly",
        "a run in a few hundred may differ from another",
    );
}

#[expect(clippy::too_many_arguments, reason = "one row of a table, in the order of its columns")]
fn item(
    out: &mut String,
    name: &str,
    purpose: &str,
    path: Option<&PathBuf>,
    version: &str,
    required: bool,
    install: &Option<String>,
    style: Style,
) {
    let mark = match (path.is_some(), required) {
        (true, _) => style.good("yes"),
        (false, true) => style.bad("no "),
        (false, false) => style.notable("no "),
    };
    let place = path.map(|path| path.display().to_string()).unwrap_or_default();
    let detail = [version, place.as_str()].into_iter().filter(|text| !text.is_empty());
    let detail = style.quiet(&detail.collect::<Vec<_>>().join(" · "));
    let _ = writeln!(out, "  {mark} {name:<13} {purpose:<34} {detail}");
    match (path, install) {
        (Some(_), _) => {}
        (None, Some(command)) => {
            let _ = writeln!(out, "      install it with: {command}");
        }
        (None, None) => {
            let _ = writeln!(out, "      apt has no package of it here");
        }
    }
}
