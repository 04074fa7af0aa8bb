//! Shapes of real programs by real LLVMs, against what the distribution's own
//! `opt` prints of the same programs.
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use std::collections::BTreeMap;
use std::path::Path;

use optsleuth_compiler::llvm::{self, Flavor, Install, Targets, Worker};
use optsleuth_compiler::spawn::Tool;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_compiler::{clang, csmith};
use optsleuth_model::{FunctionShape, Limits, Program, ProgramShape};

use crate::ready;

/// The oldest that is installed, the usual and the newest.
fn llvms() -> [Install; 3] {
    let mut installed = llvm::installed();
    let newest = installed.pop().expect("an LLVM");
    [installed.swap_remove(0), ready::install(), newest]
}

/// A C program as this LLVM reads it, with names for its blocks.
fn compiled(install: &Install, path: &Path) -> Program {
    let named = ["-fno-discard-value-names".to_owned()];
    clang::read_program(install, path, &named).expect("a program")
}

fn shape(install: &Install, program: &Program) -> ProgramShape {
    let provisioned = llvm::provision(install, Targets::Native, Flavor::Plain, &mut |_| {});
    let mut worker = Worker::start(&provisioned.expect("a worker")).expect("a worker");
    worker.load(program, &[], Limits::STANDARD).expect("a program that loads");
    worker.shape().expect("a shape")
}

/// `depth entry exit` of every region, in opt's order, by function.
fn printed_regions(install: &Install, program: &Program) -> BTreeMap<String, Vec<String>> {
    let folder = Workdir::new().expect("a folder");
    let input = folder.file("program.ll");
    std::fs::write(&input, &program.ir).expect("a file");
    let opt = Tool::new(install.tool("opt").expect("opt"))
        .args(["-passes=print<regions>", "-disable-output"])
        .arg(&input);
    let output = opt.check().expect("opt prints regions");
    let text = String::from_utf8(output.stderr).expect("text");
    let mut functions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut function = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("Region Tree for function: ") {
            name.clone_into(&mut function);
            functions.insert(function.clone(), Vec::new());
        } else if let Some((depth, ways)) =
            line.trim().strip_prefix('[').and_then(|rest| rest.split_once("] "))
        {
            let (entry, exit) = ways.split_once(" => ").expect("entry and exit");
            let region = format!("{depth} {entry} {exit}");
            functions.get_mut(&function).expect("a function").push(region);
        }
    }
    functions
}

/// The labels of every function's blocks, in order.
fn labels(program: &Program) -> BTreeMap<String, Vec<String>> {
    let text = String::from_utf8(program.ir.clone()).expect("assembly");
    let mut labels: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut function = None;
    for line in text.lines() {
        if line.starts_with("define ") {
            let name = line.split_once('@').and_then(|(_, rest)| rest.split_once('('));
            function = name.map(|(name, _)| name.to_owned());
        } else if line == "}" {
            function = None;
        } else if let (Some(function), false) = (&function, line.starts_with([' ', ';', '{']))
            && let Some((label, _)) = line.split_once(':')
        {
            labels.entry(function.clone()).or_default().push(label.to_owned());
        }
    }
    labels
}

#[track_caller]
fn check_against_opt(install: &Install, program: &Program) -> ProgramShape {
    let shape = shape(install, program);
    let (printed, labels) = (printed_regions(install, program), labels(program));
    assert_eq!(shape.functions.len(), printed.len());
    for function in &shape.functions {
        let name = |&block: &usize| labels[&function.name][block].as_str();
        assert_eq!(function.blocks.len(), labels[&function.name].len(), "{}", function.name);
        let regions: Vec<String> = function
            .regions
            .iter()
            .map(|region| {
                let exit = region.exit.as_ref().map_or("<Function Return>", name);
                format!("{} {} {exit}", region.depth, name(&region.entry))
            })
            .collect();
        assert_eq!(regions, printed[&function.name], "{} of LLVM {}", function.name, install.major);
    }
    shape
}

fn function<'a>(shape: &'a ProgramShape, name: &str) -> &'a FunctionShape {
    shape.functions.iter().find(|function| function.name == name).expect("such a function")
}

#[test]
fn regions_are_those_that_opt_prints() {
    for install in llvms() {
        for name in ["shapes/bubble.c", "shapes/control.c", "sum.c"] {
            check_against_opt(&install, &compiled(&install, &ready::testdata(name)));
        }
    }
}

#[test]
fn regions_of_a_large_program_are_those_that_opt_prints() {
    let folder = Workdir::new().expect("a folder");
    let file = folder.file("generated.c");
    csmith::generate(2, &[], &file).expect("a program");
    for install in llvms() {
        let shape = check_against_opt(&install, &compiled(&install, &file));
        let count = |of: fn(&FunctionShape) -> usize| shape.functions.iter().map(of).sum::<usize>();
        assert!(count(|function| function.blocks.len()) > 300);
        assert!(count(|function| function.regions.len()) > 100);
    }
}

#[test]
fn bubble_sort_is_two_loops_and_a_condition() {
    let shapes = llvms()
        .map(|install| shape(&install, &compiled(&install, &ready::testdata("shapes/bubble.c"))));
    let sort = function(&shapes[1], "sort");
    assert_eq!(sort.blocks.len(), 11);
    let regions: Vec<(u32, usize, Option<usize>)> =
        sort.regions.iter().map(|region| (region.depth, region.entry, region.exit)).collect();
    // The function, the outer loop, the inner one, the condition in it.
    assert_eq!(regions, [(0, 0, None), (1, 1, Some(10)), (2, 3, Some(8)), (3, 4, Some(6))]);
    let entries: Vec<usize> =
        (0..sort.blocks.len()).filter(|&block| sort.blocks[block].is_loop_entry).collect();
    assert_eq!(entries, [1, 3]);
    // Inner to outer: each block is in the innermost region around it.
    let innermost: Vec<Option<usize>> = sort.blocks.iter().map(|block| block.region).collect();
    let expected = [0, 1, 1, 2, 3, 3, 2, 2, 1, 1, 0];
    assert_eq!(innermost, expected.map(Some));
    assert_eq!(sort.blocks[10].opcodes, ["load", "ret"]);
    assert_eq!(sort.blocks[4].successors, [5, 6]);
    // Pointers had types once; control flow has not changed.
    for other in &shapes {
        let other = function(other, "sort");
        assert_eq!(other.regions, sort.regions);
        let flow = |of: &FunctionShape| -> Vec<_> {
            of.blocks.iter().map(|b| (b.successors.clone(), b.region, b.is_loop_entry)).collect()
        };
        assert_eq!(flow(other), flow(sort));
    }
}

#[test]
fn hard_control_flow_has_a_shape() {
    for install in llvms() {
        let shape = shape(&install, &compiled(&install, &ready::testdata("shapes/control.c")));
        let of = |name: &str| function(&shape, name);
        // Four cases and the default, two of them the same block.
        assert_eq!(of("choose").blocks[0].successors.len(), 4);
        let n_loops =
            |name: &str| of(name).blocks.iter().filter(|block| block.is_loop_entry).count();
        assert_eq!(n_loops("irreducible"), 0);
        assert_eq!(n_loops("endless"), 1);
        assert!(of("endless").blocks.iter().all(|block| !block.opcodes.contains(&"ret".into())));
        // The loop behind the return is no loop: nothing reaches it.
        assert_eq!(n_loops("unreachable"), 0);
        let n_unreached =
            of("unreachable").blocks.iter().filter(|block| block.region.is_none()).count();
        assert!(n_unreached >= 2);
        assert!(of("unreachable").blocks[0].region.is_some());
        assert!(of("computed").blocks[0].successors.len() == 1);
        let calls = |name: &str| -> Vec<&str> {
            function(&shape, name)
                .callees
                .iter()
                .map(|&i| shape.functions[i].name.as_str())
                .collect()
        };
        assert_eq!(calls("direct"), ["direct"]);
        assert_eq!(calls("even"), ["odd"]);
        assert_eq!(calls("odd"), ["even"]);
        assert_eq!(calls("choose"), [""; 0]);
        // In the module's order, each once, and only what has a body.
        let all = ["choose", "irreducible", "half_endless", "returns", "unreachable"];
        let rest = ["direct", "even", "odd", "computed"];
        assert_eq!(calls("main"), [&all[..], &rest[..]].concat());
    }
}

#[test]
fn a_shape_is_of_the_program_that_was_loaded_last() {
    let mut worker = ready::loaded(&ready::ir("define void @\"a b\\0A\\5C\"() { ret void }"));
    assert_eq!(worker.shape().expect("a shape").functions[0].name, "a b\n\\");
    worker.load(&ready::ir("declare void @f()"), &[], Limits::STANDARD).expect("it loads");
    assert_eq!(worker.shape().expect("a shape"), ProgramShape::default());
}
