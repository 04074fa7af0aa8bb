//! A worker whose LLVM is wrong in one known function.
//!
//! The fault is made in the object, before linking: a copy of one archive with
//! one changed member takes the place of the original, and everything else is
//! linked as always. So the faulty worker differs from the real one in that
//! function alone.
//!
//! **Invariant:** nothing of this is kept. A faulty worker lies in a private
//! directory that goes with its last [`Provisioned`]; whatever a killed process
//! leaves, the next one removes, as everything in such directories.

use std::path::PathBuf;
use std::sync::Arc;

use fs_err as fs;
use optsleuth_model::{Fault, FaultObject};

use super::fault::{broken_archive, with_members};
use super::install::Install;
use super::provision::{Recipe, Step, build_covered, is_archive, link_plain, plain_entry, recipe};
use super::provisioned::{Flavor, Provisioned, Targets};
use super::zoom::broken_member;
use crate::CompilerError;
use crate::workdir::Workdir;

/// Builds faulty workers of one LLVM.
#[derive(Debug)]
pub struct FaultyBuilder {
    install: Install,
    targets: Targets,
    recipe: Recipe,
    /// The cache's entry with the worker's own objects.
    plain: PathBuf,
}

impl FaultyBuilder {
    /// Makes sure that there is a real worker, whose objects are used again.
    pub fn new(
        install: &Install,
        targets: Targets,
        progress: &mut (dyn FnMut(Step) + Send),
    ) -> Result<FaultyBuilder, CompilerError> {
        let recipe = recipe(install, targets)?;
        let plain = plain_entry(install, &recipe, targets, progress)?;
        Ok(FaultyBuilder { install: install.clone(), targets, recipe, plain })
    }

    /// A worker with this fault. Whether it works at all shows when it is
    /// started.
    pub fn build(
        &self,
        fault: &Fault,
        flavor: Flavor,
        progress: &mut (dyn FnMut(Step) + Send),
    ) -> Result<Provisioned, CompilerError> {
        let faulty = |source| CompilerError::FaultDoesNotFit {
            version: self.install.version.clone(),
            source: Box::new(source),
        };
        let folder = Workdir::new()?;
        let archive = self.archive(&fault.object).map_err(faulty)?;
        let broken = folder.file(&fault.object.archive);
        let (bytes, zoomed) = match fault.object.zoomed {
            false => (broken_archive(&archive, fault).map_err(faulty)?, Vec::new()),
            true => {
                let member =
                    broken_member(&self.install, fault, &archive, progress).map_err(faulty)?;
                let members = vec![member];
                (with_members(&archive, &members).map_err(faulty)?, members)
            }
        };
        fs::write(&broken, bytes).map_err(|error| faulty(error.into()))?;
        let original = archive.display().to_string();
        let replaced = |library: &String| match *library == original {
            true => broken.display().to_string(),
            false => library.clone(),
        };
        let mut recipe = self.recipe.clone();
        recipe.libraries = self.recipe.libraries.iter().map(replaced).collect();
        match flavor {
            Flavor::Plain => {
                progress(Step::Linking);
                link_plain(&self.install, &recipe, &self.plain, folder.path())?;
            }
            Flavor::Covered => {
                let (install, plain) = (&self.install, &self.plain);
                build_covered(install, &recipe, plain, &zoomed, folder.path(), progress)?;
            }
        }
        let _ = fs::remove_file(&broken); // Only takes up room.
        Ok(Provisioned::temporary(&self.install, Arc::new(folder), self.targets, flavor))
    }

    /// The archive that a fault names.
    fn archive(&self, object: &FaultObject) -> Result<PathBuf, CompilerError> {
        let libraries = self.recipe.libraries.iter().filter(|library| is_archive(library));
        libraries
            .map(PathBuf::from)
            .find(|path| path.file_name().is_some_and(|name| *name == *object.archive))
            .ok_or_else(|| CompilerError::NoSuchCode(format!("archive {}", object.archive)))
    }
}
