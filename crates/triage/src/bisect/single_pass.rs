//! The single-pass form of a failure: the IR right before the guilty
//! invocation, and the one pass that fails on it. What LLVM's developers ask
//! for first. Where another invocation made the program wrong before that, it is
//! the IR before that one, and the passes that it takes to show it.
//!
//! **Invariant:** a form that is handed out was seen to fail as the case does,
//! several times, and its module was seen not to fail without passes. The pool
//! has the case's own program loaded, before and after.

use std::time::Instant;

use optsleuth_case::loaded::FailingCase;
use optsleuth_case::oracle::Verdict;
use optsleuth_compiler::distribution::{self, Job};
use optsleuth_compiler::spawn::quote;
use optsleuth_model::{
    Bisection, Element, Emit, Execute, IndexSet, Invocation, Outcome, PassSequence, Program,
    Progress, RunRequest, SINGLE_PASS_FILE, SinglePass,
};

use super::inquiry::Choice;
use super::trials::{Halt, Trials, number_in};
use crate::TriageError;

/// How often a form has to fail.
const TIMES: usize = 3;

/// Makes the single-pass form of what a bisection found, or says why there is
/// none.
pub(crate) fn single_pass(
    failing: &mut FailingCase,
    bisection: &Bisection,
    deadline: Instant,
    progress: &dyn Progress,
) -> Result<Result<SinglePass, String>, TriageError> {
    if failing.loaded.case.case.pipeline.is_codegen() {
        return Ok(Err("no pass runs: code is generated alone".to_owned()));
    }
    let Some(guilty) = bisection.guilty() else {
        return Ok(Err("there is no pass to blame".to_owned()));
    };
    progress.step("making the single-pass form");
    let FailingCase { loaded, reproduction } = failing;
    let log = bisection.invocations.iter().map(|invocation| Invocation {
        index: invocation.index,
        pass: invocation.pass.clone(),
        unit: invocation.unit.clone(),
        skipped: invocation.skipped,
        required: invocation.required,
        changed: invocation.changed == Some(true),
    });
    let mut trials = Trials::of_log(loaded, reproduction, log.collect(), deadline, progress);
    trials.learn_pass_names()?;
    let wrong = bisection.first_wrong().map(|first| first.invocation);
    let wrong = wrong.filter(|wrong| bisection.minimal.contains(wrong));
    let found = search(&mut trials, wrong.unwrap_or(guilty), &bisection.minimal);
    trials.restore()?;
    match found {
        Ok(found) => Ok(found),
        Err(Halt::Failed(error)) => Err(error),
        Err(Halt::Interrupted) => Ok(Err("it was interrupted".to_owned())),
        Err(Halt::OutOfTime) => Ok(Err("the time was up".to_owned())),
    }
}

/// `first` is what makes the program wrong; what makes it show may come later.
fn search(
    trials: &mut Trials<'_>,
    first: u32,
    minimal: &[u32],
) -> Result<Result<SinglePass, String>, Halt> {
    let Some(pass) = pass_of(trials, first) else {
        return Ok(Err("the guilty invocation is not in the log".to_owned()));
    };
    let printed = printed_passes(trials);
    let mut spellings = spellings(&pass, &printed);
    if spellings.is_empty() {
        return Ok(Err(format!("`{pass}` has no name in a pipeline")));
    }
    let rest: Vec<u32> = minimal.iter().copied().filter(|&number| number >= first).collect();
    spellings.extend(in_order(trials, &rest, &printed).filter(|_| rest.len() > 1));
    for module in modules_before(trials, first, minimal)? {
        trials.load_ir(&module)?;
        if let Some(form) = first_that_fails(trials, &module, &spellings)? {
            return Ok(Ok(form));
        }
    }
    // Analyses that other passes left behind may be needed, or the order of
    // uses, which a text does not keep: the original program with few passes.
    let module = String::from_utf8(trials.loaded.program.ir.clone()).unwrap_or_default();
    if !module.is_empty() {
        trials.load_ir(&module)?;
        let few = few_passes(trials, minimal, &printed);
        if let Some(form) = first_that_fails(trials, &module, &few)? {
            return Ok(Ok(form));
        }
    }
    Ok(Err(format!(
        "`{pass}` does not fail on the printed IR before it: it needs what other passes leave in \
         the compiler"
    )))
}

fn pass_of(trials: &Trials<'_>, number: u32) -> Option<String> {
    let place = usize::try_from(number).ok()?;
    trials.log.get(place).map(|invocation| invocation.pass.clone())
}

/// The case's passes one by one, as they are and as LLVM spells them out.
fn printed_passes(trials: &Trials<'_>) -> Vec<Element> {
    let Some(passes) = &trials.template.passes else { return Vec::new() };
    let workers = &trials.loaded.workers;
    let printed = distribution::print_pipeline(&workers.install, passes).ok();
    let printed = printed.and_then(|text| text.trim().parse::<PassSequence>().ok());
    let expanded = printed.map(|sequence| sequence.optimizations()).unwrap_or_default();
    passes.optimizations().into_iter().chain(expanded).collect()
}

/// How a pass can be written, best first: with its parameters and as few
/// adaptors as it needs, by its name alone, and inside of all its adaptors.
fn spellings(pass: &str, printed: &[Element]) -> Vec<String> {
    let base = |name: &str| name.split('<').next().unwrap_or(name).to_owned();
    let is_it = |element: &&Element| base(&innermost(element).name) == base(pass);
    let mut all: Vec<String> = Vec::new();
    let with_parameters = printed.iter().filter(is_it).map(|one| innermost(one).name.clone());
    let inside = printed.iter().filter(is_it).map(ToString::to_string);
    for text in with_parameters.chain([pass.to_owned()]).chain(inside) {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

fn innermost(element: &Element) -> &Element {
    match element.inner.as_deref() {
        Some([first, ..]) => innermost(first),
        Some([]) | None => element,
    }
}

/// The IR before an invocation: with what the minimal set keeps alone,
/// and as it was in the failing run.
fn modules_before(
    trials: &mut Trials<'_>,
    number: u32,
    minimal: &[u32],
) -> Result<Vec<String>, Halt> {
    let mut modules = Vec::new();
    if let Some(skips) = trials.skips_of(&Choice::Only(minimal.to_vec()))? {
        let listed =
            RunRequest { skips: skips.clone(), list_invocations: true, ..trials.template.clone() };
        let run = trials.run_one(&listed)?;
        if let Some(number) = number_in(&run.invocations, &trials.log, number) {
            modules.extend(trials.module_before(number, &skips)?);
        }
    }
    if let Some(module) = trials.module_before(number, &IndexSet::none())?
        && !modules.contains(&module)
    {
        modules.push(module);
    }
    Ok(modules)
}

/// The minimal set's passes in their order, and the case's own if they are not
/// more.
fn few_passes(trials: &Trials<'_>, minimal: &[u32], printed: &[Element]) -> Vec<String> {
    let own = trials.template.passes.iter().filter(|passes| {
        let optimizations = passes.optimizations();
        let is_level = |one: &Element| innermost(one).name.contains("default<");
        optimizations.len() <= minimal.len().max(1) && !optimizations.iter().any(is_level)
    });
    let own = own.map(ToString::to_string);
    in_order(trials, minimal, printed).into_iter().chain(own).collect()
}

/// The passes of these invocations, in their order.
fn in_order(trials: &Trials<'_>, numbers: &[u32], printed: &[Element]) -> Option<String> {
    let spelled = |&number: &u32| spellings(&pass_of(trials, number)?, printed).into_iter().next();
    let mut passes: Vec<String> = numbers.iter().filter_map(spelled).collect();
    passes.dedup(); // One pass goes over all functions.
    (!passes.is_empty()).then(|| passes.join(","))
}

/// The first of these pipelines that fails on the loaded module.
fn first_that_fails(
    trials: &mut Trials<'_>,
    module: &str,
    pipelines: &[String],
) -> Result<Option<SinglePass>, Halt> {
    let bare = RunRequest { passes: None, ..trials.template.clone() };
    if trials.run(&[bare])?[0].0 != Verdict::Passes {
        return Ok(None); // Then the passes are not to blame.
    }
    for text in pipelines {
        let Ok(passes) = trials.loaded.workers.passes(text) else { continue };
        let request = RunRequest { passes: Some(passes.clone()), ..trials.template.clone() };
        // LLVM may not take what it prints itself.
        let Ok(first) = trials.run_one(&request) else { continue };
        if trials.oracle.judge(&first.outcome) != Verdict::Fails {
            continue;
        }
        let others = trials.run(&vec![request.clone(); TIMES - 1])?;
        if others.iter().all(|(verdict, _)| *verdict == Verdict::Fails) {
            return Ok(Some(form(trials, module, &request, &passes, &first.outcome)));
        }
    }
    Ok(None)
}

fn form(
    trials: &Trials<'_>,
    module: &str,
    request: &RunRequest,
    passes: &PassSequence,
    outcome: &Outcome,
) -> SinglePass {
    let loaded = &trials.loaded;
    let executes = request.execute != Execute::No;
    let job = Job {
        install: &loaded.workers.install,
        program: &Program { name: SINGLE_PASS_FILE.to_owned(), ir: module.as_bytes().to_vec() },
        options: &loaded.case.case.llvm_options(),
        passes: Some(passes),
        verify_each: false,
        codegen: (executes || request.emit == Emit::Object).then_some(request.codegen),
        link: executes,
        link_words: &loaded.case.case.execution.link_words(),
        limits: request.limits,
    };
    // The distribution's tools have no planted fault, and some are not installed.
    let commands = match loaded.case.case.fault {
        Some(_) => Vec::new(),
        None => job.commands().unwrap_or_default(),
    };
    let program =
        (executes && !commands.is_empty()).then(|| loaded.case.case.execution.command_line(quote));
    SinglePass {
        passes: passes.to_string(),
        n_passes: passes.optimizations().len(),
        codegen: None,
        ir: module.to_owned(),
        commands: commands.into_iter().chain(program).collect(),
        what: trials.oracle.describe(outcome),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_spelled_as_the_pipeline_has_it_and_by_its_name() {
        let sequence: PassSequence =
            "cgscc(devirt<4>(function<eager-inv>(sroa<modify-cfg>,gvn))),function(sroa<preserve-cfg>)"
                .parse()
                .unwrap();
        let expected = [
            "sroa<modify-cfg>",
            "sroa<preserve-cfg>",
            "sroa",
            "cgscc(devirt<4>(function<eager-inv>(sroa<modify-cfg>)))",
            "function(sroa<preserve-cfg>)",
        ];
        assert_eq!(spellings("sroa", &sequence.optimizations()), expected);
        assert_eq!(spellings("licm", &sequence.optimizations()), ["licm"]);
    }
}
