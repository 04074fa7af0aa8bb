//! C programs under clang's sanitizers: which of them work on this machine, and
//! what they have to object.
//!
//! What is watched is the program, so the clang of any LLVM will do.
//!
//! **Invariant:** a sanitizer that cannot watch an empty program here has seen
//! nothing, and is named as missing; one that can has seen something wrong in any
//! program that does something else under it.

use std::path::Path;

use fs_err as fs;
use optsleuth_compiler::llvm::{self, Install, Worker};
use optsleuth_compiler::sanitize::{self, Sanitizer};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Execution, Limits, ProgramEnd};

use super::{Objection, ObjectionKind, stopped_by};
use crate::CaseError;
use crate::oracle::{is_limit, same_behaviour};

/// What a sanitizer has to be able to watch.
const PROBE: &str = "int main(void) { return 0; }\n";

/// The sanitizers that work here, and whose clang has each.
#[derive(Clone, Debug, Default)]
pub struct Sanitizers {
    working: Vec<(Sanitizer, Install)>,
    missing: Vec<Sanitizer>,
}

impl Sanitizers {
    /// Finds those of `wanted` that can watch an empty program behind the worker's
    /// fence. `own` is the first clang to be tried.
    pub fn find(
        own: &Install,
        wanted: &[Sanitizer],
        worker: &mut Worker,
    ) -> Result<Sanitizers, CaseError> {
        let folder = Workdir::new()?;
        let path = folder.file("probe.c");
        fs::write(&path, PROBE)?;
        let nothing =
            Execution { end: ProgramEnd::Exited(0), stdout: Vec::new(), stderr: Vec::new() };
        let others = llvm::discover().into_iter().rev().filter_map(|(_, found)| found.ok());
        let others = others.filter(|other| other.version != own.version);
        let mut clangs: Vec<Install> = std::iter::once(own.clone()).chain(others).collect();
        clangs.retain(|clang| clang.tool("clang").is_some());
        let mut found = Sanitizers::default();
        for &sanitizer in wanted {
            let mut works = |clang: &Install| {
                let execution = run_under(sanitizer, clang, &path, &[], worker)?;
                Ok::<_, CaseError>(execution.is_some_and(|ran| same_behaviour(&ran, &nothing)))
            };
            let mut place = None;
            for (index, clang) in clangs.iter().enumerate() {
                if works(clang)? {
                    place = Some(index);
                    break;
                }
            }
            match place {
                Some(place) => {
                    // Whoever has one sanitizer's library has the next one's, too.
                    clangs[..=place].rotate_right(1);
                    found.working.push((sanitizer, clangs[0].clone()));
                }
                None => found.missing.push(sanitizer),
            }
        }
        Ok(found)
    }

    /// Those that work, and whose clang has each.
    pub fn working(&self) -> &[(Sanitizer, Install)] {
        &self.working
    }

    /// Those that no clang here has.
    pub fn missing(&self) -> &[Sanitizer] {
        &self.missing
    }

    /// The same without some of them.
    #[must_use]
    pub fn without(&self, unwanted: Sanitizer) -> Sanitizers {
        let mut others = self.clone();
        others.working.retain(|(sanitizer, _)| *sanitizer != unwanted);
        others
    }

    /// What the first of them that has something to object says about a C program,
    /// which does what is `expected` by itself.
    pub fn objection(
        &self,
        path: &Path,
        flags: &[String],
        expected: &Execution,
        worker: &mut Worker,
    ) -> Result<Option<Objection>, CaseError> {
        for (sanitizer, clang) in &self.working {
            let name = sanitizer.name();
            let undecided = |what| Some(Objection::new(ObjectionKind::Undecided, what));
            match run_under(*sanitizer, clang, path, flags, worker)? {
                Some(execution) if same_behaviour(&execution, expected) => {}
                Some(execution) if is_limit(execution.end) => {
                    return Ok(undecided(format!("too much for the {name}")));
                }
                Some(_) => return Ok(Some(stopped_by(*sanitizer))),
                None => return Ok(undecided(format!("clang fails with the {name}"))),
            }
        }
        Ok(None)
    }
}

/// What a C program does when this clang compiles it with a sanitizer; `None` if
/// that cannot be had.
fn run_under(
    sanitizer: Sanitizer,
    clang: &Install,
    path: &Path,
    flags: &[String],
    worker: &mut Worker,
) -> Result<Option<Execution>, CaseError> {
    let program = path.with_extension("sanitized");
    if !sanitize::compile(clang, path, flags, sanitizer, &program)? {
        return Ok(None);
    }
    let execution = worker.execute(&program, Limits { with_shadows: true, ..Limits::STANDARD })?;
    let said = String::from_utf8_lossy(&execution.stderr);
    tracing::debug!(sanitizer = sanitizer.name(), end = ?execution.end, "{said}");
    Ok(Some(execution))
}
