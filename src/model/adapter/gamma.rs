//! ln Γ and ψ of tensors, which Burn has not, from elementary operations that autodiff knows.

use burn::tensor::Tensor;

/// Steps of the recurrence before the asymptotic series is used: behind them its error is below f32's rounding.
const SHIFT: usize = 6;
const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_7;

/// ln Γ(x) for x > 0.
///
/// ```text
/// ln Γ(x) = ln Γ(y) − Σ ln(x + i), i < 6      y = x + 6
/// ln Γ(y) = (y − ½)·ln y − y + ½·ln 2π + 1/(12y) − 1/(360y³) + 1/(1260y⁵)
/// ```
///
/// The next term is below 2e-9 at y = 6.
///
/// # Shapes
///
/// - `x`: `[n, m]`, positive
/// - output: `[n, m]`
pub(super) fn ln_gamma(x: Tensor<2>) -> Tensor<2> {
    let y = x.clone() + SHIFT as f64;
    let r = y.clone().recip();
    let squared = r.clone() * r.clone();
    let series = ((squared.clone() / 1260.0 - 1.0 / 360.0) * squared + 1.0 / 12.0) * r;
    let far = (y.clone() - 0.5) * y.clone().log() - y + HALF_LN_TWO_PI + series;
    far - (0..SHIFT)
        .map(|i| (x.clone() + i as f64).log())
        .reduce(|sum, term| sum + term)
        .unwrap_or_else(|| x.zeros_like())
}

/// ψ(x), the derivative of ln Γ, for x > 0.
///
/// ```text
/// ψ(x) = ψ(y) − Σ 1/(x + i), i < 6            y = x + 6
/// ψ(y) = ln y − 1/(2y) − 1/(12y²) + 1/(120y⁴) − 1/(252y⁶)
/// ```
///
/// # Shapes
///
/// - `x`: `[n, m]`, positive
/// - output: `[n, m]`
pub(super) fn digamma(x: Tensor<2>) -> Tensor<2> {
    let y = x.clone() + SHIFT as f64;
    let r = y.clone().recip();
    let squared = r.clone() * r.clone();
    let series =
        ((squared.clone() / -252.0 + 1.0 / 120.0) * squared.clone() - 1.0 / 12.0) * squared;
    let far = y.log() - r * 0.5 + series;
    far - (0..SHIFT)
        .map(|i| (x.clone() + i as f64).recip())
        .reduce(|sum, term| sum + term)
        .unwrap_or_else(|| x.zeros_like())
}

/// ln Γ(x) − (x − 1)·ψ(x) + x for x > 0, which is of the size of ln x where its parts are of the size of x·ln x.
///
/// With y = x + 6, the series of ln Γ(y) and ψ(y) put in, and what cancels left out:
///
/// ```text
/// 6.5·ln y − 5.5 + ½·ln 2π − 3.5/y + s + (y − 7)·t − Σ ln(x + i) + (x − 1)·Σ 1/(x + i), i < 6
/// s = 1/(12y) − 1/(360y³) + 1/(1260y⁵)      t = 1/(12y²) − 1/(120y⁴) + 1/(252y⁶)
/// ```
///
/// Its gradient, 1 − (x − 1)·ψ′(x), is registered in closed form: differentiating the series takes several times as
/// long.
///
/// # Shapes
///
/// - `x`: `[n, m]`, positive
/// - output: `[n, m]`
pub(super) fn ln_gamma_without_slope(x: Tensor<2>) -> Tensor<2> {
    let at = x.clone().detach();
    let near = Shifted::of(&at);
    let value = near.far_from_origin() - near.sum_of_logarithms()
        + (at.clone() - 1.0) * near.sum_of_reciprocals();
    value + (x - at.clone()) * near.slope(&at)
}

/// x + i for i < 6 in pairs, (x + i)·(x + 5 − i) = x² + 5x + {0, 4, 6}: half as many logarithms and reciprocals.
struct Shifted {
    products: [Tensor<2>; 3],
    reciprocals: [Tensor<2>; 3],
    /// 2x + 5, the sum of each pair.
    sum: Tensor<2>,
    /// x + 6, at which the asymptotic series is evaluated.
    y: Tensor<2>,
}

impl Shifted {
    fn of(x: &Tensor<2>) -> Self {
        let product = x.clone() * (x.clone() + 5.0);
        let products = [0.0, 4.0, 6.0].map(|more| product.clone() + more);
        Self {
            reciprocals: products.clone().map(Tensor::recip),
            products,
            sum: x.clone() * 2.0 + 5.0,
            y: x.clone() + SHIFT as f64,
        }
    }

    /// Σ ln(x + i).
    fn sum_of_logarithms(&self) -> Tensor<2> {
        let [a, b, c] = self.products.clone();
        // The product of all three overflows where evidence is great.
        (a * b).log() + c.log()
    }

    /// Σ 1/(x + i).
    fn sum_of_reciprocals(&self) -> Tensor<2> {
        let [a, b, c] = self.reciprocals.clone();
        (a + b + c) * self.sum.clone()
    }

    /// 1 − (x − 1)·ψ′(x), without the one that 1 − (y − 7)/y takes off.
    ///
    /// ```text
    /// 6.5/y + 3.5/y² − (y − 7)·[1/(6y³) − 1/(30y⁵) + 1/(42y⁷)] − (x − 1)·Σ 1/(x + i)²
    /// ```
    fn slope(&self, x: &Tensor<2>) -> Tensor<2> {
        let r = self.y.clone().recip();
        let squared = r.clone() * r.clone();
        let series = (squared.clone() / 42.0 - 1.0 / 30.0) * squared.clone() + 1.0 / 6.0;
        let far = (squared.clone() * 3.5 + r.clone() * 6.5)
            - (self.y.clone() - 7.0) * series * squared * r;
        let squared_sum = self.sum.clone() * self.sum.clone();
        let [a, b, c] = self.reciprocals.clone().map(|w| {
            // 1/a² + 1/b² of a pair whose product is 1/w.
            (squared_sum.clone() * w.clone() - 2.0) * w
        });
        far - (x.clone() - 1.0) * (a + b + c)
    }

    fn far_from_origin(&self) -> Tensor<2> {
        let y = self.y.clone();
        let r = y.clone().recip();
        let squared = r.clone() * r.clone();
        let s =
            ((squared.clone() / 1260.0 - 1.0 / 360.0) * squared.clone() + 1.0 / 12.0) * r.clone();
        let t = ((squared.clone() / 252.0 - 1.0 / 120.0) * squared.clone() + 1.0 / 12.0) * squared;
        y.clone().log() * 6.5 - r * 3.5 + s + (y - 7.0) * t + (HALF_LN_TWO_PI - 5.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    /// Rounding of sums whose terms are up to ten.
    const TOLERANCE: f32 = 6e-6;

    /// x, ln Γ(x), ψ(x) by mpmath.
    const REFERENCE: [[f32; 3]; 7] = [
        [0.01, 4.599_479_9, -100.560_89],
        [0.5, 0.572_364_9, -1.963_51],
        [1.0, 0.0, -0.577_215_7],
        [2.0, 0.0, 0.422_784_34],
        [3.7, 1.428_072_3, 1.167_153_4],
        [50.0, 144.565_74, 3.901_989_7],
        [5000.0, 37_582.626, 8.517_093],
    ];

    #[test]
    fn ln_gamma_and_its_derivative_are_those_of_mpmath() {
        for [x, ln_gamma_x, digamma_x] in REFERENCE {
            let at = |f: fn(Tensor<2>) -> Tensor<2>| -> f32 {
                f(Tensor::from_floats([[x]], &cpu())).into_scalar()
            };
            for (found, expected) in [(at(ln_gamma), ln_gamma_x), (at(digamma), digamma_x)] {
                assert!(
                    (found - expected).abs() <= TOLERANCE * expected.abs().max(1.0),
                    "x {x}: found {found}, expected {expected}"
                );
            }
        }
    }

    #[cfg(feature = "train")]
    #[test]
    fn the_slope_that_autodiff_is_told_is_that_of_mpmath() {
        // 1 − (x − 1)·ψ′(x)
        for (x, expected) in [
            (0.5, 3.467_401),
            (1.0, 1.0),
            (3.7, 0.162_897_78),
            (50.0, 0.010_134_672),
            (5000.0, 1.000_133_4e-4),
            (22_027.0, 2.270_01e-5),
        ] {
            let x: Tensor<2> = Tensor::from_floats([[x]], &cpu().autodiff()).require_grad();
            let gradients = ln_gamma_without_slope(x.clone()).sum().backward();
            let found: f32 = x.grad(&gradients).expect("a gradient").into_scalar();
            assert!(
                (found - expected).abs() <= 2.0 * TOLERANCE * expected,
                "found {found}, expected {expected}"
            );
        }
    }

    #[test]
    fn what_is_left_without_the_slope_is_that_of_mpmath() {
        for [x, expected] in [
            [0.5, 0.090_609_93],
            [1.0, 1.0],
            [3.7, 1.976_757_8],
            [50.0, 3.368_25],
            [22_027.0, 6.418_935_5],
        ] {
            let found: f32 =
                ln_gamma_without_slope(Tensor::from_floats([[x]], &cpu())).into_scalar();
            assert!(
                (found - expected).abs() <= 5.0 * TOLERANCE, // its largest term is 65
                "x {x}: found {found}, expected {expected}"
            );
        }
    }
}
