//! A decoded picture becomes the array that the vision tower reads.

use serde::{Deserialize, Serialize};

use super::pixels::RgbPixels;
use super::resize::{resize_and_crop, squash};

/// Longer side over the shorter one from which what is cut off is worth a note.
const NOTED_ASPECT_RATIO: f64 = 1.1;

/// Way in which a picture of any shape becomes a square, in `open_clip`'s words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResizeMode {
    /// The shorter side is made to fit, what the longer one has more is cut off.
    #[default]
    Shortest,
    /// Both sides are made to fit.
    Squash,
}

/// Preprocessing that makes a picture the input of a vision tower: size, statistics and resizing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImagePreprocess {
    /// Side of the square that the tower sees, in pixels.
    pub image_size: usize,
    /// Mean of each channel, subtracted from values in 0–1.
    pub mean: [f32; 3],
    /// Standard deviation of each channel, by which the difference is divided.
    pub std: [f32; 3],
    /// Way in which the picture becomes a square.
    #[serde(default)]
    pub resize_mode: ResizeMode,
}

impl ImagePreprocess {
    /// The channel statistics that CLIP was trained with.
    pub fn clip(image_size: usize) -> Self {
        Self {
            image_size,
            mean: [0.481_454_66, 0.457_827_5, 0.408_210_73],
            std: [0.268_629_54, 0.261_302_6, 0.275_777_1],
            resize_mode: ResizeMode::Shortest,
        }
    }

    /// Statistics and shape that `SigLIP` was trained with: values in −1 to 1, pictures squashed to a square.
    pub fn siglip(image_size: usize) -> Self {
        Self {
            image_size,
            mean: [0.5; 3],
            std: [0.5; 3],
            resize_mode: ResizeMode::Squash,
        }
    }

    /// The input of the vision tower: resized, made square and normalised.
    ///
    /// # Shapes
    /// Three planes of `image_size` × `image_size`: red, green, blue; each row by row.
    pub fn apply(&self, rgb: &RgbPixels) -> Vec<f32> {
        self.normalise(&self.resize(rgb))
    }

    /// The square that the vision tower sees, not yet normalised.
    pub fn resize(&self, rgb: &RgbPixels) -> RgbPixels {
        match self.resize_mode {
            ResizeMode::Shortest => resize_and_crop(rgb, self.image_size),
            ResizeMode::Squash => squash(rgb, self.image_size),
        }
    }

    /// Note for the visitor on a picture of which a good part is cut off; `None` for others.
    pub fn cut_note(&self, rgb: &RgbPixels) -> Option<&'static str> {
        let (shorter, longer) = (rgb.width.min(rgb.height), rgb.width.max(rgb.height));
        let is_long = longer as f64 > NOTED_ASPECT_RATIO * shorter as f64;
        let is_cut = is_long && self.resize_mode == ResizeMode::Shortest;
        is_cut.then_some("only the middle square read")
    }

    /// `(value / 255 − mean) / std` in single precision, as torchvision's `ToTensor` and `Normalize` compute it.
    ///
    /// # Shapes
    /// Interleaved `[height, width, 3]` becomes planar `[3, height, width]`.
    pub fn normalise(&self, rgb: &RgbPixels) -> Vec<f32> {
        let plane = |channel: usize| {
            let (mean, std) = (self.mean[channel], self.std[channel]);
            let values = rgb.pixels.iter().skip(channel).step_by(3);
            values.map(move |&value| (f32::from(value) / 255.0 - mean) / std)
        };
        (0..3).flat_map(plane).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalising_separates_the_channels_into_planes() {
        let preprocess = ImagePreprocess {
            image_size: 1,
            mean: [0.0, 0.5, 1.0],
            std: [1.0, 0.5, 2.0],
            resize_mode: ResizeMode::Shortest,
        };
        let rgb = RgbPixels {
            width: 2,
            height: 1,
            pixels: vec![0, 255, 255, 255, 0, 0],
        };
        let planes = preprocess.normalise(&rgb);
        let expected = [0.0, 1.0, 1.0, -1.0, 0.0, -0.5];
        assert_eq!(planes, expected, "red plane, then green, then blue");
    }

    #[test]
    fn a_picture_that_loses_much_to_the_crop_has_a_note() {
        let crops = ImagePreprocess::clip(224);
        let squashes = ImagePreprocess::siglip(224);
        for (width, height, is_noted) in [
            (256, 256, false),
            (256, 240, false),
            (256, 192, true),
            (480, 640, true),
        ] {
            let rgb = RgbPixels {
                width,
                height,
                pixels: Vec::new(),
            };
            let note = crops.cut_note(&rgb);
            assert_eq!(note.is_some(), is_noted, "{width} × {height}: {note:?}");
            assert_eq!(squashes.cut_note(&rgb), None, "all of it is read");
        }
    }

    #[test]
    fn the_configuration_survives_json() {
        let preprocess = ImagePreprocess::clip(224);
        let json = serde_json::to_string(&preprocess).expect("plain numbers");
        let back: ImagePreprocess = serde_json::from_str(&json).expect("what was just written");
        assert_eq!(back, preprocess, "{json}");
    }
}
