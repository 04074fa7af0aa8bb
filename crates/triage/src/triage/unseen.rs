//! A crash of the distribution's `opt` that no worker shows -> workers with
//! assertions on, which may.
//!
//! What depends on where things lie in memory need not happen in another program
//! with the same code. But what goes wrong there often breaks an assertion first,
//! wherever things lie. So the files of the crash's stack are compiled with
//! assertions, lines and probes, and all steps of the triage run on that.
//!
//! **Invariant:** nothing is said to fail on `opt`'s word alone.

use optsleuth_case::loaded::{LoadedCase, WorkerPlan};
use optsleuth_case::workers::{Workers, steps};
use optsleuth_compiler::distribution::{Job, OptCrash};
use optsleuth_compiler::llvm::{self, Flavor, Install, SourceTree, Targets, Variant, Zoomed};
use optsleuth_model::{
    AssertionCheck, CaseFolder, CodeMap, CodegenLevel, FunctionName, PassSequence, Pipeline,
    Program, Progress, RunResult, ZoomReport,
};

use super::{LlvmInput, TriagePlan};
use crate::TriageError;
use crate::zoom::{ZoomPlan, failed_assertion, in_a_line, is_source, reasons};

/// A crash of `opt` alone.
pub(super) struct Unseen {
    /// How it ends.
    pub(super) theirs: String,
    /// Those of its stack.
    files: Vec<String>,
    install: Install,
    targets: Targets,
    map: CodeMap,
}

/// Files with assertions on, and their workers' source.
pub(super) struct Asserting {
    tree: SourceTree,
    report: ZoomReport,
}

/// Asks `opt`; `None` if it does not crash.
pub(super) fn look(
    plan: &TriagePlan,
    input: &LlvmInput<'_>,
    progress: &dyn Progress,
) -> Result<Option<Unseen>, TriageError> {
    progress.step("asking the distribution's tools");
    let Loaded { workers, program, passes, options, codegen } = load(plan, input, progress)?;
    let job = Job {
        install: &workers.install,
        program: &program,
        options: &options,
        passes: passes.as_ref(),
        verify_each: false,
        codegen,
        link: false,
        link_words: &[],
        limits: plan.limits,
    };
    let Some(OptCrash { how, frames }) = job.run()?.crash() else { return Ok(None) };
    let Workers { install, provisioned, .. } = workers;
    let map = provisioned.code_map()?;
    let files = files_of(&map, &frames);
    Ok(Some(Unseen { theirs: how, files, install, targets: provisioned.targets, map }))
}

impl Unseen {
    /// Workers that check the assertions of those files.
    pub(super) fn with_assertions(
        &self,
        zoom: &ZoomPlan,
        progress: &dyn Progress,
    ) -> Result<(Workers, Asserting), TriageError> {
        let Unseen { files, install, targets, map, .. } = self;
        let mut said = steps(install, progress);
        let tree = SourceTree::find(install, &zoom.source, &mut said)?;
        let how = llvm::ZoomPlan {
            tree: &tree,
            files: &files[..files.len().min(zoom.n_files)],
            variant: Variant::AssertionLines,
            deadline: None,
            fault: None,
        };
        let Zoomed { provisioned, files, left_out } =
            llvm::zoom(install, *targets, map, &how, &mut said)?;
        let Some(provisioned) = provisioned else {
            return Err(TriageError::NothingToZoom(in_a_line(&left_out)));
        };
        let report = ZoomReport {
            source: tree.origin.clone(),
            files,
            left_out: reasons(left_out),
            assertions: AssertionCheck::NotTried,
            memory: None,
        };
        let workers = Workers::start(provisioned, None, progress)?;
        Ok((workers, Asserting { tree, report }))
    }
}

impl Asserting {
    /// What the workers were made of, and what their failing run says.
    pub(super) fn report(self, run: &RunResult) -> ZoomReport {
        let failed = failed_assertion(&self.tree, run);
        let assertions = failed.map_or(AssertionCheck::Hold, AssertionCheck::Fails);
        ZoomReport { assertions, ..self.report }
    }
}

/// The files of a stack, innermost first. Its names are another demangler's, so
/// parameters do not count.
fn files_of(map: &CodeMap, frames: &[String]) -> Vec<String> {
    let short = |name: &str| FunctionName::parse(name).short();
    let names: Vec<String> = frames.iter().map(|frame| short(frame)).collect();
    let mut found: Vec<(usize, &str)> = (map.functions.iter())
        .filter_map(|function| {
            let depth = names.iter().position(|name| *name == short(&function.name))?;
            Some((depth, map.file(function.file)))
        })
        .filter(|(_, file)| is_source(file))
        .collect();
    found.sort_unstable();
    let mut files: Vec<String> = Vec::new();
    for (_, file) in found {
        if !files.iter().any(|known| known == file) {
            files.push(file.to_owned());
        }
    }
    files
}

/// What `opt` is asked about, and workers that know its LLVM.
struct Loaded {
    workers: Workers,
    program: Program,
    passes: Option<PassSequence>,
    options: Vec<String>,
    /// Where code is generated.
    codegen: Option<CodegenLevel>,
}

fn load(
    plan: &TriagePlan,
    input: &LlvmInput<'_>,
    progress: &dyn Progress,
) -> Result<Loaded, TriageError> {
    match input {
        LlvmInput::Case(case) => {
            let how = WorkerPlan { llvm: None, flavor: Flavor::Covered, n_workers: None };
            let loaded = LoadedCase::set_up(CaseFolder::clone(case), &how, plan.limits, progress)?;
            let LoadedCase { workers, program, request, case, .. } = loaded;
            let options = case.case.llvm_options();
            let codegen = codegen_of(&case.case.pipeline);
            Ok(Loaded { workers, program, passes: request.passes, options, codegen })
        }
        LlvmInput::Program(suspicion) => {
            let llvm = &suspicion.llvm;
            let (native, covered) = (Targets::Native, Flavor::Covered);
            let mut workers = Workers::set_up(llvm, native, covered, None, progress)?;
            let (flags, options) = (suspicion.clang_flags(), suspicion.llvm_options());
            let program = workers.load(&suspicion.program, &flags, &options, plan.limits)?;
            let passes = workers.passes_of(&suspicion.pipeline)?;
            let codegen = codegen_of(&suspicion.pipeline);
            Ok(Loaded { workers, program, passes, options, codegen })
        }
    }
}

/// How code is generated, where that is asked for.
fn codegen_of(pipeline: &Pipeline) -> Option<CodegenLevel> {
    match pipeline {
        Pipeline::Passes(_) => None,
        Pipeline::Level(_) | Pipeline::Codegen(_) => Some(pipeline.codegen()),
    }
}
