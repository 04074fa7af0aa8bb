//! Where the known culprits of a case stand in a ranking.
//!
//! A case names its culprits as the fix shows them: files by path, functions as
//! a person names them, `BoUpSLP::vectorizeTree`. What the linker knows is
//! longer; [`FunctionName`] says what of it counts.
//!
//! **Invariant:** the truth is compared with a ranking that is already made; it
//! never takes part in making one.

use optsleuth_model::{
    CodeFunction, CodeMap, FileId, FunctionId, FunctionName, HEADERS, TrueCulprit, Truth,
    TruthRanks,
};

use crate::ranking::{Ranking, Suspect};

/// A case's culprits, found in the compiler once: names take a while to read.
#[derive(Clone, Debug)]
pub struct Culprits {
    files: Vec<Culprit<FileId>>,
    functions: Vec<Culprit<FunctionId>>,
}

/// What the case says, and what goes by that name.
#[derive(Clone, Debug)]
struct Culprit<Id> {
    name: String,
    ids: Vec<Id>,
}

impl Culprits {
    /// Finds what a case means. A file is met by its whole path. A function is
    /// met if its own name, or that of a function that it is a lambda or a
    /// local class of, ends with the components that the case gives;
    /// parameters, template arguments, return types, clone suffixes and
    /// anonymous namespaces do not count. It counts only in one of the case's
    /// files, or in a header: a method of the same name elsewhere is another
    /// one.
    pub fn find(map: &CodeMap, truth: &Truth) -> Culprits {
        let file = |name: &String| {
            let ids = (0..map.files.len() as u32).map(FileId).filter(|id| map.file(*id) == name);
            Culprit { name: name.clone(), ids: ids.collect() }
        };
        let function = |name: &String| {
            let ids = functions(map, name, |path| {
                path == HEADERS || truth.files.iter().any(|file| file == path)
            });
            Culprit { name: name.clone(), ids }
        };
        Culprits {
            files: truth.files.iter().map(file).collect(),
            functions: truth.functions.iter().map(function).collect(),
        }
    }

    /// Where they stand.
    pub fn ranks(&self, ranking: &Ranking) -> TruthRanks {
        TruthRanks {
            files: self.files.iter().map(|culprit| culprit.rank(&ranking.files)).collect(),
            functions: self.functions.iter().map(|c| c.rank(&ranking.functions)).collect(),
        }
    }
}

impl<Id: Copy + PartialEq> Culprit<Id> {
    fn rank(&self, suspects: &[Suspect<Id>]) -> TrueCulprit {
        // The first has the best rank.
        let first = suspects.iter().find(|suspect| self.ids.contains(&suspect.id));
        TrueCulprit { name: self.name.clone(), rank: first.map(|suspect| suspect.rank) }
    }
}

fn functions(map: &CodeMap, name: &str, is_place: impl Fn(&str) -> bool) -> Vec<FunctionId> {
    let truth = FunctionName::parse(name);
    // Most do not even contain the word.
    let word = truth.last().filter(|word| !word.starts_with("operator")).unwrap_or_default();
    let is_meant = |function: &CodeFunction| {
        function.name.contains(word)
            && is_place(map.file(function.file))
            && FunctionName::parse(&function.name).is_meant_by(&truth)
    };
    let all = map.functions.iter().enumerate();
    all.filter(|(_, function)| is_meant(function)).map(|(id, _)| FunctionId(id as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{coverage, named};
    use crate::ranking::{Ranker, Recipe};
    use crate::spectrum::Spectrum;

    const SLP: &str = "llvm/lib/Transforms/Vectorize/SLPVectorizer.cpp";
    const TRACKING: &str = "llvm/lib/Analysis/ValueTracking.cpp";

    /// Functions with one block each, the first the most suspect.
    const FUNCTIONS: [(&str, &str); 9] = [
        ("llvm::any_of<X&, f(int)::$_4>(X&, f(int)::$_4)", HEADERS),
        ("matchSelectPattern(llvm::CmpInst::Predicate, llvm::Value*)", TRACKING),
        (
            "(anonymous namespace)::HorizontalReduction::tryToReduce(llvm::slpvectorizer::BoUpSLP&)",
            SLP,
        ),
        (
            "llvm::slpvectorizer::BoUpSLP::vectorizeTree(int)::$_2::operator()(unsigned int) const",
            SLP,
        ),
        ("llvm::matchSelectPattern(llvm::Value*, llvm::Value*&)", TRACKING),
        ("llvm::slpvectorizer::BoUpSLP::vectorizeTree(int)", SLP),
        ("llvm::operator<<(llvm::raw_ostream&, llvm::slpvectorizer::BoUpSLP const&)", SLP),
        ("llvm::slpvectorizer::BoUpSLP::~BoUpSLP()", SLP),
        ("llvm::slpvectorizer::BoUpSLP::operator bool() const", SLP),
    ];

    fn example() -> (CodeMap, Ranking) {
        let blocks: Vec<[(u32, u32); 1]> =
            (0..FUNCTIONS.len() as u32).map(|block| [(block, block + 1)]).collect();
        let functions: Vec<_> =
            FUNCTIONS.iter().zip(&blocks).map(|((name, path), b)| (*name, *path, &b[..])).collect();
        let map = named(&functions);
        let mut spectrum = Spectrum::new(&[coverage(0..FUNCTIONS.len() as u32)]);
        for first in 0..FUNCTIONS.len() as u32 {
            spectrum.push_witness(&coverage(first..FUNCTIONS.len() as u32), 1.0);
        }
        let ranker = Ranker::new(&map, spectrum.universe());
        let ranking = ranker.rank(&spectrum, &Recipe::default());
        (map, ranking)
    }

    fn check(truth: &str, expected: Option<usize>) {
        let (map, ranking) = example();
        let truth = Truth {
            files: vec![SLP.to_owned(), TRACKING.to_owned()],
            functions: vec![truth.to_owned()],
            ..Truth::default()
        };
        let ranks = Culprits::find(&map, &truth).ranks(&ranking);
        assert_eq!(ranks.best_function(), expected, "{truth:?}");
    }

    #[test]
    fn a_name_is_met_by_its_last_components() {
        check("tryToReduce", Some(3));
        check("HorizontalReduction::tryToReduce", Some(3));
        check("(anonymous namespace)::HorizontalReduction::tryToReduce", Some(3));
        check("llvm::matchSelectPattern", Some(5));
        check("slpvectorizer::BoUpSLP::~BoUpSLP", Some(8));
        check("llvm::operator<<", Some(7));
        check("BoUpSLP::operator bool", Some(9));
    }

    #[test]
    fn the_best_of_all_that_go_by_a_name_counts() {
        check("matchSelectPattern", Some(2));
    }

    #[test]
    fn a_lambda_counts_for_its_function() {
        check("BoUpSLP::vectorizeTree", Some(4));
        check("BoUpSLP::vectorizeTree(int)", Some(4));
        check("BoUpSLP::operator()", None);
    }

    #[test]
    fn a_part_of_a_component_is_no_match() {
        check("Reduce", None);
        check("SLP::vectorizeTree", None);
        check("other::tryToReduce", None);
        check("BoUpSLP", None);
        check("llvm::operator<", None);
        check("f", None);
        check("", None);
        check("::", None);
    }

    #[test]
    fn a_file_is_met_by_its_whole_path() {
        let (map, ranking) = example();
        let check = |path: &str, expected| {
            let truth = Truth { files: vec![path.to_owned()], ..Truth::default() };
            assert_eq!(Culprits::find(&map, &truth).ranks(&ranking).best_file(), expected);
        };
        // The mean over its functions: TRACKING has ranks 2 and 5, SLP the rest.
        check(TRACKING, Some(1));
        check(SLP, Some(2));
        check("SLPVectorizer.cpp", None);
        check(HEADERS, None);
    }

    #[test]
    fn the_truth_of_a_case_is_ranked_name_by_name() {
        let (map, ranking) = example();
        let names = ["tryToReduce", "matchSelectPattern", "any_of", "inlinedAway"];
        let truth = Truth {
            files: vec![SLP.to_owned()],
            functions: names.map(str::to_owned).to_vec(),
            ..Truth::default()
        };
        let ranks = Culprits::find(&map, &truth).ranks(&ranking);
        assert_eq!((ranks.best_file(), ranks.best_function()), (Some(2), Some(1)));
        // The second stands in another file, the third in a header.
        let functions: Vec<Option<usize>> = ranks.functions.iter().map(|f| f.rank).collect();
        assert_eq!(functions, [Some(3), None, Some(1), None]);
    }
}
