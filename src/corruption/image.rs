//! Corruptions of pictures: noise, blur, snow and others, each at five severities.
//!
//! They follow Hendrycks and Dietterich 2019, [Benchmarking neural network
//! robustness](https://arxiv.org/abs/1903.12261), whose numbers are for 224 pixels; lengths are scaled to the side that
//! the model sees. ELIP measures with the first nine; rotation and occlusion are the page's own.

use super::canvas::Canvas;
use super::kind::{Corruption, CorruptionKind, rng_of};
use super::{blur, noise, placement, snow};

/// Quality of the JPEG file by severity, of 100.
const JPEG_QUALITY: [u8; 5] = [25, 18, 15, 10, 7];

/// A way to corrupt a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ImageCorruption {
    /// Normal noise on every value.
    Gaussian,
    /// Noise of few photons.
    Shot,
    /// Black and white specks.
    Impulse,
    /// Normal noise in proportion to the value.
    Speckle,
    /// Blur of a lens out of focus.
    #[default]
    Defocus,
    /// Blur of a camera that moves towards the scene while the shutter is open.
    Zoom,
    /// Falling snow, streaked by the wind, before a paler picture.
    Snow,
    /// Compressed as a JPEG file of low quality.
    Jpeg,
    /// Shown with too few pixels.
    Pixelate,
    /// Turned about the middle.
    Rotation,
    /// A grey square over the middle.
    Occlusion,
}

/// A corrupted picture: pixels, or what a JPEG codec has still to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Corrupted {
    /// Pixels of the corrupted picture, three bytes each.
    Pixels(Vec<u8>),
    /// The original is to be written as a JPEG file and read again.
    Jpeg {
        /// Quality of the file, of 100.
        quality: u8,
    },
}

impl CorruptionKind for ImageCorruption {
    const ALL: &'static [Self] = &[
        Self::Gaussian,
        Self::Shot,
        Self::Impulse,
        Self::Speckle,
        Self::Defocus,
        Self::Zoom,
        Self::Snow,
        Self::Jpeg,
        Self::Pixelate,
        Self::Rotation,
        Self::Occlusion,
    ];
    const MAX_SEVERITY: u8 = 5;

    fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::Shot => "shot",
            Self::Impulse => "impulse",
            Self::Speckle => "speckle",
            Self::Defocus => "defocus",
            Self::Zoom => "zoom",
            Self::Snow => "snow",
            Self::Jpeg => "jpeg",
            Self::Pixelate => "pixelate",
            Self::Rotation => "rotation",
            Self::Occlusion => "occlusion",
        }
    }
}

impl ImageCorruption {
    /// The nine corruptions that ELIP measures with, whose severities are published.
    #[must_use]
    pub fn published() -> &'static [Self] {
        &Self::ALL[..9]
    }

    /// A picture of `side` × `side` pixels of three bytes, then the same at each severity.
    pub fn ladder<'a>(
        self,
        pixels: &'a [u8],
        side: usize,
        id: &'a str,
    ) -> impl Iterator<Item = Corrupted> + 'a {
        let at = move |severity| Corruption::new(self, severity).apply(pixels, side, id);
        let original = std::iter::once(Corrupted::Pixels(pixels.to_vec()));
        original.chain((1..=Self::MAX_SEVERITY).map(at))
    }

    /// The kind in a visitor's words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Gaussian => "Gaussian noise",
            Self::Shot => "shot noise",
            Self::Impulse => "black and white specks",
            Self::Speckle => "speckle noise",
            Self::Defocus => "out of focus",
            Self::Zoom => "zoom blur",
            Self::Jpeg => "JPEG",
            Self::Pixelate => "pixelation",
            Self::Snow | Self::Rotation | Self::Occlusion => self.name(),
        }
    }
}

impl Corruption<ImageCorruption> {
    /// Corrupts a picture of `side` × `side` pixels of three bytes; the same `id` is corrupted the same way.
    #[must_use]
    pub fn apply(self, pixels: &[u8], side: usize, id: &str) -> Corrupted {
        let (canvas, rng) = (Canvas::of(pixels, side), &mut rng_of(id));
        let level = usize::from(self.severity() - 1);
        let canvas = match self.kind() {
            ImageCorruption::Gaussian => noise::gaussian(canvas, level, rng),
            ImageCorruption::Shot => noise::shot(canvas, level, rng),
            ImageCorruption::Impulse => noise::impulse(canvas, level, rng),
            ImageCorruption::Speckle => noise::speckle(canvas, level, rng),
            ImageCorruption::Defocus => blur::defocus(&canvas, level),
            ImageCorruption::Zoom => blur::zoom(&canvas, level),
            ImageCorruption::Snow => snow::snow(&canvas, level, rng),
            ImageCorruption::Pixelate => blur::pixelate(&canvas, level),
            ImageCorruption::Rotation => placement::rotation(&canvas, self.severity()),
            ImageCorruption::Occlusion => placement::occlusion(&canvas, self.severity()),
            ImageCorruption::Jpeg => {
                let quality = JPEG_QUALITY[level];
                return Corrupted::Jpeg { quality };
            }
        };
        Corrupted::Pixels(canvas.into_pixels())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A red disc on a grey ground.
    fn disc(side: usize) -> Vec<u8> {
        let pixel = |at: usize| {
            let centre = side as f64 / 2.0;
            let (x, y) = ((at % side) as f64 - centre, (at / side) as f64 - centre);
            if x.hypot(y) < centre / 2.0 {
                [200, 30, 40]
            } else {
                [120; 3]
            }
        };
        (0..side * side).flat_map(pixel).collect()
    }

    fn pixels(corruption: Corruption<ImageCorruption>, picture: &[u8], side: usize) -> Vec<u8> {
        match corruption.apply(picture, side, "one") {
            Corrupted::Pixels(pixels) => pixels,
            Corrupted::Jpeg { .. } => panic!("{corruption}: only a codec knows"),
        }
    }

    /// Mean squared difference of two pictures.
    fn difference(a: &[u8], b: &[u8]) -> f64 {
        let squares = a.iter().zip(b).map(|(a, b)| {
            let d = f64::from(*a) - f64::from(*b);
            d * d
        });
        squares.sum::<f64>() / a.len() as f64
    }

    #[test]
    fn every_corruption_grows_with_its_severity_and_is_the_same_again() {
        const SIDE: usize = 112;
        let picture = disc(SIDE);
        for kind in ImageCorruption::ALL {
            // A turned disc is the same disc.
            if matches!(kind, ImageCorruption::Jpeg | ImageCorruption::Rotation) {
                continue;
            }
            let at = |severity| pixels(Corruption::new(*kind, severity), &picture, SIDE);
            let (weak, strong) = (difference(&at(1), &picture), difference(&at(5), &picture));
            let grows = 0.0 < weak && weak < strong;
            assert!(grows, "{kind:?}: {weak} at severity 1, {strong} at 5");
            assert_eq!(at(3), at(3), "{kind:?} is the same again");
        }
    }

    #[test]
    fn noise_has_the_published_size() {
        let grey = vec![128; 3 * 64 * 64];
        for (kind, severity, deviation) in [
            // σ; √(x/60); 0.35·x — times 255.
            (ImageCorruption::Gaussian, 1, 0.08 * 255.0),
            (ImageCorruption::Shot, 1, (0.502_f64 / 60.0).sqrt() * 255.0),
            (ImageCorruption::Speckle, 3, 0.35 * 128.0),
        ] {
            let noisy = pixels(Corruption::new(kind, severity), &grey, 64);
            let found = difference(&noisy, &grey).sqrt();
            let error = (found / deviation - 1.0).abs();
            assert!(error < 0.05, "{kind:?}: {found}, expected {deviation}");
        }
    }

    #[test]
    fn five_turns_of_eighteen_degrees_are_a_quarter() {
        // A white pixel right of the middle comes to lie below it.
        let mut picture = vec![0; 3 * 5 * 5];
        picture[3 * (2 * 5 + 4)] = 255;
        let turned = pixels(Corruption::new(ImageCorruption::Rotation, 5), &picture, 5);
        let lit: Vec<usize> = (0..25).filter(|at| turned[3 * at] > 0).collect();
        assert_eq!(lit, [4 * 5 + 2], "row 4, column 2");
    }

    #[test]
    fn a_jpeg_is_left_to_a_codec() {
        let jpeg = Corruption::new(ImageCorruption::Jpeg, 5).apply(&[0; 3], 1, "");
        assert_eq!(jpeg, Corrupted::Jpeg { quality: 7 }, "ELIP's last quality");
    }
}
