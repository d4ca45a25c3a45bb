//! The numbers of the matrix from a model without adapters: cosines, and no κ.

use std::collections::HashMap;

use super::best::{BestMarks, mark_best};
use crate::explorer::extent::Extent;
use crate::explorer::legibility::Legibility;
use crate::explorer::state::ExplorerState;
use crate::protocol::{CaptionTokens, Comparison};

/// An answer of cosines with the rows it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct CosineSnapshot {
    /// Keys of the captions, in the answer's order.
    pub keys: Vec<u64>,
    /// The engine's answer: a cosine for each caption × picture.
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
    /// The encoder's cosine between text and image embedding, from −1 to 1.
    pub cosine: f64,
    /// Rank of it among the pairs shown.
    pub best: BestMarks,
}

impl Cosines {
    /// Reads an answer for the captions and pictures that are still on the page.
    pub fn new(compared: &CosineSnapshot, state: &ExplorerState) -> Self {
        let CosineSnapshot { keys, comparison } = compared;
        let images = &comparison.images;
        let shown: Vec<usize> = (0..images.len())
            .filter(|&i| state.pictures.contains(&images[i]))
            .collect();
        let row = |(i_text, key): (usize, &u64)| {
            state.captions.index(*key)?;
            let row = i_text * images.len()..(i_text + 1) * images.len();
            let row = comparison.cosines.get(row)?;
            Some((*key, shown.iter().map(|&i| row[i]).collect()))
        };
        let views = |row: Vec<f64>| -> Vec<CosineView> {
            let view = |cosine| CosineView {
                cosine,
                best: BestMarks::default(),
            };
            row.into_iter().map(view).collect()
        };
        let rows = keys.iter().enumerate().filter_map(row);
        let mut rows: Vec<(u64, Vec<CosineView>)> =
            rows.map(|(key, row)| (key, views(row))).collect();
        let extent = Extent::of(rows.iter().flat_map(|(_, row)| row).map(|view| view.cosine));
        let is_unread = |key: &u64| {
            let mut tokens = keys.iter().zip(&comparison.captions);
            tokens.any(|(known, tokens)| known == key && legibility(tokens).is_unread())
        };
        let read = rows.iter_mut().filter(|(key, _)| !is_unread(key));
        let mut read: Vec<&mut Vec<CosineView>> = read.map(|(_, row)| row).collect();
        mark_best(
            &mut read,
            |view| view.cosine,
            0.0,
            |view, best| {
                view.best = best;
            },
        );
        let names = || shown.iter().map(|&i| images[i].clone());
        let named = |(key, row): (u64, Vec<CosineView>)| (key, names().zip(row).collect());
        let tokens = comparison.captions.iter().cloned();
        Self {
            captions: keys.iter().copied().zip(tokens).collect(),
            pairs: rows.into_iter().map(named).collect(),
            extent,
        }
    }

    /// Tokens and unknown words of a caption.
    pub fn caption(&self, key: u64) -> Option<&CaptionTokens> {
        self.captions.get(&key)
    }

    /// One pair's cosine, where it is known.
    pub fn pair(&self, key: u64, image: &str) -> Option<CosineView> {
        self.pairs.get(&key)?.get(image).copied()
    }
}

/// Share of a caption that a model without adapters can read.
fn legibility(tokens: &CaptionTokens) -> Legibility {
    Legibility::of(&tokens.caption, &tokens.unknown_words, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::state::ModelChoice;

    fn read(captions: &[&str], shown: &[&str], images: &[&str], cosines: &[f64]) -> Cosines {
        let state = ExplorerState::new(
            ModelChoice::SCENES,
            captions.iter().copied(),
            shown.iter().copied(),
        );
        let tokens = |caption: &&str| CaptionTokens {
            caption: (*caption).to_owned(),
            ..CaptionTokens::default()
        };
        let compared = CosineSnapshot {
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
            (view.best.is_best_caption, view.best.is_best_picture)
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
        let is_best = kept.best.is_best_caption || kept.best.is_best_picture;
        assert!(!is_best, "nothing to be best among: {kept:?}");
        assert!(found.extent.highest < 0.5, "{:?}", found.extent);
    }

    #[test]
    fn captions_without_pictures_have_their_words_only() {
        let found = read(&["a dog"], &[], &[], &[]);
        let tokens = found.caption(1).map(|tokens| tokens.caption.as_str());
        assert_eq!(tokens, Some("a dog"), "{found:?}");
    }
}
