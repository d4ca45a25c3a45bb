//! Augmentation of pictures: a random crop, mirrored half of the time.

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::preprocess::RgbPixels;

/// Least share of a picture's area that is kept.
const MIN_AREA: f64 = 0.5;
/// Greatest ratio of the sides of the crop, relative to that of the picture.
const MAX_ASPECT: f64 = 4.0 / 3.0;

/// A crop of each picture, mirrored with probability ½; it depends on the picture's name and the seed alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Augmentation {
    /// Seed of the crops.
    pub seed: u64,
}

impl Augmentation {
    /// The crop of the picture with this name.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sides of a picture times shares between 0 and 1"
    )]
    pub fn apply(self, rgb: &RgbPixels, name: &str) -> RgbPixels {
        let of_name = name.bytes().fold(0_u64, |hash, byte| {
            hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte)
        });
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(of_name);
        let area = rng.random_range(MIN_AREA..=1.0);
        let aspect = rng
            .random_range(-MAX_ASPECT.ln()..=MAX_ASPECT.ln())
            .exp()
            .sqrt();
        let side = |full: usize, share: f64| {
            let share = (area.sqrt() * share).min(1.0);
            ((full as f64 * share).round() as usize).clamp(1, full)
        };
        let (width, height) = (side(rgb.width, aspect), side(rgb.height, aspect.recip()));
        let left = rng.random_range(0..=rgb.width - width);
        let top = rng.random_range(0..=rgb.height - height);
        let is_mirrored = rng.random_bool(0.5);
        let pixel = |x: usize, y: usize| {
            let x = if is_mirrored { width - 1 - x } else { x };
            let start = ((top + y) * rgb.width + left + x) * 3;
            rgb.pixels[start..start + 3].iter().copied()
        };
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        RgbPixels {
            width,
            height,
            pixels: places.flat_map(|(x, y)| pixel(x, y)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient() -> RgbPixels {
        let places = (0..20_u8).flat_map(|y| (0..30_u8).map(move |x| [x, y, 0]));
        RgbPixels {
            width: 30,
            height: 20,
            pixels: places.flatten().collect(),
        }
    }

    #[test]
    fn a_crop_is_a_part_of_the_picture_and_the_same_again() {
        for seed in 0..50 {
            let crop = Augmentation { seed }.apply(&gradient(), "a.jpg");
            assert_eq!(
                crop.pixels.len(),
                crop.width * crop.height * 3,
                "seed {seed}"
            );
            let share = (crop.width * crop.height) as f64 / 600.0;
            assert!(share > MIN_AREA - 0.1, "seed {seed}: {share} of the area");
            let row: Vec<u8> = crop.pixels.iter().step_by(3).copied().collect();
            let first = &row[..crop.width];
            let is_step = |pair: &[u8]| pair[0].abs_diff(pair[1]) == 1;
            assert!(first.windows(2).all(is_step), "neighbours stay: {first:?}");
            let again = Augmentation { seed }.apply(&gradient(), "a.jpg");
            assert_eq!(crop, again, "by seed and name alone");
        }
    }

    #[test]
    fn names_and_seeds_give_other_crops() {
        let of = |seed, name| Augmentation { seed }.apply(&gradient(), name);
        assert_ne!(of(0, "a.jpg"), of(0, "b.jpg"), "another name");
        assert_ne!(of(0, "a.jpg"), of(1, "a.jpg"), "another seed");
    }
}
