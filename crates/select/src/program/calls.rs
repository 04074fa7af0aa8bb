//! Functions' vectors -> a program's vector: Algorithm 2.
//!
//! What is called is averaged into what calls it, from the leaves up; a made-up
//! function that calls all that nothing calls stands for the program.
//!
//! Recursive calls are removed first. Which of the calls of a cycle is the
//! recursive one depends on where one begins: here, a search in depth begins at
//! the functions in the module's order, goes along callees in theirs, and a
//! call of a function that it is still in is recursive. So are calls of itself.
//!
//! **Invariant:** what remains has no cycle, whatever the calls are.

/// The vector of a program whose functions call these functions and have these
/// vectors; zero if it has none.
///
/// # Panics
/// If a vector has another dimension, or a callee does not exist.
pub fn program_vector(
    callees: &[&[usize]],
    mut functions: Vec<Vec<f32>>,
    dimension: usize,
) -> Vec<f32> {
    let search = Search::of(callees);
    let mut is_called = vec![false; callees.len()];
    for &function in &search.finished {
        let kept = &search.kept[function];
        kept.iter().for_each(|&callee| is_called[callee] = true);
        functions[function] = mean_with(&functions[function], kept, &functions);
    }
    let starts: Vec<usize> = (0..callees.len()).filter(|&function| !is_called[function]).collect();
    mean_with(&vec![0.0; dimension], &starts, &functions)
}

/// For each function whether it makes a recursive call.
pub fn is_recursive(callees: &[&[usize]]) -> Vec<bool> {
    let search = Search::of(callees);
    let pairs = callees.iter().zip(&search.kept);
    pairs.map(|(all, kept)| kept.len() < all.len()).collect()
}

/// `(own + sum of the callees') / (number of callees + 1)`.
fn mean_with(own: &[f32], callees: &[usize], functions: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = own.to_vec();
    for &callee in callees {
        assert_eq!(functions[callee].len(), sum.len(), "a vector of another dimension");
        for (sum, number) in sum.iter_mut().zip(&functions[callee]) {
            *sum += number;
        }
    }
    sum.iter().map(|number| number / (callees.len() + 1) as f32).collect()
}

/// A search in depth through the calls.
struct Search {
    /// The callees of each function, but those called recursively.
    kept: Vec<Vec<usize>>,
    /// Functions, each behind all its kept callees.
    finished: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Finished,
}

impl Search {
    fn of(callees: &[&[usize]]) -> Search {
        let n_functions = callees.len();
        let mut search = Search { kept: vec![Vec::new(); n_functions], finished: Vec::new() };
        let mut states = vec![State::New; n_functions];
        for root in 0..n_functions {
            if states[root] != State::New {
                continue;
            }
            states[root] = State::Open;
            // Functions that the search is in, and their callees that are left.
            let mut path = vec![(root, callees[root].iter())];
            while let Some((function, left)) = path.last_mut() {
                let function = *function;
                match left.next() {
                    Some(&callee) => {
                        if states[callee] != State::Open {
                            search.kept[function].push(callee);
                        }
                        if states[callee] == State::New {
                            states[callee] = State::Open;
                            path.push((callee, callees[callee].iter()));
                        }
                    }
                    None => {
                        states[function] = State::Finished;
                        search.finished.push(function);
                        path.pop();
                    }
                }
            }
        }
        search
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(callees: &[&[usize]], functions: &[f32], expected: f32) {
        let functions = functions.iter().map(|&x| vec![x, 1.0 - x]).collect();
        let found = program_vector(callees, functions, 2);
        assert!((found[0] - expected).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn the_program_of_figure_5() {
        // main, func1 to func7. func1 and func4 call each other, func7 itself.
        let callees: [&[usize]; 8] = [&[2, 3], &[4, 6], &[5, 6], &[7], &[1], &[], &[], &[7]];
        let own = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        let func1 = (2.0 + 16.0 + 64.0) / 3.0;
        let func2 = (4.0 + 32.0 + 64.0) / 3.0;
        let func3 = (8.0 + 128.0) / 2.0;
        let main = (1.0 + func2 + func3) / 3.0;
        check(&callees, &own, (main + func1) / 3.0);
        let recursive = [false, false, false, false, true, false, false, true];
        assert_eq!(is_recursive(&callees), recursive);
    }

    #[test]
    fn a_program_of_one_function_is_half_of_it() {
        // The made-up caller is zero, and it is averaged, too.
        check(&[&[]], &[6.0], 3.0);
        check(&[&[0]], &[6.0], 3.0);
    }

    #[test]
    fn a_cycle_is_cut_where_it_closes() {
        // 2 calls 0 again: 2 = 12, 1 = (8+12)/2 = 10, 0 = (4+10)/2 = 7.
        check(&[&[1], &[2], &[0]], &[4.0, 8.0, 12.0], 3.5);
    }

    #[test]
    fn a_shared_callee_counts_for_each_caller() {
        // 1 = (3+9)/2 = 6, 2 = (5+9)/2 = 7, 0 = (1+6+7)/3.
        check(&[&[1, 2], &[3], &[3], &[]], &[1.0, 3.0, 5.0, 9.0], 14.0 / 6.0);
    }

    #[test]
    fn no_function_is_zero() {
        assert_eq!(program_vector(&[], vec![], 3), [0.0; 3]);
    }

    #[test]
    fn long_chains_of_calls_are_no_trouble() {
        let lists: Vec<Vec<usize>> = (1..=100_000).map(|next| vec![next % 100_000]).collect();
        let callees: Vec<&[usize]> = lists.iter().map(Vec::as_slice).collect();
        let found = program_vector(&callees, vec![vec![2.0]; 100_000], 1);
        assert!((found[0] - 1.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn every_function_is_finished_behind_what_it_calls(
            calls in prop::collection::vec(prop::collection::btree_set(0usize..12, 0..6), 12),
        ) {
            let lists: Vec<Vec<usize>> =
                calls.into_iter().map(|set| set.into_iter().collect()).collect();
            let callees: Vec<&[usize]> = lists.iter().map(Vec::as_slice).collect();
            let search = Search::of(&callees);
            let place = |f: usize| search.finished.iter().position(|&other| other == f).unwrap();
            for (function, kept) in search.kept.iter().enumerate() {
                prop_assert!(kept.iter().all(|&callee| place(callee) < place(function)));
            }
        }
    }
}
