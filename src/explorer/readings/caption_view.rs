//! One caption's numbers under one family.

use crate::metrics::percentile_of;
use crate::numerics::Family;
use crate::protocol::{CaptionReading, Familiarity, ModelCard};

/// One caption's numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptionView {
    /// The text these numbers belong to.
    pub caption: String,
    /// Concentration κ.
    pub concentration: f64,
    /// The paper's uncertainty, 1/κ.
    pub uncertainty: f64,
    /// Share, in percent, of the reference captions that are less vague.
    pub percentile: f64,
    /// Tokens between start and end.
    pub n_tokens: usize,
    /// Whether the caption was cut.
    pub truncated: bool,
    /// Words the model does not know.
    pub unknown_words: Vec<String>,
    /// How like the captions of the model's training it is; `None` where the model cannot tell.
    pub familiarity: Option<Familiarity>,
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
        Self {
            caption: reading.caption.clone(),
            concentration,
            uncertainty,
            percentile: percentile_of(references, uncertainty),
            n_tokens: reading.n_tokens,
            truncated: reading.truncated,
            unknown_words: reading.unknown_words.clone(),
            familiarity: reading.familiarity,
        }
    }
}
