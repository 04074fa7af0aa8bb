//! A case and a localization as a search leaves them, with nasty characters in
//! every foreign text. The same each time.

use optsleuth_model::{
    AssertionCheck, AuthorKind, BISECTION_VERSION, BisectedInvocation, Bisection, BisectionEnd,
    BisectionVerdict, BrokenEarlier, Case, CaseKind, ChangeAuthors, CodePlace, CompilerSpec,
    Conditions, Cures, Evidence, Excerpt, FailedAssertion, Failure, FileSuspect, FirstWrong,
    FirstWrongStep, FunctionSuspect, HistoryEntry, IrPlace, LOCALIZATION_VERSION, LeftOutFile,
    LineAuthor, LineSuspect, Localization, MemoryCheck, MemoryError, MemoryStack, PassSequence,
    Pipeline, SinglePass, SinglePassForm, StopReason, TrueCulprit, TruthRanks, UnitChange,
    WitnessEntry, WrongValue, ZoomReport,
};
use optsleuth_report::{CaseView, case_html};

pub const N_FUNCTIONS: usize = 300;
pub const N_WITNESSES: usize = 64;
const N_BATCHES: usize = 2000;

/// Would run if a page let it.
pub const SCRIPT: &str = "<script>window.pwned = 1</script>";
pub const TRUE_FILE: &str = "llvm/lib/Transforms/Scalar/GVN.cpp";
pub const TRUE_FUNCTION: &str = "GVNPass::processLoad";

const FOLDERS: &[(&str, &[&str])] = &[
    (
        "llvm/lib/Transforms/Scalar",
        &[
            "NewGVN",
            "GVN",
            "LICM",
            "SROA",
            "EarlyCSE",
            "JumpThreading",
            "Reassociate",
            "LoopRotation",
            "SCCP",
            "DeadStoreElimination",
            "MemCpyOptimizer",
            "IndVarSimplify",
        ],
    ),
    (
        "llvm/lib/Transforms/InstCombine",
        &["InstCombineAddSub", "InstCombineCasts", "InstCombineCompares", "InstructionCombining"],
    ),
    (
        "llvm/lib/Transforms/Utils",
        &["SimplifyCFG", "Local", "SSAUpdater", "LoopUtils", "ValueMapper", "BasicBlockUtils"],
    ),
    (
        "llvm/lib/Analysis",
        &["ValueTracking", "MemorySSA", "ScalarEvolution", "LoopInfo", "MemoryDependenceAnalysis"],
    ),
    ("llvm/lib/IR", &["Instructions", "Verifier"]),
];
const METHODS: &[&str] = &[
    "processLoad(llvm::LoadInst*)",
    "run(llvm::Function&, llvm::AnalysisManager<llvm::Function>&)",
    "performScalarPRE(llvm::Instruction*) const",
    "tryToFold(llvm::DenseMap<llvm::BasicBlock*, unsigned int> const&)::{lambda(int)#1}::operator()(int) const",
    "operator<(llvm::Value const&) const",
    "replaceAllUsesWith(llvm::Value*, llvm::Value*)",
    "isSafe(llvm::Instruction const*, llvm::Loop const&, bool) [clone .cold]",
    "canonicalize(<img src=x onerror=\"window.pwned = 2\">&)",
    "visit(llvm::SmallVectorImpl<std::pair<llvm::Value*, llvm::WeakTrackingVH> >&, 'a' & \"b\")",
    "~State()",
];
const PASSES: &[&str] = &[
    "function(sroa<modify-cfg>)",
    "function(early-cse<memssa>)",
    "function(instcombine)",
    "function(simplifycfg)",
    "function(loop-mssa(licm))",
    "function(loop(loop-rotate))",
    "cgscc(inline)",
    "globaldce",
    "function(gvn<pre>)",
    "function(dse)",
    "function(reassociate)",
    "function(jump-threading)",
    "function(correlated-propagation)",
    "function(memcpyopt)",
    "function(loop(indvars,loop-deletion))",
    "function(sccp)",
    "ipsccp",
    "function(adce)",
];

/// Numbers that look like chance.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}

pub fn paths() -> Vec<String> {
    let path = |folder: &str, file: &&str| format!("{folder}/{file}.cpp");
    let all = FOLDERS.iter().flat_map(|(folder, files)| files.iter().map(move |f| path(folder, f)));
    all.chain(["(headers)".to_owned()]).collect()
}

pub fn case() -> Case {
    Case {
        id: "gvn-42".into(),
        title: Some(format!("GVN merges loads across a store {SCRIPT} & more")),
        source: Some("https://example.org/issues/42?a=<b>&c=\"d\"".into()),
        compiler: CompilerSpec::Llvm("19".into()),
        fault: None,
        input: "sum.c".into(),
        pipeline: Pipeline::Passes("sroa,early-cse,gvn,licm".into()),
        flags: vec!["-enable-load-pre=true".into(), SCRIPT.into()],
        front_end: None,
        cflags: Vec::new(),
        kind: CaseKind::WrongCode,
        signature: None,
        expected: Some("checksum = 55\nlast = 10\n".into()),
        observed: Some(format!("checksum = 0\nlast = {SCRIPT}\n")),
        fails_in: vec!["18.1.8".into(), "19.1.7".into()],
        fixed_in: Some("20.1.0".into()),
        execution: Conditions::default(),
        truth: None,
    }
}

pub fn commands() -> Vec<String> {
    vec![
        "clang-19 -O0 -Xclang -disable-O0-optnone -S -emit-llvm sum.c -o sum.ll".into(),
        "opt-19 -S -passes='function(sroa,early-cse<memssa>,gvn<pre>)' sum.ll -o bad.ll && lli-19 bad.ll".into(),
    ]
}

pub fn input() -> String {
    let mut text = "#include <stdio.h>\nint main(void) { /* </code></pre> */\n".to_owned();
    for line in 3..=250 {
        text.push_str(&format!("  int v{line} = {line} < {} && {line} & 1;\n", line * 7 % 11));
    }
    text
}

pub fn html() -> String {
    let (case, localization, bisection) = (case(), localization(), bisection());
    let (commands, input) = (commands(), input());
    case_html(&CaseView {
        case: &case,
        localizations: std::slice::from_ref(&localization),
        bisection: Some(&bisection),
        definedness: None,
        commands: &commands,
        input: &input,
    })
}

pub fn localization() -> Localization {
    let mut dice = Dice(7);
    let files = files(&mut dice);
    let functions = functions(&mut dice);
    let is_true = |function: &&FunctionSuspect| function.name.contains("::GVNPass::processLoad");
    let rank = functions.iter().find(is_true).map(|function| function.rank);
    let culprit = |name: &str, rank| TrueCulprit { name: name.into(), rank };
    Localization {
        of_gcc: false,
        version: LOCALIZATION_VERSION,
        case: "gvn-42".into(),
        llvm: "19.1.7".into(),
        method: "locseq".into(),
        seed: 7,
        runs: N_BATCHES * 10,
        witnesses: 15_421,
        failing: 3912,
        discarded: 667,
        programs: None,
        seconds: None,
        stopped: StopReason::Stable,
        formula: "ochiai".into(),
        aggregation: "mean".into(),
        weights: "similarity".into(),
        failure: Failure {
            kind: "wrong-code".into(),
            what: format!("the program prints 0 instead of 55 {SCRIPT}"),
            passes: failing().to_string(),
            blocks: 84_213,
            commands: Vec::new(),
        },
        best_similarity: 0.9712,
        truth: Some(TruthRanks {
            files: vec![culprit(TRUE_FILE, Some(2))],
            functions: vec![culprit(TRUE_FUNCTION, rank), culprit("GVNPass::neverCalled", None)],
        }),
        files,
        functions,
        lines: vec![suspect_line()],
        zoom: Some(zoom()),
        witness_list: witnesses(&mut dice),
        history: history(&mut dice),
    }
}

/// The line that a page shows with the source around it.
fn suspect_line() -> LineSuspect {
    LineSuspect {
        rank: 1,
        place: CodePlace { path: TRUE_FILE.into(), line: 42, column: 9 },
        function: "llvm::GVNPass::processLoad(llvm::LoadInst*)".into(),
        score: 1.0,
        cures: Cures { blocks: 1, tried: 2 },
        on_stack: None,
        writes: 3,
        excerpt: Excerpt {
            first: 41,
            lines: ["  bool Ok = true;", "  if (A < B)", "    Ok = false;"].map(Into::into).into(),
        },
    }
}

fn zoom() -> ZoomReport {
    ZoomReport {
        source: "llvm-toolchain-19 1:19.1.7-3".into(),
        files: vec![TRUE_FILE.into()],
        left_out: vec![LeftOutFile { path: "llvm/lib/IR/Value.cpp".into(), why: "why".into() }],
        assertions: AssertionCheck::Fails(FailedAssertion {
            text: format!("Assertion `A < B' failed in f {SCRIPT}"),
            place: Some(CodePlace { path: TRUE_FILE.into(), line: 7, column: 0 }),
            functions: vec!["llvm::GVNPass::run()".into()],
        }),
        memory: Some(MemoryCheck::Fails(MemoryError {
            what: "heap-use-after-free".into(),
            stacks: vec![MemoryStack {
                title: "freed by".into(),
                functions: vec!["llvm::GVNPass::erase(llvm::Instruction*)".into()],
            }],
        })),
    }
}

/// How many invocations the failing run has.
pub const N_INVOCATIONS: u32 = 4200;
/// The guilty one.
pub const GUILTY: u32 = 2931;

pub fn bisection() -> Bisection {
    let mut dice = Dice(11);
    let invocations = (0..N_INVOCATIONS).map(|index| BisectedInvocation {
        index,
        pass: if index == GUILTY { "gvn".into() } else { format!("p{}", index % 40) },
        unit: format!("function f{}{SCRIPT}", index / 40),
        required: index % 97 == 0,
        skipped: false,
        changed: (index <= GUILTY + 500).then(|| dice.below(5000 + index as usize) < 900),
    });
    let before = "define i32 @f(ptr %p) {\n  %a = load i32, ptr %p\n  store i32 0, ptr %p\n  \
                  %b = load i32, ptr %p\n  %c = icmp ult i32 %a, %b ; a < b & \"c\"\n  ret i32 %b\n}\n";
    Bisection {
        version: BISECTION_VERSION,
        case: "gvn-42".into(),
        llvm: "19.1.7".into(),
        kind: "wrong-code".into(),
        what: format!("the program prints 0 instead of 55 {SCRIPT}"),
        passes: failing().to_string(),
        commands: commands(),
        invocations: invocations.collect(),
        certain_after: Some(GUILTY),
        masked: true,
        needed: vec![12, GUILTY],
        minimal: vec![12, 1400, GUILTY],
        verdict: BisectionVerdict::Guilty { invocation: GUILTY, needs_also: vec![12, 1400] },
        first_wrong: FirstWrongStep::Found(Box::new(FirstWrong {
            invocation: 1400,
            value: WrongValue {
                observable: "argument 2 of printf".into(),
                before: "55".into(),
                after: format!("0 {SCRIPT}"),
                place_before: None,
                place_after: Some(IrPlace {
                    instruction: format!("%b = load i32, ptr %p {SCRIPT}"),
                    function: format!("f{SCRIPT}"),
                    source: None,
                }),
            },
        })),
        broken_earlier: Some(BrokenEarlier {
            verifier: "verify-each".into(),
            invocation: 1400,
            message: format!("Instruction does not dominate all uses! {SCRIPT}"),
        }),
        change: Some(UnitChange {
            before: before.into(),
            after: Some(before.replace("  %b = load i32, ptr %p\n", "").replace("%b", "%a")),
            authors: Some(ChangeAuthors {
                before: vec![author(3, AuthorKind::Replaced)],
                after: vec![author(3, AuthorKind::OperandReplaced), author(3, AuthorKind::Changed)],
                cut: true,
            }),
        }),
        gcc: None,
        single_pass: SinglePassForm::Found(SinglePass {
            passes: "function(gvn<pre>)".into(),
            n_passes: 1,
            codegen: None,
            ir: before.into(),
            commands: vec!["opt-19 '-passes=function(gvn<pre>)' -S single-pass.ll".into()],
            what: "the program prints 0 instead of 55".into(),
        }),
        ended: BisectionEnd::Complete,
        runs: 187,
        seconds: 4.25,
    }
}

fn author(line: usize, did: AuthorKind) -> LineAuthor {
    LineAuthor {
        line,
        did,
        function: format!("llvm::GVNPass::processLoad{SCRIPT}"),
        file: TRUE_FILE.into(),
        called_by: vec![format!("llvm::GVNPass::runImpl \"{SCRIPT}")],
    }
}

fn evidence(dice: &mut Dice) -> Evidence {
    let blocks = 1 + dice.below(1800);
    Evidence {
        blocks,
        unwitnessed: dice.below(blocks.min(40)),
        witnesses: dice.below(15_421),
        nearest: if dice.below(12) == 0 { None } else { Some(dice.below(N_WITNESSES)) },
        cures: None,
    }
}

/// The rank and the score of a place. Pairs of neighbours tie, and share the
/// last of their places.
fn scored(place: usize, n: usize) -> (usize, f64) {
    let last = match place % 7 {
        3 if place + 1 < n => place + 1,
        _ => place,
    };
    (last + 1, 0.93 - 0.9 * (last as f64 / n as f64))
}

fn files(dice: &mut Dice) -> Vec<FileSuspect> {
    let paths = paths();
    let n = paths.len();
    let suspects = paths.into_iter().enumerate();
    suspects
        .map(|(i, path)| {
            let (rank, score) = scored(i, n);
            FileSuspect { rank, path, score, evidence: evidence(dice) }
        })
        .collect()
}

fn functions(dice: &mut Dice) -> Vec<FunctionSuspect> {
    let paths = paths();
    (0..N_FUNCTIONS)
        .map(|i| {
            let path = &paths[i % paths.len()];
            let file = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".cpp");
            let class = match (file, i % 4) {
                ("(headers)", _) => {
                    "llvm::DenseMapBase<llvm::DenseMap<llvm::Value*, int> >".to_owned()
                }
                (_, 3) => format!("(anonymous namespace)::{file}Impl"),
                _ => format!("llvm::{file}Pass"),
            };
            let method = METHODS[(i + i / paths.len() * 3) % METHODS.len()];
            // The second file's first function is the culprit.
            let method = if i == 1 { METHODS[0] } else { method };
            let (rank, score) = scored(i, N_FUNCTIONS);
            let name = format!("{class}::{method}");
            FunctionSuspect { rank, name, path: path.clone(), score, evidence: evidence(dice) }
        })
        .collect()
}

fn failing() -> PassSequence {
    let mut dice = Dice(3);
    let mut passes: Vec<&str> = (0..64).map(|_| PASSES[dice.below(PASSES.len())]).collect();
    passes.insert(20, "function(evil<script>window.pwned = 3</script>)");
    passes.join(",").parse().unwrap()
}

fn witnesses(dice: &mut Dice) -> Vec<WitnessEntry> {
    (0..N_WITNESSES)
        .map(|i| {
            let mut passes = failing().optimizations();
            for _ in 0..=i / 6 {
                passes.remove(dice.below(passes.len()));
                let new: PassSequence = PASSES[dice.below(PASSES.len())].parse().unwrap();
                if dice.below(2) == 0 {
                    passes.insert(dice.below(passes.len()), new.optimizations()[0].clone());
                }
            }
            // One that cannot be read.
            let text = PassSequence::of_optimizations(passes).unwrap().to_string();
            let text = if i == 5 { text.replace(')', "") } else { text };
            WitnessEntry { passes: text, edit: None, similarity: 0.9712 - 0.006 * i as f64 }
        })
        .collect()
}

fn history(dice: &mut Dice) -> Vec<HistoryEntry> {
    let mut best = 0.55;
    (1..=N_BATCHES)
        .map(|batch| {
            let done = batch as f64 / N_BATCHES as f64;
            let batch_similarity = 0.5 + 0.35 * done.sqrt() + dice.below(100) as f64 / 1000.0;
            best = f64::max(best, batch_similarity + 0.03).min(0.9712);
            HistoryEntry {
                seconds: None,
                runs: batch * 10,
                witnesses: batch * 7,
                best_similarity: best,
                batch_similarity: (dice.below(20) > 0).then_some(batch_similarity),
                true_file: Some(2 + (40.0 * (1.0 - done).powi(3)) as usize),
                true_function: Some(2 + (900.0 * (1.0 - done).powi(4)) as usize),
            }
        })
        .collect()
}
