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
/// # Shapes
///
/// - `x`: `[n, m]`, positive
/// - output: `[n, m]`
pub(super) fn ln_gamma_without_slope(x: Tensor<2>) -> Tensor<2> {
    let y = x.clone() + SHIFT as f64;
    let r = y.clone().recip();
    let squared = r.clone() * r.clone();
    let s = ((squared.clone() / 1260.0 - 1.0 / 360.0) * squared.clone() + 1.0 / 12.0) * r.clone();
    let t = ((squared.clone() / 252.0 - 1.0 / 120.0) * squared.clone() + 1.0 / 12.0) * squared;
    let far = y.clone().log() * 6.5 - r * 3.5 + s + (y - 7.0) * t + (HALF_LN_TWO_PI - 5.5);
    let near = (0..SHIFT).map(|i| {
        let shifted = x.clone() + i as f64;
        (x.clone() - 1.0) / shifted.clone() - shifted.log()
    });
    near.fold(far, |sum, term| sum + term)
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
