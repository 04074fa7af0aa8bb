//! A campaign of variants as a whole: what is in its store -> plain data.

use std::path::Path;

use optsleuth_model::{EMI_CAMPAIGN_VERSION, EmiCampaign, EmiSettings, EmiTally};

use super::store::Store;
use super::trial::counted;
use super::{N_BLOCKS, NOTES, SECONDS, SETTINGS, WORKERS};
use crate::HuntError;

/// What a campaign did and found, also while it goes on.
pub fn emi_campaign(folder: &Path) -> Result<EmiCampaign, HuntError> {
    let store = Store::read(folder)?;
    let settings: Option<EmiSettings> = store.get(SETTINGS)?;
    let settings = settings.ok_or_else(|| store.damaged("it has no settings"))?;
    Ok(EmiCampaign {
        version: EMI_CAMPAIGN_VERSION,
        tests: store.n_tests()?,
        findings: store.findings()?.into_iter().map(|(_, finding)| finding).collect(),
        seeds: store.n_seeds()?,
        variants: store.strategies()?,
        tallies: tallies(&settings, &store.letters()?),
        rejected: store.rejected()?,
        errors: store.errors()?,
        dismissed: store.dismissed()?,
        growth: store.growth()?,
        n_blocks: store.get(N_BLOCKS)?.unwrap_or_default(),
        seconds: store.get(SECONDS)?.unwrap_or_default(),
        workers: store.get(WORKERS)?.unwrap_or(1),
        notes: store.get(NOTES)?.unwrap_or_default(),
        settings,
    })
}

/// What came of tests, by compiler and level: a generation's letters have the
/// order of these.
fn tallies(settings: &EmiSettings, generations: &[String]) -> Vec<EmiTally> {
    let n_levels = settings.levels.len();
    let at =
        |place: usize| generations.iter().filter_map(move |letters| letters.chars().nth(place));
    let mut tallies = Vec::new();
    for (tester, (compiler, _)) in settings.compilers.iter().enumerate() {
        for (place, level) in settings.levels.iter().enumerate() {
            let outcomes = counted(at(tester * n_levels + place));
            let (compiler, level) = (compiler.clone(), level.clone());
            tallies.push(EmiTally { compiler, level, outcomes });
        }
    }
    tallies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_belong_to_compilers_and_levels() {
        let settings = EmiSettings {
            seed: 1,
            strategies: vec!["hermes".to_owned()],
            compilers: [("a", "1"), ("b", "2")].map(|(a, b)| (a.into(), b.into())).to_vec(),
            levels: vec!["O0".to_owned(), "O2".to_owned()],
            variants: 2,
            source: "csmith".to_owned(),
            judges: Vec::new(),
            fault: None,
        };
        let tallies = tallies(&settings, &["...W".to_owned(), ".C..".to_owned()]);
        let read = |place: usize| {
            let EmiTally { compiler, level, outcomes } = &tallies[place];
            let outcomes: Vec<_> = outcomes.iter().map(|(n, c)| format!("{c} {n}")).collect();
            format!("{compiler} {level}: {}", outcomes.join(", "))
        };
        assert_eq!(tallies.len(), 4);
        assert_eq!(read(0), "a O0: 2 right");
        assert_eq!(read(1), "a O2: 1 right, 1 crash");
        assert_eq!(read(3), "b O2: 1 right, 1 wrong-code");
    }
}
