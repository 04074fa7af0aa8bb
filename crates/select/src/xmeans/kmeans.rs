//! k-means: Lloyd's algorithm, and where to begin.
//!
//! **Invariant:** sums are made of parts of a fixed size, added up in order.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::Clusters;
use crate::kernel::{self, Group};
use crate::random::SplitMix64;
use crate::vectors::Vectors;

/// Centers that have not arrived by then stay where they are.
const MOST_ROUNDS: usize = 100;
/// How many vectors are summed up at a time.
const PART: usize = 1024;

/// Some vectors of many.
pub(super) struct Members<'a> {
    pub(super) vectors: &'a Vectors,
    pub(super) indices: &'a [u32],
}

/// Clusters around their means.
#[derive(Clone, Debug)]
pub(super) struct Means {
    /// Assignments are in the order of the members.
    pub(super) clusters: Clusters,
    /// The sum of squared distances to its center, per cluster.
    pub(super) errors: Vec<f64>,
}

impl Means {
    /// Two clusters; one if all members are the same.
    pub(super) fn two(members: &Members, tolerance: f32, random: &mut SplitMix64) -> Means {
        Means::around(members, two_centers(members, random), tolerance)
    }

    /// Moves centers to the means of the members that are nearest to them, until
    /// they have arrived. Centers without members vanish.
    pub(super) fn around(members: &Members, mut centers: Vectors, tolerance: f32) -> Means {
        let limit = tolerance * tolerance;
        let mut assignment = vec![0; members.indices.len()];
        let mut errors = vec![0.0; centers.len()];
        for _ in 0..MOST_ROUNDS {
            let sums = assign(members, &centers, &mut assignment);
            let kept: Vec<usize> =
                (0..centers.len()).filter(|&cluster| sums.counts[cluster] > 0).collect();
            if kept.len() < centers.len() {
                centers = centers.pick(&kept);
                continue;
            }
            errors = sums.errors.clone();
            let moved = Vectors::from_rows(centers.dimension(), sums.means(centers.dimension()));
            let pairs = centers.rows().zip(moved.rows());
            let has_arrived = pairs.into_iter().all(|(old, new)| squared(old, new) <= limit);
            centers = moved;
            if has_arrived {
                break;
            }
        }
        Means { clusters: Clusters { centers, assignment }, errors }
    }

    /// How many members each cluster has.
    pub(super) fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.clusters.len()];
        for &cluster in &self.clusters.assignment {
            sizes[cluster as usize] += 1;
        }
        sizes
    }
}

/// What is known after each vector went to its nearest center.
#[derive(Clone, Debug)]
struct Sums {
    counts: Vec<usize>,
    errors: Vec<f64>,
    /// Per cluster, with padding.
    totals: Vec<f64>,
}

impl Sums {
    fn zero(centers: &Vectors) -> Sums {
        Sums {
            counts: vec![0; centers.len()],
            errors: vec![0.0; centers.len()],
            totals: vec![0.0; centers.groups().len() * 8],
        }
    }

    fn add(&mut self, other: &Part) {
        for (sum, part) in self.counts.iter_mut().zip(&other.counts) {
            *sum += part;
        }
        for (sum, part) in self.errors.iter_mut().zip(&other.errors) {
            *sum += part;
        }
        for (sum, part) in self.totals.iter_mut().zip(other.totals.as_flattened()) {
            *sum += f64::from(*part);
        }
    }

    /// The mean of each cluster. None is empty.
    fn means(&self, dimension: usize) -> impl Iterator<Item = Vec<f32>> {
        let padded = self.totals.len() / self.counts.len().max(1);
        let totals = self.totals.chunks(padded.max(1));
        totals.zip(&self.counts).map(move |(totals, &count)| {
            totals[..dimension].iter().map(|total| (total / count as f64) as f32).collect()
        })
    }
}

/// Sends each member to its nearest center; the first of those as near.
fn assign(members: &Members, centers: &Vectors, assignment: &mut [u32]) -> Sums {
    let parts: Vec<Part> = members
        .indices
        .par_chunks(PART)
        .zip(assignment.par_chunks_mut(PART))
        .map(|(indices, assignment)| {
            let vectors = members.vectors;
            kernel::widely(Assign { vectors, indices, centers, assignment })
        })
        .collect();
    let mut sums = Sums::zero(centers);
    for part in &parts {
        sums.add(part);
    }
    sums
}

/// Sums of a few vectors, for which single precision is enough.
struct Part {
    counts: Vec<usize>,
    errors: Vec<f64>,
    totals: Vec<Group>,
}

struct Assign<'a> {
    vectors: &'a Vectors,
    indices: &'a [u32],
    centers: &'a Vectors,
    assignment: &'a mut [u32],
}

impl WithSimd for Assign<'_> {
    type Output = Part;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Part {
        let Assign { vectors, indices, centers, assignment } = self;
        let width = vectors.width();
        let mut part = Part {
            counts: vec![0; centers.len()],
            errors: vec![0.0; centers.len()],
            totals: vec![[0.0; 8]; centers.groups().len()],
        };
        let totals = kernel::registers_mut::<S>(&mut part.totals);
        for (&index, assigned) in indices.iter().zip(assignment) {
            let vector = kernel::registers::<S>(vectors.padded(index as usize));
            let mut nearest = (f32::INFINITY, 0);
            let rows = kernel::registers::<S>(centers.groups()).chunks_exact(width);
            for (cluster, center) in rows.enumerate() {
                let distance = kernel::squared_distance(simd, vector, center);
                if distance < nearest.0 {
                    nearest = (distance, cluster);
                }
            }
            let (distance, cluster) = nearest;
            *assigned = cluster as u32;
            part.counts[cluster] += 1;
            part.errors[cluster] += f64::from(distance);
            kernel::add(simd, &mut totals[cluster * width..][..width], vector);
        }
        part
    }
}

/// Two members to begin with: any one, and another with a chance in proportion
/// to the square of its distance. Fewer, if there are no two.
///
/// D. Arthur, S. Vassilvitskii, k-means++: The Advantages of Careful Seeding,
/// SODA 2007.
fn two_centers(members: &Members, random: &mut SplitMix64) -> Vectors {
    let Members { vectors, indices } = members;
    if indices.is_empty() {
        return Vectors::zeros(vectors.dimension(), 0);
    }
    let first = indices[random.below(indices.len() as u32) as usize] as usize;
    let squares: Vec<f32> = indices
        .par_chunks(PART)
        .flat_map_iter(|indices| kernel::widely(Squares { vectors, indices, center: first }))
        .collect();
    let total: f64 = squares.iter().map(|&square| f64::from(square)).sum();
    // Where all are the same, there is no other.
    if total <= 0.0 {
        return vectors.pick(&[first]);
    }
    let mut left = f64::from(random.fraction()) * total;
    let mut chosen = None;
    for (&index, &square) in indices.iter().zip(&squares) {
        if square > 0.0 {
            chosen = Some(index as usize);
            left -= f64::from(square);
            if left < 0.0 {
                break;
            }
        }
    }
    vectors.pick(&[first, chosen.unwrap_or(first)])
}

/// The squared distances of vectors to one of them.
struct Squares<'a> {
    vectors: &'a Vectors,
    indices: &'a [u32],
    center: usize,
}

impl WithSimd for Squares<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
        let center = kernel::registers::<S>(self.vectors.padded(self.center));
        let mut squares = Vec::with_capacity(self.indices.len());
        for &index in self.indices {
            let vector = kernel::registers::<S>(self.vectors.padded(index as usize));
            squares.push(kernel::squared_distance(simd, vector, center));
        }
        squares
    }
}

fn squared(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| (left - right) * (left - right)).sum()
}
