//! `optsleuth provision`: make once what takes long.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, Subcommand};
use optsleuth_compiler::driver::{CoveredCc1, Driver, GccSource, GccStep};
use optsleuth_model::{GccProvision, PROVISION_VERSION, Progress};
use optsleuth_report::{provision_json, provision_text};

use super::print;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Make once what takes long: a gcc whose own code can be ranked
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth provision gcc 12
  optsleuth provision gcc 12 --gcc-build ~/gcc/build     # objects of your own
  optsleuth provision gcc 12 --json

gcc's compiler proper, cc1, is built from the distribution's source package (gcc-12-source):
without inlining, with lines, and then with probes. That takes a quarter of an hour on two cores
and 3 GB, once. What was begun goes on where it was. Triage and localize of a gcc case then rank
gcc's own files and functions.
Exit codes: 0 it is there, 1 it cannot be made, 4 something is missing, 130 interrupted.")]
pub(crate) struct Provision {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A gcc whose own code can be ranked
    Gcc {
        /// Which one: its number, or its path
        #[arg(value_name = "N")]
        gcc: String,
        /// A tree in which gcc of this version was built; its objects are taken as they are
        #[arg(long, value_name = "DIR")]
        gcc_build: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Provision {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let What::Gcc { gcc, gcc_build, json } = self.what;
        let name = if gcc.contains('/') { gcc } else { format!("gcc-{gcc}") };
        let driver = Driver::find(&name)?;
        let source = match gcc_build {
            Some(tree) => GccSource::Build(std::path::absolute(tree)?),
            None => GccSource::Package,
        };
        let (bar, begun) = (Bar::new(), Instant::now());
        let mut say = |step: GccStep| bar.step(&in_words(step));
        let made = CoveredCc1::provision(&driver, &source, &mut say, &|| bar.stop_requested());
        bar.finish();
        if bar.stop_requested() {
            return Ok(Exit::Interrupted);
        }
        let map = made?.code_map()?;
        let made = GccProvision {
            version: PROVISION_VERSION,
            gcc: driver.version.clone(),
            files: map.files.len(),
            functions: map.functions.len(),
            blocks: map.n_blocks,
            seconds: begun.elapsed().as_secs_f64(),
        };
        match json {
            true => print(&provision_json(&made)),
            false => print(&provision_text(&made)),
        }
        Ok(Exit::Clean)
    }
}

fn in_words(step: GccStep) -> String {
    match step {
        GccStep::Unpacking => "unpacking gcc's source".to_owned(),
        GccStep::Configuring => "configuring gcc".to_owned(),
        GccStep::Building(done) => format!("building gcc: {done} objects of some 500"),
        GccStep::Instrumenting => "putting probes into gcc".to_owned(),
        GccStep::Linking => "linking".to_owned(),
    }
}
