//! A bench as CSV: one row per case, method and seed, for a spreadsheet or a
//! statistics program.
//!
//! **Invariant:** RFC 4180, but with `\n` at the end of a line. A figure that
//! does not exist is an empty cell.

use optsleuth_eval::{Standing, own_standing};
use optsleuth_model::Measurement;

use super::BenchReport;
use super::board::Board;
use super::tables::SIDES;

const HEADER: &str = "case,kind,truth,llvm,method,seed,runs,witnesses,failing,discarded,seconds,\
    best_similarity,files,first_file,average_file,file_found,functions,first_function,\
    average_function,function_found\n";

/// Every measurement of a bench as CSV.
pub fn bench_csv(report: &BenchReport<'_>) -> String {
    let mut out = HEADER.to_owned();
    for found in &Board::of(report).all().measurements {
        let cells: Vec<String> = row(found).iter().map(|cell| quoted(cell)).collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

fn row(found: &Measurement) -> Vec<String> {
    let mut cells = vec![
        found.case.clone(),
        found.kind.clone(),
        found.confidence.clone().unwrap_or_default(),
        found.llvm.clone(),
        found.method.clone(),
        found.seed.to_string(),
        found.runs.to_string(),
        found.witnesses.to_string(),
        found.failing.to_string(),
        found.discarded.to_string(),
        found.seconds.map(number).unwrap_or_default(),
        number(found.best_similarity),
    ];
    for ((what, _, _), sought) in SIDES.into_iter().zip([&found.files, &found.functions]) {
        let standing = own_standing(found, what);
        let said = |say: fn(&Standing) -> String| standing.as_ref().map(say).unwrap_or_default();
        cells.push(sought.suspects.to_string());
        cells.push(said(|standing| standing.first().to_string()));
        cells.push(said(|standing| number(standing.average())));
        cells.push(said(|standing| standing.found().is_some().to_string()));
    }
    cells
}

/// At most four decimals.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
