//! Arithmetic over groups of eight numbers, in the widest registers there are.
//!
//! Everything is written over eight sums side by side, and a product is
//! rounded before it is added. So a machine with wide registers and one
//! without compute the same bits.
//!
//! **Invariant:** no fused multiply-add, no order of sums that depends on the
//! machine.

use pulp::{Scalar256b, Simd, WithSimd, bytemuck};

/// Eight numbers side by side.
pub(crate) type Group = [f32; 8];

/// Does work in registers of eight numbers: real ones where the machine has
/// AVX2, pretended ones elsewhere. What is called has to be inlined, otherwise
/// it is compiled for any machine.
pub(crate) fn widely<W: WithSimd>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return Simd::vectorize(simd, work);
    }
    Simd::vectorize(Scalar256b, work)
}

/// Groups as registers.
#[inline(always)]
pub(crate) fn registers<S: Simd>(groups: &[Group]) -> &[S::f32s] {
    S::as_simd_f32s(groups.as_flattened()).0
}

/// Groups as registers that can be written to.
#[inline(always)]
pub(crate) fn registers_mut<S: Simd>(groups: &mut [Group]) -> &mut [S::f32s] {
    S::as_mut_simd_f32s(groups.as_flattened_mut()).0
}

/// The sums of the products with each of a few.
#[inline(always)]
pub(crate) fn dots<S: Simd, const N: usize>(
    simd: S,
    left: &[S::f32s],
    right: [&[S::f32s]; N],
) -> [f32; N] {
    let right = right.map(|right| &right[..left.len()]);
    let mut sums = [simd.splat_f32s(0.0); N];
    for (place, &left) in left.iter().enumerate() {
        for (sum, right) in sums.iter_mut().zip(right) {
            *sum = simd.add_f32s(*sum, simd.mul_f32s(left, right[place]));
        }
    }
    sums.map(total::<S>)
}

/// The square of the Euclidean distance.
#[inline(always)]
pub(crate) fn squared_distance<S: Simd>(simd: S, left: &[S::f32s], right: &[S::f32s]) -> f32 {
    let mut sums = simd.splat_f32s(0.0);
    for (&left, &right) in left.iter().zip(right) {
        let difference = simd.sub_f32s(left, right);
        sums = simd.add_f32s(sums, simd.mul_f32s(difference, difference));
    }
    total::<S>(sums)
}

/// `sum += addend`.
#[inline(always)]
pub(crate) fn add<S: Simd>(simd: S, sum: &mut [S::f32s], addend: &[S::f32s]) {
    for (sum, &addend) in sum.iter_mut().zip(addend) {
        *sum = simd.add_f32s(*sum, addend);
    }
}

/// `vector *= factor`.
#[inline(always)]
pub(crate) fn scale<S: Simd>(simd: S, vector: &mut [S::f32s], factor: f32) {
    let factor = simd.splat_f32s(factor);
    for group in vector {
        *group = simd.mul_f32s(*group, factor);
    }
}

/// The eight sums as one.
#[inline(always)]
fn total<S: Simd>(sums: S::f32s) -> f32 {
    let [a, b, c, d, e, f, g, h]: Group = bytemuck::cast(sums);
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}
