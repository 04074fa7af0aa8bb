//! Is a variant what it should be? The same behaviour as its base program by clang and
//! by gcc at -O0, whatever unused memory holds, no broken promise of its IR, and
//! clean under clang's address and undefined-behaviour sanitizers.
//!
//! **Invariant:** a variant that does something else is an error of ours: it is
//! counted and kept, and never accuses a compiler. A compiler that crashes on a
//! variant is the compiler's bug, and so is wrong code at -O0 where one compiler
//! alone differs from all other judges; neither counts as an error of ours.

use optsleuth_case::CaseError;
use optsleuth_case::definedness::{PLAIN, Promises, Sanitizers, Way};
use optsleuth_case::driver::{Tried, try_level};
use optsleuth_case::oracle::{behaviour, describe, same_behaviour};
use optsleuth_case::workers::steps;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::c_front_end::{Compiled as Ir, FrontEnd};
use optsleuth_compiler::driver::{Compiled, Driver};
use optsleuth_compiler::llvm::{Install, Worker};
use optsleuth_compiler::sanitize::Sanitizer;
use optsleuth_model::{
    Execution, Limits, Objection, ObjectionKind, OptLevel, Outcome, ProgramEnd, Progress,
};

use super::trial::Source;
use crate::HuntError;

/// What a variant may use unoptimized. Its base program ended within a second.
const LIMITS: Limits = Limits { execute: std::time::Duration::from_secs(5), ..Limits::STANDARD };

/// The referee is heard for some tenths of a second.
const PROMISES: Promises = Promises { steps: 5_000_000 };
/// Both at once, because every variant is judged.
const SANITIZERS: [Sanitizer; 1] = [Sanitizer::UndefinedAndAddress];

/// Who says what a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    Clang,
    Gcc,
}

/// What a compiler makes of a program, unoptimized.
#[derive(Debug)]
pub enum Ran {
    /// Something that was executed.
    Executed(Execution),
    /// Nothing: it does not take such a text.
    Refused(String),
    /// Nothing: it falls over it, which says nothing about the program.
    Fell(String),
}

/// What judges say of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is equivalent to its base program, as far as can be told.
    Equivalent,
    /// It does something else.
    Different(String),
    /// A judge fell over it, or was disturbed; none says that it does something
    /// else.
    Undecided(String),
    /// It is equivalent to its base program by all judges but one compiler, which is the
    /// suspect.
    Outvoted(String),
}

impl Verdict {
    /// What two judges say together: one who says that it is different is enough,
    /// and one who does not know leaves it open.
    fn and(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Equivalent, other) => other,
            (Verdict::Undecided(_) | Verdict::Outvoted(_), different @ Verdict::Different(_)) => {
                different
            }
            (own @ (Verdict::Undecided(_) | Verdict::Different(_) | Verdict::Outvoted(_)), _) => {
                own
            }
        }
    }
}

/// Everybody who has a say.
#[derive(Debug)]
pub struct Judges {
    install: Install,
    front_end: FrontEnd,
    gcc: Driver,
    sanitizers: Sanitizers,
}

impl Judges {
    /// Finds who else there is. Without a gcc there are no two opinions, and no
    /// hunt.
    pub fn find(
        install: &Install,
        gcc: Driver,
        fence: &mut Worker,
        progress: &dyn Progress,
    ) -> Result<Judges, HuntError> {
        let front_end = FrontEnd::prepare(install, &[], &mut steps(install, progress))?;
        let sanitizers = Sanitizers::find(install, &SANITIZERS, fence)?;
        Ok(Judges { install: install.clone(), front_end, gcc, sanitizers })
    }

    /// Who they are, in words.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![
            format!("clang {} -O0", self.install.version),
            format!("{} {} -O0", self.gcc.name, self.gcc.version),
        ];
        let working = self.sanitizers.working().iter();
        names.extend(working.map(|(_, clang)| format!("sanitizers of clang {}", clang.version)));
        names
    }

    /// What is missing on this machine, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let missing = "no clang here has working sanitizers, so variants are not run under them: \
                       `optsleuth doctor` says how to install some";
        self.sanitizers.missing().iter().map(|_| missing.to_owned()).collect()
    }

    /// What all of them say of a variant.
    pub fn judge(
        &self,
        source: &Source,
        expected: &Execution,
        fence: &mut Worker,
    ) -> Result<Verdict, HuntError> {
        let clang = self.inside(source, &PLAIN, fence)?;
        let promises = promises(&clang, fence)?;
        let gcc = self.outside(source, fence)?;
        let is_watched = !self.sanitizers.working().is_empty();
        let outvoted = match is_watched && promises == Verdict::Equivalent {
            true => outvoted(&clang, &gcc, expected),
            false => None,
        };
        let by_compilers = outvoted.unwrap_or_else(|| {
            verdict("clang", clang, expected).and(promises).and(verdict("gcc", gcc, expected))
        });
        match by_compilers {
            different @ Verdict::Different(_) => Ok(different),
            other => Ok(other.and(self.by_sanitizers(source, expected, fence)?)),
        }
    }

    /// The same by clang alone: quick.
    pub fn by_clang(
        &self,
        source: &Source,
        expected: &Execution,
        fence: &mut Worker,
    ) -> Result<Verdict, HuntError> {
        let clang = self.inside(source, &PLAIN, fence)?;
        let promises = promises(&clang, fence)?;
        Ok(verdict("clang", clang, expected).and(promises))
    }

    fn by_sanitizers(
        &self,
        source: &Source,
        expected: &Execution,
        fence: &mut Worker,
    ) -> Result<Verdict, HuntError> {
        let objection = self.sanitizers.objection(&source.path(), &[], expected, fence)?;
        Ok(match objection {
            None => Verdict::Equivalent,
            Some(Objection { kind: ObjectionKind::Undecided, what }) => Verdict::Undecided(what),
            Some(Objection { what, .. }) => Verdict::Different(what),
        })
    }

    /// What a program does by one of them.
    pub fn executed(
        &self,
        compiler: Compiler,
        source: &Source,
        fence: &mut Worker,
    ) -> Result<Ran, HuntError> {
        match compiler {
            Compiler::Clang => self.inside(source, &Way { fill: None, ..PLAIN }, fence),
            Compiler::Gcc => self.outside(source, fence),
        }
    }

    /// Whether gcc makes a program of a text.
    pub fn is_for_gcc(&self, text: &str) -> Result<bool, HuntError> {
        let source = Source::new(text.to_owned())?;
        let program = source.path().with_extension("judged");
        let compiled = self.gcc.compile(&source.path(), OptLevel::O0, &[], &program, LIMITS)?;
        Ok(compiled == Compiled::Program)
    }

    /// By clang's front end and the fence's own LLVM, which has the program loaded
    /// then.
    fn inside(&self, source: &Source, way: &Way, fence: &mut Worker) -> Result<Ran, HuntError> {
        let mut run = || -> Result<Ran, CompilerError> {
            let program = match self.front_end.compile(&source.c(), LIMITS)? {
                Ir::Ir(program) => program,
                Ir::Failed(result) => return Ok(Ran::Fell(describe(&result.outcome))),
            };
            fence.load(&program, &[], LIMITS)?;
            Ok(match fence.run(&way.request(None, LIMITS))?.outcome {
                Outcome::Ok(Some(execution)) => Ran::Executed(execution),
                other => Ran::Fell(describe(&other)),
            })
        };
        match run() {
            Err(
                error @ (CompilerError::FrontEndRefuses(_)
                | CompilerError::DoesNotLink(_)
                | CompilerError::TooLarge { .. }),
            ) => Ok(Ran::Refused(first_line(&error.to_string()))),
            Err(error) => fell(error),
            Ok(ran) => Ok(ran),
        }
    }

    /// By gcc.
    fn outside(&self, source: &Source, fence: &mut Worker) -> Result<Ran, HuntError> {
        let path = source.path();
        Ok(match try_level(&self.gcc, &path, OptLevel::O0, &[], fence, LIMITS) {
            Ok(Tried::Ran(Outcome::Ok(Some(execution)))) => Ran::Executed(execution),
            Ok(Tried::Ran(outcome)) => Ran::Fell(describe(&outcome)),
            Ok(Tried::Refused(why)) => Ran::Refused(first_line(&why)),
            Err(CaseError::Compiler(error)) => fell(error)?,
            Err(error) => return Err(error.into()),
        })
    }
}

/// What says nothing about a program: IR that no front end should make, and a
/// worker that was lost again and again. Other trouble will not go away.
fn fell(error: CompilerError) -> Result<Ran, HuntError> {
    match error {
        CompilerError::BadModule { .. }
        | CompilerError::Lost { .. }
        | CompilerError::Trouble(_) => Ok(Ran::Fell(first_line(&error.to_string()))),
        error => Err(error.into()),
    }
}

/// The suspect, where one compiler's program ends by itself and does something
/// else, and the other compiler's does what it should.
fn outvoted(clang: &Ran, gcc: &Ran, expected: &Execution) -> Option<Verdict> {
    let (by_clang, by_gcc) = (ended(clang)?, ended(gcc)?);
    let right = |execution: &Execution| same_behaviour(execution, expected);
    let (who, wrong) = match (right(by_clang), right(by_gcc)) {
        (false, true) => ("clang", by_clang),
        (true, false) => ("gcc", by_gcc),
        (true, true) | (false, false) => return None,
    };
    let what = format!("by {who} at -O0 it {}, by all others it does not", behaviour(wrong));
    Some(Verdict::Outvoted(what))
}

/// What a program does that ends by itself.
fn ended(ran: &Ran) -> Option<&Execution> {
    match ran {
        Ran::Executed(execution) => {
            matches!(execution.end, ProgramEnd::Exited(_)).then_some(execution)
        }
        Ran::Refused(_) | Ran::Fell(_) => None,
    }
}

/// Whether what clang made of a program, which is loaded, keeps what IR demands.
fn promises(clang: &Ran, fence: &mut Worker) -> Result<Verdict, HuntError> {
    let Some(execution) = ended(clang) else { return Ok(Verdict::Equivalent) };
    let kept = match PROMISES.kept(fence, None, execution, LIMITS) {
        Ok(kept) => kept,
        Err(error) => return Ok(verdict("the referee", fell(error)?, execution)),
    };
    Ok(match kept {
        Ok(_) => Verdict::Equivalent,
        Err(Objection { kind: ObjectionKind::Undefined, what }) => {
            Verdict::Different(format!("its IR is undefined: {what}"))
        }
        Err(Objection { what, .. }) => Verdict::Undecided(what),
    })
}

fn verdict(who: &str, ran: Ran, expected: &Execution) -> Verdict {
    match ran {
        Ran::Executed(execution) if same_behaviour(&execution, expected) => Verdict::Equivalent,
        Ran::Executed(execution) => {
            Verdict::Different(format!("by {who} it {}", behaviour(&execution)))
        }
        Ran::Refused(why) => Verdict::Different(format!("{who}: {why}")),
        Ran::Fell(how) => Verdict::Undecided(format!("{who} at -O0: {how}")),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
