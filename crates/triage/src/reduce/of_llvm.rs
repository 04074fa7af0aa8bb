//! A case of LLVM's passes: fewer of them, then a smaller program, in IR or C.
//!
//! **Invariant:** the loaded case and its failing run are what was kept last.

use std::path::Path;

use optsleuth_case::CaseError;
use optsleuth_case::loaded::{FailingCase, LoadedCase, Reproduction, failing_request};
use optsleuth_case::oracle::Oracle;
use optsleuth_compiler::clang::{self, Markers};
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::reducers;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Case, CaseKind, CheckStatus, Emit, OptLevel, PassSequence, Pipeline, Program, ProgramReduction,
    ProgramSize, REDUCTION_VERSION, Reduction, ReductionEnd, RunRequest, SequenceReduction,
    is_source,
};

use super::c::{note_sanitizers, shrink_c};
use super::external::reduce_with;
use super::ir::reduce_ir;
use super::judge::{Judge, Patience};
use super::keeper::Keeper;
use super::question::{Candidate, Question};
use super::sequence::{expanded, fewer_passes};
use super::source::Source;
use super::{HANG, Part, Reducer, Work, note, read_file, with};
use crate::TriageError;
use crate::reduce::Reducing;

/// A case that was seen to fail, and how far it is reduced.
#[derive(Debug)]
pub(super) struct OfLlvm<'a> {
    loaded: &'a mut LoadedCase,
    reproduction: &'a Reproduction,
    keeper: Keeper,
    reduction: Reduction,
}

impl Work for OfLlvm<'_> {
    fn reduce(&mut self, how: &Reducing, patience: Patience<'_>) -> Result<(), TriageError> {
        if how.part != Part::Program && !self.reduction.sequence.finished {
            // Fewer passes make every later run faster; but the program has its turn.
            let is_first = how.part == Part::Both;
            self.reduce_passes(if is_first { patience.half() } else { patience })?;
        }
        if how.part != Part::Passes && !self.reduction.program.finished && !patience.is_over() {
            self.reduce_program(how, patience)?;
        }
        Ok(())
    }

    fn state(&mut self) -> (&Keeper, &mut Reduction) {
        (&self.keeper, &mut self.reduction)
    }
}

impl<'a> OfLlvm<'a> {
    pub(super) fn new(
        failing: &'a mut FailingCase,
        earlier: Option<Reduction>,
    ) -> Result<OfLlvm<'a>, TriageError> {
        let FailingCase { loaded, reproduction } = failing;
        let keeper = Keeper::open(&loaded.case)?;
        let reduction = match earlier {
            Some(earlier) => Reduction { what: reproduction.what.clone(), ..earlier },
            None => untouched(loaded, reproduction)?,
        };
        Ok(OfLlvm { loaded, reproduction, keeper, reduction })
    }

    fn question(&self, request: RunRequest) -> Question {
        let oracle = self.reproduction.oracle.clone();
        let request = RunRequest { coverage: false, ..request };
        let options = &self.loaded.case.case.llvm_options();
        let mut question =
            Question::new(request, options, oracle, &self.reproduction.first.outcome);
        question.hang_within(HANG);
        question
    }

    fn reduce_passes(&mut self, patience: Patience<'_>) -> Result<(), TriageError> {
        patience.progress.step("taking the pipeline apart");
        let Case { kind, pipeline, .. } = self.loaded.case.case.clone();
        let Some(passes) = self.loaded.request.passes.clone() else { return Ok(()) };
        let whole = expanded(&self.loaded.workers, &passes);
        let text = Pipeline::Passes(passes.to_string());
        let limits = self.loaded.request.limits;
        let request = RunRequest { limits, ..failing_request(kind, &text, passes.clone()) };
        let question = self.question(request.clone());
        let registry = self.loaded.workers.registry.clone();
        let mut judge = Judge::new(self.loaded.pools(), question, patience);
        let mut start =
            whole.filter(|whole| judge.fails(Candidate::Passes(whole.clone())).unwrap_or(false));
        let is_level = matches!(pipeline, Pipeline::Level(_));
        if start.is_none() && (!is_level || judge.fails(Candidate::Passes(passes.clone()))?) {
            start = Some(passes);
        }
        let Some(start) = start else {
            self.reduction.runs += judge.n_runs();
            self.reduction.sequence.finished = true;
            let note =
                "the failure needs the code generator at the case's level, so its passes stay";
            self.reduction.notes.push(note.to_owned());
            return Ok(());
        };
        let nested = |flat: PassSequence| flat.resolve(&registry).ok();
        let left = fewer_passes(&mut judge, &start, &nested)?;
        self.reduction.runs += judge.n_runs();
        self.reduction.tools = with(&self.reduction.tools, "delta debugging of passes");
        // What did not change stays as it was written.
        let pipeline = match self.loaded.request.passes.as_ref() == Some(&left) {
            true => pipeline,
            false => Pipeline::Passes(left.to_string()),
        };
        self.keeper.keep_pipeline(&pipeline)?;
        let sequence = &mut self.reduction.sequence;
        sequence.after = left.to_string();
        sequence.n_after = left.n_passes();
        sequence.n_before = sequence.n_before.max(start.n_passes());
        sequence.finished = !patience.is_over();
        let case = &mut self.loaded.case.case;
        if case.front_end() != OptLevel::O0 {
            case.front_end = Some(case.front_end()); // The IR stays the level's.
        }
        case.pipeline = pipeline;
        let coverage = self.loaded.request.coverage;
        self.loaded.request = RunRequest { passes: Some(left), coverage, ..request };
        self.keeper.keep_state(&self.reduction)
    }

    fn reduce_program(
        &mut self,
        how: &Reducing,
        patience: Patience<'_>,
    ) -> Result<(), TriageError> {
        match is_source(&self.loaded.case.input()) {
            true => self.reduce_c(how, patience),
            false => self.reduce_ir(how, patience),
        }
    }

    fn reduce_ir(&mut self, how: &Reducing, patience: Patience<'_>) -> Result<(), TriageError> {
        const REDUCED: &str = "reduced.ll";
        let reducer = match how.tool {
            Reducer::Auto | Reducer::BuiltIn => None,
            Reducer::LlvmReduce => {
                let found = reducers::Reducer::of_ir(&self.loaded.workers.install);
                Some(found.ok_or(TriageError::NoReducer("llvm-reduce"))?)
            }
            Reducer::Cvise => return Err(TriageError::NoReducer("cvise for IR")),
        };
        let question = self.question(self.loaded.request.clone());
        let mut program = self.loaded.program.clone();
        let OfLlvm { loaded, keeper, reduction, .. } = self;
        let mut judge = Judge::new(loaded.pools(), question, patience);
        judge.find_promises()?;
        note_promises(&judge.question, reduction);
        let keep = &mut |program: &Program, oracle: &Oracle| {
            keeper.keep_program(REDUCED, &program.ir, oracle.expected_output())?;
            let text = String::from_utf8_lossy(&program.ir);
            reduction.program.after = ProgramSize::of(&program.ir, &text);
            REDUCED.clone_into(&mut reduction.program.input_after);
            keeper.keep_state(reduction)
        };
        let mut tools = Vec::new();
        if let Some(reducer) = reducer {
            tools.push(reducer.name());
            let text = String::from_utf8_lossy(&program.ir).into_owned();
            let named = |ir: &str| Program { name: REDUCED.to_owned(), ir: ir.into() };
            let (text, _) = reduce_with(
                &mut judge,
                &reducer,
                &how.callback_binary,
                (REDUCED, &text),
                &mut |ir, oracle| keep(&named(ir), oracle),
            )?;
            let smaller = named(&text);
            judge.load(&smaller)?;
            if judge.accepts_loaded()? {
                program = smaller;
            } else {
                judge.load(&program)?;
                keep(&program, &judge.question.oracle)?;
            }
        }
        tools.push("built-in reduction of IR");
        let reduced = reduce_ir(&mut judge, program, keep)?;
        reduction.runs += judge.n_runs();
        reduction.program.finished = reduced.finished;
        for tool in tools {
            reduction.tools = with(&reduction.tools, tool);
        }
        loaded.program = reduced.program;
        Ok(())
    }

    fn reduce_c(&mut self, how: &Reducing, patience: Patience<'_>) -> Result<(), TriageError> {
        let (path, flags) = (self.loaded.case.input(), self.loaded.case.case.clang_flags());
        let original = String::from_utf8_lossy(&read_file(&path)?).into_owned();
        let install = self.loaded.workers.install.clone();
        let question = self.question(self.loaded.request.clone());
        let OfLlvm { loaded, keeper, reduction, .. } = self;
        let mut judge = Judge::new(loaded.pools(), question, patience);
        judge.source = Some(Source::new(&install, &path, &flags));
        judge.find_promises()?;
        note_promises(&judge.question, reduction);
        let whole = standing_alone(&install, &path, &flags, &original)?;
        judge.hold_to_source(&whole)?;
        note_sanitizers(&judge, reduction);
        if !judge.accepts_source(&whole)? {
            let what = "the program does not fail any more outside of its folder".to_owned();
            return Err(
                CaseError::NotReproduced { status: CheckStatus::FailsOtherwise, what }.into()
            );
        }
        shrink_c(&mut judge, how, whole, keeper, reduction)?;
        let ir = judge.text()?;
        reduction.program.after.instructions =
            ProgramSize::of(&[], &String::from_utf8_lossy(&ir)).instructions;
        reduction.runs += judge.n_runs();
        Ok(())
    }
}

/// The program without includes of files beside it: candidates lie elsewhere.
fn standing_alone(
    install: &Install,
    path: &Path,
    flags: &[String],
    text: &str,
) -> Result<String, TriageError> {
    if !text.lines().any(|line| line.trim_start().starts_with("#include \"")) {
        return Ok(text.to_owned());
    }
    let folder = Workdir::new()?;
    Ok(clang::preprocess(install, path, flags, Markers::Dropped, &folder.file("whole"))?)
}

fn note_promises(question: &Question, reduction: &mut Reduction) {
    if question.oracle.kind() == CaseKind::WrongCode && !question.keeps_promises() {
        note(
            reduction,
            "the program itself overflows where IR forbids it, or the like, so smaller ones were \
             not checked for that",
        );
    }
}

/// A case before anything was done to it.
fn untouched(
    loaded: &mut LoadedCase,
    reproduction: &Reproduction,
) -> Result<Reduction, TriageError> {
    let passes = loaded.request.passes.as_ref();
    let text = passes.map(ToString::to_string).unwrap_or_default();
    let n_passes = passes.map_or(0, PassSequence::n_passes);
    let path = loaded.case.input();
    let file = read_file(&path)?;
    let request = RunRequest { emit: Emit::Text, ..RunRequest::new(None) };
    let ir = loaded.workers.pool.first().run(&request)?.emitted;
    let size = ProgramSize::of(&file, &String::from_utf8_lossy(&ir));
    let case = &loaded.case.case;
    Ok(Reduction {
        version: REDUCTION_VERSION,
        case: case.id.clone(),
        llvm: loaded.workers.install.version.clone(),
        what: reproduction.what.clone(),
        sequence: SequenceReduction {
            before: text.clone(),
            after: text,
            n_before: n_passes,
            n_after: n_passes,
            finished: false,
        },
        program: ProgramReduction {
            input_before: case.input.clone(),
            input_after: case.input.clone(),
            before: size,
            after: size,
            finished: false,
        },
        tools: Vec::new(),
        runs: 0,
        seconds: 0.0,
        end: ReductionEnd::Unfinished,
        notes: Vec::new(),
    })
}
