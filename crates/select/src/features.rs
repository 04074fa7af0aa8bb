//! Programs -> vectors of counts: static features, the plain alternative to
//! [`program`](crate::program). In Section 4.3, programs chosen by such are SPS.
//!
//! How many instructions of each class, blocks, loops, calls and so on there
//! are. Programs differ in size by orders of magnitude, so counts are taken by
//! their logarithms, and each feature is scaled to mean 0 and deviation 1 over
//! the population.
//!
//! **Invariant:** a feature that is the same everywhere is zero everywhere.

use optsleuth_model::{FunctionShape, ProgramShape};
use rayon::prelude::*;

use crate::program::{edges, is_recursive};
use crate::vectors::Vectors;

/// Classes of instructions, by their names in LLVM. What is in none is in a
/// class of its own.
const CLASSES: &[(&str, &[&str])] = &[
    ("allocas", &["alloca"]),
    ("loads", &["load"]),
    ("stores", &["store"]),
    ("addresses", &["getelementptr"]),
    ("atomics", &["fence", "cmpxchg", "atomicrmw"]),
    ("sums", &["add", "sub"]),
    ("products", &["mul"]),
    ("divisions", &["udiv", "sdiv", "urem", "srem"]),
    ("shifts", &["shl", "lshr", "ashr"]),
    ("bitwise", &["and", "or", "xor"]),
    ("floats", &["fneg", "fadd", "fsub", "fmul", "fdiv", "frem"]),
    ("comparisons", &["icmp", "fcmp"]),
    ("integer casts", &["trunc", "zext", "sext"]),
    (
        "other casts",
        &[
            "fptrunc",
            "fpext",
            "fptoui",
            "fptosi",
            "uitofp",
            "sitofp",
            "ptrtoint",
            "inttoptr",
            "ptrtoaddr",
            "bitcast",
            "addrspacecast",
        ],
    ),
    ("choices", &["phi", "select", "freeze"]),
    ("parts", &["extractvalue", "insertvalue", "extractelement", "insertelement", "shufflevector"]),
    ("branches", &["br", "indirectbr"]),
    ("switches", &["switch"]),
    ("calls", &["call", "invoke", "callbr"]),
    ("returns", &["ret"]),
];

/// What is counted besides instructions, in order.
const STRUCTURE: [&str; 14] = [
    "other instructions",
    "functions",
    "blocks",
    "edges",
    "joins",
    "exits",
    "loops",
    "regions",
    "region depths",
    "deepest region",
    "largest function",
    "calls within the program",
    "recursive functions",
    "uncalled functions",
];

/// What the numbers of a vector are, in order.
pub fn names() -> Vec<&'static str> {
    CLASSES.iter().map(|(name, _)| *name).chain(STRUCTURE).collect()
}

/// A vector for each program.
pub fn features(programs: &[ProgramShape]) -> Vectors {
    let counts: Vec<Vec<u64>> = programs.par_iter().map(counts).collect();
    let logarithms: Vec<Vec<f64>> = counts
        .iter()
        .map(|counts| counts.iter().map(|&count| libm::log1p(count as f64)).collect())
        .collect();
    let n_features = names().len();
    let n = programs.len() as f64;
    let scales: Vec<(f64, f64)> = (0..n_features)
        .map(|feature| {
            let values = || logarithms.iter().map(|row| row[feature]);
            let mean = values().sum::<f64>() / n;
            let variance = values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n;
            (mean, variance.sqrt())
        })
        .collect();
    let rows = logarithms.iter().map(|row| -> Vec<f32> {
        let scaled = row.iter().zip(&scales).map(|(value, (mean, deviation))| {
            // Rounding alone may make a constant deviate.
            if *deviation > 1e-9 { ((value - mean) / deviation) as f32 } else { 0.0 }
        });
        scaled.collect()
    });
    Vectors::from_rows(n_features, rows)
}

/// How often each thing is in a program, in the order of [`names`].
fn counts(program: &ProgramShape) -> Vec<u64> {
    let functions = &program.functions;
    let mut by_class = vec![0u64; CLASSES.len() + 1];
    let blocks = || functions.iter().flat_map(|function| &function.blocks);
    for opcode in blocks().flat_map(|block| &block.opcodes) {
        let class = CLASSES.iter().position(|(_, opcodes)| opcodes.contains(&opcode.as_str()));
        by_class[class.unwrap_or(CLASSES.len())] += 1;
    }
    let sum = |of: fn(&FunctionShape) -> usize| functions.iter().map(of).sum::<usize>() as u64;
    let depths = || functions.iter().flat_map(|f| &f.regions).map(|region| u64::from(region.depth));
    let callees: Vec<&[usize]> = functions.iter().map(|f| f.callees.as_slice()).collect();
    let is_called = |index: &usize| functions.iter().any(|f| f.callees.contains(index));
    let structure = [
        functions.len() as u64,
        sum(|function| function.blocks.len()),
        sum(|function| edges(function).len()),
        sum(n_joins),
        sum(|function| function.blocks.iter().filter(|b| b.successors.is_empty()).count()),
        sum(|function| function.blocks.iter().filter(|block| block.is_loop_entry).count()),
        sum(|function| function.regions.len()),
        depths().sum(),
        depths().max().unwrap_or(0),
        functions.iter().map(|function| function.blocks.len()).max().unwrap_or(0) as u64,
        sum(|function| function.callees.len()),
        is_recursive(&callees).iter().filter(|&&recursive| recursive).count() as u64,
        (0..functions.len()).filter(|index| !is_called(index)).count() as u64,
    ];
    by_class.into_iter().chain(structure).collect()
}

/// Blocks that are entered from several.
fn n_joins(function: &FunctionShape) -> usize {
    let mut n_ways = vec![0; function.blocks.len()];
    for edge in edges(function) {
        n_ways[edge.to] += 1;
    }
    n_ways.iter().filter(|&&ways| ways > 1).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use optsleuth_model::{BlockShape, RegionShape};

    fn program(opcodes: &[&str], callees: &[usize]) -> ProgramShape {
        let block = |successors: &[usize]| BlockShape {
            opcodes: opcodes.iter().map(|&opcode| opcode.to_owned()).collect(),
            successors: successors.to_vec(),
            region: Some(0),
            is_loop_entry: successors.contains(&1),
        };
        let function = FunctionShape {
            name: String::new(),
            blocks: vec![block(&[1]), block(&[1, 2]), block(&[])],
            regions: vec![
                RegionShape::default(),
                RegionShape { depth: 1, entry: 1, exit: Some(2) },
            ],
            callees: callees.to_vec(),
        };
        ProgramShape { functions: vec![function] }
    }

    fn count(program: &ProgramShape, name: &str) -> u64 {
        counts(program)[names().iter().position(|other| *other == name).unwrap()]
    }

    #[test]
    fn everything_is_counted() {
        let program = program(&["load", "add", "sub", "va_arg", "br"], &[0]);
        for (name, expected) in [
            ("loads", 3),
            ("sums", 6),
            ("other instructions", 3),
            ("stores", 0),
            ("functions", 1),
            ("blocks", 3),
            ("edges", 3),
            ("joins", 1),
            ("exits", 1),
            ("loops", 2),
            ("regions", 2),
            ("deepest region", 1),
            ("recursive functions", 1),
            ("uncalled functions", 0),
        ] {
            assert_eq!(count(&program, name), expected, "{name}");
        }
        assert_eq!(counts(&program).len(), names().len());
    }

    #[test]
    fn features_are_standardized() {
        let programs = [program(&["load"], &[]), program(&["load"; 8], &[]), program(&[], &[])];
        let vectors = features(&programs);
        let loads = names().iter().position(|name| *name == "loads").unwrap();
        let column: Vec<f32> = vectors.rows().map(|row| row[loads]).collect();
        assert!(column.iter().sum::<f32>().abs() < 1e-6);
        assert!((column.iter().map(|x| x * x).sum::<f32>() / 3.0 - 1.0).abs() < 1e-6);
        assert!(column[1] > column[0] && column[0] > column[2]);
        let blocks = names().iter().position(|name| *name == "blocks").unwrap();
        assert!(vectors.rows().all(|row| row[blocks] == 0.0));
        assert!(features(&[]).is_empty());
    }
}
