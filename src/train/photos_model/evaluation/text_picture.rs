//! Words as a picture, in a fixed font of eight by eight pixels.

use font8x8::legacy::BASIC_LEGACY;

use crate::preprocess::RgbPixels;

/// Side of a picture in pixels.
const SIDE: usize = 256;
/// Side of a letter in dots.
const LETTER: usize = 8;
/// Dots from the top of a line to the top of the next one.
const LINE: usize = 11;
/// Dots around the words.
const MARGIN: usize = 4;

/// Writes words line by line until the picture is full, a dot of the font being `scale` pixels wide.
///
/// `colours` are those of ground and letters. Letters that are not ASCII leave a gap.
pub(super) fn text_picture(text: &str, colours: [[u8; 3]; 2], scale: usize) -> RgbPixels {
    let dots = SIDE / scale.max(1);
    let n_columns = (dots.saturating_sub(2 * MARGIN) / LETTER).max(1);
    let lines: Vec<Vec<char>> = broken(text, n_columns);
    let is_inked = |x: usize, y: usize| {
        let (x, y) = (x.checked_sub(MARGIN)?, y.checked_sub(MARGIN)?);
        let letter = lines.get(y / LINE)?.get(x / LETTER)?;
        let rows = BASIC_LEGACY.get(*letter as usize)?;
        // The lowest bit is the leftmost dot.
        Some(rows.get(y % LINE)? >> (x % LETTER) & 1 == 1)
    };
    let pixels = (0..SIDE * SIDE).flat_map(|i| {
        let [x, y] = [i % SIDE, i / SIDE].map(|pixel| pixel / scale.max(1));
        colours[usize::from(is_inked(x, y).unwrap_or(false))]
    });
    RgbPixels {
        width: SIDE,
        height: SIDE,
        pixels: pixels.collect(),
    }
}

/// Lines of at most `n_columns` letters, broken between words where that is possible.
fn broken(text: &str, n_columns: usize) -> Vec<Vec<char>> {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    for word in text.split_whitespace() {
        let last = lines.last().map_or(0, Vec::len);
        let word: Vec<char> = word.chars().collect();
        if last > 0 && last + 1 + word.len() > n_columns {
            lines.push(Vec::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.extend(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE_AND_BLACK: [[u8; 3]; 2] = [[255; 3], [0; 3]];

    fn n_black(text: &str, scale: usize) -> usize {
        let picture = text_picture(text, WHITE_AND_BLACK, scale);
        assert_eq!(picture.pixels.len(), 3 * SIDE * SIDE, "three channels");
        picture
            .pixels
            .chunks(3)
            .filter(|pixel| **pixel == [0; 3])
            .count()
    }

    #[test]
    fn a_bar_is_where_the_font_has_it() {
        // "|" is two dots wide and seven high, with one dot missing in the middle row.
        let picture = text_picture("|", WHITE_AND_BLACK, 1);
        let is_black = |x: usize, y: usize| picture.pixels[3 * (y * SIDE + x)] == 0;
        let rows =
            (0..LETTER).map(|y| (0..LETTER).filter(move |x| is_black(MARGIN + x, MARGIN + y)));
        let found: Vec<Vec<usize>> = rows.map(Iterator::collect).collect();
        let bar = vec![3, 4];
        let gap = Vec::new();
        let expected = [&bar, &bar, &bar, &gap, &bar, &bar, &bar, &gap].map(Clone::clone);
        assert_eq!(found, expected, "columns of ink of each row");
    }

    #[test]
    fn letters_grow_with_the_scale_and_gaps_hold_no_ink() {
        assert_eq!(n_black("a b", 3), 9 * n_black("ab", 1), "nine pixels a dot");
        assert_eq!(n_black(" ", 2), 0, "an empty screen");
    }

    #[test]
    fn lines_are_broken_between_words() {
        let lines = broken("a red star above", 6);
        let lines: Vec<String> = lines.into_iter().map(String::from_iter).collect();
        assert_eq!(lines, ["a red", "star", "above"], "at most six letters");
    }
}
