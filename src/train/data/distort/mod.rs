//! Pictures and captions as they come from a worse world: the distortions that ELIP measures with, at its severities.
//!
//! Pictures follow Hendrycks and Dietterich 2019, [Benchmarking neural network
//! robustness](https://arxiv.org/abs/1903.12261), whose numbers are for 224 pixels; lengths are scaled to the side that
//! the model sees. Captions get slips of the keyboard, or words with a letter too few, too many or in the wrong place.

mod blur;
mod captions;
mod noise;
mod snow;

use std::fmt;

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

pub use captions::{LEVELS, Misspelling, MisspellingKind};

use crate::preprocess::RgbPixels;

/// Side for which lengths are given.
const PUBLISHED_SIDE: f64 = 224.0;
/// The greatest severity of pictures; the least is 1.
pub const SEVERITIES: u8 = 5;

/// What happens to a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistortionKind {
    /// Normal noise on every value.
    Gaussian,
    /// Few photons.
    Shot,
    /// Black and white specks.
    Impulse,
    /// Normal noise in proportion to the value.
    Speckle,
    /// Out of focus.
    Defocus,
    /// Moved towards while the shutter was open.
    Zoom,
    /// Falling snow.
    Snow,
    /// Compressed too much.
    Jpeg,
    /// Too few pixels.
    Pixelate,
}

/// What happens to a picture, and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distortion {
    kind: DistortionKind,
    /// From 1 to 5.
    severity: u8,
}

/// What happens to pictures and captions, if anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Noise {
    /// To pictures.
    pub pictures: Option<Distortion>,
    /// To captions.
    pub captions: Option<Misspelling>,
}

impl Noise {
    /// A caption of the picture `id` as it is said.
    #[must_use]
    pub fn said(self, caption: &str, id: &str) -> String {
        self.captions
            .map_or_else(|| caption.to_owned(), |slips| slips.apply(caption, id))
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.pictures, self.captions) {
            (None, None) => Ok(()),
            (Some(pictures), None) => pictures.fmt(f),
            (None, Some(captions)) => captions.fmt(f),
            (Some(pictures), Some(captions)) => write!(f, "{pictures}, {captions}"),
        }
    }
}

/// A square picture as numbers between 0 and 1, three for a pixel, row by row.
struct Canvas {
    values: Vec<f32>,
    side: usize,
}

impl Canvas {
    fn of(rgb: &RgbPixels) -> Self {
        let values = rgb.pixels.iter();
        Self {
            values: values.map(|&value| f32::from(value) / 255.0).collect(),
            side: rgb.width,
        }
    }

    fn into_pixels(self) -> RgbPixels {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to a byte"
        )]
        let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0) as u8;
        RgbPixels {
            width: self.side,
            height: self.side,
            pixels: self.values.into_iter().map(byte).collect(),
        }
    }

    /// Lengths of this picture for one of the published ones.
    fn scale(&self) -> f64 {
        self.side as f64 / PUBLISHED_SIDE
    }

    /// The value at a place, which may lie outside: there the picture is mirrored.
    fn at(&self, row: isize, column: isize, channel: usize) -> f32 {
        let (row, column) = (mirrored(row, self.side), mirrored(column, self.side));
        self.values[3 * (row * self.side + column) + channel]
    }

    /// The same with every value made anew from its row, column and channel.
    fn map(&self, f: impl Fn(isize, isize, usize) -> f32) -> Self {
        let n = self.values.len();
        let value = |at: usize| {
            let (pixel, channel) = (at / 3, at % 3);
            let (row, column) = (pixel / self.side, pixel % self.side);
            f(row.cast_signed(), column.cast_signed(), channel)
        };
        Self {
            values: (0..n).map(value).collect(),
            side: self.side,
        }
    }
}

/// An index within `0..n`, mirrored at both ends without repeating them.
fn mirrored(index: isize, n: usize) -> usize {
    let last = n.saturating_sub(1);
    if last == 0 {
        return 0;
    }
    let at = index.unsigned_abs() % (2 * last);
    if at > last { 2 * last - at } else { at }
}

impl Distortion {
    /// Reads `shot:3`.
    ///
    /// # Errors
    ///
    /// An unknown kind, or a severity that is not from 1 to 5.
    pub fn parse(text: &str) -> Result<Self> {
        let (kind, severity) = kind_and_level(text, "shot:3", SEVERITIES)?;
        Ok(Self { kind, severity })
    }

    /// Every distortion at a severity, which is brought between 1 and 5.
    pub fn every(severity: u8) -> impl Iterator<Item = Self> {
        let severity = severity.clamp(1, SEVERITIES);
        let kinds = DistortionKind::value_variants().iter();
        kinds.map(move |&kind| Self { kind, severity })
    }

    /// Its name and its severity.
    #[must_use]
    pub fn kind_and_severity(self) -> (String, u8) {
        (name_of(self.kind), self.severity)
    }

    /// Distorts a square picture; the same `id` is distorted the same way.
    #[must_use]
    pub fn apply(self, rgb: &RgbPixels, id: &str) -> RgbPixels {
        let (canvas, rng) = (Canvas::of(rgb), &mut rng_of(id));
        let level = usize::from(self.severity - 1);
        match self.kind {
            DistortionKind::Gaussian => noise::gaussian(canvas, level, rng),
            DistortionKind::Shot => noise::shot(canvas, level, rng),
            DistortionKind::Impulse => noise::impulse(canvas, level, rng),
            DistortionKind::Speckle => noise::speckle(canvas, level, rng),
            DistortionKind::Defocus => blur::defocus(&canvas, level),
            DistortionKind::Zoom => blur::zoom(&canvas, level),
            DistortionKind::Snow => snow::snow(&canvas, level, rng),
            DistortionKind::Jpeg => return blur::jpeg(rgb, level),
            DistortionKind::Pixelate => blur::pixelate(&canvas, level),
        }
        .into_pixels()
    }
}

impl fmt::Display for Distortion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", name_of(self.kind), self.severity)
    }
}

fn name_of(kind: impl ValueEnum) -> String {
    let value = kind.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Reads `NAME:LEVEL`.
fn kind_and_level<K: ValueEnum>(text: &str, example: &str, greatest: u8) -> Result<(K, u8)> {
    let names: Vec<String> = K::value_variants()
        .iter()
        .map(|k| name_of(k.clone()))
        .collect();
    let expected = || {
        format!(
            "{text:?}: {example} was expected, one of {} with a level from 1 to {greatest}",
            names.join(", ")
        )
    };
    let (name, level) = text.split_once(':').with_context(expected)?;
    let kind = K::from_str(name, true).ok().with_context(expected)?;
    let level: u8 = level.parse().ok().with_context(expected)?;
    ensure!((1..=greatest).contains(&level), expected());
    Ok((kind, level))
}

/// Random numbers of a name, the same on every machine: FNV-1a of its bytes.
fn rng_of(id: &str) -> ChaCha8Rng {
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ChaCha8Rng::seed_from_u64(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A red disc on a grey ground.
    fn disc(side: usize) -> RgbPixels {
        let pixel = |at: usize| {
            let centre = side as f64 / 2.0;
            let (x, y) = ((at % side) as f64 - centre, (at / side) as f64 - centre);
            if x.hypot(y) < centre / 2.0 {
                [200, 30, 40]
            } else {
                [120, 120, 120]
            }
        };
        RgbPixels {
            width: side,
            height: side,
            pixels: (0..side * side).flat_map(pixel).collect(),
        }
    }

    /// Mean squared difference of two pictures.
    fn difference(a: &RgbPixels, b: &RgbPixels) -> f64 {
        let squares = a.pixels.iter().zip(&b.pixels).map(|(a, b)| {
            let d = f64::from(*a) - f64::from(*b);
            d * d
        });
        squares.sum::<f64>() / a.pixels.len() as f64
    }

    #[test]
    fn every_distortion_grows_with_its_severity_and_is_the_same_again() {
        let picture = disc(112);
        for kind in DistortionKind::value_variants() {
            let at = |severity| {
                let distortion = Distortion {
                    kind: *kind,
                    severity,
                };
                distortion.apply(&picture, "one")
            };
            let (weak, strong) = (difference(&at(1), &picture), difference(&at(5), &picture));
            assert!(
                0.0 < weak && weak < strong,
                "{kind:?}: {weak} at severity 1, {strong} at 5"
            );
            assert_eq!(at(3), at(3), "{kind:?} is the same again");
        }
    }

    #[test]
    fn noise_has_the_published_size() {
        let grey = RgbPixels {
            width: 64,
            height: 64,
            pixels: vec![128; 3 * 64 * 64],
        };
        for (kind, severity, deviation) in [
            // σ; √(x/60); 0.35·x — times 255.
            (DistortionKind::Gaussian, 1, 0.08 * 255.0),
            (DistortionKind::Shot, 1, (0.502_f64 / 60.0).sqrt() * 255.0),
            (DistortionKind::Speckle, 3, 0.35 * 128.0),
        ] {
            let distortion = Distortion { kind, severity };
            let found = difference(&distortion.apply(&grey, "grey"), &grey).sqrt();
            assert!(
                (found / deviation - 1.0).abs() < 0.05,
                "{kind:?}: {found}, expected {deviation}"
            );
        }
    }

    #[test]
    fn what_is_asked_for_is_read_or_said_to_be_wrong() {
        let shot = Distortion::parse("shot:3").expect("known");
        assert_eq!(shot.to_string(), "shot 3", "its name");
        for text in ["shot", "shot:0", "shot:6", "rain:1"] {
            let error = Distortion::parse(text).expect_err("not known");
            assert!(
                error.to_string().contains("gaussian, shot, impulse"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_mirror_stands_at_both_ends() {
        let found: Vec<usize> = (-3..7).map(|i| mirrored(i, 4)).collect();
        assert_eq!(found, [3, 2, 1, 0, 1, 2, 3, 2, 1, 0], "of four");
        assert_eq!(mirrored(-5, 1), 0, "of one");
    }
}
