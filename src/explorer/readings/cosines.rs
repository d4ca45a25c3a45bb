//! The answer of a model without adapters as it is read: cosines, and no κ.

use std::collections::HashMap;

use crate::explorer::extent::Extent;
use crate::explorer::state::ExplorerState;
use crate::protocol::{CaptionTokens, Comparison};

/// An answer with the rows it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Keys of the captions, in the answer's order.
    pub keys: Vec<u64>,
    /// What the engine said.
    pub comparison: Comparison,
}

/// The cosines of the captions and pictures that are on the page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cosines {
    captions: HashMap<u64, CaptionTokens>,
    pairs: HashMap<u64, HashMap<String, CosineView>>,
    /// The scale of all bars.
    pub extent: Extent,
}

/// One caption against one picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CosineView {
    /// CLIP's cosine.
    pub cosine: f64,
    /// Whether no other caption shown has a greater one with this picture.
    pub is_best_caption: bool,
    /// Whether no other picture shown has a greater one with this caption.
    pub is_best_picture: bool,
}

impl Cosines {
    /// Reads an answer for the captions and pictures that are still on the page.
    pub fn new(compared: &Compared, state: &ExplorerState) -> Self {
        let Compared { keys, comparison } = compared;
        let images = &comparison.images;
        let shown: Vec<usize> = (0..images.len())
            .filter(|&i| state.pictures.contains(&images[i]))
            .collect();
        let rows: Vec<(u64, &[f64])> = keys
            .iter()
            .copied()
            .zip(rows(&comparison.cosines, images.len(), keys.len()))
            .filter(|(key, _)| state.text(*key).is_some())
            .collect();
        let greatest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MIN, f64::max);
        let of_picture: Vec<f64> = (0..images.len())
            .map(|i| greatest(&mut rows.iter().map(|(_, row)| row[i])))
            .collect();
        let pairs = rows.iter().map(|(key, row)| {
            let of_caption = greatest(&mut shown.iter().map(|&i| row[i]));
            let view = |&i: &usize| {
                let cosine = row[i];
                // Where there is only one, there is nothing to be best among.
                let view = CosineView {
                    cosine,
                    is_best_caption: rows.len() > 1 && cosine >= of_picture[i],
                    is_best_picture: shown.len() > 1 && cosine >= of_caption,
                };
                (images[i].clone(), view)
            };
            (*key, shown.iter().map(view).collect())
        });
        Self {
            pairs: pairs.collect(),
            captions: keys
                .iter()
                .copied()
                .zip(comparison.captions.iter().cloned())
                .collect(),
            extent: Extent::of(
                rows.iter()
                    .flat_map(|(_, row)| shown.iter().map(|&i| row[i])),
            ),
        }
    }

    /// What the model says of a caption's words.
    pub fn caption(&self, key: u64) -> Option<&CaptionTokens> {
        self.captions.get(&key)
    }

    /// One pair's cosine, where it is known.
    pub fn pair(&self, key: u64, image: &str) -> Option<CosineView> {
        self.pairs.get(&key)?.get(image).copied()
    }
}

/// The rows of a table; without columns they are empty.
fn rows(values: &[f64], n_columns: usize, n_rows: usize) -> impl Iterator<Item = &[f64]> {
    (0..n_rows).map_while(move |i| values.get(i * n_columns..(i + 1) * n_columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(captions: &[&str], shown: &[&str], images: &[&str], cosines: &[f64]) -> Cosines {
        let state = ExplorerState::new(captions.iter().copied(), shown.iter().copied());
        let tokens = |caption: &&str| CaptionTokens {
            caption: (*caption).to_owned(),
            ..CaptionTokens::default()
        };
        let compared = Compared {
            keys: state.captions.iter().map(|caption| caption.key).collect(),
            comparison: Comparison {
                captions: captions.iter().map(tokens).collect(),
                images: images.iter().map(|image| (*image).to_owned()).collect(),
                cosines: cosines.to_vec(),
                ..Comparison::default()
            },
        };
        Cosines::new(&compared, &state)
    }

    #[test]
    fn the_greatest_of_each_row_and_column_is_marked() {
        let found = read(
            &["a dog", "a cat"],
            &["x", "y"],
            &["x", "y"],
            &[0.3, 0.1, 0.2, 0.25],
        );
        let marks = |key, image| {
            let view = found.pair(key, image).expect("it was compared");
            (view.is_best_caption, view.is_best_picture)
        };
        assert_eq!(marks(1, "x"), (true, true), "{found:?}");
        assert_eq!(marks(1, "y"), (false, false), "{found:?}");
        assert_eq!(marks(2, "x"), (false, false), "{found:?}");
        assert_eq!(marks(2, "y"), (true, true), "{found:?}");
    }

    #[test]
    fn a_picture_that_was_taken_off_counts_no_more() {
        let found = read(&["a dog"], &["y"], &["x", "y"], &[0.9, 0.1]);
        assert_eq!(found.pair(1, "x"), None, "it is not shown");
        let kept = found.pair(1, "y").expect("it is shown");
        assert_eq!(
            (kept.is_best_caption, kept.is_best_picture),
            (false, false),
            "nothing to be best among: {kept:?}"
        );
        assert!(found.extent.highest < 0.5, "{:?}", found.extent);
    }

    #[test]
    fn captions_without_pictures_have_their_words_only() {
        let found = read(&["a dog"], &[], &[], &[]);
        let tokens = found.caption(1).map(|tokens| tokens.caption.as_str());
        assert_eq!(tokens, Some("a dog"), "{found:?}");
    }
}
