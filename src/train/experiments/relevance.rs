//! Which captions are right for a picture.

use crate::metrics::retrieval::Hit;
use crate::train::features::cache::{IdMap, Truths};

/// The captions that each picture may find.
#[derive(Debug)]
pub(super) struct Relevance {
    /// Those that were said of it.
    own: Vec<Vec<usize>>,
    /// Those that are true of it, where that is known.
    fitting: Option<Table>,
}

/// A set of captions for each picture, one bit a caption: of 30,000 captions 1,400 pictures each may be true.
#[derive(Debug)]
struct Table {
    words: Vec<u64>,
    words_per_picture: usize,
}

impl Relevance {
    /// Of a split or a task.
    pub(super) fn of(ids: &IdMap) -> Self {
        let mut own = vec![Vec::new(); ids.images.len()];
        for (text, caption) in ids.captions.iter().enumerate() {
            own[caption.image].push(text);
        }
        let fitting = ids.truths.as_ref();
        Self {
            fitting: fitting.map(|truths| Table::of(truths, ids.images.len())),
            own,
        }
    }

    /// What a picture with these scores of all captions found: any that is true of it, and any that was said of it. Where
    /// truth is not known the two are the same.
    pub(super) fn hits_of_image(&self, image: usize, scores: &[f32]) -> (Hit, Hit) {
        let own = Hit::of(scores, self.own[image].iter().copied());
        let fitting = self.fitting.as_ref();
        let fitting = fitting.map(|table| Hit::of(scores, table.captions(image)));
        (fitting.unwrap_or(own), own)
    }
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
