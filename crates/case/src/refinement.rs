//! Is the optimized program still the unoptimized one? The referee interprets both:
//! right, wrong, or no word.
//!
//! Bisection asks it of the module between two invocations, hunts between two
//! passes: wrong code is made there, and may show much later.
//!
//! **Invariant:** wrong is only what no refinement allows on this run: undefined
//! where the unoptimized program is defined, another output, another end, or none.

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::Worker;
use optsleuth_model::{Interpret, Interpretation, Limits, OutputByte, Ruling, RunRequest};

/// So many instructions of the unoptimized program are interpreted.
const STEPS: u64 = 50_000_000;
/// An optimized program that takes so many times the instructions does not end.
const PATIENCE: u64 = 10;
/// What it may take at least.
const LEAST_STEPS: u64 = 100_000;

/// What the unoptimized program does, for optimized ones to be measured by.
#[derive(Clone, Debug)]
pub struct Refinement {
    unoptimized: Interpretation,
    limits: Limits,
}

/// What the referee says of an optimized program.
#[derive(Clone, Debug, PartialEq)]
pub enum Refined {
    /// It does what the unoptimized one does.
    Right,
    Wrong,
    /// The referee cannot say, and why.
    Unknown(String),
}

/// Why nothing can be measured by the unoptimized program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoMeasure {
    /// There is no `main`.
    NoProgram,
    /// The referee has no word on it, and why.
    NoVerdict(String),
}

impl Refinement {
    /// Interprets the program that a worker has loaded, as it is.
    pub fn of_loaded(
        worker: &mut Worker,
        limits: Limits,
    ) -> Result<Result<Refinement, NoMeasure>, CompilerError> {
        let request = interpretation(RunRequest::new(None), STEPS, None, limits);
        let said = match worker.run(&request) {
            Err(CompilerError::CannotCall(_)) => return Ok(Err(NoMeasure::NoProgram)),
            other => other?.interpretation,
        };
        let none = |why: &str| Ok(Err(NoMeasure::NoVerdict(why.to_owned())));
        let Some(unoptimized) = said else { return none("it reached a limit") };
        match &unoptimized.ruling {
            Ruling::Defined { .. } if unoptimized.depends_on_layout => {
                none("what it does depends on where its objects lie")
            }
            Ruling::Defined { .. } => Ok(Ok(Refinement { unoptimized, limits })),
            Ruling::Undefined { end, .. } => none(&format!("it is undefined: {}", end.what)),
            Ruling::NoVerdict { end } => none(&end.what),
        }
    }

    /// The run that interprets what these passes make of the loaded program.
    pub fn request(&self, passes: RunRequest, observe: Option<OutputByte>) -> RunRequest {
        interpretation(passes, self.steps(), observe, self.limits)
    }

    /// What such a run says.
    pub fn judge(&self, optimized: Option<&Interpretation>) -> Refined {
        let Some(optimized) = optimized else {
            return Refined::Unknown("it was not interpreted to an end".to_owned());
        };
        match &optimized.ruling {
            Ruling::Undefined { .. } => Refined::Wrong,
            Ruling::Defined { .. } if self.is_same(optimized) => Refined::Right,
            Ruling::Defined { .. } if optimized.depends_on_layout => {
                Refined::Unknown("what it does depends on where its objects lie".to_owned())
            }
            Ruling::Defined { .. } => Refined::Wrong,
            Ruling::NoVerdict { .. } if self.is_endless(optimized) => Refined::Wrong,
            Ruling::NoVerdict { end } => Refined::Unknown(end.what.clone()),
        }
    }

    /// Whether an optimized program used up its steps.
    pub fn is_endless(&self, optimized: &Interpretation) -> bool {
        matches!(optimized.ruling, Ruling::NoVerdict { .. }) && optimized.n_steps > self.steps()
    }

    fn steps(&self) -> u64 {
        (self.unoptimized.n_steps * PATIENCE).max(LEAST_STEPS)
    }

    fn is_same(&self, optimized: &Interpretation) -> bool {
        let end = |of: &Interpretation| match &of.ruling {
            Ruling::Defined { end, .. } => Some(*end),
            Ruling::Undefined { .. } | Ruling::NoVerdict { .. } => None,
        };
        let unoptimized = &self.unoptimized;
        end(unoptimized) == end(optimized)
            && unoptimized.stdout == optimized.stdout
            && unoptimized.stderr == optimized.stderr
    }
}

fn interpretation(
    passes: RunRequest,
    steps: u64,
    observe: Option<OutputByte>,
    limits: Limits,
) -> RunRequest {
    let interpret = Some(Interpret { steps, observe, ..Interpret::main() });
    RunRequest { interpret, limits, ..passes }
}

#[cfg(test)]
mod tests {
    use optsleuth_model::{ProgramEnd, Step};

    use super::*;

    fn said(ruling: Ruling, stdout: &str, n_steps: u64) -> Interpretation {
        Interpretation {
            ruling,
            stdout: stdout.as_bytes().to_vec(),
            stderr: Vec::new(),
            n_steps,
            depends_on_layout: false,
            trace: String::new(),
            observed: Vec::new(),
        }
    }

    fn exits(status: i32) -> Ruling {
        Ruling::Defined { end: ProgramEnd::Exited(status), value: None, place: None }
    }

    fn step(what: &str) -> Step {
        Step { what: what.to_owned(), place: None }
    }

    #[test]
    fn wrong_is_another_output_another_end_undefined_or_endless() {
        let unoptimized = said(exits(0), "1\n", 20_000);
        let limits = Limits::STANDARD;
        let judge = |optimized: &Interpretation| {
            Refinement { unoptimized: unoptimized.clone(), limits }.judge(Some(optimized))
        };
        assert_eq!(judge(&said(exits(0), "1\n", 7)), Refined::Right);
        assert_eq!(judge(&said(exits(0), "2\n", 7)), Refined::Wrong);
        assert_eq!(judge(&said(exits(1), "1\n", 7)), Refined::Wrong);
        let undefined = Ruling::Undefined { end: step("division by zero"), history: Vec::new() };
        assert_eq!(judge(&said(undefined, "", 7)), Refined::Wrong);
        let stopped = || Ruling::NoVerdict { end: step("the limit of steps is reached") };
        assert_eq!(judge(&said(stopped(), "", 200_001)), Refined::Wrong);
        let unknown = Refined::Unknown("the limit of steps is reached".to_owned());
        assert_eq!(judge(&said(stopped(), "", 200_000)), unknown);
        // What depends on addresses may be right elsewhere.
        let by_layout = Interpretation { depends_on_layout: true, ..said(exits(0), "2\n", 7) };
        assert!(matches!(judge(&by_layout), Refined::Unknown(_)));
    }
}
