//! A campaign of variants as a whole: what is in its store -> plain data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_case::folder::write_whole;
use optsleuth_model::{Campaign, CompilerTally, Hunt, VariantHunt, VariantSettings};

use super::store::{FORMAT, error_file};
use crate::HuntError;
use crate::campaign::{Counts, Store, counted, join, open_parts, same_settings};

/// What a campaign did and found, also while it goes on.
pub fn campaign(folder: &Path) -> Result<Campaign, HuntError> {
    let store = Store::read(folder, &FORMAT)?;
    let settings: VariantSettings = store.settings()?;
    let letters = store.letters()?;
    let counts = Counts {
        tests: store.n_variant_tests()?,
        programs: store.n_base_programs()?,
        letters: letters.concat(),
    };
    let hunt = VariantHunt {
        variants: store.strategies()?,
        tallies: tallies(&settings, &letters),
        errors: store.errors()?,
        settings,
    };
    store.campaign(counts, Hunt::Variants(hunt))
}

/// Joins campaigns that differ in their seeds alone into a new folder. What was
/// broken on purpose is a part of the settings.
pub fn merge(parts: &[PathBuf], output: &Path) -> Result<Campaign, HuntError> {
    let (first, others) = open_parts(parts, &FORMAT)?;
    let settings: VariantSettings = first.settings()?;
    let mut seeds = BTreeMap::from([(first.beginning()?.seed, first.folder.clone())]);
    for other in &others {
        let (theirs, their) = (other.settings::<VariantSettings>()?, other.beginning()?);
        let source = first.beginning()?.source;
        same_settings(
            &other.folder,
            [("recipe", text(&theirs, &their.source), text(&settings, &source))],
        )?;
        if let Some(first) = seeds.insert(their.seed, other.folder.clone()) {
            let (second, what) = (other.folder.clone(), format!("seed {}", their.seed));
            return Err(HuntError::Overlap { first, second, what });
        }
    }
    let stores: Vec<&Store> = std::iter::once(&first).chain(&others).collect();
    join(&stores, output, &FORMAT, &settings, |merged, part| {
        let before = merged.next_number()?;
        merged.take_base_programs(&part.folder, before)?;
        for (base, generation) in part.wrong_variants()? {
            let (from, to) = (error_file(base, generation), error_file(base + before, generation));
            write_whole(&output.join(to), fs::read(part.folder.join(from))?)?;
        }
        part.n_variant_tests()
    })?;
    campaign(output)
}

/// Everything that decides what a campaign does, besides its seed.
fn text(settings: &VariantSettings, source: &str) -> String {
    let VariantSettings { strategies, compilers, levels, variants, judges, fault } = settings;
    let compilers: Vec<String> =
        compilers.iter().map(|(name, version)| format!("{name} {version}")).collect();
    format!(
        "{variants} variants by {} of {source}, compiled by {} at {}, judged by {}, {}",
        strategies.join(", "),
        compilers.join(", "),
        levels.join(", "),
        judges.join(", "),
        fault.as_deref().unwrap_or("not broken")
    )
}

/// What came of tests, by compiler and level: a generation's letters have the
/// order of these.
fn tallies(settings: &VariantSettings, generations: &[String]) -> Vec<CompilerTally> {
    let n_levels = settings.levels.len();
    let at =
        |place: usize| generations.iter().filter_map(move |letters| letters.chars().nth(place));
    let mut tallies = Vec::new();
    for (number, (compiler, _)) in settings.compilers.iter().enumerate() {
        for (place, level) in settings.levels.iter().enumerate() {
            let outcomes = counted(at(number * n_levels + place));
            let (compiler, level) = (compiler.clone(), level.clone());
            tallies.push(CompilerTally { compiler, level, outcomes });
        }
    }
    tallies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_belong_to_compilers_and_levels() {
        let settings = VariantSettings {
            strategies: vec!["hermes".to_owned()],
            compilers: [("a", "1"), ("b", "2")].map(|(a, b)| (a.into(), b.into())).to_vec(),
            levels: vec!["O0".to_owned(), "O2".to_owned()],
            variants: 2,
            judges: Vec::new(),
            fault: None,
        };
        let tallies = tallies(&settings, &["...W".to_owned(), ".C..".to_owned()]);
        let read = |place: usize| {
            let CompilerTally { compiler, level, outcomes } = &tallies[place];
            let outcomes: Vec<_> = outcomes.iter().map(|(n, c)| format!("{c} {n}")).collect();
            format!("{compiler} {level}: {}", outcomes.join(", "))
        };
        assert_eq!(tallies.len(), 4);
        assert_eq!(read(0), "a O0: 2 right");
        assert_eq!(read(1), "a O2: 1 right, 1 crash");
        assert_eq!(read(3), "b O2: 1 right, 1 wrong-code");
    }
}
