//! Pictures harmed by degrees: what noise, blur and the like do to their pixels.

use std::f64::consts::PI;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

/// Degrees of harm, the first of which is none.
pub const N_SEVERITIES: usize = 6;
/// JPEG's quality by degree of harm, as in ELIP's evaluation.
const JPEG_QUALITY: [f64; N_SEVERITIES - 1] = [0.25, 0.18, 0.15, 0.10, 0.07];

/// What a harm makes of a picture.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// These pixels, of three bytes each.
    Pixels(Vec<u8>),
    /// What a JPEG codec leaves of it at this quality between 0 and 1.
    Jpeg {
        /// The quality.
        quality: f64,
    },
}

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
    /// The picture is written as a JPEG and read again.
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
    pub fn change(self, pixels: &[u8], side: usize, severity: usize) -> Change {
        let degree = severity as f64;
        let picture = Picture { pixels, side };
        let pixels = match self {
            _ if severity == 0 => pixels.to_vec(),
            Self::Noise => picture.noisy(24.0 * degree),
            Self::Blur => picture.blurred(side as f64 * 0.012 * degree),
            Self::Pixels => picture.pixelated((side as f64 * 0.02 * degree).round().max(2.0)),
            Self::Jpeg => {
                let quality = JPEG_QUALITY[(severity - 1).min(JPEG_QUALITY.len() - 1)];
                return Change::Jpeg { quality };
            }
            Self::Turn => picture.turned(degree * PI / 10.0),
            Self::Cover => picture.covered(0.15 * degree),
        };
        Change::Pixels(pixels)
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
    use super::*;
    use crate::explorer::views::studio::drawing::Drawing;
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

    fn harmed(harm: Harm, picture: &[u8], severity: usize) -> Option<Vec<u8>> {
        match harm.change(picture, SIDE, severity) {
            Change::Pixels(pixels) => Some(pixels),
            Change::Jpeg { .. } => None,
        }
    }

    #[test]
    fn the_last_degree_harms_more_than_the_first() {
        let picture = render(&Drawing::default().scene(), SIDE);
        for harm in Harm::ALL {
            let distances: Vec<f64> = (0..N_SEVERITIES)
                .filter_map(|severity| harmed(harm, &picture, severity))
                .map(|harmed| distance(&harmed, &picture))
                .collect();
            assert_eq!(distances[0], 0.0, "{harm:?} at 0 leaves the picture");
            if harm == Harm::Jpeg {
                assert_eq!(distances.len(), 1, "the rest is for a codec");
                continue;
            }
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
            assert_eq!(harmed(harm, &flat, 5), Some(flat.clone()), "{harm:?}");
        }
    }
}
