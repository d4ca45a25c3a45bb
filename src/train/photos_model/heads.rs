//! Heads of two locked towers, and how well they retrieve.

use anyhow::{Result, ensure};
use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Result as TensorResult;
use crate::metrics::retrieval::{Hit, recalls};
use crate::model::clip::normalize;
use crate::model::efficientnet::LastStage;
use crate::model::encoder::{ImageOutput, NamedHead, TowersConfig};
use crate::model::parameters::{ParameterVisitor, Parameters};
use crate::train::features::rows::Rows;

/// Maps that go through a last stage together, on one core.
const MAPS_PER_PASS: usize = 32;

/// Tower features of pictures and their captions.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptionedPictures {
    /// Features of the pictures, or the maps that the image tower's last stage reads, `[n_pictures, width]`.
    pub images: Rows,
    /// Features or maps of augmented crops of the same pictures, `[n_pictures, width]` each.
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
    /// Scores of other sizes, or a device that fails.
    pub fn of(scores: Tensor<2>, pairs: &CaptionedPictures) -> Result<Self> {
        let expected = [pairs.picture_of.len(), pairs.images.n_rows()];
        let found = scores.dims();
        ensure!(
            found == expected,
            "scores of {found:?} captions and pictures, expected {expected:?}"
        );
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

/// The heads of both towers, and the image tower's last stage where it was tuned with them.
#[derive(Debug, Clone)]
pub struct Heads {
    /// Last stage of the image tower; `None` where the tower was left as it is.
    pub stage: Option<LastStage>,
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
            stage: None,
            text: towers.init_text_head(device),
            image: towers.init_image_head(device),
        }
    }

    /// Heads and a last stage with random weights for towers of these sizes.
    #[must_use]
    pub fn with_stage(towers: &TowersConfig, device: &Device) -> Self {
        Self {
            stage: Some(towers.image.init_last_stage(device)),
            ..Self::new(towers, device)
        }
    }

    /// The image tower's features of pictures: those that are given, or those that the last stage makes of maps.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn tower_features(&self, images: &Rows, device: &Device) -> Result<Rows> {
        match &self.stage {
            None => Ok(images.clone()),
            Some(stage) => features_of_maps(stage, images, device),
        }
    }

    /// Output of the tower by which pictures are compared: the map before the last block where the last stage is tuned,
    /// which leaves it as it is, and otherwise the features.
    #[must_use]
    pub const fn image_output(&self) -> ImageOutput {
        match self.stage {
            None => ImageOutput::Features,
            Some(_) => ImageOutput::BeforeLastBlock,
        }
    }

    /// This output of pictures: features as the head takes them, or means of maps.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn compared(&self, images: &Rows, device: &Device) -> Result<Rows> {
        match &self.stage {
            None => Rows::from_device(self.image.head.input.apply(images.to_device(device))),
            Some(stage) => of_maps(images, device, |maps| stage.map_means(maps)),
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

    /// Recall of captions and of pictures by the cosine; the pictures are given as maps where there is a last stage.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn retrieval(&self, pairs: &CaptionedPictures, device: &Device) -> Result<Retrieval> {
        let images = self.tower_features(&pairs.images, device)?;
        let images = self.images(images.to_device(device));
        let texts = self.texts(pairs.captions.to_device(device));
        Retrieval::of(texts.matmul(images.transpose()), pairs)
    }
}

impl Parameters for Heads {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> TensorResult<()> {
        if let Some(stage) = &mut self.stage {
            stage.visit_parameters(visitor)?;
        }
        self.text.visit_parameters(visitor)?;
        self.image.visit_parameters(visitor)
    }
}

/// Features that a last stage makes of maps, `[n, width]`.
///
/// # Errors
///
/// The device fails.
pub(super) fn features_of_maps(stage: &LastStage, maps: &Rows, device: &Device) -> Result<Rows> {
    of_maps(maps, device, |maps| stage.forward(maps))
}

/// What `rows_of` gives of maps, of which it gets some at a time.
fn of_maps(
    maps: &Rows,
    device: &Device,
    rows_of: impl Fn(Tensor<2>) -> Tensor<2> + Sync,
) -> Result<Rows> {
    let parts = maps.values.par_chunks(MAPS_PER_PASS * maps.width.max(1));
    let parts = parts.map(|part| {
        let shape = [part.len() / maps.width, maps.width];
        let maps = Tensor::from_data(TensorData::new(part.to_vec(), shape), device);
        Rows::from_device(rows_of(maps))
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let mut features = Rows::empty(0);
    parts.into_iter().for_each(|part| features.append(part));
    Ok(features)
}

/// The captions of each picture.
pub(super) fn captions_of(pairs: &CaptionedPictures) -> Vec<Vec<usize>> {
    let mut captions = vec![Vec::new(); pairs.images.n_rows()];
    for (caption, picture) in pairs.picture_of.iter().enumerate() {
        captions[*picture].push(caption);
    }
    captions
}
