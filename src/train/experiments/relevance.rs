//! Relevance of captions: which are right for a picture.

use crate::metrics::retrieval::Hit;
use crate::train::features::cache::{IdMap, Truths};

/// The captions that each picture may find.
#[derive(Debug)]
pub(super) struct Relevance {
    /// Captions that were said of each picture.
    own: Vec<Vec<usize>>,
    /// Captions that are true of each picture, where that is known.
    fitting: Option<Table>,
    /// The captions of each level of the hierarchy, the vaguest first; none where truth is not known.
    levels: Vec<Vec<usize>>,
    /// Level of each caption, and its place among the captions of that level.
    places: Vec<LevelPlace>,
}

/// Level of a caption, and its place among those of the level; none of a caption of no level.
type LevelPlace = Option<(usize, usize)>;

/// Hits of one picture among the captions.
#[derive(Debug, Clone)]
pub(super) struct ImageHits {
    /// Hit among the captions that are true of the picture; where truth is not known, among its own.
    pub(super) fitting: Hit,
    /// Hit among the captions that were said of the picture.
    pub(super) own: Hit,
    /// Hit of a true caption among the captions of each level.
    pub(super) of_level: Vec<Hit>,
}

/// A set of captions for each picture, one bit a caption: of 30,000 captions 1,400 pictures each may be true.
#[derive(Debug)]
struct Table {
    words: Vec<u64>,
    words_per_picture: usize,
}

impl Relevance {
    /// Relevance of the captions of a split or a task.
    pub(super) fn of(ids: &IdMap) -> Self {
        let mut own = vec![Vec::new(); ids.images.len()];
        for (text, caption) in ids.captions.iter().enumerate() {
            own[caption.image].push(text);
        }
        let fitting = ids.truths.as_ref();
        let (levels, places) = match fitting {
            Some(_) => by_level(ids),
            None => (Vec::new(), Vec::new()),
        };
        Self {
            fitting: fitting.map(|truths| Table::of(truths, ids.images.len())),
            own,
            levels,
            places,
        }
    }

    /// Hits of a picture with these scores of all captions.
    pub(super) fn hits_of_image(&self, image: usize, scores: &[f32]) -> ImageHits {
        let own = Hit::of(scores, self.own[image].iter().copied());
        let Some(table) = &self.fitting else {
            return ImageHits {
                fitting: own,
                own,
                of_level: Vec::new(),
            };
        };
        let mut fitting = vec![Vec::new(); self.levels.len()];
        for (level, place) in table.captions(image).filter_map(|text| self.places[text]) {
            fitting[level].push(place);
        }
        let of_level = self.levels.iter().zip(fitting).map(|(texts, fitting)| {
            let scores: Vec<f32> = texts.iter().map(|text| scores[*text]).collect();
            Hit::of(&scores, fitting)
        });
        ImageHits {
            fitting: Hit::of(scores, table.captions(image)),
            own,
            of_level: of_level.collect(),
        }
    }
}

/// The captions of each level, and of each caption its level and place.
fn by_level(ids: &IdMap) -> (Vec<Vec<usize>>, Vec<LevelPlace>) {
    let mut levels: Vec<Vec<usize>> = Vec::new();
    let place = |(text, level): (usize, Option<usize>)| {
        let level = level?;
        if levels.len() <= level {
            levels.resize(level + 1, Vec::new());
        }
        levels[level].push(text);
        Some((level, levels[level].len() - 1))
    };
    let of_texts = ids.captions.iter().map(|caption| caption.level);
    let places = of_texts.enumerate().map(place).collect();
    (levels, places)
}

impl Table {
    fn of(truths: &Truths, n_images: usize) -> Self {
        let words_per_picture = truths.meanings.len().div_ceil(BITS);
        let mut words = vec![0; n_images * words_per_picture];
        for (text, &meaning) in truths.meanings.iter().enumerate() {
            for picture in &truths.pictures[meaning] {
                words[picture * words_per_picture + text / BITS] |= 1 << (text % BITS);
            }
        }
        Self {
            words,
            words_per_picture,
        }
    }

    /// Places of the captions that are true of this picture, ascending.
    fn captions(&self, image: usize) -> impl Iterator<Item = usize> {
        let start = image * self.words_per_picture;
        let words = &self.words[start..start + self.words_per_picture];
        let words = words.iter().enumerate();
        words.flat_map(|(at, &word)| bits(word).map(move |bit| at * BITS + bit))
    }
}

/// Bits in a word.
const BITS: usize = 64;

/// The places of the ones in a word, ascending.
fn bits(word: u64) -> impl Iterator<Item = usize> {
    let without_lowest = |rest: &u64| Some(rest & (rest - 1)).filter(|rest| *rest != 0);
    let left = std::iter::successors(Some(word).filter(|word| *word != 0), without_lowest);
    left.map(|rest| rest.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::train::features::cache::CaptionRow;

    #[test]
    fn a_caption_competes_with_those_that_say_as_much() {
        let caption = |image, level| CaptionRow {
            text: String::new(),
            image,
            n_tokens: 1,
            level,
            bits: None,
        };
        // A vague and a full caption of each of two pictures, and one of no level. Both vague ones are true of both.
        let ids = IdMap {
            images: vec!["0".to_owned(), "1".to_owned()],
            captions: vec![
                caption(0, Some(0)),
                caption(0, Some(1)),
                caption(1, Some(0)),
                caption(1, Some(1)),
                caption(1, None),
            ],
            truths: Some(Truths {
                meanings: vec![0, 1, 0, 2, 2],
                pictures: vec![vec![0, 1], vec![0], vec![1]],
            }),
        };
        // The vague caption of the other picture scores best.
        let found = Relevance::of(&ids).hits_of_image(0, &[0.5, 0.2, 0.9, 0.7, 0.8]);
        assert_eq!(found.fitting.rank, 0, "it is true");
        assert_eq!(found.own.rank, 3, "but it was not said of this picture");
        let ranks: Vec<usize> = found.of_level.iter().map(|hit| hit.rank).collect();
        assert_eq!(
            ranks,
            [0, 1],
            "among full captions another picture's stands before its own"
        );
    }

    proptest! {
        #[test]
        fn a_table_holds_what_is_true(
            meanings in prop::collection::vec(0_usize..3, 0..150),
            pictures in prop::collection::vec(prop::collection::btree_set(0_usize..5, 0..5), 3),
        ) {
            let pictures: Vec<Vec<usize>> = pictures.into_iter().map(|set| set.into_iter().collect()).collect();
            let truths = Truths { meanings, pictures };
            let table = Table::of(&truths, 5);
            for image in 0..5 {
                let is_true = |text: &usize| truths.pictures[truths.meanings[*text]].contains(&image);
                let expected: Vec<usize> = (0..truths.meanings.len()).filter(is_true).collect();
                prop_assert_eq!(table.captions(image).collect::<Vec<_>>(), expected, "picture {}", image);
            }
        }
    }
}
