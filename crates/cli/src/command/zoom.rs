//! Flags that say whether and how far to zoom into LLVM's source.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use optsleuth_compiler::llvm::{SourceChoice, SourceTree};
use optsleuth_triage::zoom::{AUTO, ZoomPlan};

#[derive(Debug, Args)]
pub(super) struct ZoomFlags {
    /// Compile the most suspect files anew, for functions that were inlined and for lines: auto,
    /// off, how many files, or a checkout of llvm-project to take them from. If nothing is said,
    /// triage zooms and localize does not
    #[arg(long, value_name = "HOW")]
    zoom: Option<Zoom>,
    /// LLVM's source: a checkout of llvm-project of the same version
    #[arg(long, value_name = "DIR", value_parser = source_folder)]
    source: Option<PathBuf>,
    /// Fetch nothing: zoom only if LLVM's source is here
    #[arg(long)]
    offline: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Zoom {
    Auto,
    Off,
    Files(usize),
    Source(PathBuf),
}

impl FromStr for Zoom {
    type Err = String;

    fn from_str(text: &str) -> Result<Zoom, String> {
        match (text, text.parse::<usize>()) {
            ("auto", _) => Ok(Zoom::Auto),
            ("off", _) | (_, Ok(0)) => Ok(Zoom::Off),
            (_, Ok(n_files)) => Ok(Zoom::Files(n_files)),
            (folder, Err(_)) if std::path::Path::new(folder).is_dir() => {
                source_folder(folder).map(Zoom::Source)
            }
            (_, Err(_)) => {
                Err("give auto, off, a number of files, or a folder with LLVM's source".to_owned())
            }
        }
    }
}

/// A mistake here is told before anything is ranked.
fn source_folder(text: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(text);
    match SourceTree::is_one(&folder) {
        true => Ok(folder),
        false => Err("it has no llvm/lib/Transforms; give a checkout of llvm-project, or its \
                      folder llvm"
            .to_owned()),
    }
}

impl ZoomFlags {
    /// How to zoom; `None` if not at all. A command zooms unasked or not; where
    /// the source is given, it does.
    pub(super) fn plan(&self, unasked: bool, candidate_time: Duration) -> Option<ZoomPlan> {
        let asked = match (&self.zoom, &self.source) {
            (None, None) if !unasked => Zoom::Off,
            (zoom, _) => zoom.clone().unwrap_or(Zoom::Auto),
        };
        let (n_files, folder) = match asked {
            Zoom::Off => return None,
            Zoom::Auto => (AUTO, None),
            Zoom::Files(n_files) => (n_files, None),
            Zoom::Source(folder) => (AUTO, Some(folder)),
        };
        let source = match (self.source.clone().or(folder), self.offline) {
            (Some(folder), _) => SourceChoice::Folder(folder),
            (None, true) => SourceChoice::KeptPackage,
            (None, false) => SourceChoice::Package,
        };
        Some(ZoomPlan {
            n_files,
            source,
            deadline: None,
            end: None,
            candidate_time,
            assertions: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_folders_are_told_apart() {
        assert_eq!("auto".parse(), Ok(Zoom::Auto));
        assert_eq!("off".parse(), Ok(Zoom::Off));
        assert_eq!("3".parse(), Ok(Zoom::Files(3)));
        assert!("/".parse::<Zoom>().unwrap_err().contains("checkout of llvm-project"));
        assert!("/no/such/folder".parse::<Zoom>().unwrap_err().contains("number of files"));
    }
}
