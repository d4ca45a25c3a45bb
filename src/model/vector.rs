//! Functions of one number that a compiler can take several of at once: no branch, no call.

/// `eˣ` to 2e-7 of itself, without a branch: `2ⁿ eʳ` with a whole `n` and `|r| ≤ ln 2 / 2`, and a polynomial for `eʳ`
/// (Cephes, `expf`).
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    /// Range of x beyond which 2ⁿ is not a normal number.
    const RANGE: [f32; 2] = [-87.3, 88.3];
    /// ln 2 in two parts, the first with few digits, so that its multiples are exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    /// A number that rounds a small one when added to it, since no bits are left for a fraction: no processor needs a
    /// call for that.
    const ROUNDING: f32 = 12_582_912.0;
    /// Bias of the exponent of an f32, and the number of bits behind it.
    const BIAS: u32 = 127;
    const FRACTION_BITS: u32 = 23;
    const FACTORS: [f32; 6] = [
        0.5,
        0.166_666_65,
        4.166_579_6e-2,
        8.333_452e-3,
        1.398_2e-3,
        1.987_569_2e-4,
    ];
    let x = x.clamp(RANGE[0], RANGE[1]);
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let n = shifted - ROUNDING;
    let r = x - n * LN_2[0] - n * LN_2[1];
    let polynomial = FACTORS
        .iter()
        .rev()
        .fold(0.0, |sum, factor| sum * r + factor);
    // The low bits of the shifted number hold n: with the bias added they are the exponent's bits of 2ⁿ.
    let power = f32::from_bits(shifted.to_bits().wrapping_add(BIAS) << FRACTION_BITS);
    (polynomial * r * r + r + 1.0) * power
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
