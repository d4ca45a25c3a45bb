//! A picture's pixels, as files are decoded to and as towers are fed from.

/// A picture as 8-bit RGB, three bytes a pixel, row by row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RgbPixels {
    /// Pixels in a row, at least 1.
    pub width: usize,
    /// Rows, at least 1.
    pub height: usize,
    /// `3 * width * height` values.
    pub pixels: Vec<u8>,
}

impl RgbPixels {
    /// The greatest share of the pixels that lie within `tolerance` of one of these colours, in every channel.
    pub fn plain_share(&self, colours: &[[u8; 3]], tolerance: u8) -> f64 {
        let (pixels, _) = self.pixels.as_chunks::<3>();
        let is_near = |pixel: &[u8; 3], colour: &[u8; 3]| {
            pixel
                .iter()
                .zip(colour)
                .all(|(a, b)| a.abs_diff(*b) <= tolerance)
        };
        let share = |colour: &[u8; 3]| {
            let n_near = pixels.iter().filter(|pixel| is_near(pixel, colour)).count();
            n_near as f64 / pixels.len().max(1) as f64
        };
        colours.iter().map(share).fold(0.0, f64::max)
    }
}

/// Output of [`decode`](super::decode::decode): the picture of a file, with notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedImage {
    /// The picture turned upright.
    pub rgb: RgbPixels,
    /// Notes for the visitor on how it was read, one lower-case sentence each.
    pub notes: Vec<String>,
}
