//! `optsleuth build`: a project's build, recorded. Hidden beside it, `optsleuth
//! recorded`, which stands for a compiler meanwhile, and `optsleuth judge`, which a
//! project's case calls for every object.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use optsleuth_model::Fault;
use optsleuth_project::{
    BuildPlan, ImportPlan, JudgePlan, Judged, Project, import_build, judge_object, record_build,
    run_recorded,
};

use super::LlvmFlags;
use crate::exit::Exit;
use crate::failure::Failure;

/// Run a project's build and record it, for `optsleuth triage PROJECT --check ...`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth build -o project/ -- make -j2
  optsleuth build -o project/ --llvm 19 -- sh -c './configure && make'
  optsleuth build -o project/ --llvm 19 -- cmake --build build/
  optsleuth build -o project/ --compile-commands build/compile_commands.json --relink 'ninja -C build'
  optsleuth triage project/ --check 'make check'             # what it is for

The build sees compilers of ours, by CC, CXX and AR and on PATH. They call the real ones and
write down every compilation, link and archive. With --llvm, that LLVM's clang is taken for
every C and C++ compiler. A project that is configured already has its compilers in its
Makefiles: configure it within the build. Everything is built as without us; what is up to
date is not compiled and not recorded, so begin with a clean tree.
The exit code is that of the build; 1 if it recorded nothing.")]
pub(crate) struct Build {
    /// Where to keep the record; must not exist
    #[arg(long, short, value_name = "FOLDER", default_value = "optsleuth-project")]
    output: PathBuf,
    #[command(flatten)]
    llvm: LlvmFlags,
    /// Build with an LLVM that was broken on purpose: a fault as in a case of
    /// `optsleuth bench plant`
    #[arg(long, value_name = "FAULT")]
    fault: Option<Fault>,
    /// Take the compilations of a build that is over from its `compile_commands.json`
    #[arg(long, value_name = "FILE", requires = "relink", conflicts_with_all = ["command", "llvm", "llvm_config", "fault"])]
    compile_commands: Option<PathBuf>,
    /// A command line that links again what is newer than its result
    #[arg(long, value_name = "COMMAND", requires = "compile_commands")]
    relink: Option<String>,
    /// The build
    #[arg(last = true, required_unless_present = "compile_commands", value_name = "COMMAND")]
    command: Vec<String>,
}

impl Build {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        if let Some((database, relink)) = self.compile_commands.zip(self.relink) {
            let plan = ImportPlan { folder: self.output, database, relink };
            say_recorded(&import_build(&plan)?);
            return Ok(Exit::Clean);
        }
        let llvm = self.llvm.is_given().then(|| self.llvm.choice());
        let plan = BuildPlan {
            folder: self.output.clone(),
            llvm: llvm.or(self.fault.as_ref().map(|_| self.llvm.choice())),
            fault: self.fault,
            command: self.command,
            optsleuth: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("optsleuth")),
        };
        let (status, project) = record_build(&plan)?;
        match &project {
            Some(project) => say_recorded(project),
            None => eprintln!("optsleuth: no compilation was recorded"),
        }
        match (status, project) {
            (0, Some(_)) => Ok(Exit::Clean),
            (0, None) => Ok(Exit::Usage),
            // As without us, whatever it is.
            (status, _) => {
                eprintln!(
                    "optsleuth: the build failed; if the compiler crashed: optsleuth triage {}",
                    self.output.display()
                );
                std::process::exit(status)
            }
        }
    }
}

/// Beside what the build itself says.
fn say_recorded(project: &Project) {
    eprintln!(
        "optsleuth: {} units and {} links and archives are recorded in {}",
        project.units.len(),
        project.combinations.len(),
        project.folder.display()
    );
}

/// Stand for a compiler while a build is recorded
#[derive(Debug, Args)]
pub(crate) struct Recorded {
    folder: PathBuf,
    /// The name that it was called by
    name: String,
    #[arg(last = true)]
    args: Vec<String>,
}

impl Recorded {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let status = run_recorded(&self.folder, &self.name, &self.args)?;
        std::process::exit(status)
    }
}

/// Put an object into a project, link, and run its check
#[derive(Debug, Args)]
pub(crate) struct Judge {
    project: PathBuf,
    #[arg(long)]
    unit: usize,
    #[arg(long)]
    beside: Vec<usize>,
    /// Seconds for the check
    #[arg(long)]
    limit: u64,
    #[arg(long)]
    check: String,
    object: PathBuf,
}

impl Judge {
    /// The check's answer: 0 for right. A project that cannot be linked is no answer,
    /// and ends as our own trouble does.
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let Judge { project, unit, beside, limit, check, object } = self;
        let limit = Duration::from_secs(limit);
        match judge_object(&JudgePlan { project, unit, beside, limit, check, object })? {
            Judged::Passes => Ok(Exit::Clean),
            Judged::Fails(what) => {
                eprintln!("the check {what}");
                Ok(Exit::Usage)
            }
        }
    }
}
