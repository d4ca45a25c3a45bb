//! Heads of two locked towers, and how well they retrieve.

use anyhow::Result;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::error::Result as TensorResult;
use crate::metrics::retrieval::{Hit, recalls};
use crate::model::clip::normalize;
use crate::model::encoder::{NamedHead, TowersConfig};
use crate::model::parameters::{ParameterVisitor, Parameters};
use crate::train::features::rows::Rows;

/// Tower features of pictures and their captions.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptionedPictures {
    /// Features of the pictures, `[n_pictures, width]`.
    pub images: Rows,
    /// Features of augmented crops of the same pictures, `[n_pictures, width]` each.
    pub augmented: Vec<Rows>,
    /// Features of the captions, `[n_captions, width]`.
    pub captions: Rows,
    /// The picture of each caption, ascending; every picture has one.
    pub picture_of: Vec<usize>,
}

/// Recall at 1, 5 and 10 on unseen pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieval {
    /// Recall of captions for their picture.
    pub text_to_image: [f64; 3],
    /// Recall of pictures for any of their captions.
    pub image_to_text: [f64; 3],
}

impl Retrieval {
    /// Recall both ways by scores, `[n_captions, n_pictures]`.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn of(scores: Tensor<2>, pairs: &CaptionedPictures) -> Result<Self> {
        let read = |scores: Tensor<2>| scores.into_data().try_into_vec::<f32>();
        let by_image = read(scores.clone().transpose())?;
        let by_text = read(scores)?;
        let captions = captions_of(pairs);
        let queries = by_text.chunks_exact(captions.len()).zip(&pairs.picture_of);
        let of_captions = queries.map(|(scores, picture)| Hit::of(scores, [*picture]));
        let queries = by_image.chunks_exact(pairs.picture_of.len()).zip(captions);
        let of_pictures = queries.map(|(scores, captions)| Hit::of(scores, captions));
        Ok(Self {
            text_to_image: recalls(&of_captions.collect::<Vec<_>>()),
            image_to_text: recalls(&of_pictures.collect::<Vec<_>>()),
        })
    }

    /// Criterion of the best state: the sum of both ways' recall at 1.
    pub(super) fn score(&self) -> f64 {
        self.text_to_image[0] + self.image_to_text[0]
    }
}

/// The heads of both towers.
#[derive(Debug, Clone)]
pub struct Heads {
    /// Head of the text tower, under the name `text_head`.
    pub text: NamedHead,
    /// Head of the image tower, under the name `visual_head`.
    pub image: NamedHead,
}

impl Heads {
    /// Heads with random weights for towers of these sizes.
    #[must_use]
    pub fn new(towers: &TowersConfig, device: &Device) -> Self {
        Self {
            text: towers.init_text_head(device),
            image: towers.init_image_head(device),
        }
    }

    /// Features of captions in the common space, `[n, embed_dim]`, of length one.
    #[must_use]
    pub fn texts(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(self.text.head.forward(features))
    }

    /// Features of pictures in the common space, `[n, embed_dim]`, of length one.
    #[must_use]
    pub fn images(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(self.image.head.forward(features))
    }

    /// Recall of captions and of pictures by the cosine.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn retrieval(&self, pairs: &CaptionedPictures, device: &Device) -> Result<Retrieval> {
        let images = self.images(pairs.images.to_device(device));
        let texts = self.texts(pairs.captions.to_device(device));
        Retrieval::of(texts.matmul(images.transpose()), pairs)
    }
}

impl Parameters for Heads {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> TensorResult<()> {
        self.text.visit_parameters(visitor)?;
        self.image.visit_parameters(visitor)
    }
}

/// The captions of each picture.
pub(super) fn captions_of(pairs: &CaptionedPictures) -> Vec<Vec<usize>> {
    let mut captions = vec![Vec::new(); pairs.images.n_rows()];
    for (caption, picture) in pairs.picture_of.iter().enumerate() {
        captions[*picture].push(caption);
    }
    captions
}
