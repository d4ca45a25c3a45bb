//! An engine's answer about the matrix, with the model that gave it and the rows it belongs to.

use super::caption_view::CaptionView;
use super::pair_view::PairView;
use crate::numerics::Family;
use crate::protocol::{Answer, CaptionReading, ModelCard, PairReading};

/// An answer with the model that gave it and the rows it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The model that answered.
    pub card: ModelCard,
    /// Keys of the captions, in the answer's order.
    pub keys: Vec<u64>,
    /// The engine's answer: a reading of each caption and of each caption × picture.
    pub answer: Answer,
    /// Whether it was recorded when the model was made, and not computed on this device.
    pub recorded: bool,
}

impl Snapshot {
    /// Numbers of one caption under a family.
    pub(super) fn caption(&self, i_text: usize, family: Family) -> Option<CaptionView> {
        let reading = self.answer.captions.get(i_text)?;
        Some(CaptionView::new(&self.card, reading, family))
    }

    /// Numbers of one caption and one picture under a family.
    pub(super) fn pair(&self, i_text: usize, i_image: usize, family: Family) -> Option<PairView> {
        let (caption, pair) = self.reading(i_text, i_image)?;
        Some(PairView::new(&self.card, caption, pair, family))
    }

    /// The engine's reading of one caption and one picture.
    pub(in crate::explorer) fn reading(
        &self,
        i_text: usize,
        i_image: usize,
    ) -> Option<(&CaptionReading, &PairReading)> {
        let (answer, n_images) = (&self.answer, self.answer.images.len());
        let pair = answer.pairs.get(i_text * n_images + i_image)?;
        Some((answer.captions.get(i_text)?, pair))
    }
}
