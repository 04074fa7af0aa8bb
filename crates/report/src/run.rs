//! The result of `optsleuth run`.

use std::fmt::Write as _;
use std::time::Duration;

use optsleuth_model::{
    Confirmation, Crash, CrashCause, Execution, Invocation, Outcome, ProgramEnd, RunReport,
    RunResult, signal_name,
};
use serde::Serialize;

use crate::{JSON_VERSION, Style, to_json};

/// How much of a program's output or a message a terminal gets.
const SHOWN_LINES: usize = 20;
const SHOWN_FRAMES: usize = 8;

#[derive(Serialize)]
struct RunJson<'a> {
    version: u32,
    llvm: &'a str,
    passes: String,
    outcome: OutcomeJson<'a>,
    stdout: Option<String>,
    stderr: Option<String>,
    exit: Option<i32>,
    signal: Option<String>,
    ms: f64,
    cpu_ms: f64,
    pipeline_ms: f64,
    peak_memory: u64,
    n_invocations: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    invocations: Vec<InvocationJson<'a>>,
    #[serde(flatten)]
    repetition: Option<RepetitionJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmation: Option<ConfirmationJson<'a>>,
}

#[derive(Serialize)]
struct OutcomeJson<'a> {
    kind: &'static str,
    /// How an executed program ended: exited, signaled, timeout, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invocation: Option<InvocationJson<'a>>,
}

#[derive(Serialize)]
struct InvocationJson<'a> {
    index: u32,
    pass: &'a str,
    unit: &'a str,
    skipped: bool,
    required: bool,
}

#[derive(Serialize)]
struct RepetitionJson<'a> {
    runs: usize,
    ms_median: f64,
    stable: bool,
    n_different: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_outcome: Option<OutcomeJson<'a>>,
}

#[derive(Serialize)]
struct ConfirmationJson<'a> {
    agrees: bool,
    theirs: &'a str,
    commands: &'a [String],
}

/// The result as a JSON document.
pub fn run_json(report: &RunReport) -> String {
    let result = &report.result;
    let execution = result.outcome.execution();
    let lossy = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let (exit, signal) = match execution.map(|execution| execution.end) {
        Some(ProgramEnd::Exited(status)) => (Some(status), None),
        Some(ProgramEnd::Signaled(signal)) => (None, Some(signal_name(signal))),
        Some(
            ProgramEnd::Timeout
            | ProgramEnd::OutOfMemory
            | ProgramEnd::OutputLimit
            | ProgramEnd::ThreadLimit,
        )
        | None => (None, None),
    };
    let json = RunJson {
        version: JSON_VERSION,
        llvm: &report.llvm,
        passes: report.passes.to_string(),
        outcome: outcome_json(&result.outcome),
        stdout: execution.map(|execution| lossy(&execution.stdout)),
        stderr: execution.map(|execution| lossy(&execution.stderr)),
        exit,
        signal,
        ms: millis(result.wall),
        cpu_ms: millis(result.cpu),
        pipeline_ms: millis(result.pipeline),
        peak_memory: result.peak_memory,
        n_invocations: result.n_invocations,
        invocations: result.invocations.iter().map(invocation_json).collect(),
        repetition: report.repetition.as_ref().map(|repetition| RepetitionJson {
            runs: repetition.runs,
            ms_median: millis(repetition.median),
            stable: repetition.n_different == 0,
            n_different: repetition.n_different,
            other_outcome: repetition.other.as_ref().map(outcome_json),
        }),
        confirmation: report.confirmation.as_ref().map(|confirmation| ConfirmationJson {
            agrees: confirmation.agrees,
            theirs: &confirmation.theirs,
            commands: &confirmation.commands,
        }),
    };
    to_json(&json)
}

fn outcome_json(outcome: &Outcome) -> OutcomeJson<'_> {
    let mut json = OutcomeJson {
        kind: outcome.kind(),
        program: None,
        signature: None,
        cause: None,
        message: None,
        stage: None,
        frames: None,
        invocation: None,
    };
    match outcome {
        Outcome::Ok(execution) => {
            json.program = execution.as_ref().map(|execution| program_end(execution.end));
        }
        Outcome::Crash(crash) => {
            json.signature = Some(crash.signature.as_str());
            json.cause = Some(cause(crash.cause));
            json.message = crash.message.as_deref();
            json.stage = Some(crash.stage.doing());
            json.frames = Some(&crash.frames);
            json.invocation = crash.invocation.as_ref().map(invocation_json);
        }
        Outcome::InvalidIr { invocation, message } => {
            json.message = Some(message);
            json.invocation = invocation.as_ref().map(invocation_json);
        }
        Outcome::Timeout { invocation } | Outcome::OutOfMemory { invocation } => {
            json.invocation = invocation.as_ref().map(invocation_json);
        }
        Outcome::CodegenFailure { message } => json.message = Some(message),
    }
    json
}

fn program_end(end: ProgramEnd) -> &'static str {
    match end {
        ProgramEnd::Exited(_) => "exited",
        ProgramEnd::Signaled(_) => "signaled",
        ProgramEnd::Timeout => "timeout",
        ProgramEnd::OutOfMemory => "out-of-memory",
        ProgramEnd::OutputLimit => "output-limit",
        ProgramEnd::ThreadLimit => "thread-limit",
    }
}

fn invocation_json(invocation: &Invocation) -> InvocationJson<'_> {
    InvocationJson {
        index: invocation.index,
        pass: &invocation.pass,
        unit: &invocation.unit,
        skipped: invocation.skipped,
        required: invocation.required,
    }
}

fn millis(time: Duration) -> f64 {
    // Microseconds are as fine as the measurement is worth.
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn cause(cause: CrashCause) -> String {
    match cause {
        CrashCause::Signal(signal) => signal_name(signal),
        CrashCause::StackOverflow => "stack overflow".to_owned(),
        CrashCause::Assertion => "assertion".to_owned(),
        CrashCause::FatalError => "fatal error".to_owned(),
        CrashCause::ErrorExit => "error exit".to_owned(),
    }
}

pub fn run_text(report: &RunReport, style: Style) -> String {
    let mut out = String::new();
    let RunReport { result, .. } = report;
    outcome_text(&mut out, &result.outcome, style);
    if let Some(execution) = result.outcome.execution() {
        execution_text(&mut out, execution, style);
    }
    summary(&mut out, report, style);
    for invocation in &result.invocations {
        let mark = match (invocation.skipped, invocation.required) {
            (true, _) => " (skipped)",
            (false, true) => " (required)",
            (false, false) => "",
        };
        line(&mut out, &format!("{invocation}{mark}"));
    }
    if let Some(repetition) = &report.repetition {
        let text = format!("{} runs, median {:.1} ms", repetition.runs, millis(repetition.median));
        match &repetition.other {
            None => line(&mut out, &format!("{text}, all the same")),
            Some(other) => {
                let count = format!("{} differ from the first", repetition.n_different);
                let what = if other.agrees_with(&result.outcome) {
                    "another module".to_owned()
                } else {
                    other.kind().to_owned()
                };
                line(&mut out, &format!("{text}; {} ({what})", style.bad(&count)));
            }
        }
    }
    if let Some(confirmation) = &report.confirmation {
        confirmation_text(&mut out, confirmation, style);
    }
    out
}

fn outcome_text(out: &mut String, outcome: &Outcome, style: Style) {
    let at = |invocation: &Option<Invocation>| match invocation {
        Some(invocation) => format!(" in {invocation}"),
        None => String::new(),
    };
    match outcome {
        Outcome::Ok(_) => line(out, &style.good("ok")),
        Outcome::Crash(crash) => crash_text(out, crash, style),
        Outcome::InvalidIr { invocation, message } => {
            let after = invocation.as_ref().map(|i| format!(" after {i}")).unwrap_or_default();
            line(out, &format!("{}{after}", style.bad("invalid IR")));
            block(out, message);
        }
        Outcome::Timeout { invocation } => {
            line(out, &format!("{}{}", style.bad("timeout"), at(invocation)));
        }
        Outcome::OutOfMemory { invocation } => {
            line(out, &format!("{}{}", style.bad("out of memory"), at(invocation)));
        }
        Outcome::CodegenFailure { message } => {
            line(out, &style.bad("the code generator refuses the module"));
            block(out, message);
        }
    }
}

fn crash_text(out: &mut String, crash: &Crash, style: Style) {
    let mut head = format!("{} ({})", style.bad("crash"), cause(crash.cause));
    match &crash.invocation {
        Some(invocation) => head.push_str(&format!(" in {invocation}")),
        None => head.push_str(&format!(" while {}", crash.stage.doing())),
    }
    line(out, &head);
    line(out, &format!("signature: {}", crash.signature));
    if let Some(message) = &crash.message {
        block(out, message);
    }
    for frame in crash.frames.iter().take(SHOWN_FRAMES) {
        line(out, &style.quiet(&format!("  at {frame}")));
    }
    if crash.frames.len() > SHOWN_FRAMES {
        let rest = crash.frames.len() - SHOWN_FRAMES;
        line(out, &style.quiet(&format!("  and {rest} more frames")));
    }
}

fn execution_text(out: &mut String, execution: &Execution, style: Style) {
    let end = match execution.end {
        ProgramEnd::Exited(0) => "the program exited with status 0".to_owned(),
        ProgramEnd::Exited(status) => {
            style.notable(&format!("the program exited with status {status}"))
        }
        ProgramEnd::Signaled(signal) => {
            style.bad(&format!("the program was ended by {}", signal_name(signal)))
        }
        ProgramEnd::Timeout => style.bad("the program did not end within its time limit"),
        ProgramEnd::OutOfMemory => style.bad("the program used more memory than it may"),
        ProgramEnd::OutputLimit => style.bad("the program wrote more than it may"),
        ProgramEnd::ThreadLimit => style.bad("the program started more threads than it may"),
    };
    line(out, &end);
    for (name, bytes) in [("stdout", &execution.stdout), ("stderr", &execution.stderr)] {
        if !bytes.is_empty() {
            line(out, &format!("{name}:"));
            block(out, &String::from_utf8_lossy(bytes));
        }
    }
}

fn summary(out: &mut String, report: &RunReport, style: Style) {
    let RunResult { wall, n_invocations, peak_memory, .. } = &report.result;
    let text = format!(
        "LLVM {} · {:.1} ms · {n_invocations} pass invocations · {} MiB · -passes='{}'",
        report.llvm,
        millis(*wall),
        peak_memory >> 20,
        report.passes,
    );
    line(out, &style.quiet(&text));
}

fn confirmation_text(out: &mut String, confirmation: &Confirmation, style: Style) {
    let verdict = match confirmation.agrees {
        true => style.good("confirmed"),
        false => style.bad("not confirmed"),
    };
    line(out, &format!("{verdict} by the distribution's tools: {}", confirmation.theirs));
    for command in &confirmation.commands {
        line(out, &format!("  $ {command}"));
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// A foreign text, indented and cut.
fn block(out: &mut String, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    for text in lines.iter().take(SHOWN_LINES) {
        line(out, &format!("    {text}"));
    }
    if lines.len() > SHOWN_LINES {
        line(out, &format!("    ... and {} more lines", lines.len() - SHOWN_LINES));
    }
}
