//! Eight numbers that are computed with at once. Engines are compiled for their size, which leaves a loop over single
//! numbers as it stands.

use std::ops::{Add, Div, Mul, Sub};

use bytemuck::must_cast;
use quad::Quad;

/// How many numbers [`Lanes`] hold.
pub(crate) const N_LANES: usize = 8;

/// A number or several of them at once. A function that is written for any number gives the same bits for both.
pub(crate) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// This value, in each lane.
    fn of(value: f32) -> Self;

    /// No less than the first value and no more than the second; what is no number stays none.
    fn clamp_to(self, least: f32, greatest: f32) -> Self;

    /// The size, without its sign.
    fn magnitude(self) -> Self;

    /// Of two values the first where this one is below zero.
    fn choose_if_negative(self, negative: Self, other: Self) -> Self;

    /// 2ⁿ of a value whose lowest bits are those of the whole number n, −126 to 127.
    fn power_of_low_bits(self) -> Self;
}

/// Eight floats, two vectors of four.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes([Quad; 2]);

/// Bias of the exponent of an f32, and the number of bits behind it.
const BIAS: u32 = 127;
const FRACTION_BITS: u32 = 23;

impl Real for f32 {
    #[inline(always)]
    fn of(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn clamp_to(self, least: f32, greatest: f32) -> Self {
        self.clamp(least, greatest)
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn choose_if_negative(self, negative: Self, other: Self) -> Self {
        if self < 0.0 { negative } else { other }
    }

    #[inline(always)]
    fn power_of_low_bits(self) -> Self {
        Self::from_bits(self.to_bits().wrapping_add(BIAS) << FRACTION_BITS)
    }
}

impl Lanes {
    /// Floats of two bytes each, the lower byte first.
    #[inline(always)]
    pub(crate) fn of_halves(bytes: [u8; 2 * N_LANES]) -> Self {
        Self(quad::of_halves(bytes))
    }

    #[inline(always)]
    fn map(self, function: impl Fn(Quad) -> Quad) -> Self {
        let [low, high] = self.0;
        Self([function(low), function(high)])
    }

    #[inline(always)]
    fn zip(self, other: Self, function: impl Fn(Quad, Quad) -> Quad) -> Self {
        let ([low, high], [other_low, other_high]) = (self.0, other.0);
        Self([function(low, other_low), function(high, other_high)])
    }
}

impl From<[f32; N_LANES]> for Lanes {
    #[inline(always)]
    fn from(values: [f32; N_LANES]) -> Self {
        Self(must_cast(values))
    }
}

impl From<[i8; N_LANES]> for Lanes {
    #[inline(always)]
    fn from(values: [i8; N_LANES]) -> Self {
        Self(quad::of_i8(values))
    }
}

impl From<Lanes> for [f32; N_LANES] {
    #[inline(always)]
    fn from(Lanes(quads): Lanes) -> Self {
        must_cast(quads)
    }
}

macro_rules! operator {
    ($operator:ident, $method:ident) => {
        impl $operator for Lanes {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |a, b| quad::$method(a, b))
            }
        }
    };
}

operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl Real for Lanes {
    #[inline(always)]
    fn of(value: f32) -> Self {
        let quad = quad::splat(value);
        Self([quad, quad])
    }

    #[inline(always)]
    fn clamp_to(self, least: f32, greatest: f32) -> Self {
        let least = self.zip(Self::of(least), quad::max);
        least.zip(Self::of(greatest), quad::min)
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        self.map(quad::abs)
    }

    #[inline(always)]
    fn choose_if_negative(self, negative: Self, other: Self) -> Self {
        let [low, high] = self.0;
        Self([
            quad::choose_if_negative(low, negative.0[0], other.0[0]),
            quad::choose_if_negative(high, negative.0[1], other.0[1]),
        ])
    }

    #[inline(always)]
    fn power_of_low_bits(self) -> Self {
        self.map(quad::power_of_low_bits)
    }
}

/// Replaces each value by a function of it, which is given for eight and for those that are left at the end.
#[inline(always)]
pub(crate) fn replace(
    values: &mut [f32],
    of_lanes: impl Fn(Lanes) -> Lanes,
    of_one: impl Fn(f32) -> f32,
) {
    let (eights, rest) = values.as_chunks_mut::<N_LANES>();
    for eight in eights {
        *eight = of_lanes(Lanes::from(*eight)).into();
    }
    for value in rest {
        *value = of_one(*value);
    }
}

/// The sum of a function of each value, which is given for eight and for those that are left at the end.
#[inline(always)]
pub(crate) fn sum(
    values: &[f32],
    of_lanes: impl Fn(Lanes) -> Lanes,
    of_one: impl Fn(f32) -> f32,
) -> f32 {
    let (eights, rest) = values.as_chunks::<N_LANES>();
    let mut sums = Lanes::of(0.0);
    for eight in eights {
        sums = sums + of_lanes(Lanes::from(*eight));
    }
    let sums: [f32; N_LANES] = sums.into();
    sums.iter().sum::<f32>() + rest.iter().map(|value| of_one(*value)).sum::<f32>()
}

/// Adds values to as many others.
#[inline(always)]
pub(crate) fn add(sums: &mut [f32], values: &[f32]) {
    combine(sums, values, |a, b| a + b, |a, b| a + b);
}

/// Multiplies values by as many others.
#[inline(always)]
pub(crate) fn multiply(products: &mut [f32], factors: &[f32]) {
    combine(products, factors, |a, b| a * b, |a, b| a * b);
}

/// Replaces each value by a function of it and of another.
#[inline(always)]
fn combine(
    values: &mut [f32],
    others: &[f32],
    of_lanes: impl Fn(Lanes, Lanes) -> Lanes,
    of_one: impl Fn(f32, f32) -> f32,
) {
    let (eights, rest) = values.as_chunks_mut::<N_LANES>();
    let (others, other_rest) = others.as_chunks::<N_LANES>();
    for (eight, other) in eights.iter_mut().zip(others) {
        *eight = of_lanes(Lanes::from(*eight), Lanes::from(*other)).into();
    }
    for (value, other) in rest.iter_mut().zip(other_rest) {
        *value = of_one(*value, *other);
    }
}

/// Four of the lanes, by WebAssembly's instructions.
#[cfg(target_arch = "wasm32")]
mod quad {
    use std::arch::wasm32::{
        f32x4_abs, f32x4_add, f32x4_convert_i32x4, f32x4_div, f32x4_lt, f32x4_mul, f32x4_pmax,
        f32x4_pmin, f32x4_splat, f32x4_sub, i16x8_extend_low_i8x16, i32x4_add,
        i32x4_extend_high_i16x8, i32x4_extend_low_i16x8, i32x4_shl, i32x4_splat, i64x2_splat,
        u32x4_extend_high_u16x8, u32x4_extend_low_u16x8, u32x4_ge, u32x4_shl, u32x4_splat,
        v128_and, v128_bitselect, v128_or, v128_xor,
    };

    use bytemuck::must_cast;

    use crate::host::lanes::{BIAS, FRACTION_BITS, N_LANES};

    pub(super) use std::arch::wasm32::v128 as Quad;

    #[inline(always)]
    pub(super) fn of_i8(values: [i8; N_LANES]) -> [Quad; 2] {
        let shorts = i16x8_extend_low_i8x16(i64x2_splat(must_cast(values)));
        [
            f32x4_convert_i32x4(i32x4_extend_low_i16x8(shorts)),
            f32x4_convert_i32x4(i32x4_extend_high_i16x8(shorts)),
        ]
    }

    #[inline(always)]
    pub(super) fn of_halves(bytes: [u8; 2 * N_LANES]) -> [Quad; 2] {
        let halves = must_cast(bytes);
        [
            widened(u32x4_extend_low_u16x8(halves)),
            widened(u32x4_extend_high_u16x8(halves)),
        ]
    }

    /// The bits in their new places are the value times 2⁻¹¹², also of a subnormal one; infinities and what is no
    /// number keep a full exponent.
    #[inline(always)]
    fn widened(halves: Quad) -> Quad {
        const SIGN: u32 = 0x8000;
        const INFINITY: u32 = 0x7c00 << 13;
        const FACTOR: f32 = f32::from_bits((112 + BIAS) << FRACTION_BITS);
        let sign = v128_and(halves, u32x4_splat(SIGN));
        let bits = u32x4_shl(v128_xor(halves, sign), 13);
        let finite = f32x4_mul(bits, f32x4_splat(FACTOR));
        let infinite = v128_or(bits, f32x4_splat(f32::INFINITY));
        let size = v128_bitselect(infinite, finite, u32x4_ge(bits, u32x4_splat(INFINITY)));
        v128_or(u32x4_shl(sign, 16), size)
    }

    #[inline(always)]
    pub(super) fn add(a: Quad, b: Quad) -> Quad {
        f32x4_add(a, b)
    }

    #[inline(always)]
    pub(super) fn sub(a: Quad, b: Quad) -> Quad {
        f32x4_sub(a, b)
    }

    #[inline(always)]
    pub(super) fn mul(a: Quad, b: Quad) -> Quad {
        f32x4_mul(a, b)
    }

    #[inline(always)]
    pub(super) fn div(a: Quad, b: Quad) -> Quad {
        f32x4_div(a, b)
    }

    #[inline(always)]
    pub(super) fn abs(quad: Quad) -> Quad {
        f32x4_abs(quad)
    }

    #[inline(always)]
    pub(super) fn splat(value: f32) -> Quad {
        f32x4_splat(value)
    }

    /// The second where the first is less, so that what is no number stays none.
    #[inline(always)]
    pub(super) fn max(quad: Quad, least: Quad) -> Quad {
        f32x4_pmax(quad, least)
    }

    #[inline(always)]
    pub(super) fn min(quad: Quad, greatest: Quad) -> Quad {
        f32x4_pmin(quad, greatest)
    }

    #[inline(always)]
    pub(super) fn choose_if_negative(quad: Quad, negative: Quad, other: Quad) -> Quad {
        v128_bitselect(negative, other, f32x4_lt(quad, f32x4_splat(0.0)))
    }

    #[inline(always)]
    pub(super) fn power_of_low_bits(quad: Quad) -> Quad {
        let bias = i32x4_splat(BIAS.cast_signed());
        i32x4_shl(i32x4_add(quad, bias), FRACTION_BITS)
    }
}

/// Four of the lanes, by the processor's instructions.
#[cfg(not(target_arch = "wasm32"))]
mod quad {
    use bytemuck::must_cast;
    use half::f16;
    use wide::u32x4;

    use crate::host::lanes::{BIAS, FRACTION_BITS, N_LANES};

    pub(super) use wide::f32x4 as Quad;

    #[inline(always)]
    pub(super) fn of_i8(values: [i8; N_LANES]) -> [Quad; 2] {
        must_cast(values.map(f32::from))
    }

    #[inline(always)]
    pub(super) fn of_halves(bytes: [u8; 2 * N_LANES]) -> [Quad; 2] {
        let (halves, _) = bytes.as_chunks();
        let value = |i: usize| f16::from_le_bytes(halves[i]).to_f32();
        must_cast(std::array::from_fn::<f32, N_LANES, _>(value))
    }

    #[inline(always)]
    pub(super) fn splat(value: f32) -> Quad {
        Quad::splat(value)
    }

    #[inline(always)]
    pub(super) fn add(a: Quad, b: Quad) -> Quad {
        a + b
    }

    #[inline(always)]
    pub(super) fn sub(a: Quad, b: Quad) -> Quad {
        a - b
    }

    #[inline(always)]
    pub(super) fn mul(a: Quad, b: Quad) -> Quad {
        a * b
    }

    #[inline(always)]
    pub(super) fn div(a: Quad, b: Quad) -> Quad {
        a / b
    }

    /// The bound where it is the greater one, so that what is no number stays none.
    #[inline(always)]
    pub(super) fn max(quad: Quad, least: Quad) -> Quad {
        least.fast_max(quad)
    }

    #[inline(always)]
    pub(super) fn min(quad: Quad, greatest: Quad) -> Quad {
        greatest.fast_min(quad)
    }

    #[inline(always)]
    pub(super) fn abs(quad: Quad) -> Quad {
        quad.abs()
    }

    #[inline(always)]
    pub(super) fn choose_if_negative(quad: Quad, negative: Quad, other: Quad) -> Quad {
        quad.simd_lt(splat(0.0)).select(negative, other)
    }

    #[inline(always)]
    pub(super) fn power_of_low_bits(quad: Quad) -> Quad {
        let exponent = quad.to_bits() + u32x4::splat(BIAS);
        Quad::from_bits(exponent << FRACTION_BITS)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;

    /// Any bits: numbers of all sizes, infinities, and what is no number.
    fn is_same(found: f32, expected: f32) -> bool {
        found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan()
    }

    /// Some of everything that functions of numbers are made of.
    fn steps<N: Real>(a: N, b: N) -> Vec<N> {
        vec![
            a + b,
            a - b,
            a * b,
            a / b,
            a.clamp_to(-1.5, 6.0),
            a.magnitude(),
            a.choose_if_negative(b, N::of(7.0)),
            a.power_of_low_bits(),
        ]
    }

    proptest! {
        #[test]
        fn eight_at_once_are_as_one_by_one(a: [u32; N_LANES], b: [u32; N_LANES]) {
            let [a, b] = [a, b].map(|bits| bits.map(f32::from_bits));
            let found = steps(Lanes::from(a), Lanes::from(b));
            for (i_step, found) in found.into_iter().enumerate() {
                let found: [f32; N_LANES] = found.into();
                for lane in 0..N_LANES {
                    let expected = steps(a[lane], b[lane])[i_step];
                    assert!(
                        is_same(found[lane], expected),
                        "step {i_step} of {} and {}: {} for {expected}",
                        a[lane], b[lane], found[lane]
                    );
                }
            }
        }

        #[test]
        fn lists_of_any_length_are_replaced_and_added(values in proptest::collection::vec(any::<f32>(), 0..40)) {
            let mut found = values.clone();
            replace(&mut found, |eight| eight * Lanes::of(2.0), |one| one * 2.0);
            let mut sums = values.clone();
            add(&mut sums, &values);
            for ((value, doubled), sum) in values.iter().zip(found).zip(sums) {
                assert!(is_same(doubled, value + value), "{value} doubled: {doubled}");
                assert!(is_same(sum, value + value), "{value} added to itself: {sum}");
            }
        }
    }
}
