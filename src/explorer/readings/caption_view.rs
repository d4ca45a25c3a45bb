//! One caption's numbers under one family.

use crate::explorer::halo::HaloMark;
use crate::explorer::legibility::{Legibility, pieces};
use crate::metrics::percentile_of;
use crate::numerics::Family;
use crate::protocol::{CaptionReading, CompactDirection, Familiarity, ModelCard, Respelling};

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
    /// Words that the model does not know or reads in pieces, and what each was probably meant to be.
    pub respellings: Vec<Respelling>,
    /// Familiarity of the caption, beside those of the training; `None` for a model without a detector.
    pub familiarity: Option<Familiarity>,
    /// Share of it that the model can read.
    pub legibility: Legibility,
    /// Mean direction under the family; none before an engine has sent it.
    pub mean_direction: CompactDirection,
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
            respellings: reading.respellings.clone(),
            familiarity: reading.familiarity,
            legibility,
            mean_direction: reading.mean_direction.get(family).clone(),
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

    /// A text in pieces, each with whether it is struck through: the words that the model has never met, or the whole
    /// of what is unlike the captions of its training.
    pub fn pieces<'a>(&self, text: &'a str) -> Vec<(&'a str, bool)> {
        match self.legibility {
            Legibility::OutOfDistribution => vec![(text, true)],
            _ => pieces(text, &self.unknown_words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::readings::cache::tests::card;

    #[test]
    fn a_caption_that_is_unread_as_a_whole_is_struck_through_as_a_whole() {
        let struck = |caption: &str, unknown: &[&str], familiarity: Option<Familiarity>| {
            let reading = CaptionReading {
                caption: caption.to_owned(),
                unknown_words: unknown.iter().map(|&word| word.to_owned()).collect(),
                familiarity,
                ..CaptionReading::default()
            };
            let view = CaptionView::new(&card(), &reading, Family::VonMisesFisher);
            let pieces = view.pieces(caption).into_iter();
            let struck = pieces.filter(|(_, is_struck)| *is_struck);
            struck
                .map(|(piece, _)| piece.to_owned())
                .collect::<Vec<_>>()
        };
        let unlike = Some(Familiarity::new(0.1, 0.5));
        for (caption, unknown, familiarity, expected) in [
            ("ein roter Hund", &[][..], unlike, &["ein roter Hund"][..]),
            ("a red 犬", &["犬"], unlike, &["a red 犬"]),
            ("a red puppy", &["puppy"], None, &["puppy"]),
            ("a red star", &[], None, &[]),
        ] {
            assert_eq!(struck(caption, unknown, familiarity), expected, "{caption}");
        }
    }
}
