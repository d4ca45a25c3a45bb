//! Terms of logits that leave other pictures which a caption fits out of its negatives.

/// Added to a logit that is not to count.
const MASKED: f32 = -1e4;

/// Terms that are −10⁴ where a caption fits another caption's picture and zero elsewhere, `[n_pictures, n_captions]`.
///
/// `fits` are the pictures that each caption fits, ascending.
pub(super) fn fitting_mask(pictures: &[usize], fits: &[&[usize]]) -> Vec<f32> {
    let of_picture = |(i, picture): (usize, &usize)| {
        let of_caption = |(j, fits): (usize, &&[usize])| {
            let is_other = i != j && fits.binary_search(picture).is_ok();
            if is_other { MASKED } else { 0.0 }
        };
        fits.iter().enumerate().map(of_caption).collect::<Vec<_>>()
    };
    pictures.iter().enumerate().flat_map(of_picture).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_is_spared_the_other_pictures_that_it_fits() {
        // The first caption fits pictures 3 and 8, the second none but its own, the third all.
        let found = fitting_mask(&[3, 5, 8], &[&[3, 8], &[], &[3, 5, 8]]);
        let expected = [[0.0, 0.0, MASKED], [0.0, 0.0, MASKED], [MASKED, 0.0, 0.0]];
        assert_eq!(found, expected.concat(), "a row each picture");
    }
}
