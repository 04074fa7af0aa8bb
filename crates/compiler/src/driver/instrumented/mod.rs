//! A cc1 of ours: gcc built from its source once, without inlining and with lines,
//! and linked with probes and with the plug-in's code.
//!
//! ```text
//! source package ─► build.rs: a build tree ─► link.rs: cc1 with probes, code map
//! ```
//! The distribution's own driver runs it (`-B`), so everything that works on the
//! installed gcc works on it as well, and coverage and detours on top.
//!
//! **Invariant:** it makes the same code as gcc's own cc1 of that build tree.

mod build;
mod link;

use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_model::{BlockId, CodeMap, Coverage, Detour};

use super::Driver;
use crate::CompilerError;
use crate::llvm::{Condition, SourceLines, cache_root, conditions_of};
use crate::spawn::Tool;

/// What is done when a cc1 is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GccStep {
    Unpacking,
    Configuring,
    /// So many objects are there.
    Building(usize),
    Instrumenting,
    Linking,
}

/// Where gcc's objects come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GccSource {
    /// The distribution's source package, built in the cache.
    Package,
    /// A build tree of the user's, taken as it is.
    Build(PathBuf),
}

/// A cc1 with probes.
#[derive(Clone, Debug)]
pub struct CoveredCc1 {
    folder: PathBuf,
}

/// Files of a finished cc1.
const CC1: &str = "cc1";
const CODE_MAP: &str = "code-map";

impl CoveredCc1 {
    /// The one of this gcc, if it was made.
    pub fn find(driver: &Driver) -> Result<Option<CoveredCc1>, CompilerError> {
        let folder = folder_of(driver)?;
        Ok(folder.join(CODE_MAP).is_file().then_some(CoveredCc1 { folder }))
    }

    /// Makes it, or goes on with making it.
    pub fn provision(
        driver: &Driver,
        source: &GccSource,
        progress: &mut dyn FnMut(GccStep),
        stop: &dyn Fn() -> bool,
    ) -> Result<CoveredCc1, CompilerError> {
        let folder = folder_of(driver)?;
        let tree = match source {
            GccSource::Build(tree) => tree.clone(),
            GccSource::Package => build::build(driver, &folder, progress, stop)?,
        };
        fs::create_dir_all(&folder).map_err(CompilerError::Cache)?;
        link::link(&tree, &folder, progress)?;
        // Its own prefix has no `stddef.h`: the driver looks beside it.
        let headers = Tool::new(&driver.path).arg("-print-file-name=include").text()?;
        let beside = folder.join("include");
        let _ = fs::remove_file(&beside); // Of an earlier one.
        fs::os::unix::fs::symlink(headers.trim(), &beside).map_err(CompilerError::Cache)?;
        Ok(CoveredCc1 { folder })
    }

    /// A file beside it for what others find out about this very one: it goes by the
    /// code map, so another one has another.
    pub fn beside(&self, name: &str) -> Result<PathBuf, CompilerError> {
        let bytes = fs::read(self.folder.join(CODE_MAP)).map_err(CompilerError::Cache)?;
        let hash = blake3::hash(&bytes).to_hex();
        Ok(self.folder.join(format!("{name}-{}", &hash[..12])))
    }

    /// The flag that has the driver take it.
    pub(crate) fn flag(&self) -> String {
        format!("-B{}/", self.folder.display())
    }

    /// The flag that has the driver take the cc1 of the same objects without probes;
    /// `None` where those are the user's own.
    pub fn without_probes(&self) -> Option<String> {
        let built = self.folder.join("build/gcc");
        built.join(CC1).is_file().then(|| format!("-B{}/", built.display()))
    }

    pub fn code_map(&self) -> Result<CodeMap, CompilerError> {
        let bytes = fs::read(self.folder.join(CODE_MAP)).map_err(CompilerError::Cache)?;
        postcard::from_bytes(&bytes)
            .map_err(|error| CompilerError::Cache(std::io::Error::other(error)))
    }

    /// Lines of gcc's source, from the debug information of its objects.
    pub fn lines(map: &CodeMap) -> SourceLines<'_> {
        SourceLines::named(map, Some(""), |_, file| link::known_as(file))
    }

    /// What is decided in these blocks.
    pub fn conditions(&self, blocks: &Coverage) -> Result<Vec<Condition>, CompilerError> {
        conditions_of(&self.folder.join(CC1), blocks)
    }
}

/// Where a gcc's cc1 goes: by all that it says of itself.
fn folder_of(driver: &Driver) -> Result<PathBuf, CompilerError> {
    let hash = blake3::hash(driver.said.as_bytes()).to_hex();
    let name = format!("gcc-{}-{}", driver.version, &hash[..12]);
    Ok(cache_root()?.join("gcc").join(name))
}

/// What a cc1 of ours leaves in the file of its marks: all of it, and the window's.
pub(crate) fn read_marks(file: &Path) -> Option<(Coverage, Option<Coverage>)> {
    const PAGE: usize = 4096;
    let bytes = std::fs::read(file).ok()?;
    let mapped = bytes.len().checked_sub(PAGE)? / 3;
    let set = |part: &[u8]| {
        let set = (0u32..).zip(part).filter(|(_, mark)| **mark != 0);
        Coverage::of(set.map(|(block, _)| BlockId(block)))
    };
    let marks = set(&bytes[..mapped]);
    let window = match bytes[3 * mapped] {
        1 => Some(marks.clone()),
        2 => Some(set(&bytes[2 * mapped..3 * mapped])),
        _ => None,
    };
    // The marks were cleared when the window opened.
    let before = set(&bytes[mapped..2 * mapped]);
    Some((marks.union(&before), window))
}

/// A detour as an order for a cc1.
pub(crate) fn order_of(detour: &Detour) -> String {
    let bytes = detour.bytes.iter().take(usize::from(detour.length));
    let digits: String = bytes.map(|byte| format!("{byte:02x}")).collect();
    format!("{:x} {digits}", detour.address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_with_and_without_a_window() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("marks");
        let check = |state: u8, all: &[u32], window: Option<&[u32]>| {
            let mut bytes = vec![0u8; 4 * 4096];
            bytes[7] = 1; // Now,
            bytes[4096 + 3] = 1; // before the window,
            bytes[2 * 4096 + 5] = 1; // and in it.
            bytes[3 * 4096] = state;
            std::fs::write(&file, bytes).unwrap();
            let of = |blocks: &[u32]| Coverage::of(blocks.iter().map(|&block| BlockId(block)));
            let expected = Some((of(all), window.map(of)));
            assert_eq!(read_marks(&file), expected, "{state}");
        };
        check(0, &[3, 7], None);
        check(1, &[3, 7], Some(&[7]));
        check(2, &[3, 7], Some(&[5]));
        assert_eq!(read_marks(Path::new("/none")), None);
    }

    #[test]
    fn a_detour_is_an_address_and_its_bytes() {
        let detour = Detour { address: 0x4012ab, bytes: [0x31, 0xc0, 0xc3, 0], length: 3 };
        assert_eq!(order_of(&detour), "4012ab 31c0c3");
    }
}
