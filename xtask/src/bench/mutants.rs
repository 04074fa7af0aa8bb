//! How many mutants searches for witness programs try: front end, passes,
//! execution where there is one, coverage, and what is learnt of it.

use std::time::Duration;

use optsleuth_model::Silent;
use optsleuth_rank::Recipe;
use optsleuth_search::ProgramMethod;
use optsleuth_triage::localize::{Localized, Stop};
use optsleuth_triage::witness::{LlvmPrograms, WitnessPlan, localize_by_programs};

use super::raw::{ProgramSearch, Search};
use super::{open_case, rounded};

/// One that crashes the compiler and one that computes something wrong: the
/// second is compiled, and executed twice.
const CASES: [&str; 2] = ["testdata/cases/crash", "testdata/cases/wrong-code"];
const METHODS: [ProgramMethod; 2] = [ProgramMethod::Diwi, ProgramMethod::Recbi];
const BUDGET: Duration = Duration::from_secs(20);

/// Searches by each method on each case.
pub(super) fn measure() -> anyhow::Result<Vec<ProgramSearch>> {
    let mut all = Vec::new();
    for case in CASES {
        let mut failure = open_case(case)?;
        let mut program = LlvmPrograms::read(&mut failure, &Silent)?;
        for method in METHODS {
            let plan = WitnessPlan {
                method,
                seed: 1,
                stop: Stop { budget: Some(BUDGET), ..Stop::default() },
                recipe: Recipe::default(),
                pool: None,
                blend: false,
                guard: true,
            };
            let Localized { localization, wall, occupied, worked, n_workers } =
                localize_by_programs(&mut failure, &mut program, &plan, &Silent)?;
            all.push(ProgramSearch {
                case: case.to_owned(),
                llvm: localization.llvm,
                method: method.name().to_owned(),
                passing: localization.runs - localization.failing - localization.discarded,
                search: Search {
                    runs: localization.runs,
                    witnesses: localization.witnesses,
                    workers: n_workers,
                    seconds: rounded(wall.as_secs_f64()),
                    occupied_seconds: rounded(occupied.as_secs_f64()),
                    worked_seconds: rounded(worked.as_secs_f64()),
                },
            });
        }
    }
    Ok(all)
}
