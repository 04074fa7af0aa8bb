//! Where the known culprits of a case stand in a ranking.
//!
//! A case names its culprits as the fix shows them: files by path, functions as
//! a person names them, `BoUpSLP::vectorizeTree`. What the linker knows is
//! longer; [`FunctionName`] says what of it counts.
//!
//! **Invariant:** the truth is compared with a ranking that is already made; it
//! never takes part in making one.

use optsleuth_model::{
    CodeFunction, CodeMap, FunctionName, HEADERS, TrueCulprit, Truth, TruthRanks,
};

use crate::ranking::Ranking;

/// The rank of the file with this path.
pub fn file_rank(ranking: &Ranking, map: &CodeMap, path: &str) -> Option<usize> {
    let suspect = ranking.files.iter().find(|suspect| map.file(suspect.id) == path);
    suspect.map(|suspect| suspect.rank)
}

/// The best rank of a function that goes by this name: whose own name, or that
/// of a function that it is a lambda or a local class of, ends with these
/// components. Parameters, template arguments, return types, clone suffixes and
/// anonymous namespaces do not count on either side.
///
/// All overloads go by one name, and a name without a class is that of methods
/// of many classes: the more of it is given, the less it can be mistaken.
pub fn function_rank(ranking: &Ranking, map: &CodeMap, truth: &str) -> Option<usize> {
    function_rank_where(ranking, map, truth, |_| true)
}

/// The ranks of everything that a case knows to be guilty. A function counts
/// only in one of the case's files, or in a header: a method of the same name
/// elsewhere is somebody else.
pub fn truth_ranks(ranking: &Ranking, map: &CodeMap, truth: &Truth) -> TruthRanks {
    let is_place = |path: &str| path == HEADERS || truth.files.iter().any(|file| file == path);
    let file =
        |name: &String| TrueCulprit { name: name.clone(), rank: file_rank(ranking, map, name) };
    let function = |name: &String| TrueCulprit {
        name: name.clone(),
        rank: function_rank_where(ranking, map, name, is_place),
    };
    TruthRanks {
        files: truth.files.iter().map(file).collect(),
        functions: truth.functions.iter().map(function).collect(),
    }
}

fn function_rank_where(
    ranking: &Ranking,
    map: &CodeMap,
    truth: &str,
    is_place: impl Fn(&str) -> bool,
) -> Option<usize> {
    let truth = FunctionName::parse(truth);
    // Reading a name takes a while, and most do not even contain the word.
    let word = truth.last().filter(|word| !word.starts_with("operator")).unwrap_or_default();
    let is_meant = |function: &CodeFunction| {
        function.name.contains(word)
            && is_place(map.file(function.file))
            && FunctionName::parse(&function.name).is_meant_by(&truth)
    };
    // The first has the best rank.
    let suspect = ranking.functions.iter().find(|suspect| is_meant(map.function(suspect.id)));
    suspect.map(|suspect| suspect.rank)
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
        assert_eq!(function_rank(&ranking, &map, truth), expected, "{truth}");
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
        // The mean over its functions: TRACKING has ranks 2 and 5, SLP the rest.
        assert_eq!(file_rank(&ranking, &map, TRACKING), Some(1));
        assert_eq!(file_rank(&ranking, &map, SLP), Some(2));
        assert_eq!(file_rank(&ranking, &map, "SLPVectorizer.cpp"), None);
        assert_eq!(file_rank(&ranking, &map, HEADERS), None);
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
        let ranks = truth_ranks(&ranking, &map, &truth);
        assert_eq!((ranks.best_file(), ranks.best_function()), (Some(2), Some(1)));
        // The second stands in another file, the third in a header.
        let functions: Vec<Option<usize>> = ranks.functions.iter().map(|f| f.rank).collect();
        assert_eq!(functions, [Some(3), None, Some(1), None]);
    }
}
