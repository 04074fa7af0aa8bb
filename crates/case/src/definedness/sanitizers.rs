//! C programs under clang's sanitizers: which of them work on this machine, and
//! what they have to object.
//!
//! What is watched is the program, so the clang of any LLVM will do.
//!
//! **Invariant:** a sanitizer that cannot watch an empty program here has seen
//! nothing, and is named as missing. Who is asked about a case objects only with a
//! report of what is undefined ([`say`]); among many programs, those that do
//! something else under a sanitizer are out ([`Sanitizers::objection`]).

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fs_err as fs;
use optsleuth_compiler::llvm::{self, Install, Worker};
use optsleuth_compiler::sanitize::{self, Form, Report, Sanitizer};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Answer, Checker, Execution, Limits, Objection, ObjectionKind, ProgramEnd, Said, is_cxx,
};

use super::Asked;
use crate::CaseError;
use crate::oracle::{behaviour, is_limit, same_behaviour};
use crate::portable::portable;

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
        let mut found = Sanitizers::default();
        for &sanitizer in wanted {
            match clang_with(sanitizer, own, worker)? {
                Some(clang) => found.working.push((sanitizer, clang)),
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

    /// Those of them that have nothing to object to a C program, for its descendants.
    pub fn clean_on(
        &self,
        path: &Path,
        flags: &[String],
        expected: &Execution,
        worker: &mut Worker,
    ) -> Result<Sanitizers, CaseError> {
        let mut clean = Sanitizers { working: Vec::new(), missing: self.missing.clone() };
        for one in &self.working {
            let alone = Sanitizers { working: vec![one.clone()], missing: Vec::new() };
            if alone.objection(path, flags, expected, worker)?.is_none() {
                clean.working.push(one.clone());
            }
        }
        Ok(clean)
    }

    /// What the first of them that has something to object says about a C program,
    /// which does what is `expected` by itself. Quick: the place is not named.
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
            match run_under((*sanitizer, Form::Quick), clang, path, flags, worker)? {
                Some(Watched { report: Some(_), .. }) => return Ok(Some(stopped_by(*sanitizer))),
                Some(Watched { execution, .. }) if same_behaviour(&execution, expected) => {}
                Some(Watched { execution, .. }) if is_limit(execution.end) => {
                    return Ok(undecided(format!("too much for the {name}")));
                }
                Some(_) => return Ok(Some(stopped_by(*sanitizer))),
                None => return Ok(undecided(format!("clang fails with the {name}"))),
            }
        }
        Ok(None)
    }
}

fn stopped_by(sanitizer: Sanitizer) -> Objection {
    Objection::new(ObjectionKind::Undefined, format!("stopped by the {}", sanitizer.name()))
}

/// What a sanitizer says about a program; those of undefined behaviour and of
/// addresses answer for each other where both are on the list.
pub(super) fn say(
    who: Checker,
    list: &[Checker],
    asked: &Asked<'_>,
    own: &Install,
    worker: &mut Worker,
) -> Result<Vec<Answer>, CaseError> {
    use Checker::{AddressSanitizer, MemorySanitizer, TypeSanitizer, UndefinedSanitizer};
    let both = [UndefinedSanitizer, AddressSanitizer];
    if both.contains(&who)
        && both.iter().all(|one| list.contains(one))
        && let Some(clang) = clang_with(Sanitizer::UndefinedAndAddress, own, worker)?
    {
        let (by, said) = watched(Sanitizer::UndefinedAndAddress, &clang, asked, worker)?;
        let by_clang = Some(format!("clang {}", clang.version));
        let answer = |who, said| Answer { who, by: by_clang.clone(), said };
        return Ok(match (&said, by.as_deref()) {
            (Said::Objects(_), Some("AddressSanitizer")) => vec![answer(AddressSanitizer, said)],
            (Said::Objects(_), _) => vec![answer(UndefinedSanitizer, said)],
            _ => both.map(|who| answer(who, said.clone())).to_vec(),
        });
    }
    let sanitizer = match who {
        UndefinedSanitizer => Sanitizer::Undefined,
        AddressSanitizer => Sanitizer::Address,
        MemorySanitizer => Sanitizer::Memory,
        TypeSanitizer => Sanitizer::Type,
        Checker::Referee
        | Checker::SecondCompiler
        | Checker::OtherMemory
        | Checker::AliasRules
        | Checker::ProjectSanitizers => return Ok(Vec::new()),
    };
    Ok(vec![match clang_with(sanitizer, own, worker)? {
        None => Answer { who, by: None, said: Said::NotHere },
        Some(clang) => {
            let (_, said) = watched(sanitizer, &clang, asked, worker)?;
            Answer { who, by: Some(format!("clang {}", clang.version)), said }
        }
    }])
}

/// What is said of the program, and in an objection which sanitizer says it.
fn watched(
    sanitizer: Sanitizer,
    clang: &Install,
    asked: &Asked<'_>,
    worker: &mut Worker,
) -> Result<(Option<String>, Said), CaseError> {
    let Asked { source, c_flags, expected, .. } = *asked;
    if sanitizer == Sanitizer::Memory && is_cxx(source) {
        // To it, what C++'s library writes was never written.
        let why = "C++'s library here was compiled without it".to_owned();
        return Ok((None, Said::NoVerdict(why)));
    }
    let mut found = run_under((sanitizer, Form::Reporting), clang, source, c_flags, worker)?;
    let can_report = found.is_some();
    if !can_report {
        // Without its library, the sanitizer of undefined behaviour can still stop.
        found = run_under((sanitizer, Form::Quick), clang, source, c_flags, worker)?;
    }
    let Some(Watched { execution, report }) = found else {
        return Ok((
            None,
            Said::NoVerdict("clang does not compile the program with it".to_owned()),
        ));
    };
    if let Some(Report { by, place, what }) = report {
        let what = match place {
            Some(place) => format!("{place}: {what}"),
            None => format!("{what} (says {by})"),
        };
        return Ok((Some(by), Said::Objects(Objection::new(ObjectionKind::Undefined, what))));
    }
    let does = behaviour(&execution);
    let said = match same_behaviour(&execution, expected) {
        true => Said::NothingFound,
        false if is_limit(execution.end) => {
            Said::NoVerdict(format!("under it, the program {does}"))
        }
        false if can_report => {
            Said::NoVerdict(format!("under it, and without a complaint, the program {does}"))
        }
        false => Said::Objects(stopped_by(sanitizer)),
    };
    Ok((None, said))
}

/// The clang whose sanitizer can watch an empty program here. Found out once.
fn clang_with(
    sanitizer: Sanitizer,
    own: &Install,
    worker: &mut Worker,
) -> Result<Option<Install>, CaseError> {
    type Found = Vec<((String, Sanitizer), Option<Install>)>;
    static FOUND: Mutex<Found> = Mutex::new(Vec::new());
    let key = (own.version.clone(), sanitizer);
    let mut all = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = all.iter().find(|(known, _)| *known == key) {
        return Ok(known.clone());
    }
    let folder = Workdir::new()?;
    let path = folder.file("probe.c");
    fs::write(&path, PROBE)?;
    let others = llvm::discover().into_iter().rev().filter_map(|(_, found)| found.ok());
    let others = others.filter(|other| other.version != own.version);
    let mut found = None;
    for clang in std::iter::once(own.clone()).chain(others) {
        if clang.tool("clang").is_none() {
            continue;
        }
        let ran = worker.without_surroundings(|worker| {
            run_under((sanitizer, Form::Quick), &clang, &path, &[], worker)
        })?;
        let nothing =
            Execution { end: ProgramEnd::Exited(0), stdout: Vec::new(), stderr: Vec::new() };
        if ran.is_some_and(|ran| same_behaviour(&ran.execution, &nothing)) {
            found = Some(clang);
            break;
        }
    }
    all.push((key, found.clone()));
    Ok(found)
}

/// A program that ran under a sanitizer.
struct Watched {
    execution: Execution,
    /// What the sanitizer wrote.
    report: Option<Report>,
}

/// What a C program does when this clang compiles it with a sanitizer; `None` if
/// that cannot be had. Of the flags, those count that say what the program means:
/// `-Xclang -disable-llvm-passes` would leave the sanitizer out.
fn run_under(
    (sanitizer, form): (Sanitizer, Form),
    clang: &Install,
    path: &Path,
    flags: &[String],
    worker: &mut Worker,
) -> Result<Option<Watched>, CaseError> {
    let folder = Workdir::new()?;
    let program = folder.file("sanitized");
    let link_words = worker.surroundings().link_words();
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if !sanitize::compile(clang, &path, &portable(flags), &link_words, (sanitizer, form), &program)?
    {
        return Ok(None);
    }
    let execution = worker.execute(&program, Limits { with_shadows: true, ..Limits::STANDARD })?;
    let said = String::from_utf8_lossy(&execution.stderr).into_owned();
    tracing::debug!(sanitizer = sanitizer.name(), end = ?execution.end, "{said}");
    let report = sanitize::read_report(clang, &path, &program, &said);
    Ok(Some(Watched { execution, report }))
}
