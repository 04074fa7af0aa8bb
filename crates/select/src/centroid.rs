//! Vectors in clusters -> a few that are far from the middle and from each
//! other: Algorithm 3.
//!
//! Begins with the vector nearest to each cluster's center. Then, one after the
//! other, comes the one with the largest product of its distance to the center
//! of all and its distance to the nearest that was chosen already.
//!
//! Choosing makes no product larger. So a product that was computed when less
//! was chosen is a bound, and only vectors with the largest bounds are looked
//! at again: those of 3,000 choices would otherwise be 3,000 times all.
//!
//! **Invariant:** the choice is that of the algorithm as written; of equals the
//! one with the lowest index comes first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::kernel::{self, Group};
use crate::vectors::Vectors;
use crate::xmeans::{self, Clusters, xmeans};

/// How many vectors are looked at at a time.
const PART: usize = 1024;

/// Finds clusters as the paper does, then chooses `k` vectors by [`select`].
pub fn representatives(vectors: &Vectors, k: usize, seed: u64) -> Vec<usize> {
    select(vectors, &xmeans(vectors, &xmeans::Settings::new(seed)), k)
}

/// Chooses `k` vectors; all, if there are no more. Indices are in the order in
/// which they were chosen.
///
/// The first are those in the middle of clusters, the largest cluster first:
/// what is left out if `k` is less than the number of clusters is in small
/// ones. What has the product zero, as the duplicate of a chosen one has, comes
/// last; the paper's loop would find nothing there.
///
/// # Panics
/// If the clusters are those of other vectors.
pub fn select(vectors: &Vectors, clusters: &Clusters, k: usize) -> Vec<usize> {
    assert_eq!(vectors.len(), clusters.assignment.len(), "clusters of other vectors");
    let mut chosen = middles(vectors, clusters);
    chosen.truncate(k);
    let mut is_chosen = vec![false; vectors.len()];
    for &index in &chosen {
        is_chosen[index] = true;
    }

    let center = mean(vectors);
    let to_center = distances(vectors, &center);
    let mut candidates: BinaryHeap<Candidate> = (0..vectors.len())
        .into_par_iter()
        .filter(|&index| !is_chosen[index])
        .map(|index| {
            let mut candidate = Candidate {
                score: f64::INFINITY,
                index: Reverse(index),
                nearest: f32::INFINITY,
                n_seen: 0,
            };
            candidate.look_again(vectors, &chosen, to_center[index]);
            candidate
        })
        .collect::<Vec<_>>()
        .into();
    while chosen.len() < k {
        let Some(mut best) = candidates.pop() else { break };
        if best.n_seen == chosen.len() {
            chosen.push(best.index.0);
        } else {
            best.look_again(vectors, &chosen, to_center[best.index.0]);
            candidates.push(best);
        }
    }
    chosen
}

/// A vector that may be chosen.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Its product; at least what it is by now.
    score: f64,
    index: Reverse<usize>,
    /// The square of the distance to the nearest of the first `n_seen` chosen.
    nearest: f32,
    n_seen: usize,
}

impl Candidate {
    /// Takes account of what was chosen since.
    fn look_again(&mut self, vectors: &Vectors, chosen: &[usize], to_center: f32) {
        let found = kernel::widely(Nearest {
            vectors,
            vector: self.index.0,
            others: &chosen[self.n_seen..],
            nearest: self.nearest,
        });
        self.nearest = found;
        self.n_seen = chosen.len();
        // Without clusters nothing is chosen at first, and nothing is near.
        let nearest = if found.is_finite() { f64::from(found).sqrt() } else { 1.0 };
        self.score = f64::from(to_center) * nearest;
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.score.total_cmp(&other.score).then(self.index.cmp(&other.index))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// The vector nearest to its center in each cluster, the largest cluster first.
fn middles(vectors: &Vectors, clusters: &Clusters) -> Vec<usize> {
    let mut members = clusters.members();
    let mut order: Vec<usize> = (0..clusters.len()).collect();
    order.sort_by_key(|&cluster| Reverse(members[cluster].len()));
    let nearest = |cluster: usize| {
        let members = std::mem::take(&mut members[cluster]);
        let center = clusters.centers.padded(cluster);
        let squares = members.iter().map(|&index| {
            let vector = vectors.padded(index as usize);
            (kernel::widely(Square { left: vector, right: center }), index as usize)
        });
        squares.min_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, index)| index)
    };
    order.into_iter().filter_map(nearest).collect()
}

/// The center of all, with padding.
fn mean(vectors: &Vectors) -> Vec<Group> {
    let width = vectors.width();
    let sums: Vec<Vec<f64>> = vectors
        .groups()
        .par_chunks(PART * width)
        .map(|part| {
            let mut sum = vec![0.0; width * 8];
            for vector in part.chunks(width) {
                for (sum, number) in sum.iter_mut().zip(vector.as_flattened()) {
                    *sum += f64::from(*number);
                }
            }
            sum
        })
        .collect();
    let count = vectors.len().max(1) as f64;
    let mut center = vec![[0.0; 8]; width];
    for (position, number) in center.as_flattened_mut().iter_mut().enumerate() {
        *number = (sums.iter().map(|sum| sum[position]).sum::<f64>() / count) as f32;
    }
    center
}

/// The distance of each vector to this one.
fn distances(vectors: &Vectors, center: &[Group]) -> Vec<f32> {
    let vectors = vectors.groups().par_chunks(vectors.width());
    vectors.map(|vector| kernel::widely(Square { left: vector, right: center }).sqrt()).collect()
}

/// The square of the distance of two vectors.
struct Square<'a> {
    left: &'a [Group],
    right: &'a [Group],
}

impl WithSimd for Square<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let (left, right) = (kernel::registers::<S>(self.left), kernel::registers::<S>(self.right));
        kernel::squared_distance(simd, left, right)
    }
}

/// The square of the distance to the nearest of others; `nearest` if none is
/// nearer.
struct Nearest<'a> {
    vectors: &'a Vectors,
    vector: usize,
    others: &'a [usize],
    nearest: f32,
}

impl WithSimd for Nearest<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let vector = kernel::registers::<S>(self.vectors.padded(self.vector));
        let mut nearest = self.nearest;
        for &other in self.others {
            let other = kernel::registers::<S>(self.vectors.padded(other));
            nearest = nearest.min(kernel::squared_distance(simd, vector, other));
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use proptest::prelude::*;

    /// Algorithm 3, line by line, but for what it does not say.
    fn as_written(vectors: &Vectors, clusters: &Clusters, k: usize) -> Vec<usize> {
        let center = mean(vectors);
        let square = |left: usize, right: &[Group]| {
            kernel::widely(Square { left: vectors.padded(left), right })
        };
        let mut selected = middles(vectors, clusters);
        selected.truncate(k);
        while selected.len() < k.min(vectors.len()) {
            let mut best = None;
            for instance in (0..vectors.len()).filter(|instance| !selected.contains(instance)) {
                let to_center = f64::from(square(instance, &center).sqrt());
                let to_selected =
                    selected.iter().map(|&other| square(instance, vectors.padded(other)));
                let nearest = f64::from(to_selected.fold(f32::INFINITY, f32::min)).sqrt();
                let score = to_center * nearest;
                if best.is_none_or(|(most, _)| score > most) {
                    best = Some((score, instance));
                }
            }
            selected.push(best.unwrap().1);
        }
        selected
    }

    fn line(points: &[f32]) -> Vectors {
        Vectors::from_rows(1, points.iter().map(|&x| [x]))
    }

    fn one_cluster(vectors: &Vectors) -> Clusters {
        let center = mean(vectors).as_flattened()[..vectors.dimension()].to_vec();
        let centers = Vectors::from_rows(vectors.dimension(), [center]);
        Clusters { centers, assignment: vec![0; vectors.len()] }
    }

    #[test]
    fn what_is_far_from_the_middle_and_from_the_chosen_comes_first() {
        // The center is 3; 3 is nearest. Then 9: 6·6; 0: 3·3; then 2, at 1·1,
        // against 1, at 2·1.
        let vectors = line(&[0.0, 1.0, 2.0, 3.0, 9.0]);
        assert_eq!(select(&vectors, &one_cluster(&vectors), 5), [3, 4, 0, 1, 2]);
    }

    #[test]
    fn of_equals_the_first_comes_first() {
        let vectors = line(&[0.0, 2.0, -2.0, 2.0, -2.0]);
        assert_eq!(select(&vectors, &one_cluster(&vectors), 9), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn fewer_than_clusters_are_those_of_the_largest() {
        let centers = line(&[0.0, 10.0, 20.0]);
        let assignment = vec![0, 1, 1, 2, 2, 2];
        let clusters = Clusters { centers, assignment };
        let vectors = line(&[0.0, 9.0, 10.0, 19.0, 20.0, 21.0]);
        assert_eq!(select(&vectors, &clusters, 2), [4, 2]);
        assert_eq!(select(&vectors, &clusters, 3), [4, 2, 0]);
        assert_eq!(select(&vectors, &clusters, 0), []);
    }

    #[test]
    fn of_nothing_nothing_is_chosen() {
        let nothing = Vectors::zeros(4, 0);
        let clusters = xmeans(&nothing, &xmeans::Settings::new(1));
        assert_eq!(select(&nothing, &clusters, 3), []);
    }

    #[test]
    fn duplicates_come_last() {
        let vectors = line(&[5.0, 5.0, 1.0, 5.0, 0.0, 0.0]);
        let chosen = select(&vectors, &one_cluster(&vectors), 6);
        assert_eq!(chosen.len(), 6);
        let mut first: Vec<f32> = chosen[..3].iter().map(|&index| vectors.row(index)[0]).collect();
        first.sort_by(f32::total_cmp);
        assert_eq!(first, [0.0, 1.0, 5.0]);
    }

    #[test]
    fn threads_change_no_choice() {
        let mut random = SplitMix64::new(6);
        let rows = (0..5000).map(|_| -> [f32; 20] { std::array::from_fn(|_| random.fraction()) });
        let vectors = Vectors::from_rows(20, rows);
        let on = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| representatives(&vectors, 100, 1))
        };
        let chosen = on(1);
        assert_eq!(chosen, on(3));
        let mut different = chosen.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!((chosen.len(), different.len()), (100, 100));
    }

    proptest! {
        #[test]
        fn it_is_the_algorithm_as_written(
            points in prop::collection::vec((-5i8..5, -5i8..5, -5i8..5), 0..60),
            k in 0usize..70, seed in 0u64..5,
        ) {
            let rows = points.iter().map(|&(x, y, z)| [x, y, z].map(f32::from));
            let vectors = Vectors::from_rows(3, rows);
            let clusters = xmeans(&vectors, &xmeans::Settings::new(seed));
            let chosen = select(&vectors, &clusters, k);
            prop_assert_eq!(chosen, as_written(&vectors, &clusters, k));
        }
    }
}
