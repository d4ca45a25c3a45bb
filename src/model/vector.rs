//! Functions of one number or of several at once: no branch, no call.

use crate::host::lanes::Real;

/// `eˣ` to 2e-7 of itself, without a branch: `2ⁿ eʳ` with a whole `n` and `|r| ≤ ln 2 / 2`, and a polynomial for `eʳ`
/// (Cephes, `expf`).
#[inline(always)]
pub(crate) fn exp<N: Real>(x: N) -> N {
    /// Range of x beyond which 2ⁿ is not a normal number.
    const LEAST: f32 = -87.3;
    const GREATEST: f32 = 88.3;
    /// ln 2 in two parts, the first with few digits, so that its multiples are exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    /// A number that rounds a small one when added to it, since no bits are left for a fraction: no processor needs a
    /// call for that.
    const ROUNDING: f32 = 12_582_912.0;
    const FACTORS: [f32; 6] = [
        0.5,
        0.166_666_65,
        4.166_579_6e-2,
        8.333_452e-3,
        1.398_2e-3,
        1.987_569_2e-4,
    ];
    let x = x.clamp_to(LEAST, GREATEST);
    // Its lowest bits are those of n.
    let shifted = x * N::of(std::f32::consts::LOG2_E) + N::of(ROUNDING);
    let n = shifted - N::of(ROUNDING);
    let r = x - n * N::of(LN_2[0]) - n * N::of(LN_2[1]);
    let polynomial = polynomial(FACTORS, r);
    (polynomial * r * r + r + N::of(1.0)) * shifted.power_of_low_bits()
}

/// `a₀ + a₁ x + a₂ x² …`, written without a loop, which a compiler for size would keep.
#[inline(always)]
pub(crate) fn polynomial<N: Real>([a, b, c, d, e, f]: [f32; 6], x: N) -> N {
    let sum = N::of(f) * x + N::of(e);
    let sum = (sum * x + N::of(d)) * x + N::of(c);
    (sum * x + N::of(b)) * x + N::of(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_exact_to_its_last_digits_and_never_infinite() {
        for i in -8_700..8_800 {
            let x = i as f32 / 100.0;
            let (found, expected) = (f64::from(exp(x)), f64::from(x).exp());
            assert!(
                (found - expected).abs() <= 2e-7 * expected,
                "e^{x}: {found}"
            );
        }
        for x in [-1e9, f32::NEG_INFINITY] {
            assert!((0.0..2e-38).contains(&exp(x)), "e^{x}: {}", exp(x));
        }
        assert!(exp(1e9).is_finite(), "{}", exp(1e9));
    }
}
