//! Vectors -> clusters, whose number is found on the way.
//!
//! D. Pelleg, A. Moore, X-means: Extending K-means with Efficient Estimation of
//! the Number of Clusters, ICML 2000. Begins with two clusters. Each is split
//! in two where a criterion says that two describe it better; that is repeated
//! until no split is worth it, or there are enough.
//!
//! The parameters are PyClustering's defaults, which the CTOS paper uses
//! (Section 4.1).
//!
//! **Invariant:** the same vectors and settings give the same bits, with any
//! number of threads.

mod bic;
mod kmeans;

use crate::random::SplitMix64;
use crate::vectors::Vectors;
use kmeans::{Means, Members};

/// How clusters are looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How many clusters there are at most; less than two is taken as two.
    pub most: usize,
    /// Centers that move no farther than this have arrived.
    pub tolerance: f32,
    /// Decides where centers begin.
    pub seed: u64,
}

impl Settings {
    /// PyClustering's.
    pub fn new(seed: u64) -> Settings {
        Settings { most: 20, tolerance: 0.025, seed }
    }
}

/// A partition of vectors. No cluster is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clusters {
    /// The mean of each cluster.
    pub centers: Vectors,
    /// The cluster of each vector: the one whose center is nearest.
    pub assignment: Vec<u32>,
}

impl Clusters {
    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// Whether there are none, because there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.centers.is_empty()
    }

    /// The vectors of each cluster, ascending.
    pub fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.len()];
        for (index, &cluster) in (0..).zip(&self.assignment) {
            members[cluster as usize].push(index);
        }
        members
    }
}

/// Finds clusters. Two or more, where there are two different vectors.
pub fn xmeans(vectors: &Vectors, settings: &Settings) -> Clusters {
    let everything: Vec<u32> = (0..vectors.len() as u32).collect();
    let all = Members { vectors, indices: &everything };
    let mut random = SplitMix64::new(settings.seed);
    let mut means = Means::two(&all, settings.tolerance, &mut random);
    // At most `most` clusters, and one more at least every time.
    while means.clusters.len() < settings.most {
        let centers = split(&means, vectors, settings, &mut random);
        if centers.len() == means.clusters.len() {
            break;
        }
        means = Means::around(&all, centers, settings.tolerance);
    }
    means.clusters
}

/// The centers, with two for each cluster that is better described by two.
fn split(
    means: &Means,
    vectors: &Vectors,
    settings: &Settings,
    random: &mut SplitMix64,
) -> Vectors {
    let Clusters { centers, .. } = &means.clusters;
    let mut n_free = settings.most - centers.len();
    let mut found = Vectors::zeros(vectors.dimension(), 0);
    for (cluster, indices) in means.clusters.members().iter().enumerate() {
        let halves = if n_free == 0 {
            None
        } else {
            let members = Members { vectors, indices };
            let halves = Means::two(&members, settings.tolerance, random);
            let error = means.errors[cluster];
            let one = bic::bic(&[indices.len()], error, vectors.dimension());
            let two = bic::bic(&halves.sizes(), halves.errors.iter().sum(), vectors.dimension());
            (error > 0.0 && halves.clusters.len() == 2 && two > one).then_some(halves)
        };
        match halves {
            Some(halves) => {
                n_free -= 1;
                halves.clusters.centers.rows().for_each(|center| found.push(center));
            }
            None => found.push(centers.row(cluster)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Points around the corners of a cube, so many around each.
    fn blobs(n_blobs: usize, n_each: usize, spread: f32) -> Vectors {
        let mut random = SplitMix64::new(3);
        let mut vectors = Vectors::zeros(10, 0);
        for index in 0..n_blobs * n_each {
            let blob = index % n_blobs;
            let corner = |axis: usize| if blob >> axis & 1 == 1 { 10.0 } else { 0.0 };
            // A sum of uniform numbers is nearly normal.
            let mut noise = || (0..6).map(|_| random.fraction() - 0.5).sum::<f32>() * spread;
            let point: Vec<f32> = (0..10).map(|axis| corner(axis) + noise()).collect();
            vectors.push(&point);
        }
        vectors
    }

    #[test]
    fn separate_groups_are_found() {
        for n_blobs in [2, 3, 5, 8] {
            let clusters = xmeans(&blobs(n_blobs, 200, 1.0), &Settings::new(1));
            assert_eq!(clusters.len(), n_blobs);
            for (index, cluster) in clusters.assignment.iter().enumerate() {
                assert_eq!(*cluster, clusters.assignment[index % n_blobs]);
            }
        }
    }

    #[test]
    fn there_are_no_more_than_allowed() {
        let settings = Settings { most: 4, ..Settings::new(1) };
        assert_eq!(xmeans(&blobs(8, 100, 1.0), &settings).len(), 4);
    }

    #[test]
    fn one_group_is_not_split_further_than_it_has_to_be() {
        assert_eq!(xmeans(&blobs(1, 3000, 1.0), &Settings::new(1)).len(), 2);
    }

    #[test]
    fn few_vectors_have_few_clusters() {
        assert!(xmeans(&Vectors::zeros(3, 0), &Settings::new(1)).is_empty());
        for n in [1, 2, 100] {
            let same = xmeans(&Vectors::zeros(3, n), &Settings::new(1));
            assert_eq!((same.len(), same.assignment), (1, vec![0; n]));
        }
        let two = Vectors::from_rows(1, [[0.0], [1.0]]);
        assert_eq!(xmeans(&two, &Settings::new(1)).len(), 2);
    }

    #[test]
    fn threads_change_no_bit() {
        let vectors = blobs(6, 3000, 6.0);
        let on = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| xmeans(&vectors, &Settings::new(9)))
        };
        assert_eq!(on(1), on(3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_vector_is_with_the_nearest_center(
            points in prop::collection::vec((-9i8..9, -9i8..9), 1..80), seed in 0u64..9,
        ) {
            let rows = points.iter().map(|&(x, y)| [f32::from(x), f32::from(y)]);
            let vectors = Vectors::from_rows(2, rows);
            let clusters = xmeans(&vectors, &Settings { tolerance: 0.0, ..Settings::new(seed) });
            prop_assert!(clusters.members().iter().all(|members| !members.is_empty()));
            let distance = |a: &[f32], b: &[f32]| (a[0] - b[0]).hypot(a[1] - b[1]);
            for (point, &cluster) in vectors.rows().zip(&clusters.assignment) {
                let own = distance(point, clusters.centers.row(cluster as usize));
                let near = clusters.centers.rows().map(|c| distance(point, c));
                prop_assert!(near.fold(f32::MAX, f32::min) > own - 1e-4);
            }
        }
    }
}
