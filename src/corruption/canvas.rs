//! A square picture as numbers that corruptions are computed on.

/// Side for which the published lengths are given, in pixels.
const PUBLISHED_SIDE: f64 = 224.0;

/// A square picture as numbers between 0 and 1, three for a pixel, row by row.
pub(super) struct Canvas {
    pub(super) values: Vec<f32>,
    pub(super) side: usize,
}

impl Canvas {
    pub(super) fn of(pixels: &[u8], side: usize) -> Self {
        let values = pixels.iter().map(|&value| f32::from(value) / 255.0);
        Self {
            values: values.collect(),
            side,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to a byte"
    )]
    pub(super) fn into_pixels(self) -> Vec<u8> {
        let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0) as u8;
        self.values.into_iter().map(byte).collect()
    }

    /// Lengths of this picture for one of the published ones.
    pub(super) fn scale(&self) -> f64 {
        self.side as f64 / PUBLISHED_SIDE
    }

    /// Row and column of the middle.
    pub(super) fn centre(&self) -> f64 {
        (self.side as f64 - 1.0) / 2.0
    }

    /// The value at a place, which may lie outside: there the picture is mirrored.
    pub(super) fn at(&self, row: isize, column: isize, channel: usize) -> f32 {
        let (row, column) = (mirrored(row, self.side), mirrored(column, self.side));
        self.values[3 * (row * self.side + column) + channel]
    }

    /// The value between pixels, by linear interpolation.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "places within a picture, in single precision"
    )]
    pub(super) fn between(&self, row: f64, column: f64, channel: usize) -> f32 {
        let (top, left) = (row.floor(), column.floor());
        let (down, right) = ((row - top) as f32, (column - left) as f32);
        let (top, left) = (top as isize, left as isize);
        let at = |r, c| self.at(top + r, left + c, channel);
        (at(0, 0) * (1.0 - right) + at(0, 1) * right) * (1.0 - down)
            + (at(1, 0) * (1.0 - right) + at(1, 1) * right) * down
    }

    /// Canvas of the same size whose values are `f` of row, column and channel.
    pub(super) fn map(&self, f: impl Fn(isize, isize, usize) -> f32) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_stands_at_both_ends() {
        let found: Vec<usize> = (-3..7).map(|i| mirrored(i, 4)).collect();
        assert_eq!(found, [3, 2, 1, 0, 1, 2, 3, 2, 1, 0], "of four");
        assert_eq!(mirrored(-5, 1), 0, "of one");
    }
}
