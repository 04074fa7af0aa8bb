//! Instruments archives and says what became of their members.
//!
//! `archives OUT_DIR ARCHIVE...` writes one instrumented archive and one index per input, and the two boundary
//! objects, to OUT_DIR, and prints members, refusals by reason, blocks and seconds.
//! An index has one line per function: marks, symbol, start, and `offset:slot` of each block.
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use optsleuth_objcov::{ArchiveOptions, boundary_objects, instrument_archive};
use rayon::prelude::*;

/// Object numbers per archive; no archive has more members.
const STRIDE: u32 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let out_dir = args.next().ok_or("usage: archives OUT_DIR ARCHIVE...")?;
    let archives = args.collect::<Vec<_>>();
    fs::create_dir_all(&out_dir)?;
    let (first, last) = boundary_objects();
    fs::write(out_dir.join("first.o"), first)?;
    fs::write(out_dir.join("last.o"), last)?;
    let start = Instant::now();
    let results = archives
        .par_iter()
        .enumerate()
        .map(|(index, path)| {
            one(&out_dir, path, index as u32 * STRIDE)
                .map_err(|e| format!("{}: {e}", path.display()))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let seconds = start.elapsed().as_secs_f64();

    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut n_members, mut n_functions, mut n_blocks) = (0, 0, 0);
    for (path, result) in archives.iter().zip(&results) {
        for member in &result.members {
            n_members += 1;
            match &member.outcome {
                Ok(functions) => {
                    n_functions += functions.len();
                    n_blocks +=
                        functions.iter().map(|function| function.blocks.len()).sum::<usize>();
                }
                Err(skip) => {
                    *reasons.entry(skip.kind()).or_default() += 1;
                    println!("kept {}({}): {skip}", path.display(), member.name);
                }
            }
        }
    }
    let n_kept = reasons.values().sum::<usize>();
    println!("{n_members} members, {n_kept} kept as they are {reasons:?}");
    println!("{n_functions} functions, {n_blocks} blocks, {seconds:.2} s");
    Ok(())
}

fn one(
    out_dir: &Path,
    path: &Path,
    first_object_id: u32,
) -> Result<optsleuth_objcov::ArchiveResult, Box<dyn Error + Send + Sync>> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let thin_member = |name: &str| fs::read(folder.join(name)).ok();
    let bytes = fs::read(path)?;
    let result =
        instrument_archive(&bytes, &ArchiveOptions { first_object_id, thin_member: &thin_member })?;
    let name = path.file_name().ok_or("no file name")?;
    fs::write(out_dir.join(name), &result.bytes)?;
    let mut index = String::new();
    for function in
        result.members.iter().filter_map(|member| member.outcome.as_ref().ok()).flatten()
    {
        write!(index, "{}\t{}\t{:x}\t", function.probe_symbol, function.symbol, function.start)?;
        for block in &function.blocks {
            write!(index, "{:x}:{} ", block.offset, block.slot)?;
        }
        index.push('\n');
    }
    fs::write(out_dir.join(name).with_extension("index"), index)?;
    Ok(result)
}
