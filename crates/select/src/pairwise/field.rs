//! Finite fields, small ones.
//!
//! An element is a polynomial over the integers modulo a prime `p`, written as
//! a number with its coefficients as digits to the base `p`. Products are
//! looked up by logarithms to the base `x`. That works where the powers of `x`
//! are all elements but zero; a polynomial to divide by for which they are is
//! looked for, and makes what is left of division a field.

#[derive(Clone, Debug)]
pub(super) struct Field {
    p: usize,
    /// Powers of `x`, from the zeroth, twice: sums of two logarithms need no
    /// division.
    powers: Vec<u32>,
    /// Logarithms; that of zero has no meaning.
    logarithms: Vec<u32>,
}

impl Field {
    /// The smallest with at least so many elements, and at least two.
    pub(super) fn of_at_least(n_elements: usize) -> Field {
        let sizes = n_elements.max(2)..;
        let (p, degree) = sizes.filter_map(prime_power).next().expect("there are more primes");
        let q = p.pow(degree);
        // The lower coefficients of a polynomial with the leading one 1.
        let found = (1..q).find_map(|lower| powers_of_x(p, q, lower));
        let powers = found.expect("every finite field has a primitive element");
        let mut logarithms = vec![0; q];
        for (exponent, &power) in powers.iter().enumerate() {
            logarithms[power as usize] = exponent as u32;
        }
        Field { p, powers: [powers.clone(), powers].concat(), logarithms }
    }

    /// How many elements there are.
    pub(super) fn len(&self) -> usize {
        self.logarithms.len()
    }

    pub(super) fn add(&self, left: usize, right: usize) -> usize {
        add(self.p, left, right)
    }

    pub(super) fn multiply(&self, left: usize, right: usize) -> usize {
        if left == 0 || right == 0 {
            return 0;
        }
        let exponent = self.logarithms[left] + self.logarithms[right];
        self.powers[exponent as usize] as usize
    }
}

/// The prime and the exponent, if a number is a power of a prime.
fn prime_power(n: usize) -> Option<(usize, u32)> {
    let p = (2..=n).find(|p| n.is_multiple_of(*p))?;
    let mut degree = 0;
    let mut left = n;
    while left.is_multiple_of(p) {
        left /= p;
        degree += 1;
    }
    (left == 1).then_some((p, degree))
}

/// All powers of `x`, modulo the polynomial with these lower coefficients, if
/// they are all elements but zero.
fn powers_of_x(p: usize, q: usize, lower: usize) -> Option<Vec<u32>> {
    // The leading power of x is the negative of the lower terms.
    let reduced = (0..p).map(|times| scale(p, lower, (p - times) % p)).collect::<Vec<_>>();
    let mut powers = Vec::with_capacity(q - 1);
    let mut power = 1;
    loop {
        powers.push(power as u32);
        // In a field with a prime number of elements, `x` is a number itself.
        let (carry, shifted) = (power * p / q, power * p % q);
        power = add(p, shifted, reduced[carry]);
        if power == 1 || power == 0 || powers.len() == q {
            break;
        }
    }
    (power == 1 && powers.len() == q - 1).then_some(powers)
}

/// Digit by digit, without carrying.
fn add(p: usize, mut left: usize, mut right: usize) -> usize {
    let (mut sum, mut place) = (0, 1);
    while left > 0 || right > 0 {
        sum += (left % p + right % p) % p * place;
        left /= p;
        right /= p;
        place *= p;
    }
    sum
}

fn scale(p: usize, mut element: usize, factor: usize) -> usize {
    let (mut product, mut place) = (0, 1);
    while element > 0 {
        product += element % p * factor % p * place;
        element /= p;
        place *= p;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prime_powers_are_known() {
        let found: Vec<usize> = (2..33).filter(|&n| prime_power(n).is_some()).collect();
        assert_eq!(found, [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]);
    }

    #[test]
    fn the_next_field_is_taken() {
        for (n, q) in [(0, 2), (6, 7), (10, 11), (114, 121), (122, 125), (128, 128), (257, 257)] {
            assert_eq!(Field::of_at_least(n).len(), q);
        }
    }

    #[test]
    fn fields_are_fields() {
        for q in [2, 3, 4, 5, 7, 8, 9, 16, 25, 27, 32, 49] {
            let field = Field::of_at_least(q);
            for a in 0..q {
                assert_eq!((field.multiply(a, 1), field.add(a, 0)), (a, a));
                // Products with anything but zero, and sums, hit everything.
                let mut products: Vec<usize> = (0..q).map(|b| field.multiply(a, b)).collect();
                products.sort_unstable();
                let mut sums: Vec<usize> = (0..q).map(|b| field.add(a, b)).collect();
                sums.sort_unstable();
                assert!(a == 0 || products.iter().copied().eq(0..q), "{q}: {a}");
                assert!(sums.into_iter().eq(0..q));
                for b in 0..q {
                    assert_eq!(field.multiply(a, b), field.multiply(b, a));
                    for c in 0..q {
                        let left = field.multiply(a, field.add(b, c));
                        let right = field.add(field.multiply(a, b), field.multiply(a, c));
                        assert_eq!(left, right);
                    }
                }
            }
        }
    }
}
