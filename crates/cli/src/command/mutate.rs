//! `optsleuth mutate`: a C program with one small change.

use std::path::PathBuf;

use clap::Args;
use optsleuth_case::folder::write_whole;
use optsleuth_report::{
    mutant_json, mutant_line, places_json, places_text, rules_json, rules_text,
};
use optsleuth_triage::TriageError;
use optsleuth_triage::mutate::{MutatePlan, Operator, mutable_program, mutate};

use super::{LlvmFlags, print, style};
use crate::exit::Exit;
use crate::failure::Failure;

/// Make one small change to a C program: a mutant close to it
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth mutate prog.c                                   # a random rule at a random place
  optsleuth mutate prog.c --list                            # the 132 rules, and how many places each has
  optsleuth mutate prog.c --list --rule plus-to-minus       # the places of one rule
  optsleuth mutate prog.c --rule plus-to-minus --place 2 -o mutant.c
  optsleuth mutate prog.c --rule insert-if --pool programs/ # a condition of another program around a statement
  optsleuth mutate old.c --seed 7 -- -std=gnu89 -Iinclude

The program is preprocessed first; lines and columns are those of the preprocessed text.
No rule changes code that shows a wrong result: output, aborts and their conditions, csmith's checksum.")]
pub(crate) struct Mutate {
    /// A .c file
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,
    #[command(flatten)]
    llvm: LlvmFlags,
    /// Apply this rule, or insert-if, insert-while, insert-call, insert-goto, blend; a random rule that applies if not given
    #[arg(long, value_name = "NAME")]
    rule: Option<Operator>,
    /// Take what is inserted from the C programs of this folder; from the tool's own if not given
    #[arg(long, value_name = "FOLDER")]
    pool: Option<PathBuf>,
    /// Apply it at this place, from 0 on; at a random one if not given
    #[arg(long, value_name = "N")]
    place: Option<usize>,
    /// Only list the rules, or the places of `--rule`
    #[arg(long, conflicts_with_all = ["place", "output"])]
    list: bool,
    /// Where the random numbers start
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write the mutant to this file, and only say what was changed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Flags for clang
    #[arg(last = true, value_name = "CFLAGS")]
    c_flags: Vec<String>,
}

impl Mutate {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let plan = MutatePlan {
            llvm: self.llvm.choice(),
            program: self.program,
            c_flags: self.c_flags,
            operator: self.rule,
            place: self.place,
            pool: self.pool,
            seed: self.seed,
        };
        let program = mutable_program(&plan)?;
        if self.list {
            match (plan.operator, self.json) {
                (None, true) => print(&rules_json(&program.rules(), &structural())),
                (None, false) => print(&rules_text(&program.rules(), &structural(), style())),
                (Some(Operator::Rule(rule)), true) => {
                    print(&places_json(&rule.name(), &program.places(rule)));
                }
                (Some(Operator::Rule(rule)), false) => print(&places_text(&program.places(rule))),
                (Some(operator @ (Operator::Insertion(_) | Operator::Blend)), _) => {
                    return Err(TriageError::NoNumberedPlaces(operator.name()).into());
                }
            }
            return Ok(Exit::Clean);
        }
        let mutant = mutate(&program, &plan)?;
        if let Some(path) = &self.output {
            write_whole(path, &mutant.text)?;
        }
        match (self.json, &self.output) {
            (true, _) => print(&mutant_json(&mutant)),
            (false, Some(_)) => print(&mutant_line(&mutant)),
            (false, None) => print(&mutant.text),
        }
        Ok(Exit::Clean)
    }
}

/// The operators that draw their place.
fn structural() -> Vec<String> {
    Operator::structural().map(|operator| operator.name()).collect()
}
