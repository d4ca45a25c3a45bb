//! Token ids of captions as a text tower reads them.

use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::preprocess::Tokens;

/// Rows are padded to a multiple of this, so that few shapes occur.
const LENGTH_STEP: usize = 8;

/// Token ids of several captions, padded on the right.
#[derive(Debug, Clone)]
pub struct TokenBatch {
    /// `[n_texts, n_tokens]`, row by row.
    pub ids: Vec<i64>,
    /// Position of each caption's end token.
    pub ends: Vec<usize>,
    /// Number of tokens in a row, padding included.
    pub n_tokens: usize,
}

impl TokenBatch {
    /// Pads captions to a common length, which is not greater than the context that they were cut to.
    #[must_use]
    pub fn new(captions: &[Tokens], context_length: usize) -> Self {
        let longest = captions.iter().map(|tokens| tokens.ids.len()).max();
        let n_tokens = longest
            .unwrap_or(0)
            .next_multiple_of(LENGTH_STEP)
            .min(context_length);
        let mut ids = Vec::with_capacity(captions.len() * n_tokens);
        for tokens in captions {
            ids.extend(tokens.ids.iter().map(|&id| i64::from(id)));
            let end = tokens.ids.last().map_or(0, |&id| i64::from(id));
            ids.extend(std::iter::repeat_n(end, n_tokens - tokens.ids.len()));
        }
        let ends = captions.iter().map(|tokens| tokens.ids.len() - 1);
        Self {
            ids,
            ends: ends.collect(),
            n_tokens,
        }
    }

    /// Token ids on a device, `[n_texts, n_tokens]`.
    #[must_use]
    pub fn ids_on(&self, device: &Device) -> Tensor<2, Int> {
        let ids = TensorData::new(self.ids.clone(), [self.ends.len(), self.n_tokens]);
        Tensor::from_data(ids, device)
    }
}

#[cfg(test)]
pub(in crate::train) mod tests {
    use super::*;

    pub(in crate::train) fn tokens(ids: &[u32]) -> Tokens {
        Tokens {
            ids: ids.to_vec(),
            n_tokens: ids.len() - 2,
            truncated: false,
            unknown_words: Vec::new(),
            respellings: Vec::new(),
        }
    }

    #[test]
    fn captions_are_padded_on_the_right_with_their_end_token() {
        let batch = TokenBatch::new(&[tokens(&[8, 1, 9]), tokens(&[8, 1, 2, 3, 9])], usize::MAX);
        assert_eq!(batch.n_tokens, LENGTH_STEP, "five tokens become eight");
        let ids = [8, 1, 9, 9, 9, 9, 9, 9, 8, 1, 2, 3, 9, 9, 9, 9];
        assert_eq!(batch.ids, ids, "row by row");
        assert_eq!(batch.ends, [2, 4], "where the first end token stands");
    }

    #[test]
    fn a_length_that_is_a_multiple_already_is_kept() {
        let batch = TokenBatch::new(&[tokens(&[8, 1, 1, 1, 1, 1, 1, 9])], usize::MAX);
        assert_eq!((batch.n_tokens, batch.ends), (8, vec![7]), "nothing to pad");
    }
}
