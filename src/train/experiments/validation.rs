//! The training split in two: pictures to fit to, and pictures to choose learning rates by.

use anyhow::Result;
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::measure::{Encoded, recall};
use super::relevance::Relevance;
use crate::report::Metric;
use crate::train::features::cache::{CaptionRow, IdMap};
use crate::train::methods::{Features, Method, Training, mean_loss};

/// Every so many-th picture is held out.
const HELD_OUT: i64 = 10;

/// Loss and recall of a fit on pictures that it was not fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Validation {
    /// Mean loss of batches as large as those of the training.
    pub(super) loss: f64,
    /// Sum of the recalls at 1, 5 and 10 both ways in percent, of own captions, among the held-out pictures.
    pub(super) recall_sum: f64,
    /// Whether uncertainty tells levels of the held-out queries apart; true for a method that has none, and in records
    /// from before this was asked.
    #[serde(default = "not_asked")]
    pub(super) tells_levels_apart: bool,
}

const fn not_asked() -> bool {
    true
}

/// A tenth of the training pictures with their captions held out.
#[derive(Debug)]
pub(super) struct ValidationSplit {
    /// Nine tenths of the pictures with their captions, which fits are made to.
    pub(super) train: Features,
    held_out: Features,
    ids: IdMap,
}

impl ValidationSplit {
    /// Every tenth picture is held out.
    pub(super) fn of(all: &Features, device: &Device) -> Self {
        let is_held_out = |image: i64| image % HELD_OUT == HELD_OUT - 1;
        let rows = |held_out: bool| -> (Vec<i64>, Vec<i64>) {
            let captions = all.image_of_text.iter().enumerate();
            let chosen = captions.filter(|(_, image)| is_held_out(**image) == held_out);
            chosen.map(|(row, image)| (row as i64, *image)).unzip()
        };
        let select = |tensor: &Tensor<2>, rows: Vec<i64>| {
            let n = rows.len();
            let rows = Tensor::from_data(TensorData::new(rows, [n]), device);
            tensor.clone().select(0, rows)
        };
        let (texts, image_of_text) = rows(false);
        let train = Features {
            texts: select(&all.texts, texts),
            images: all.images.clone(),
            image_of_text,
        };
        let (texts, images) = rows(true);
        let [n_images, _] = all.images.dims();
        let held_out_images = (0..n_images as i64).filter(|image| is_held_out(*image));
        let held_out = Features {
            texts: select(&all.texts, texts),
            images: select(&all.images, held_out_images.collect()),
            image_of_text: images.iter().map(|image| image / HELD_OUT).collect(),
        };
        Self {
            ids: ids(&held_out),
            train,
            held_out,
        }
    }

    /// Loss and recall of a fitted method; `None` where a number is not finite.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub(super) fn measure<M: Method>(
        &self,
        method: &M,
        training: &Training,
    ) -> Result<Option<Validation>> {
        let loss = mean_loss(method, training, &self.held_out)?;
        let Features { texts, images, .. } = self.held_out.clone();
        let encoded = Encoded::new(method, images, texts);
        let found = recall(&encoded, &self.ids, &Relevance::of(&self.ids))?;
        let recall_sum = found.get(&Metric::RecallSum).copied().unwrap_or(f64::NAN);
        let is_finite = loss.is_finite() && recall_sum.is_finite();
        let validation = Validation {
            loss,
            recall_sum,
            tells_levels_apart: encoded.tells_levels_apart()?,
        };
        Ok(is_finite.then_some(validation))
    }
}

/// Identities that hold the picture of each caption, and nothing else.
fn ids(features: &Features) -> IdMap {
    let [n_images, _] = features.images.dims();
    let caption = |image: &i64| CaptionRow {
        image: usize::try_from(*image).unwrap_or_default(),
        text: String::new(),
        n_tokens: 0,
        level: None,
        bits: None,
    };
    IdMap {
        images: (0..n_images).map(|image| image.to_string()).collect(),
        captions: features.image_of_text.iter().map(caption).collect(),
        truths: None,
    }
}
