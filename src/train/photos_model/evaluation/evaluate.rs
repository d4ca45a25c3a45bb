//! Every measure of a trained model, in one call.

use super::encoded::{EncodedLadders, EncodedOutsiders, EncodedPairs};
use super::expert::{JudgedPair, agreement};
use super::ladders::{full_caption_r10, hierarchy};
use super::outsiders::{by_best_score, by_nearest_pictures};
use super::recall::Found;
use super::scores::{ScoredPairs, Scores};
use crate::family::{Family, PerFamily};
use crate::metrics::spearman;
use crate::report::{
    CosineMeasures, LadderMeasures, OrderBaseline, OrderBaselines, OutsiderAuroc, PhotosEvaluation,
    PhotosFamily, Quantized,
};

/// What a trained model makes of everything that it is measured on.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationInput<'a> {
    /// Seed of its training.
    pub seed: u64,
    /// Flickr8k's test pictures with the captions that people wrote.
    pub flickr: &'a EncodedPairs,
    /// The same pictures with captions of all levels.
    pub all_levels: &'a EncodedPairs,
    /// `HierarCaps`' test pictures and ladders.
    pub hierarcaps: &'a EncodedLadders,
    /// Judged pairs of the rows of `flickr`.
    pub judged: &'a [JudgedPair],
    /// Pictures that are no photographs, and training pictures, in the shared space.
    pub outsiders: &'a EncodedOutsiders,
    /// `flickr` as the model in eight bits encodes it.
    pub int8: Option<&'a EncodedPairs>,
}

/// Measures a trained model under both families and by the cosine.
#[must_use]
pub fn evaluate(input: &EvaluationInput<'_>) -> PhotosEvaluation {
    let sets = Sets::of(input);
    PhotosEvaluation {
        seed: input.seed,
        n_pictures: input.flickr.n_images(),
        n_captions: input.flickr.captions.len(),
        n_captions_of_all_levels: input.all_levels.captions.len(),
        families: PerFamily::of(|family| sets.under(family)),
        cosine: CosineMeasures {
            recall: sets.by_cosine.flickr.recall(),
            hierarcaps_r10: full_caption_r10(
                input.hierarcaps,
                &sets.by_cosine.hierarcaps.of_captions,
            ),
            outsiders: sets.outsiders(&sets.flickr.cosines, None),
        },
        baselines: sets.baselines(),
        nearest_pictures: by_nearest_pictures(&input.flickr.images, input.outsiders),
    }
}

/// The sets of pairs with their cosines, which are computed once.
struct Sets<'a> {
    input: &'a EvaluationInput<'a>,
    flickr: ScoredPairs<'a>,
    all_levels: ScoredPairs<'a>,
    hierarcaps: ScoredPairs<'a>,
    int8: Option<ScoredPairs<'a>>,
    by_cosine: FoundIn,
}

/// What was found in each set by one score.
struct FoundIn {
    flickr: Found,
    all_levels: Found,
    hierarcaps: Found,
}

impl<'a> Sets<'a> {
    fn of(input: &'a EvaluationInput<'a>) -> Self {
        let flickr = ScoredPairs::of(input.flickr);
        let all_levels = ScoredPairs::of(input.all_levels);
        let hierarcaps = ScoredPairs::of(&input.hierarcaps.pairs);
        Self {
            by_cosine: FoundIn {
                flickr: Found::of(flickr.pairs, &flickr.cosines),
                all_levels: Found::of(all_levels.pairs, &all_levels.cosines),
                hierarcaps: Found::of(hierarcaps.pairs, &hierarcaps.cosines),
            },
            int8: input.int8.map(ScoredPairs::of),
            flickr,
            all_levels,
            hierarcaps,
            input,
        }
    }

    fn under(&self, family: Family) -> PhotosFamily {
        let nats = self.flickr.nats(family);
        let found = |scored: &ScoredPairs<'_>| Found::of(scored.pairs, &scored.nats(family));
        let kappa = |scored: &ScoredPairs<'a>| scored.pairs.concentrations(family);
        let flickr = Found::of(self.flickr.pairs, &nats);
        let all_levels = found(&self.all_levels);
        let hits = found(&self.hierarcaps).of_captions;
        let ladders = self.input.hierarcaps;
        let cosines = &self.flickr.cosines;
        PhotosFamily {
            recall: flickr.recall(),
            spearman_levels: flickr.spearman_levels(kappa(&self.flickr)),
            spearman_levels_all: all_levels.spearman_levels(kappa(&self.all_levels)),
            hierarcaps: LadderMeasures {
                hierarchy: hierarchy(ladders, kappa(&self.hierarcaps), &hits),
                r10: full_caption_r10(ladders, &hits),
            },
            expert: agreement(self.input.judged, &nats, cosines),
            outsiders: self.outsiders(&nats, Some(family)),
            int8: self.int8.as_ref().map(|int8| Quantized {
                kappa_spearman: spearman(kappa(&self.flickr), kappa(int8)),
                r1_loss: r1_loss(&flickr, &found(int8)),
            }),
        }
    }

    /// Outsiders by their best likelihood, or by their best cosine; `of_photographs` are the same scores of Flickr8k.
    fn outsiders(&self, of_photographs: &Scores, family: Option<Family>) -> OutsiderAuroc {
        let (pairs, outsiders) = (self.input.flickr, self.input.outsiders);
        by_best_score(pairs, of_photographs, outsiders, |pictures| match family {
            None => Scores::cosines(&pairs.embeddings, pictures),
            Some(family) => {
                let concentrations = pairs.concentrations(family);
                let cosines = Scores::cosines(pairs.mean_directions(family), pictures);
                cosines.nats(family, concentrations, pairs.embeddings.width)
            }
        })
    }

    fn baselines(&self) -> OrderBaselines {
        OrderBaselines {
            word_count: self.baseline(EncodedPairs::word_counts),
            feature_norm: self.baseline(|pairs| pairs.feature_norms.clone()),
        }
    }

    fn baseline(&self, specificity: impl Fn(&EncodedPairs) -> Vec<f64>) -> OrderBaseline {
        let FoundIn {
            flickr,
            all_levels,
            hierarcaps,
        } = &self.by_cosine;
        let ladders = self.input.hierarcaps;
        OrderBaseline {
            spearman_levels: flickr.spearman_levels(&specificity(self.flickr.pairs)),
            spearman_levels_all: all_levels.spearman_levels(&specificity(self.all_levels.pairs)),
            hierarcaps: hierarchy(
                ladders,
                &specificity(&ladders.pairs),
                &hierarcaps.of_captions,
            ),
        }
    }
}

/// Loss of recall at 1 against single precision, of the direction that loses more.
fn r1_loss(single: &Found, eight_bits: &Found) -> f64 {
    let (single, eight_bits) = (single.recall(), eight_bits.recall());
    let text_to_image = single.text_to_image.r1 - eight_bits.text_to_image.r1;
    text_to_image.max(single.image_to_text.r1 - eight_bits.image_to_text.r1)
}
