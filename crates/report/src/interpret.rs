//! The result of `optsleuth interpret`.

use std::fmt::Write as _;

use optsleuth_model::{InterpretReport, IrPlace, ProgramEnd, Ruling, Step, signal_name};
use serde::Serialize;

use crate::{JSON_VERSION, Style, to_json};

#[derive(Serialize)]
struct InterpretJson<'a> {
    version: u32,
    llvm: &'a str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    /// What is undefined, or why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<&'a IrPlace>,
    #[serde(skip_serializing_if = "<[Step]>::is_empty")]
    history: &'a [Step],
    depends_on_layout: bool,
    steps: u64,
    stdout: String,
    stderr: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trace: Vec<&'a str>,
    cpu_ms: f64,
}

pub fn interpret_json(report: &InterpretReport) -> String {
    let interpretation = &report.interpretation;
    let mut json = InterpretJson {
        version: JSON_VERSION,
        llvm: &report.llvm,
        verdict: "defined",
        exit: None,
        signal: None,
        value: None,
        what: None,
        at: None,
        history: &[],
        depends_on_layout: interpretation.depends_on_layout,
        steps: interpretation.n_steps,
        stdout: String::from_utf8_lossy(&interpretation.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&interpretation.stderr).into_owned(),
        trace: interpretation.trace.lines().collect(),
        cpu_ms: report.cpu.as_secs_f64() * 1000.0,
    };
    match &interpretation.ruling {
        Ruling::Defined { end, value, .. } => {
            json.value = value.as_deref();
            match end {
                ProgramEnd::Signaled(signal) => json.signal = Some(signal_name(*signal)),
                ProgramEnd::Exited(status) => json.exit = Some(*status),
                ProgramEnd::Timeout
                | ProgramEnd::OutOfMemory
                | ProgramEnd::OutputLimit
                | ProgramEnd::ThreadLimit => {}
            }
        }
        Ruling::Undefined { end, history } => {
            json.verdict = "undefined";
            json.what = Some(&end.what);
            json.at = end.place.as_ref();
            json.history = history;
        }
        Ruling::NoVerdict { end } => {
            json.verdict = "no verdict";
            json.what = Some(&end.what);
            json.at = end.place.as_ref();
        }
    }
    to_json(&json)
}

pub fn interpret_text(report: &InterpretReport, style: Style) -> String {
    let interpretation = &report.interpretation;
    let mut out = String::new();
    if !interpretation.trace.is_empty() {
        line(&mut out, interpretation.trace.trim_end());
    }
    match &interpretation.ruling {
        Ruling::Defined { end, value, .. } => {
            let how = match end {
                ProgramEnd::Signaled(signal) => format!("ends by {}", signal_name(*signal)),
                ProgramEnd::Exited(status) => format!("ends with status {status}"),
                ProgramEnd::Timeout
                | ProgramEnd::OutOfMemory
                | ProgramEnd::OutputLimit
                | ProgramEnd::ThreadLimit => "ends".to_owned(),
            };
            line(&mut out, &format!("{}: the program {how}", style.good("defined")));
            if let Some(value) = value {
                line(&mut out, &format!("  it returns {value}"));
            }
        }
        Ruling::Undefined { end, history } => {
            line(&mut out, &format!("{}{}: {}", source(end), style.bad("undefined"), end.what));
            place(&mut out, end, style);
            for step in history {
                let what = match step.what.as_str() {
                    "" => "passed on",
                    what => what,
                };
                line(&mut out, &format!("  {}{what}", source(step)));
                place(&mut out, step, style);
            }
        }
        Ruling::NoVerdict { end } => {
            line(
                &mut out,
                &format!("{}{}: {}", source(end), style.notable("no verdict"), end.what),
            );
            place(&mut out, end, style);
        }
    }
    if interpretation.depends_on_layout {
        line(&mut out, "  control flow depends on where objects lie in memory");
    }
    for (name, bytes) in [("stdout", &interpretation.stdout), ("stderr", &interpretation.stderr)] {
        if !bytes.is_empty() {
            line(&mut out, &format!("{name}:"));
            for text in String::from_utf8_lossy(bytes).lines() {
                line(&mut out, &format!("  {text}"));
            }
        }
    }
    let seconds = report.cpu.as_secs_f64();
    let summary =
        format!("LLVM {} · {} steps · {:.2} s", report.llvm, interpretation.n_steps, seconds);
    line(&mut out, &style.quiet(&summary));
    out
}

/// `file:line:column: `, where it is known.
fn source(step: &Step) -> String {
    match step.place.as_ref().and_then(|place| place.source.as_ref()) {
        Some(source) => format!("{}:{}:{}: ", source.file, source.line, source.column),
        None => String::new(),
    }
}

fn place(out: &mut String, step: &Step, style: Style) {
    if let Some(IrPlace { instruction, function, .. }) = &step.place {
        line(out, &style.quiet(&format!("    {instruction}   in @{function}")));
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}
