//! The logistic function, looked up.

/// Beyond this a word is predicted well enough, and nothing is learnt.
pub(crate) const LIMIT: f32 = 6.0;
const STEPS: usize = 1000;

/// `1 / (1 + e^-x)` between the limits, in a thousand steps as in Gensim.
#[derive(Clone, Debug)]
pub(crate) struct Sigmoid {
    table: Box<[f32; STEPS]>,
}

impl Sigmoid {
    pub(crate) fn new() -> Sigmoid {
        let mut table = Box::new([0.0; STEPS]);
        for (step, value) in table.iter_mut().enumerate() {
            let x = (2.0 * step as f64 / STEPS as f64 - 1.0) * f64::from(LIMIT);
            *value = (1.0 / (1.0 + libm::exp(-x))) as f32;
        }
        Sigmoid { table }
    }

    /// Its value; `None` beyond the limits.
    #[inline(always)]
    pub(crate) fn at(&self, x: f32) -> Option<f32> {
        if x <= -LIMIT || x >= LIMIT {
            return None;
        }
        let step = (x + LIMIT) * (STEPS as f32 / LIMIT / 2.0);
        // What is not a number is the first step; rounding may reach the end.
        Some(self.table[(step as i32 as usize).min(STEPS - 1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_near_the_logistic_function() {
        let sigmoid = Sigmoid::new();
        for x in [-5.999f32, -2.0, -0.1, 0.0, 1.5, 5.999] {
            let exact = 1.0 / (1.0 + (-x).exp());
            assert!((sigmoid.at(x).unwrap() - exact).abs() < 0.004, "{x}");
        }
        assert_eq!((sigmoid.at(6.0), sigmoid.at(-6.0)), (None, None));
    }
}
