//! The table of token embeddings, whose rows may stay as a file holds them.

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::module::embedding;
use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::device::host_ids;
use crate::host::stored::StoredValues;

/// Token ids → embeddings.
#[derive(Module, Debug)]
pub struct TokenTable {
    /// Embedding of each token, `[vocab_size, width]`; where they stay as stored, a placeholder of that shape.
    pub(crate) weight: Param<Tensor<2>>,
    #[module(skip)]
    stored: Option<Arc<StoredValues>>,
}

impl From<Param<Tensor<2>>> for TokenTable {
    fn from(weight: Param<Tensor<2>>) -> Self {
        Self {
            weight,
            stored: None,
        }
    }
}

impl TokenTable {
    /// Embeddings of tokens.
    ///
    /// # Shapes
    ///
    /// - `token_ids`: `[n_texts, n_tokens]`
    /// - output: `[n_texts, n_tokens, width]`
    pub(crate) fn forward(&self, token_ids: Tensor<2, Int>) -> Tensor<3> {
        let Some(stored) = &self.stored else {
            return embedding(self.weight.val(), token_ids);
        };
        let ([n_texts, n_tokens], device) = (token_ids.dims(), token_ids.device());
        let [_, width] = self.weight.lazy_shape().dims();
        let rows = stored.rows(&host_ids(token_ids), width);
        Tensor::from_data(TensorData::new(rows, [n_texts, n_tokens, width]), &device)
    }

    /// Takes the embeddings as they are stored; the table is on the CPU.
    pub(crate) fn keep(&mut self, stored: StoredValues) {
        self.stored = Some(Arc::new(stored));
    }

    pub(crate) fn device(&self) -> Device {
        self.weight.lazy_device()
    }
}
