//! `optsleuth triage`: from a failing input to a report.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use optsleuth_case::folder::write_whole;
use optsleuth_model::{CASE_FILE, Pipeline};
use optsleuth_report::{Reports, triage_json, triage_markdown, triage_text};
use optsleuth_triage::reduce::Reducer;
use optsleuth_triage::triage::{Suspicion, TriageInput, TriagePlan, triage};

use super::report::page;
use super::zoom::ZoomFlags;
use super::{
    Level, LimitFlags, LlvmFlags, TrustFlags, parse_duration, parse_seconds, print, style,
};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// From a failing input to a reduced, bisected, explained report
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth triage repro.c --llvm 19 --passes 'default<O2>' -o case/
  optsleuth triage repro.c --llvm 19 --level O2 -o case/     # what clang -O2 does
  optsleuth triage repro.ll --passes slp-vectorizer --option=-slp-threshold=-99999 -o case/
  optsleuth triage case/                                     # a folder with a case.toml
  optsleuth triage case/ --budget 10m --json

Triage sees the input fail, leaves out passes and parts of the program, finds the guilty
invocation of a pass, makes a form of the failure with that pass alone, and ranks the code of
LLVM that is to blame. The case's folder has all results: paste report.md into an issue
tracker, open index.html to see everything; single-pass/ is a case by itself.
Ctrl-C ends it early and reports what was found until then.
Exit codes: 0 a report was made, 3 its behaviour varies or is not defined, 6 nothing fails,
130 Ctrl-C.")]
pub(crate) struct Triage {
    /// A .c, .ll or .bc file, or a folder with a case.toml
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    #[command(flatten)]
    llvm: LlvmFlags,
    /// The passes, as `opt -passes=` takes them
    #[arg(long, value_name = "PASSES", conflicts_with = "level")]
    passes: Option<String>,
    /// An optimization level, as clang has it: front end, passes and code generator
    #[arg(long, value_enum, value_name = "LEVEL")]
    level: Option<Level>,
    /// Where to make the case's folder; named after the input if not given
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace a case that is there
    #[arg(long)]
    force: bool,
    /// An LLVM option, as `opt` takes it; may be given several times
    #[arg(long = "option", value_name = "OPT", allow_hyphen_values = true)]
    options: Vec<String>,
    /// A flag for clang, as in --cflag=-Iinclude; may be given several times
    #[arg(long = "cflag", value_name = "FLAG", allow_hyphen_values = true)]
    c_flags: Vec<String>,
    /// How long to reduce and to rank, as in 60s or 5m
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = parse_duration)]
    budget: Duration,
    /// Where the random numbers start
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Reduce with our own means alone, not with cvise or creduce
    #[arg(long)]
    built_in: bool,
    #[command(flatten)]
    zoom: ZoomFlags,
    #[command(flatten)]
    trust: TrustFlags,
    #[command(flatten)]
    limits: LimitFlags,
    /// CPU seconds for all runs but the failing one
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    candidate_timeout: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The names of the reports, in the case's folder.
const MARKDOWN: &str = "report.md";
const PAGE: &str = "index.html";

impl Triage {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let found = triage(&self.plan(), &bar);
        bar.finish();
        let found = found?;
        let folder = &found.case.folder;
        let (markdown, html) = (folder.join(MARKDOWN), folder.join(PAGE));
        write(&markdown, &triage_markdown(&found))?;
        let confirmation = found.check.confirmation.as_ref();
        let commands = confirmation.map_or(&[][..], |theirs| &theirs.commands);
        write(&html, &page(&found.case, commands)?)?;
        let (markdown, html) = (markdown.display().to_string(), html.display().to_string());
        let reports = Reports { markdown: &markdown, page: &html };
        match self.json {
            true => print(&triage_json(&found, reports)),
            false => print(&triage_text(&found, reports, style())),
        }
        Ok(if found.interrupted { Exit::Interrupted } else { Exit::Clean })
    }

    fn plan(&self) -> TriagePlan {
        TriagePlan {
            input: self.what(),
            limits: self.limits.limits(),
            candidate_time: Duration::from_secs_f64(self.candidate_timeout),
            budget: self.budget,
            seed: self.seed,
            zoom: self.zoom.plan(true, Duration::from_secs_f64(self.candidate_timeout)),
            reducer: if self.built_in { Reducer::BuiltIn } else { Reducer::Auto },
            callback_binary: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("optsleuth")),
        }
    }

    fn what(&self) -> TriageInput {
        let is_case = self.input.is_dir() || self.input.ends_with(CASE_FILE);
        if is_case {
            let folder = match self.input.ends_with(CASE_FILE) {
                true => self.input.parent().unwrap_or(Path::new(".")),
                false => &self.input,
            };
            return TriageInput::Case(folder.to_owned(), self.trust.trust());
        }
        let pipeline = match (&self.passes, self.level) {
            (Some(passes), _) => Pipeline::Passes(passes.clone()),
            (None, level) => Pipeline::Level(level.unwrap_or(Level::O2).into()),
        };
        let folder = self.output.clone().unwrap_or_else(|| {
            let stem = self.input.file_stem().unwrap_or_default().to_string_lossy();
            PathBuf::from(format!("{stem}-case"))
        });
        TriageInput::Program(Box::new(Suspicion {
            program: self.input.clone(),
            llvm: self.llvm.choice(),
            pipeline,
            options: self.options.clone(),
            c_flags: self.c_flags.clone(),
            folder,
            force: self.force,
        }))
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(write_whole(path, text)?)
}
