//! Is a variant what it should be? The same behaviour as its seed by clang and
//! by gcc at -O0, whatever unused memory holds, no broken promise of its IR, and
//! clean under clang's address and undefined-behaviour sanitizers.
//!
//! **Invariant:** a variant that does not get through here is an error of ours:
//! it is counted and kept, and never accuses a compiler.

use optsleuth_compiler::c_front_end::{Compiled as Ir, FrontEnd};
use optsleuth_compiler::driver::{Compiled, Driver, Family};
use optsleuth_compiler::llvm::{self, Install, RunError, Worker};
use optsleuth_compiler::sanitize::Sanitizer;
use optsleuth_model::{Execute, Execution, Limits, OptLevel, Outcome, ProgramEnd, RunRequest};

use super::trial::Source;
use crate::Progress;
use crate::oracle::{behaviour, describe, same_behaviour};
use crate::setup::{LabError, steps};
use crate::watched::{Watched, watch};

/// What a variant may use unoptimized. Its seed ended within a second.
const LIMITS: Limits = Limits { execute: std::time::Duration::from_secs(5), ..Limits::STANDARD };

/// What a sanitizer has to be able to watch.
const PROBE: &str = "int main(void) { return 0; }\n";

/// A byte for unused memory, and whether the program stops where it breaks a
/// promise of its IR.
const WAYS: [(u8, bool); 2] = [(0x00, false), (0xa5, true)];

/// Who says what a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compiler {
    Clang,
    Gcc,
}

/// Everybody who has a say.
#[derive(Debug)]
pub(super) struct Judges {
    install: Install,
    front_end: FrontEnd,
    gcc: Driver,
    /// The clang whose sanitizers work here.
    watcher: Option<Install>,
}

impl Judges {
    /// Finds them. Without a gcc there are no two opinions, and no hunt.
    pub(super) fn find(
        install: &Install,
        fence: &mut Worker,
        progress: &dyn Progress,
    ) -> Result<Judges, LabError> {
        let gcc = Driver::newest(Family::Gcc)?;
        let front_end = FrontEnd::prepare(install, &[], &mut steps(install, progress))?;
        let watcher = watcher(install, fence)?;
        Ok(Judges { install: install.clone(), front_end, gcc, watcher })
    }

    /// Who they are, in words.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = vec![
            format!("clang {} -O0", self.install.version),
            format!("{} {} -O0", self.gcc.name, self.gcc.version),
        ];
        let watcher = self.watcher.iter();
        names.extend(watcher.map(|clang| format!("sanitizers of clang {}", clang.version)));
        names
    }

    /// What is missing on this machine, in sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        let missing = "no clang here has working sanitizers: variants are not run under them";
        self.watcher.is_none().then(|| missing.to_owned()).into_iter().collect()
    }

    /// What is wrong with a variant; nothing, if it is equivalent to its seed as
    /// far as can be told.
    pub(super) fn judge(
        &self,
        source: &Source,
        expected: &Execution,
        fence: &mut Worker,
    ) -> Result<Result<(), String>, LabError> {
        if let Err(why) = self.by_clang(source, expected, fence)? {
            return Ok(Err(why));
        }
        if let Err(why) = self.by_gcc(source, expected, fence)? {
            return Ok(Err(why));
        }
        let Some(clang) = &self.watcher else { return Ok(Ok(())) };
        let sanitizer = Sanitizer::UndefinedAndAddress;
        Ok(match watch(sanitizer, clang, &source.path(), &[], fence, expected)? {
            Watched::Right => Ok(()),
            Watched::Wrong | Watched::Unavailable => {
                Err(format!("stopped by the {}", sanitizer.name()))
            }
        })
    }

    /// The same by clang alone: quick.
    pub(super) fn by_clang(
        &self,
        source: &Source,
        expected: &Execution,
        fence: &mut Worker,
    ) -> Result<Result<(), String>, LabError> {
        for (fill, guarded) in WAYS {
            let execution = match self.inside(source, Some(fill), guarded, fence)? {
                Ok(execution) => execution,
                Err(why) => return Ok(Err(format!("clang: {why}"))),
            };
            if !same_behaviour(&execution, expected) {
                let way = if guarded { ", stopped where its IR is undefined," } else { "" };
                return Ok(Err(format!("by clang{way} it {}", behaviour(&execution))));
            }
        }
        Ok(Ok(()))
    }

    /// What a program does, unoptimized; `Err` inside where there is none to
    /// execute.
    pub(super) fn executed(
        &self,
        compiler: Compiler,
        source: &Source,
        fence: &mut Worker,
    ) -> Result<Result<Execution, String>, LabError> {
        match compiler {
            Compiler::Clang => self.inside(source, None, false, fence),
            Compiler::Gcc => self.outside(source, fence),
        }
    }

    /// Whether gcc makes a program of a text.
    pub(super) fn is_for_gcc(&self, text: &str) -> Result<bool, LabError> {
        let source = Source::new(text.to_owned())?;
        let program = source.path().with_extension("judged");
        let compiled = self.gcc.compile(&source.path(), OptLevel::O0, &[], &program, LIMITS)?;
        Ok(compiled == Compiled::Program)
    }

    fn by_gcc(
        &self,
        source: &Source,
        expected: &Execution,
        fence: &mut Worker,
    ) -> Result<Result<(), String>, LabError> {
        Ok(match self.outside(source, fence)? {
            Ok(execution) if same_behaviour(&execution, expected) => Ok(()),
            Ok(execution) => Err(format!("by gcc it {}", behaviour(&execution))),
            Err(why) => Err(why),
        })
    }

    /// By clang's front end and the fence's own LLVM.
    fn inside(
        &self,
        source: &Source,
        fill: Option<u8>,
        guarded: bool,
        fence: &mut Worker,
    ) -> Result<Result<Execution, String>, LabError> {
        let mut run = || -> Result<Outcome, RunError> {
            let program = match self.front_end.compile(&source.c(), LIMITS)? {
                Ir::Ir(program) => program,
                Ir::Failed(result) => return Ok(result.outcome),
            };
            fence.load(&program, &[], LIMITS)?;
            let execute = Execute::InChild;
            let request =
                RunRequest { execute, fill, guarded, limits: LIMITS, ..RunRequest::new(None) };
            Ok(fence.run(&request)?.outcome)
        };
        match run() {
            Ok(Outcome::Ok(Some(execution))) => Ok(Ok(execution)),
            Ok(other) => Ok(Err(describe(&other))),
            Err(
                error @ (RunError::DoesNotCompile(_)
                | RunError::BadModule { .. }
                | RunError::DoesNotLink(_)
                | RunError::TooLarge { .. }),
            ) => Ok(Err(first_line(&error.to_string()))),
            Err(error) => Err(error.into()),
        }
    }

    /// By gcc.
    fn outside(
        &self,
        source: &Source,
        fence: &mut Worker,
    ) -> Result<Result<Execution, String>, LabError> {
        let program = source.path().with_extension("judged");
        Ok(match self.gcc.compile(&source.path(), OptLevel::O0, &[], &program, LIMITS)? {
            Compiled::Program => Ok(fence.execute(&program, LIMITS)?),
            Compiled::Refused(why) => Err(format!("gcc: {}", first_line(&why))),
            Compiled::Crash(crash) => Err(format!("gcc crashes at -O0: {}", crash.signature)),
            Compiled::Hang => Err("gcc does not end at -O0".to_owned()),
            Compiled::Memory => Err("gcc uses up its memory at -O0".to_owned()),
        })
    }
}

/// An installed clang whose sanitizers work behind the fence, this one first.
fn watcher(install: &Install, fence: &mut Worker) -> Result<Option<Install>, LabError> {
    let probe = Source::new(PROBE.to_owned())?;
    let expected = Execution { end: ProgramEnd::Exited(0), stdout: Vec::new(), stderr: Vec::new() };
    let others = llvm::discover().into_iter().rev().filter_map(|(_, found)| found.ok());
    let others = others.filter(|other| other.version != install.version);
    let clangs = std::iter::once(install.clone()).chain(others);
    for clang in clangs.filter(|clang| clang.tool("clang").is_some()) {
        let sanitizer = Sanitizer::UndefinedAndAddress;
        if watch(sanitizer, &clang, &probe.path(), &[], fence, &expected)? == Watched::Right {
            return Ok(Some(clang));
        }
    }
    Ok(None)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
