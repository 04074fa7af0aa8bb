//! What the unmodified compiler does with every program and sequence, and which
//! of its blocks are worth breaking.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use optsleuth_case::oracle::same_behaviour;
use optsleuth_case::workers::Workers;
use optsleuth_compiler::llvm::possible_faults;
use optsleuth_model::{
    Change, CodeFunction, CodeMap, Coverage, Execute, Fault, FunctionId, FunctionName, HEADERS,
    Limits, Outcome, PassSequence, Progress, RunRequest, Truth,
};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::programs::PlantProgram;
use crate::BenchError;

/// A program under a sequence that passes every time.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) program: usize,
    pub(super) pipeline: usize,
    coverage: Coverage,
}

/// A block that some programs reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) function: FunctionId,
    /// Its place among the function's blocks.
    pub(super) place: usize,
}

/// Everything that passes, and what it covers.
#[derive(Debug)]
pub(crate) struct Baseline {
    pub(super) map: CodeMap,
    pub(super) pairs: Vec<Pair>,
    n_programs: usize,
    /// A block that more programs reach breaks too much.
    most: usize,
}

/// Hangs of the faulty compiler are first looked for with these.
pub(super) const SHORT: Limits =
    Limits { compile: Duration::from_secs(2), execute: Duration::from_secs(1), ..Limits::STANDARD };

/// A run that shows whatever can go wrong.
pub(super) fn telling_request(passes: &PassSequence) -> RunRequest {
    RunRequest { execute: Execute::InChild, limits: SHORT, ..RunRequest::new(Some(passes.clone())) }
}

impl Baseline {
    /// Runs everything twice. What fails or varies is left out.
    pub(super) fn measure(
        workers: &mut Workers,
        programs: &[PlantProgram],
        pipelines: &[PassSequence],
        progress: &dyn Progress,
    ) -> Result<Baseline, BenchError> {
        let map = workers.provisioned.code_map()?;
        let mut pairs = Vec::new();
        progress.step("running the unmodified compiler");
        for (program, one) in programs.iter().enumerate() {
            progress.count(program, programs.len());
            workers.pool.load(&one.program, &[], Limits::STANDARD)?;
            let requests: Vec<RunRequest> = pipelines
                .iter()
                .flat_map(|passes| [telling_request(passes), telling_request(passes)])
                // How busy the machine is must not decide what passes.
                .map(|request| RunRequest { coverage: true, limits: Limits::STANDARD, ..request })
                .collect();
            let results = workers.pool.run_all(&requests, &|_| ());
            let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;
            for (pipeline, two) in results.chunks(2).enumerate() {
                let passes = |outcome: &Outcome| {
                    matches!(outcome, Outcome::Ok(Some(execution))
                        if same_behaviour(execution, &one.expected))
                };
                let coverage = match two {
                    [a, b] if passes(&a.outcome) && passes(&b.outcome) => a.coverage.clone(),
                    _ => None,
                };
                pairs.extend(coverage.map(|coverage| Pair { program, pipeline, coverage }));
            }
        }
        Ok(Baseline { map, pairs, n_programs: programs.len(), most: programs.len() / 2 })
    }

    /// The same where every program has one run, which was seen elsewhere. It may be all
    /// of them that a block breaks: the compiler has to break one project, and no other.
    pub(crate) fn of_runs(map: CodeMap, runs: Vec<Coverage>) -> Baseline {
        let n_programs = runs.len();
        let pair = |(program, coverage)| Pair { program, pipeline: 0, coverage };
        let pairs = runs.into_iter().enumerate().map(pair).collect();
        Baseline { map, pairs, n_programs, most: n_programs }
    }

    /// The programs that reach a block.
    pub(crate) fn programs_of(&self, candidate: Candidate) -> BTreeSet<usize> {
        self.pairs_of(candidate).into_iter().map(|pair| pair.program).collect()
    }

    /// One of the changes that a block allows: first a kind at random, then one of that
    /// kind.
    pub(crate) fn fault(
        &self,
        candidate: Candidate,
        seed: u64,
        number: usize,
    ) -> Result<Option<Fault>, BenchError> {
        let function = self.map.function(candidate.function);
        let mut possible = possible_faults(&self.map, function)?;
        let mut by_kind: BTreeMap<usize, Vec<Fault>> = BTreeMap::new();
        for fault in possible.remove(&candidate.place).unwrap_or_default() {
            let kind = match fault.change {
                Change::Invert => 0,
                Change::Skip { .. } => 1,
                Change::Increment | Change::Decrement => 2,
            };
            by_kind.entry(kind).or_default().push(fault);
        }
        let of_one_kind = pick(by_kind.into_values().collect(), seed, number * 2);
        Ok(of_one_kind.and_then(|faults| pick(faults, seed, number * 2 + 1)))
    }

    /// The file and the function that a candidate is in, as a ranking names them.
    pub(crate) fn truth(&self, candidate: Candidate) -> Truth {
        let function = self.map.function(candidate.function);
        let name = truth_name(&function.name).unwrap_or_else(|| function.name.clone());
        let component = component(self.map.file(function.file));
        Truth {
            files: vec![self.map.file(function.file).to_owned()],
            functions: vec![name],
            confidence: Some("planted".to_owned()),
            components: component.into_iter().collect(),
            fix_commit: None,
        }
    }

    /// The pairs that reach a block.
    pub(super) fn pairs_of(&self, candidate: Candidate) -> Vec<&Pair> {
        let function = self.map.function(candidate.function);
        let Some(block) = function.block_ids().nth(candidate.place) else { return Vec::new() };
        self.pairs.iter().filter(|pair| pair.coverage.contains(block)).collect()
    }

    /// The blocks of passes and analyses that some, but not too many of the programs
    /// reach, in the order in which they are to be tried: component by
    /// component in turn, and within one, function by function.
    ///
    /// Where the symbols of the installed LLVM are given, only files that were
    /// compiled anew count, and functions without such a symbol come in turn with
    /// those that have one.
    pub(crate) fn candidates(
        &self,
        seed: u64,
        installed: Option<&BTreeSet<String>>,
    ) -> Vec<(String, Candidate)> {
        let Some(installed) = installed else { return self.candidates_in(seed, |_| true) };
        let is_anew = |function: &CodeFunction| {
            let object = self.map.objects.get(function.origin.object as usize);
            // Of a header's function the linker keeps any copy.
            object.is_some_and(|object| object.zoomed.is_some())
                && self.map.file(function.file).ends_with(".cpp")
        };
        let is_inlined = |function: &CodeFunction| !installed.contains(&function.symbol);
        in_turn(vec![
            self.candidates_in(seed, |function| is_anew(function) && is_inlined(function)),
            self.candidates_in(seed, |function| is_anew(function) && !is_inlined(function)),
        ])
    }

    /// The symbols of all functions.
    pub(super) fn symbols(self) -> BTreeSet<String> {
        self.map.functions.into_iter().map(|function| function.symbol).collect()
    }

    /// The files of passes and analyses with the most blocks that programs reach.
    pub(super) fn most_reached_files(&self, n_files: usize) -> Vec<String> {
        let reached = self.reached_by_program().into_iter();
        let reached = reached.fold(Coverage::default(), |all, one| all.union(&one));
        let mut files = self.map.per_file(&reached);
        files.retain(|(file, _)| component(self.map.file(*file)).is_some());
        files.sort_by_key(|(file, n_blocks)| (Reverse(*n_blocks), *file));
        files.into_iter().take(n_files).map(|(file, _)| self.map.file(file).to_owned()).collect()
    }

    fn candidates_in(
        &self,
        seed: u64,
        is_meant: impl Fn(&CodeFunction) -> bool,
    ) -> Vec<(String, Candidate)> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
        let mut by_component: BTreeMap<String, Vec<Vec<Candidate>>> = BTreeMap::new();
        let reached = self.reached_by_program();
        for (id, function) in self.map.functions.iter().enumerate() {
            let file = self.map.file(function.file);
            let Some(component) = component(file) else { continue };
            if truth_name(&function.name).is_none() || !is_meant(function) {
                continue;
            }
            let is_wanted = |block| {
                let n_programs = reached.iter().filter(|one| one.contains(block)).count();
                n_programs > 0 && n_programs <= self.most
            };
            let function_id = FunctionId(id as u32);
            let mut blocks: Vec<Candidate> = function
                .block_ids()
                .enumerate()
                .filter(|(_, block)| is_wanted(*block))
                .map(|(place, _)| Candidate { function: function_id, place })
                .collect();
            if !blocks.is_empty() {
                blocks.shuffle(&mut rng);
                by_component.entry(component).or_default().push(blocks);
            }
        }
        let mut queues: Vec<(String, Vec<Candidate>)> = by_component
            .into_iter()
            .map(|(component, mut functions)| {
                functions.shuffle(&mut rng);
                (component, in_turn(functions))
            })
            .collect();
        queues.shuffle(&mut rng);
        let names: Vec<String> = queues.iter().map(|(name, _)| name.clone()).collect();
        let numbered = queues.into_iter().enumerate().map(|(index, (_, queue))| {
            queue.into_iter().map(|candidate| (index, candidate)).collect()
        });
        let ordered = in_turn(numbered.collect::<Vec<Vec<(usize, Candidate)>>>());
        ordered.into_iter().map(|(index, one)| (names[index].clone(), one)).collect()
    }

    fn reached_by_program(&self) -> Vec<Coverage> {
        let mut reached = vec![Coverage::default(); self.n_programs];
        for pair in &self.pairs {
            reached[pair.program] = reached[pair.program].union(&pair.coverage);
        }
        reached
    }

    /// How many programs have a pair that passes.
    pub(super) fn n_useful_programs(&self) -> usize {
        self.pairs.iter().map(|pair| pair.program).collect::<BTreeSet<_>>().len()
    }
}

/// The first of each list, then the second of each, and so on.
fn in_turn<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut out = Vec::new();
    loop {
        let before = out.len();
        out.extend(lists.iter_mut().filter_map(Iterator::next));
        if out.len() == before {
            return out;
        }
    }
}

/// The part of LLVM that a file belongs to: a pass or an analysis. Folders with
/// many passes have a component per file.
pub(super) fn component(file: &str) -> Option<String> {
    if file == HEADERS {
        return None;
    }
    let inside = file.strip_prefix("llvm/lib/")?;
    let (folder, name) = inside.rsplit_once('/')?;
    let stem = name.split('.').next().unwrap_or(name);
    match folder {
        "Analysis"
        | "Transforms/Scalar"
        | "Transforms/Utils"
        | "Transforms/Vectorize"
        | "Transforms/IPO" => Some(stem.to_owned()),
        _ => folder.strip_prefix("Transforms/").map(str::to_owned),
    }
}

/// The name by which a ranking finds a function; that of the function around
/// it, if it is a lambda.
pub(super) fn truth_name(name: &str) -> Option<String> {
    let parsed = FunctionName::parse(name);
    let short = parsed.short();
    let short = short.strip_suffix(" (lambda)").unwrap_or(&short).to_owned();
    parsed.is_meant_by(&FunctionName::parse(&short)).then_some(short)
}

/// One of many, at random but always the same one for the same number.
fn pick<T>(items: Vec<T>, seed: u64, number: usize) -> Option<T> {
    let mut rng =
        ChaCha8Rng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9).wrapping_add(number as u64));
    let index = (!items.is_empty()).then(|| rng.random_range(0..items.len()))?;
    items.into_iter().nth(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_passes_and_analyses() {
        let check = |file: &str, expected: Option<&str>| {
            assert_eq!(component(file).as_deref(), expected, "{file}");
        };
        check("llvm/lib/Transforms/Scalar/GVN.cpp", Some("GVN"));
        check("llvm/lib/Transforms/InstCombine/InstCombineAddSub.cpp", Some("InstCombine"));
        check("llvm/lib/Transforms/Vectorize/LoopVectorize.cpp", Some("LoopVectorize"));
        check("llvm/lib/Analysis/ScalarEvolution.cpp", Some("ScalarEvolution"));
        check("llvm/lib/IR/Verifier.cpp", None);
        check("llvm/lib/CodeGen/CodeGenPrepare.cpp", None);
        check(HEADERS, None);
    }

    #[test]
    fn lists_take_turns() {
        assert_eq!(in_turn(vec![vec![1, 4, 6], vec![], vec![2], vec![3, 5]]), [1, 2, 3, 4, 5, 6]);
        assert!(in_turn(Vec::<Vec<u8>>::new()).is_empty());
    }

    #[test]
    fn a_function_is_named_so_that_a_ranking_finds_it() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(truth_name(name).as_deref(), expected, "{name}");
        };
        check("llvm::GVNPass::processLoad(llvm::LoadInst*)", Some("llvm::GVNPass::processLoad"));
        check("foldAnd(llvm::Value*) [clone .isra.0]", Some("foldAnd"));
        check("llvm::f(int)::$_2::operator()(unsigned int) const", Some("llvm::f"));
        check("", None);
    }
}
