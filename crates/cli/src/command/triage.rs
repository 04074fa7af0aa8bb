//! `optsleuth triage`: from a failing input to a report.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use optsleuth_case::CaseError;
use optsleuth_case::folder::write_whole;
use optsleuth_case::workers::{LlvmChoice, llvm_of_tool};
use optsleuth_case::write::is_free;
use optsleuth_compiler::driver::Driver;
use optsleuth_compiler::unpack::unpack;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{CASE_FILE, Pipeline, ProjectFinding, Triage as Triaged, Trust};
use optsleuth_project::{GuiltyPlan, Project, find_crashed, find_guilty};
use optsleuth_report::{
    Reports, project_json, project_markdown, project_text, triage_json, triage_markdown,
    triage_text,
};
use optsleuth_triage::reduce::Reducer;
use optsleuth_triage::triage::{
    GccSuspicion, SeveralPrograms, Suspect, Suspicion, TriageInput, TriagePlan, triage,
};

use super::execution::ExecutionFlags;
use super::report::page;
use super::zoom::ZoomFlags;
use super::{
    Level, LimitFlags, LlvmFlags, TrustFlags, parse_duration, parse_seconds, print, style,
};
use crate::exit::Exit;
use crate::failing_command::{Asked, CommandError, FailingCommand, Tool, of_reproducer, script_in};
use crate::failure::Failure;
use crate::progress::Bar;

/// From a failing input to a reduced, bisected, explained report
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth triage repro.c --llvm 19 --passes 'default<O2>' -o case/
  optsleuth triage repro.c --llvm 19 --level O2 -o case/     # what clang -O2 does
  optsleuth triage repro.cpp --level O2 --args '-n 3' --stdin input.txt
  optsleuth triage repro.c --level O2 --check ./is-right.sh --files testdata/
  optsleuth triage repro.ll --passes slp-vectorizer --option=-slp-threshold=-99999 -o case/
  optsleuth triage repro.c --gcc 12 --level O2 -o case/      # gcc fails, not LLVM
  optsleuth triage case/                                     # a folder with a case.toml
  optsleuth triage -- clang-19 -O2 -Iinclude -c repro.c      # the command that fails
  optsleuth triage -- clang++-19 -O2 main.cpp parts.cpp -lm -o prog    # one of them is guilty
  optsleuth triage -- opt-19 -passes=gvn repro.ll
  optsleuth triage -- llc-19 -O2 repro.ll                    # code generation alone
  optsleuth triage /tmp/repro-1a2b3c.sh                      # what clang wrote when it crashed
  optsleuth triage repro.tar.gz                              # the same, packed with its source
  optsleuth triage project/ --check 'make check'             # what `optsleuth build` recorded
  optsleuth triage project/                                  # the compiler crashed in that build
  optsleuth triage case/ --budget 10m --json

Triage sees the input fail, leaves out passes and parts of the program, finds the guilty
invocation of a pass, makes a form of the failure with that pass alone, and ranks the code of
LLVM that is to blame. The case's folder has all results: paste report.md into an issue
tracker, open index.html to see everything; single-pass/ is a case by itself.
Of gcc, it names the guilty pass, the function of the program that it was applied to, and
the single transformation where gcc counts them; gcc's own code is ranked where
`optsleuth provision gcc 12` has made one with probes.
Ctrl-C ends it early and reports what was found until then.
Exit codes: 0 a report was made, 3 its behaviour varies or is not defined, 6 nothing fails,
130 Ctrl-C.")]
pub(crate) struct Triage {
    /// A .c, .cpp, .ll or .bc file, a folder with a case.toml, one that `optsleuth build`
    /// made, or the script that clang writes when it crashes (also in a tar archive)
    #[arg(value_name = "INPUT", required_unless_present = "command")]
    input: Option<PathBuf>,
    /// The command that fails, of opt, llc, clang or gcc
    #[arg(
        last = true,
        value_name = "COMMAND",
        conflicts_with_all = ["input", "passes", "level", "options", "c_flags", "gcc"]
    )]
    command: Vec<String>,
    #[command(flatten)]
    llvm: LlvmFlags,
    /// It is this gcc that fails, and not LLVM: its number, or its path
    #[arg(long, value_name = "N", conflicts_with_all = ["llvm", "llvm_config", "passes", "options"])]
    gcc: Option<String>,
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
    /// A flag for clang or gcc, as in --cflag=-Iinclude; may be given several times
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
    execution: ExecutionFlags,
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

/// What a crash reproducer may be packed into.
const ARCHIVES: [&str; 6] = [".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar.zst"];
/// The names of the reports, in the case's folder.
const MARKDOWN: &str = "report.md";
const PAGE: &str = "index.html";

impl Triage {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        if let Some(folder) = self.input.clone().filter(|input| Project::is_in(input)) {
            return match self.execution.check_command() {
                Some(check) => self.of_project(&folder, check),
                None => self.of_crashed_build(&folder),
            };
        }
        // What an archive has lies there until the end.
        let unpacked = Workdir::new().map_err(CaseError::from)?;
        let input = self.what(&unpacked)?;
        self.of_input(input)
    }

    /// The compiler itself failed while a project was built.
    fn of_crashed_build(mut self, folder: &Path) -> Result<Exit, Failure> {
        let crashed = find_crashed(folder)?.ok_or(Failure::NoCheck)?;
        let output = self.output.take().unwrap_or_else(|| case_folder(folder));
        self.output = Some(std::path::absolute(output)?);
        // Its flags name files as the build did.
        std::env::set_current_dir(&crashed.dir)?;
        let input = self.of_command(&FailingCommand::read(&crashed.words)?)?;
        self.of_input(input)
    }

    fn of_input(&self, input: TriageInput) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let plan = self.plan(input);
        let found = triage(&plan, &bar);
        bar.finish();
        let found = found?;
        let (markdown, html) = self.write_reports(&found, None)?;
        let reports = Reports { markdown: &markdown, page: &html };
        match self.json {
            true => print(&triage_json(&found, reports)),
            false => print(&triage_text(&found, reports, style())),
        }
        Ok(if found.interrupted { Exit::Interrupted } else { Exit::Clean })
    }

    fn of_project(&self, folder: &Path, check: String) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let project = Project::open(folder)?;
        let case = self.output.clone().unwrap_or_else(|| case_folder(folder));
        is_free(&case, self.force)?;
        let plan = GuiltyPlan { check };
        let found = find_guilty(&project, &plan, &bar);
        if found.is_err() {
            project.restore()?;
        }
        let (finding, guilty) = found?;
        // A program that is wrong says nothing about the compiler.
        let Some(guilty) = guilty.filter(|_| finding.sanitizers.is_none()) else {
            bar.finish();
            self.print_project(&finding, None);
            let is_undefined = finding.sanitizers.is_some();
            return Ok(if is_undefined { Exit::Unstable } else { Exit::Clean });
        };
        project.write_case(&guilty, &finding, &own_path(), &case, self.force)?;
        let input = TriageInput::Case(case, Trust::Author);
        let mut plan = self.plan(input);
        plan.limits.execute = guilty.limit;
        let found = triage(&plan, &bar);
        bar.finish();
        project.restore()?;
        let found = found?;
        let (markdown, html) = self.write_reports(&found, Some(&finding))?;
        let reports = Reports { markdown: &markdown, page: &html };
        self.print_project(&finding, Some((&found, reports)));
        Ok(if found.interrupted { Exit::Interrupted } else { Exit::Clean })
    }

    fn print_project(&self, finding: &ProjectFinding, found: Option<(&Triaged, Reports<'_>)>) {
        let text = match (self.json, found) {
            (true, None) => project_json(finding, None),
            (true, Some((found, reports))) => {
                project_json(finding, Some(&triage_json(found, reports)))
            }
            (false, None) => project_text(finding, style()),
            (false, Some((found, reports))) => {
                project_text(finding, style()) + &triage_text(found, reports, style())
            }
        };
        print(&text);
    }

    /// Writes report.md and index.html; their paths.
    fn write_reports(
        &self,
        found: &Triaged,
        project: Option<&ProjectFinding>,
    ) -> Result<(String, String), Failure> {
        let folder = &found.case.folder;
        let (markdown, html) = (folder.join(MARKDOWN), folder.join(PAGE));
        let of_project = project.map(project_markdown).unwrap_or_default();
        write(&markdown, &(of_project + &triage_markdown(found)))?;
        write(&html, &page(&found.case, found.check.commands())?)?;
        Ok((markdown.display().to_string(), html.display().to_string()))
    }

    fn plan(&self, input: TriageInput) -> TriagePlan {
        TriagePlan {
            input,
            limits: self.limits.limits(),
            candidate_time: Duration::from_secs_f64(self.candidate_timeout),
            budget: self.budget,
            seed: self.seed,
            zoom: self.zoom.plan(true, Duration::from_secs_f64(self.candidate_timeout)),
            reducer: if self.built_in { Reducer::BuiltIn } else { Reducer::Auto },
            callback_binary: own_path(),
        }
    }

    fn what(&self, unpacked: &Workdir) -> Result<TriageInput, Failure> {
        let Some(input) = &self.input else {
            return self.of_command(&FailingCommand::read(&self.command)?);
        };
        if input.is_dir() || input.ends_with(CASE_FILE) {
            let folder = match input.ends_with(CASE_FILE) {
                true => input.parent().unwrap_or(Path::new(".")),
                false => input,
            };
            if !self.execution.conditions().is_empty() {
                return Err(CommandError::ExecutionOfCase.into());
            }
            return Ok(TriageInput::Case(folder.to_owned(), self.trust.trust()));
        }
        let name = input.file_name().unwrap_or_default().to_string_lossy();
        let script = match ARCHIVES.iter().any(|ending| name.ends_with(ending)) {
            true => {
                unpack(input, unpacked.path())?;
                Some(script_in(unpacked.path(), input)?)
            }
            false => name.ends_with(".sh").then(|| input.clone()),
        };
        if let Some(script) = script {
            let text = fs_err::read_to_string(&script)?;
            return self.of_command(&of_reproducer(&script, &text)?);
        }
        Ok(self.of_program(input))
    }

    /// Where a program's case goes.
    fn folder_for(&self, program: &Path) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            let stem = program.file_stem().unwrap_or_default().to_string_lossy();
            PathBuf::from(format!("{stem}-case"))
        })
    }

    fn of_command(&self, command: &FailingCommand) -> Result<TriageInput, Failure> {
        let FailingCommand { compiler, tool, programs, asked, flags, links, .. } = command;
        let suspects: Vec<Suspect> = programs
            .iter()
            .map(|program| self.suspect(command, program))
            .collect::<Result<_, Failure>>()?;
        Ok(match <[Suspect; 1]>::try_from(suspects) {
            Ok([Suspect::Llvm(suspicion)]) => TriageInput::Program(suspicion),
            Ok([Suspect::Gcc(suspicion)]) => TriageInput::GccProgram(suspicion),
            Err(suspects) => TriageInput::Several(SeveralPrograms {
                suspects,
                compiler: match tool {
                    // As the driver itself is found.
                    Tool::Gcc => Driver::find(&compiler.display().to_string())?.path,
                    Tool::Opt | Tool::Llc | Tool::Clang => compiler.clone(),
                },
                flags: flags.clone(),
                level: asked.level(),
                are_linked: *links,
            }),
        })
    }

    /// What is suspected of one program of a command.
    fn suspect(&self, command: &FailingCommand, program: &Path) -> Result<Suspect, Failure> {
        let FailingCommand { compiler, tool, asked, flags, .. } = command;
        let (folder, force) = (self.folder_for(program), self.force);
        let mut conditions = self.execution.conditions();
        if command.links {
            conditions.companions.extend(command.companions.iter().cloned());
            conditions.ldflags.extend(command.link_words.iter().cloned());
        }
        let (c_flags, options) = match tool {
            Tool::Opt | Tool::Llc => (Vec::new(), flags.clone()),
            Tool::Clang => command.flags_of_llvm(),
            Tool::Gcc => {
                return Ok(Suspect::Gcc(Box::new(GccSuspicion {
                    program: program.to_owned(),
                    gcc: compiler.display().to_string(),
                    level: asked.level(),
                    flags: flags.clone(),
                    conditions,
                    trust: self.trust.trust(),
                    folder,
                    force,
                })));
            }
        };
        let llvm = match self.llvm.choice() {
            LlvmChoice::Newest => llvm_of_tool(compiler)?,
            chosen => chosen,
        };
        let pipeline = match asked {
            Asked::Passes(passes) => Pipeline::Passes(passes.clone()),
            Asked::Level(level) => Pipeline::Level(*level),
            Asked::Codegen(level) => Pipeline::Codegen(*level),
        };
        Ok(Suspect::Llvm(Box::new(Suspicion {
            program: program.to_owned(),
            llvm,
            pipeline,
            options,
            c_flags,
            conditions,
            trust: self.trust.trust(),
            folder,
            force,
        })))
    }

    fn of_program(&self, input: &Path) -> TriageInput {
        let folder = self.folder_for(input);
        if let Some(gcc) = &self.gcc {
            return TriageInput::GccProgram(Box::new(GccSuspicion {
                program: input.to_owned(),
                gcc: if gcc.contains('/') { gcc.clone() } else { format!("gcc-{gcc}") },
                level: self.level.unwrap_or(Level::O2).into(),
                flags: self.c_flags.clone(),
                conditions: self.execution.conditions(),
                trust: self.trust.trust(),
                folder,
                force: self.force,
            }));
        }
        let pipeline = match (&self.passes, self.level) {
            (Some(passes), _) => Pipeline::Passes(passes.clone()),
            (None, level) => Pipeline::Level(level.unwrap_or(Level::O2).into()),
        };
        TriageInput::Program(Box::new(Suspicion {
            program: input.to_owned(),
            llvm: self.llvm.choice(),
            pipeline,
            options: self.options.clone(),
            c_flags: self.c_flags.clone(),
            conditions: self.execution.conditions(),
            trust: self.trust.trust(),
            folder,
            force: self.force,
        }))
    }
}

/// Where a project's case goes.
fn case_folder(project: &Path) -> PathBuf {
    let name = project.file_name().unwrap_or("project".as_ref()).to_string_lossy();
    PathBuf::from(format!("{name}-case"))
}

/// This very program.
fn own_path() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("optsleuth"))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(write_whole(path, text)?)
}
