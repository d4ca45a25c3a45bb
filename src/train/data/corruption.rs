//! Corruptions of pictures and misspellings of captions, applied before they are embedded.

use std::fmt;

use crate::corruption::{Corrupted, Corruption, ImageCorruption, Misspelling};
use crate::preprocess::{RgbPixels, decode};

/// Corruptions of both sides of a data set, if any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Corruptions {
    /// Corruption of the pictures.
    pub pictures: Option<Corruption<ImageCorruption>>,
    /// Misspelling of the captions.
    pub captions: Option<Corruption<Misspelling>>,
}

impl Corruptions {
    /// A caption of the picture `id`, misspelt if captions are.
    #[must_use]
    pub fn caption(self, caption: &str, id: &str) -> String {
        let misspelt = self
            .captions
            .map(|misspelling| misspelling.apply(caption, id));
        misspelt.unwrap_or_else(|| caption.to_owned())
    }

    /// The square picture `id`, corrupted if pictures are.
    #[must_use]
    pub fn picture(self, square: RgbPixels, id: &str) -> RgbPixels {
        let Some(corruption) = self.pictures else {
            return square;
        };
        let pixels = match corruption.apply(&square.pixels, square.width, id) {
            Corrupted::Pixels(pixels) => pixels,
            Corrupted::Jpeg { quality } => return through_jpeg(square, quality),
        };
        RgbPixels { pixels, ..square }
    }
}

impl fmt::Display for Corruptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.pictures, self.captions) {
            (None, None) => Ok(()),
            (Some(pictures), None) => pictures.fmt(f),
            (None, Some(captions)) => captions.fmt(f),
            (Some(pictures), Some(captions)) => write!(f, "{pictures}, {captions}"),
        }
    }
}

/// Written as a JPEG file and read again.
fn through_jpeg(picture: RgbPixels, quality: u8) -> RgbPixels {
    let mut bytes = Vec::new();
    let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, quality);
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (width, height) = (side(picture.width), side(picture.height));
    let colour = image::ExtendedColorType::Rgb8;
    let written = encoder.encode(&picture.pixels, width, height, colour);
    // Writing to memory does not fail, and a picture that was read is not too large to be written.
    let read = written.ok().and_then(|()| decode(&bytes).ok());
    read.map_or(picture, |read| read.rgb)
}
