//! Pictures harmed by degrees: what noise, blur and the like do to their pixels.

use std::f64::consts::PI;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

/// Degrees of harm, the first of which is none.
pub const N_SEVERITIES: usize = 6;
/// Pixels along an edge of the blocks that JPEG divides pictures into.
const BLOCK: usize = 8;
/// JPEG's steps for brightness (ITU-T T.81, table K.1), coarser for finer detail.
#[rustfmt::skip]
const STEPS: [f64; BLOCK * BLOCK] = [
    16., 11., 10., 16., 24., 40., 51., 61., 12., 12., 14., 19., 26., 58., 60., 55.,
    14., 13., 16., 24., 40., 57., 69., 56., 14., 17., 22., 29., 51., 87., 80., 62.,
    18., 22., 37., 56., 68., 109., 103., 77., 24., 35., 55., 64., 81., 104., 113., 92.,
    49., 64., 78., 87., 103., 121., 120., 101., 72., 92., 95., 98., 112., 100., 103., 99.,
];

/// A way to harm a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Harm {
    /// Each channel of each pixel is changed at random.
    Noise,
    /// Each pixel becomes the mean of those around it.
    #[default]
    Blur,
    /// Blocks of pixels become one.
    Pixels,
    /// Detail is rounded as JPEG does it, each channel by the steps for brightness.
    Jpeg,
    /// The picture is turned about its middle.
    Turn,
    /// A grey square hides the middle.
    Cover,
}

impl Harm {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 6] = [
        Self::Noise,
        Self::Blur,
        Self::Pixels,
        Self::Jpeg,
        Self::Turn,
        Self::Cover,
    ];

    /// The harm in words, and in an address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Noise => "noise",
            Self::Blur => "blur",
            Self::Pixels => "pixelation",
            Self::Jpeg => "JPEG",
            Self::Turn => "rotation",
            Self::Cover => "occlusion",
        }
    }

    /// Pixels of three bytes, `side` × `side`, harmed to a degree; degree 0 leaves them.
    pub fn apply(self, pixels: &[u8], side: usize, severity: usize) -> Vec<u8> {
        if severity == 0 {
            return pixels.to_vec();
        }
        let degree = severity as f64;
        let picture = Picture { pixels, side };
        match self {
            Self::Noise => picture.noisy(18.0 * degree),
            Self::Blur => picture.blurred(side as f64 * 0.012 * degree),
            Self::Pixels => picture.pixelated((side as f64 * 0.02 * degree).round().max(2.0)),
            Self::Jpeg => picture.quantised(2.0_f64.powf(degree)),
            Self::Turn => picture.turned(degree * PI / 10.0),
            Self::Cover => picture.covered(0.15 * degree),
        }
    }
}

#[derive(Clone, Copy)]
struct Picture<'a> {
    pixels: &'a [u8],
    side: usize,
}

impl Picture<'_> {
    fn at(&self, x: usize, y: usize, channel: usize) -> f64 {
        f64::from(self.pixels[3 * (y * self.side + x) + channel])
    }

    /// A picture whose pixel at each place is what a function says.
    fn mapped(&self, read: impl Fn(usize, usize, usize) -> f64) -> Vec<u8> {
        let side = self.side;
        let places = (0..side).flat_map(|y| (0..side).map(move |x| (x, y)));
        places
            .flat_map(|(x, y)| [0, 1, 2].map(|channel| to_byte(read(x, y, channel))))
            .collect()
    }

    fn noisy(&self, deviation: f64) -> Vec<u8> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        // The sum of four uniform numbers is nearly normal and has the variance 1/3.
        let mut noise = || (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
        let change = |value: &u8| to_byte(f64::from(*value) + deviation * 3.0_f64.sqrt() * noise());
        self.pixels.iter().map(change).collect()
    }

    fn blurred(&self, radius: f64) -> Vec<u8> {
        let reach = whole(radius.round().max(1.0));
        let last = self.side - 1;
        let mean = |pixels: &[u8], step: [usize; 2]| {
            let picture = Picture {
                pixels,
                side: self.side,
            };
            picture.mapped(|x, y, channel| {
                let offset = |at: usize, i: usize, step: usize| {
                    (at + i * step).saturating_sub(reach * step).min(last)
                };
                let values = (0..=2 * reach)
                    .map(|i| picture.at(offset(x, i, step[0]), offset(y, i, step[1]), channel));
                values.sum::<f64>() / (2 * reach + 1) as f64
            })
        };
        // Twice along each axis comes near a Gaussian.
        let once = mean(&mean(self.pixels, [1, 0]), [0, 1]);
        mean(&mean(&once, [1, 0]), [0, 1])
    }

    fn pixelated(&self, size: f64) -> Vec<u8> {
        let size = whole(size);
        let last = self.side - 1;
        // The pixel in the middle of its block stands for the block.
        let middle = |at: usize| (at / size * size + size / 2).min(last);
        self.mapped(|x, y, channel| self.at(middle(x), middle(y), channel))
    }

    fn quantised(&self, coarseness: f64) -> Vec<u8> {
        let table = cosines();
        let mut values: Vec<f64> = self.pixels.iter().copied().map(f64::from).collect();
        for y in (0..self.side).step_by(BLOCK) {
            for x in (0..self.side).step_by(BLOCK) {
                for channel in 0..3 {
                    let place = |i: usize| {
                        let (column, row) = (x + i % BLOCK, y + i / BLOCK);
                        let inside = column < self.side && row < self.side;
                        inside.then_some(3 * (row * self.side + column) + channel)
                    };
                    let block = std::array::from_fn(|i| place(i).map_or(0.0, |at| values[at]));
                    let rounded = round_block(&table, &block, coarseness);
                    for (i, value) in rounded.into_iter().enumerate() {
                        if let Some(at) = place(i) {
                            values[at] = value;
                        }
                    }
                }
            }
        }
        values.into_iter().map(to_byte).collect()
    }

    fn turned(&self, angle_radians: f64) -> Vec<u8> {
        let (sine, cosine) = angle_radians.sin_cos();
        let (middle, last) = (self.side as f64 / 2.0 - 0.5, self.side - 1);
        self.mapped(|x, y, channel| {
            let (dx, dy) = (x as f64 - middle, y as f64 - middle);
            // What lies beyond the edge repeats the edge.
            let inside = |value: f64| whole((value + middle).round().max(0.0)).min(last);
            let (from_x, from_y) = (cosine * dx + sine * dy, cosine * dy - sine * dx);
            self.at(inside(from_x), inside(from_y), channel)
        })
    }

    fn covered(&self, share: f64) -> Vec<u8> {
        let middle = self.side as f64 / 2.0 - 0.5;
        let reach = share * self.side as f64 / 2.0;
        self.mapped(|x, y, channel| {
            let distance = (x as f64 - middle).abs().max((y as f64 - middle).abs());
            if distance <= reach {
                128.0
            } else {
                self.at(x, y, channel)
            }
        })
    }
}

type Table = [[f64; BLOCK]; BLOCK];
type Block = [f64; BLOCK * BLOCK];

/// The cosine transform's functions, by frequency and place; orthonormal.
fn cosines() -> Table {
    let value = |frequency: usize, at: usize| {
        let scale = if frequency == 0 { 1.0_f64 } else { 2.0 } / 8.0;
        scale.sqrt() * (PI * frequency as f64 * (at as f64 + 0.5) / 8.0).cos()
    };
    std::array::from_fn(|frequency| std::array::from_fn(|at| value(frequency, at)))
}

/// A block with its cosine coefficients rounded to multiples of JPEG's steps, times a factor.
fn round_block(table: &Table, block: &Block, coarseness: f64) -> Block {
    let along = |block: &Block, read: fn(&Table, usize, usize) -> f64| -> Block {
        // One axis is transformed and the two change places.
        std::array::from_fn(|i| {
            let (to, row) = (i / BLOCK, i % BLOCK);
            let terms = (0..BLOCK).map(|at| read(table, to, at) * block[row * BLOCK + at]);
            terms.sum()
        })
    };
    let forward = |table: &Table, to: usize, at: usize| table[to][at];
    let backward = |table: &Table, to: usize, at: usize| table[at][to];
    let mut coefficients = along(&along(block, forward), forward);
    for (value, step) in coefficients.iter_mut().zip(STEPS) {
        let step = step * coarseness / 4.0;
        *value = (*value / step).round() * step;
    }
    along(&along(&coefficients, backward), backward)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to a byte's range"
)]
fn to_byte(value: f64) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "callers pass rounded numbers of pixels, which are few and not negative"
)]
fn whole(value: f64) -> usize {
    value as usize
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Drawing;
    use super::*;
    use crate::scenes::render;

    const SIDE: usize = 64;

    /// Mean absolute difference of two pictures, in levels of 255.
    fn distance(a: &[u8], b: &[u8]) -> f64 {
        let sum: f64 = a
            .iter()
            .zip(b)
            .map(|(a, b)| f64::from(a.abs_diff(*b)))
            .sum();
        sum / a.len() as f64
    }

    #[test]
    fn the_last_degree_harms_more_than_the_first() {
        let picture = render(&Drawing::default().scene(), SIDE);
        for harm in Harm::ALL {
            let distances: Vec<f64> = (0..N_SEVERITIES)
                .map(|severity| distance(&harm.apply(&picture, SIDE, severity), &picture))
                .collect();
            assert_eq!(distances[0], 0.0, "{harm:?} at 0 leaves the picture");
            let (least, most) = (distances[1], distances[N_SEVERITIES - 1]);
            assert!(least > 0.0, "{harm:?} at 1 changes something");
            // A turned scene may look more like itself again.
            assert!(
                most > least || harm == Harm::Turn,
                "{harm:?}: {distances:?}"
            );
        }
    }

    #[test]
    fn a_flat_picture_cannot_be_blurred_or_turned() {
        let flat = vec![90; 3 * SIDE * SIDE];
        for harm in [Harm::Blur, Harm::Pixels, Harm::Turn] {
            assert_eq!(harm.apply(&flat, SIDE, 5), flat, "{harm:?}");
        }
    }

    #[test]
    fn fine_steps_leave_a_block_as_it_is() {
        let block = std::array::from_fn(|i| (i * 37 % 256) as f64);
        let again = round_block(&cosines(), &block, 1e-9);
        for (found, expected) in again.iter().zip(&block) {
            assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
        }
    }
}
