//! libjpeg's accurate integer inverse cosine transform (`jidctint.c`), after Loeffler, Ligtenberg and Moschytz (1989).

use std::num::Wrapping;

/// Damaged pictures may overflow; what they show then does not matter, but it must not panic.
type Int = Wrapping<i32>;

/// Fractional bits of the constants.
const CONST_BITS: usize = 13;
/// Fractional bits kept between the passes.
const PASS1_BITS: usize = 2;

const FIX_0_298631336: Int = Wrapping(2446);
const FIX_0_390180644: Int = Wrapping(3196);
const FIX_0_541196100: Int = Wrapping(4433);
const FIX_0_765366865: Int = Wrapping(6270);
const FIX_0_899976223: Int = Wrapping(7373);
const FIX_1_175875602: Int = Wrapping(9633);
const FIX_1_501321110: Int = Wrapping(12299);
const FIX_1_847759065: Int = Wrapping(15137);
const FIX_1_961570560: Int = Wrapping(16069);
const FIX_2_053119869: Int = Wrapping(16819);
const FIX_2_562915447: Int = Wrapping(20995);
const FIX_3_072711026: Int = Wrapping(25172);

/// The samples of one block, row by row.
pub(super) fn inverse_transform(coefficients: &[i16; 64], quantisation: &[u16; 64]) -> [u8; 64] {
    let mut work = [Wrapping(0); 64];
    for ((value, &coefficient), &step) in work.iter_mut().zip(coefficients).zip(quantisation) {
        *value = Wrapping(i32::from(coefficient)) * Wrapping(i32::from(step));
    }
    for column in 0..8 {
        let at = |row: usize| work[8 * row + column];
        let line = [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
        let line = transform_line(line, CONST_BITS - PASS1_BITS);
        for (row, value) in work.as_chunks_mut::<8>().0.iter_mut().zip(line) {
            row[column] = value;
        }
    }
    let mut samples = [0; 64];
    let rows = work.as_chunks::<8>().0.iter();
    for (row, out) in rows.zip(samples.as_chunks_mut::<8>().0) {
        let line = transform_line(*row, CONST_BITS + PASS1_BITS + 3);
        for (sample, value) in out.iter_mut().zip(line) {
            *sample = to_sample(value);
        }
    }
    samples
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=255 on the same line"
)]
fn to_sample(value: Int) -> u8 {
    (value.0.clamp(-128, 127) + 128) as u8
}

/// Eight values of one row or column, divided by `2^shift` with rounding.
#[inline]
fn transform_line(line: [Int; 8], shift: usize) -> [Int; 8] {
    let even = even_part(&line);
    let odd = odd_part(&line);
    let half = Wrapping(1) << (shift - 1);
    let sum = |i: usize| (even[i] + odd[i] + half) >> shift;
    let difference = |i: usize| (even[i] - odd[i] + half) >> shift;
    // Written out: a program that is compiled for its size has no loop unrolled.
    [
        sum(0),
        sum(1),
        sum(2),
        sum(3),
        difference(3),
        difference(2),
        difference(1),
        difference(0),
    ]
}

#[inline]
fn even_part(line: &[Int; 8]) -> [Int; 4] {
    let z1 = (line[2] + line[6]) * FIX_0_541196100;
    let tmp2 = z1 - line[6] * FIX_1_847759065;
    let tmp3 = z1 + line[2] * FIX_0_765366865;
    let tmp0 = (line[0] + line[4]) << CONST_BITS;
    let tmp1 = (line[0] - line[4]) << CONST_BITS;
    [tmp0 + tmp3, tmp1 + tmp2, tmp1 - tmp2, tmp0 - tmp3]
}

#[inline]
fn odd_part(line: &[Int; 8]) -> [Int; 4] {
    let z1 = -(line[7] + line[1]) * FIX_0_899976223;
    let z2 = -(line[5] + line[3]) * FIX_2_562915447;
    let z5 = (line[7] + line[3] + line[5] + line[1]) * FIX_1_175875602;
    let z3 = z5 - (line[7] + line[3]) * FIX_1_961570560;
    let z4 = z5 - (line[5] + line[1]) * FIX_0_390180644;
    [
        line[1] * FIX_1_501321110 + z1 + z4,
        line[3] * FIX_3_072711026 + z2 + z3,
        line[5] * FIX_2_053119869 + z2 + z4,
        line[7] * FIX_0_298631336 + z1 + z3,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_block_is_one_eighth_of_its_coefficient() {
        let mut coefficients = [0; 64];
        coefficients[0] = -20;
        let samples = inverse_transform(&coefficients, &[16; 64]);
        assert_eq!(samples, [88; 64], "128 − 20 × 16 / 8");
    }

    #[test]
    fn absurd_coefficients_do_not_panic() {
        let samples = inverse_transform(&[i16::MIN; 64], &[u16::MAX; 64]);
        assert_eq!(samples.len(), 64, "any samples will do");
    }

    /// The transform against its definition in f64; fixed point and two roundings cost less than one level.
    #[test]
    fn the_transform_follows_the_definition() {
        let coefficients: [i16; 64] = std::array::from_fn(|i| [37, -11, 5, 0, -3, 2, 0][i % 7]);
        let samples = inverse_transform(&coefficients, &[1; 64]);
        let basis = |i: usize, k: usize| {
            let scale = if k == 0 { 0.125_f64.sqrt() } else { 0.5 };
            scale * (std::f64::consts::PI * (2 * i + 1) as f64 * k as f64 / 16.0).cos()
        };
        for (i_sample, &sample) in samples.iter().enumerate() {
            let terms = coefficients.iter().enumerate().map(|(k, &coefficient)| {
                f64::from(coefficient) * basis(i_sample / 8, k / 8) * basis(i_sample % 8, k % 8)
            });
            let exact = 128.0 + terms.sum::<f64>();
            let difference = (f64::from(sample) - exact.clamp(0.0, 255.0)).abs();
            assert!(difference < 1.0, "{i_sample}: {sample}, expected {exact}");
        }
    }
}
