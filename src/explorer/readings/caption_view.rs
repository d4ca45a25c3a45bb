//! One caption's numbers under one family.

use crate::explorer::halo::HaloMark;
use crate::explorer::legibility::Legibility;
use crate::metrics::percentile_of;
use crate::numerics::Family;
use crate::protocol::{CaptionReading, CompactDirection, Familiarity, ModelCard};

/// Numbers of one caption under one family, with what the model could read of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptionView {
    /// The text these numbers belong to.
    pub caption: String,
    /// Concentration κ of the caption's distribution under the family.
    pub concentration: f64,
    /// The paper's uncertainty, 1/κ.
    pub uncertainty: f64,
    /// Share, in percent, of the reference captions that are less vague; `None` where the caption cannot be read.
    pub percentile: Option<f64>,
    /// Tokens between start and end.
    pub n_tokens: usize,
    /// Whether the caption was cut.
    pub truncated: bool,
    /// Words the model does not know.
    pub unknown_words: Vec<String>,
    /// Familiarity of it to the model, by the captions of its training; `None` where the model cannot tell.
    pub familiarity: Option<Familiarity>,
    /// Share of it that the model can read.
    pub legibility: Legibility,
    /// Direction of its embedding; none before an engine has told it.
    pub direction: CompactDirection,
}

impl CaptionView {
    /// Reads a model's answer about one caption under a family.
    pub(in crate::explorer) fn new(
        card: &ModelCard,
        reading: &CaptionReading,
        family: Family,
    ) -> Self {
        let concentration = *reading.concentration.get(family);
        let uncertainty = 1.0 / concentration;
        let references = card.reference_uncertainty.get(family);
        let legibility = Legibility::of(
            &reading.caption,
            &reading.unknown_words,
            reading.familiarity,
        );
        let percentile = percentile_of(references, uncertainty);
        Self {
            caption: reading.caption.clone(),
            concentration,
            uncertainty,
            percentile: (!legibility.is_unread()).then_some(percentile),
            n_tokens: reading.n_tokens,
            truncated: reading.truncated,
            unknown_words: reading.unknown_words.clone(),
            familiarity: reading.familiarity,
            legibility,
            direction: reading.direction.clone(),
        }
    }

    /// Halo of the caption.
    pub fn mark(&self) -> HaloMark {
        self.percentile.map_or(HaloMark::Unread, HaloMark::At)
    }

    /// Whether the model can make nothing of it.
    pub fn is_unread(&self) -> bool {
        self.legibility.is_unread()
    }
}
