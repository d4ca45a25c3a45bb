//! Every measure of a trained model, in one call.

use anyhow::{Result, ensure};

use super::expert::{JudgedPair, agreement};
use super::ladders::{EncodedLadders, full_caption_r10, hierarchy};
use super::outsiders::{EncodedOutsiders, by_best_score, by_nearest_pictures};
use super::recall::RecallHits;
use crate::family::{Family, PerFamily};
use crate::metrics::spearman;
use crate::report::{
    CosineMeasures, LadderMeasures, OrderBaseline, OrderBaselines, OutsiderAuroc, PhotosEvaluation,
    PhotosFamily, Quantized,
};
use crate::train::pairs::encoded::EncodedPairs;
use crate::train::pairs::scores::{ScoredPairs, Scores};

/// Outputs of a trained model on all evaluation sets.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationInput<'a> {
    /// Seed of its training.
    pub seed: u64,
    /// Flickr8k's test pictures with the captions that people wrote.
    pub flickr: &'a EncodedPairs,
    /// Flickr8k's test pictures with captions of all levels.
    pub all_levels: &'a EncodedPairs,
    /// `HierarCaps`' test pictures and ladders.
    pub hierarcaps: &'a EncodedLadders,
    /// Judged pairs of the rows of `flickr`.
    pub judged: &'a [JudgedPair],
    /// Pictures that are not photographs, and training pictures, in the shared space.
    pub outsiders: &'a EncodedOutsiders,
    /// `flickr` as the model in eight bits encodes it.
    pub int8: Option<&'a EncodedPairs>,
}

/// Measures a trained model under both families and by the cosine.
///
/// # Errors
///
/// Sets that do not belong together: outsiders in another space, other captions in eight bits, judged rows that are not
/// there.
pub fn evaluate(input: &EvaluationInput<'_>) -> Result<PhotosEvaluation> {
    input.check()?;
    let sets = Sets::of(input);
    Ok(PhotosEvaluation {
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
    })
}

impl EvaluationInput<'_> {
    fn check(&self) -> Result<()> {
        let (width, outsiders) = (self.flickr.images.width, self.outsiders.references.width);
        ensure!(
            outsiders == width,
            "outsiders in {outsiders} dimensions, photographs in {width}"
        );
        let captions = &self.flickr.captions;
        ensure!(
            self.int8.is_none_or(|int8| int8.captions == *captions),
            "eight bits were measured on other captions"
        );
        let (n_images, n_captions) = (self.flickr.n_images(), captions.len());
        let is_there = |pair: &JudgedPair| pair.i_image < n_images && pair.i_caption < n_captions;
        let missing = self.judged.iter().find(|pair| !is_there(pair));
        ensure!(
            missing.is_none(),
            "{missing:?} was judged, of {n_images} pictures and {n_captions} captions"
        );
        Ok(())
    }
}

/// The sets of pairs with their cosines, which are computed once.
struct Sets<'a> {
    input: &'a EvaluationInput<'a>,
    flickr: ScoredPairs<'a>,
    all_levels: ScoredPairs<'a>,
    hierarcaps: ScoredPairs<'a>,
    int8: Option<ScoredPairs<'a>>,
    by_cosine: SetHits,
}

/// Hits in each set by one score.
struct SetHits {
    flickr: RecallHits,
    all_levels: RecallHits,
    hierarcaps: RecallHits,
}

impl<'a> Sets<'a> {
    fn of(input: &'a EvaluationInput<'a>) -> Self {
        let flickr = ScoredPairs::of(input.flickr);
        let all_levels = ScoredPairs::of(input.all_levels);
        let hierarcaps = ScoredPairs::of(&input.hierarcaps.pairs);
        Self {
            by_cosine: SetHits {
                flickr: RecallHits::of(flickr.pairs, &flickr.cosines),
                all_levels: RecallHits::of(all_levels.pairs, &all_levels.cosines),
                hierarcaps: RecallHits::of(hierarcaps.pairs, &hierarcaps.cosines),
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
        let found = |scored: &ScoredPairs<'_>| RecallHits::of(scored.pairs, &scored.nats(family));
        let kappa = |scored: &ScoredPairs<'a>| scored.pairs.concentrations(family);
        let flickr = RecallHits::of(self.flickr.pairs, &nats);
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
        let SetHits {
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
fn r1_loss(single: &RecallHits, eight_bits: &RecallHits) -> f64 {
    let (single, eight_bits) = (single.recall(), eight_bits.recall());
    let text_to_image = single.text_to_image.r1 - eight_bits.text_to_image.r1;
    text_to_image.max(single.image_to_text.r1 - eight_bits.image_to_text.r1)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::report::RecallAt;
    use crate::train::features::rows::Rows;
    use crate::train::pairs::captions::RetrievalCaptions;
    use crate::train::pairs::encoded::Distributions;

    const N_PICTURES: usize = 40;

    /// One axis for each picture.
    fn axes(n_of_each: usize) -> Rows {
        let row = |i: usize| (0..N_PICTURES).map(move |axis| f32::from(u8::from(axis == i)));
        let rows = (0..N_PICTURES).flat_map(|i| std::iter::repeat_n(i, n_of_each));
        Rows {
            values: rows.flat_map(row).collect(),
            width: N_PICTURES,
        }
    }

    /// A model whose captions point at their picture; `kappa` of each of the captions of a picture, the vaguest first.
    fn perfect(kappas: &[f64]) -> EncodedPairs {
        let n_of_each = kappas.len();
        let rows = 0..N_PICTURES * n_of_each;
        let captions = RetrievalCaptions {
            texts: rows
                .clone()
                .map(|row| vec!["word"; row % n_of_each + 1].join(" "))
                .collect(),
            pictures_of: rows.map(|row| vec![row / n_of_each]).collect(),
        };
        let distributions = PerFamily::of(|_| Distributions {
            concentrations: kappas.repeat(N_PICTURES),
            mean_directions: None,
        });
        EncodedPairs::new(axes(1), captions, axes(n_of_each), distributions).expect("fits")
    }

    /// The evaluation of a model that makes no mistake.
    pub(in super::super) fn sample(seed: u64) -> PhotosEvaluation {
        let (flickr, ladders) = (perfect(&[20.0]), perfect(&[5.0, 10.0, 15.0, 20.0]));
        let opposite = Rows {
            values: axes(1).values.iter().map(|x| -x - 0.1).collect(),
            width: N_PICTURES,
        };
        let outsiders = EncodedOutsiders::new(vec![("noise".to_owned(), opposite)], axes(1));
        let judged = [(0, 0, 4), (1, 1, 4), (2, 5, 1), (3, 9, 1)];
        let judged = judged.map(|(i_image, i_caption, score)| JudgedPair {
            i_image,
            i_caption,
            scores: [score; 3],
        });
        evaluate(&EvaluationInput {
            seed,
            flickr: &flickr,
            all_levels: &ladders,
            hierarcaps: &EncodedLadders::new(ladders.clone(), 4).expect("whole ladders"),
            judged: &judged,
            outsiders: &outsiders.expect("fits"),
            int8: Some(&perfect(&[19.0])),
        })
        .expect("sets that belong together")
    }

    #[test]
    fn sets_that_do_not_belong_together_are_refused() {
        let (flickr, ladders) = (perfect(&[20.0]), perfect(&[5.0, 10.0]));
        let outsiders = |width| {
            let row = || Rows {
                values: vec![1.0; width],
                width,
            };
            EncodedOutsiders::new(vec![("noise".to_owned(), row())], row()).expect("fits")
        };
        let judged = [JudgedPair {
            i_image: 0,
            i_caption: N_PICTURES,
            scores: [1; 3],
        }];
        let error = |width: usize, judged: &[JudgedPair], int8| {
            let result = evaluate(&EvaluationInput {
                seed: 0,
                flickr: &flickr,
                all_levels: &ladders,
                hierarcaps: &EncodedLadders::new(ladders.clone(), 2).expect("whole ladders"),
                judged,
                outsiders: &outsiders(width),
                int8: Some(int8),
            });
            result.expect_err("does not belong together").to_string()
        };
        let width = error(3, &[], &flickr);
        assert_eq!(
            width, "outsiders in 3 dimensions, photographs in 40",
            "space"
        );
        let captions = error(N_PICTURES, &[], &ladders);
        assert!(captions.contains("other captions"), "{captions}");
        let rows = error(N_PICTURES, &judged, &flickr);
        assert!(rows.contains("40 pictures and 40 captions"), "{rows}");
    }

    #[test]
    fn a_perfect_model_reaches_the_bounds() {
        let found = sample(7);
        let all = RecallAt {
            r1: 1.0,
            r5: 1.0,
            r10: 1.0,
        };
        assert_eq!((found.n_pictures, found.n_captions), (40, 40), "sizes");
        assert_eq!(found.cosine.recall.text_to_image, all, "by cosine");
        for family in Family::ALL {
            let of_family = found.families.get(family);
            let ways = of_family.recall;
            assert_eq!(
                [ways.text_to_image, ways.image_to_text],
                [all; 2],
                "{family:?}"
            );
            let ladders = &of_family.hierarcaps;
            let bounds = [
                ladders.hierarchy.adjacent_ordered,
                ladders.hierarchy.auc,
                ladders.r10,
            ];
            assert_eq!(bounds, [1.0; 3], "{family:?}: {ladders:?}");
            assert_eq!(of_family.expert.tau_c_nats, Some(1.0), "{family:?}");
            assert_eq!(of_family.outsiders.auroc, Some(1.0), "{family:?}");
            let eight_bits = of_family.int8.expect("was measured");
            assert_eq!(eight_bits.r1_loss, 0.0, "{family:?}");
            assert_eq!(eight_bits.kappa_spearman, None, "all captions have one κ");
            assert_eq!(
                of_family.spearman_levels.text_to_image, None,
                "nothing is missed"
            );
        }
        assert_eq!(
            found.nearest_pictures.auroc,
            Some(1.0),
            "by nearest pictures"
        );
        let words = &found.baselines.word_count.hierarcaps;
        assert_eq!(words.adjacent_ordered, 1.0, "each rung has one word more");
        assert_eq!(words.same_length_ordered, None, "no two have as many");
        let norms = &found.baselines.feature_norm.hierarcaps;
        assert_eq!(
            (norms.adjacent_ordered, norms.auc),
            (0.5, 0.5),
            "all are one"
        );
    }

    #[test]
    fn eight_bits_lose_what_the_worse_direction_loses() {
        let recall = |hits: [usize; 2], images: [usize; 2]| {
            let hit = |rank| crate::metrics::retrieval::Hit { best: 0, rank };
            RecallHits {
                of_captions: hits.map(hit).into(),
                of_images: images.map(hit).into(),
            }
        };
        let (single, eight_bits) = (recall([0, 0], [0, 9]), recall([0, 3], [0, 0]));
        assert_eq!(
            r1_loss(&single, &eight_bits),
            0.5,
            "text to image loses one of two"
        );
        assert_eq!(
            r1_loss(&eight_bits, &single),
            0.5,
            "image to text, the other way round"
        );
    }
}
