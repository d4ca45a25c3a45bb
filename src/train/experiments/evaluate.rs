//! `train evaluate`: what a model knows, on scenes that no training and no tuning has seen.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use rayon::prelude::*;

use crate::family::{Family, PerFamily};
use crate::inference::{ImageEncoding, Session, TextEncoding};
use crate::metrics::{mean, recall_by_level, spearman};
use crate::report::{BitsCorrelation, BothWays, Evaluation, FamilyEvaluation};
use crate::scenes::grammar::{N_LEVELS, full_description, hierarchy, random_part};
use crate::scenes::{Compositions, Description, Scene, Wording, information, say};
use crate::train::export::out_of_distribution;
use crate::train::gallery::png::picture;
use crate::train::scenes_model::attributes::{AttributeTask, tasks};

/// Seed of the test scenes.
pub const TEST_SEED: u64 = 2_000_000;
/// Scenes in the gallery of the recall on full captions.
const RECALL_GALLERY: usize = 1000;
/// Scenes for each attribute.
const ATTRIBUTE_SCENES: usize = 1000;
/// Groups of equal size, from the most certain captions to the vaguest.
const UNCERTAINTY_LEVELS: usize = 10;
/// Scenes rendered and encoded together, which bounds the memory.
const SCENES_PER_PASS: usize = 128;

struct EncodedCaption {
    scene: usize,
    description: Description,
    bits: f64,
    text: String,
    encoding: TextEncoding,
}

struct TestSet {
    scenes: Vec<Scene>,
    images: Vec<ImageEncoding>,
    /// Levels of the hierarchies, scene by scene.
    hierarchies: Vec<EncodedCaption>,
    /// One random part of each scene.
    parts: Vec<EncodedCaption>,
    /// Full captions of the first scenes, in order.
    full: Vec<EncodedCaption>,
    full_in_new_words: Vec<EncodedCaption>,
    /// Which of those scenes hold a composition that training never showed.
    new_compositions: Vec<usize>,
}

/// Measures a model on freshly drawn scenes, and on a folder of photographs if there is one.
///
/// # Errors
///
/// The device fails, the model has no adapters, or a photograph cannot be read.
pub fn evaluate(
    session: &Session,
    n_scenes: usize,
    seed: u64,
    photos: Option<&Path>,
) -> Result<Evaluation> {
    let set = TestSet::draw(session, n_scenes, seed)?;
    let world = session.manifest().out_of_distribution.as_ref();
    Ok(Evaluation {
        n_scenes,
        seed,
        out_of_distribution: out_of_distribution::measure(world, &set.scenes, photos)?,
        families: PerFamily {
            vmf: set.evaluate(session, seed, Family::VonMisesFisher)?,
            power_spherical: set.evaluate(session, seed, Family::PowerSpherical)?,
        },
    })
}

impl TestSet {
    fn draw(session: &Session, n_scenes: usize, seed: u64) -> Result<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let scenes: Vec<Scene> = (0..n_scenes)
            .map(|_| Scene::sample(Compositions::All, &mut rng))
            .collect();
        let levels = scenes
            .iter()
            .enumerate()
            .flat_map(|(i, scene)| hierarchy(scene, &mut rng).map(|d| (i, d)));
        let hierarchies = levels.collect::<Vec<_>>();
        let parts = scenes
            .iter()
            .enumerate()
            .map(|(i, scene)| (i, random_part(scene, &mut rng)))
            .collect();
        let gallery = scenes.iter().take(RECALL_GALLERY).enumerate();
        let full: Vec<_> = gallery
            .map(|(i, scene)| (i, full_description(scene, &mut rng)))
            .collect();
        let mut words = |descriptions, wording| captions(session, descriptions, wording, &mut rng);
        Ok(Self {
            hierarchies: words(hierarchies, Wording::Varied)?,
            parts: words(parts, Wording::Varied)?,
            full_in_new_words: words(full.clone(), Wording::HeldOut)?,
            full: words(full, Wording::Varied)?,
            images: encode_scenes(session, &scenes)?,
            new_compositions: (0..scenes.len().min(RECALL_GALLERY))
                .filter(|&i| scenes[i].has_held_out())
                .collect(),
            scenes,
        })
    }

    fn evaluate(&self, session: &Session, seed: u64, family: Family) -> Result<FamilyEvaluation> {
        let likelihood = Score::Likelihood(family);
        let gallery = &self.images[..self.images.len().min(RECALL_GALLERY)];
        let all: Vec<usize> = (0..gallery.len()).collect();
        Ok(FamilyEvaluation {
            recall_at_1: recall(&self.full, gallery, likelihood, &all),
            recall_at_1_new_wording: recall(&self.full_in_new_words, gallery, likelihood, &all),
            recall_at_1_new_compositions: recall(
                &self.full,
                gallery,
                likelihood,
                &self.new_compositions,
            ),
            recall_at_1_cosine: recall(&self.full, gallery, Score::Cosine, &all),
            spearman_levels: self.spearman_levels(family)?,
            adjacent_levels_ordered: self.adjacent_levels_ordered(family),
            attribute_accuracy: attribute_accuracy(session, seed, likelihood)?,
            attribute_accuracy_cosine: attribute_accuracy(session, seed, Score::Cosine)?,
            kappa_vs_bits: self.kappa_vs_bits(family)?,
            nats_by_level: self
                .by_level(|c| Scorer::new(&c.encoding, likelihood).of(&self.images[c.scene])),
            bits_by_level: self.by_level(|c| c.bits),
            kappa_by_level: self.by_level(|c| concentration(c, family)),
        })
    }

    fn by_level(&self, value: impl Fn(&EncodedCaption) -> f64) -> Vec<f64> {
        let of_level = |level| {
            self.hierarchies
                .iter()
                .skip(level)
                .step_by(N_LEVELS)
                .map(&value)
                .collect::<Vec<_>>()
        };
        (0..N_LEVELS).map(|level| mean(&of_level(level))).collect()
    }

    /// Share of adjacent levels of one hierarchy whose 1/κ falls.
    fn adjacent_levels_ordered(&self, family: Family) -> f64 {
        let kappas: Vec<f64> = self
            .hierarchies
            .iter()
            .map(|caption| concentration(caption, family))
            .collect();
        let pairs = kappas
            .chunks_exact(N_LEVELS)
            .flat_map(|levels| levels.windows(2));
        let ordered: Vec<f64> = pairs
            .map(|pair| f64::from(u8::from(pair[1] > pair[0])))
            .collect();
        mean(&ordered)
    }

    /// Spearman of recall over uncertainty levels, queries from all levels.
    fn spearman_levels(&self, family: Family) -> Result<BothWays> {
        let captions: Vec<&EncodedCaption> = self.hierarchies.iter().chain(&self.parts).collect();
        let scorers = scorers(
            captions.iter().map(|caption| &caption.encoding),
            Score::Likelihood(family),
        );
        let uncertainty: Vec<f64> = captions
            .iter()
            .map(|caption| 1.0 / concentration(caption, family))
            .collect();
        let found: Vec<bool> = captions
            .par_iter()
            .zip(&scorers)
            .map(|(caption, scorer)| {
                best(self.images.iter().map(|image| scorer.of(image))) == caption.scene
            })
            .collect();
        let retrieved: Vec<usize> = self
            .images
            .par_iter()
            .map(|image| best(scorers.iter().map(|scorer| scorer.of(image))))
            .collect();
        let is_own: Vec<bool> = retrieved
            .iter()
            .enumerate()
            .map(|(i, &c)| captions[c].scene == i)
            .collect();
        let of_retrieved: Vec<f64> = retrieved
            .iter()
            .map(|&caption| uncertainty[caption])
            .collect();
        Ok(BothWays {
            text_to_image: level_correlation(&uncertainty, &found)?,
            image_to_text: level_correlation(&of_retrieved, &is_own)?,
        })
    }

    fn kappa_vs_bits(&self, family: Family) -> Result<BTreeMap<String, BitsCorrelation>> {
        let mut seen = std::collections::HashSet::new();
        let all: Vec<(&EncodedCaption, usize, f64)> = self
            .hierarchies
            .iter()
            .chain(&self.parts)
            .filter(|caption| seen.insert(caption.text.as_str()))
            .map(|caption| (caption, caption.description.n_constraints(), caption.bits))
            .collect();
        let group = |low: usize, high: usize| {
            let chosen: Vec<_> = all.iter().filter(|c| (low..=high).contains(&c.1)).collect();
            let bits: Vec<f64> = chosen.iter().map(|c| c.2).collect();
            let against = |value: &dyn Fn(&EncodedCaption) -> f64| {
                let values: Vec<f64> = chosen.iter().map(|c| value(c.0)).collect();
                spearman(&values, &bits).context("captions of different information")
            };
            Ok::<_, anyhow::Error>(BitsCorrelation {
                kappa: against(&|c| concentration(c, family))?,
                word_count: against(&|c| c.text.split(' ').count() as f64)?,
                minus_feature_norm: against(&|c| -c.encoding.features_norm)?,
                n_captions: chosen.len(),
            })
        };
        Ok(BTreeMap::from([
            ("all".to_owned(), group(0, usize::MAX)?),
            ("one_attribute".to_owned(), group(1, 1)?),
            ("several_attributes".to_owned(), group(2, 3)?),
        ]))
    }
}

fn captions(
    session: &Session,
    descriptions: Vec<(usize, Description)>,
    wording: Wording,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<EncodedCaption>> {
    let texts: Vec<String> = descriptions
        .iter()
        .map(|(_, description)| say(description, wording, rng))
        .collect();
    let encodings = pollster::block_on(session.encode_text(&texts))?;
    let bits: Vec<f64> = descriptions
        .par_iter()
        .map(|(_, description)| information(description).bits)
        .collect();
    let parts = descriptions.into_iter().zip(bits).zip(texts).zip(encodings);
    Ok(parts
        .map(
            |((((scene, description), bits), text), encoding)| EncodedCaption {
                scene,
                description,
                bits,
                text,
                encoding,
            },
        )
        .collect())
}

fn encode_scenes(session: &Session, scenes: &[Scene]) -> Result<Vec<ImageEncoding>> {
    let mut encodings = Vec::with_capacity(scenes.len());
    for chunk in scenes.chunks(SCENES_PER_PASS) {
        let pictures: Vec<_> = chunk.par_iter().map(picture).collect();
        encodings.extend(pollster::block_on(session.encode_images(&pictures))?);
    }
    Ok(encodings)
}

/// What pairs are ranked by.
#[derive(Clone, Copy)]
enum Score {
    Cosine,
    Likelihood(Family),
}

/// Scores pictures under one caption; what all of them need is computed once.
struct Scorer<'a> {
    encoding: &'a TextEncoding,
    score: Score,
    concentration: f64,
    log_normalizer_ratio: f64,
}

impl<'a> Scorer<'a> {
    fn new(encoding: &'a TextEncoding, score: Score) -> Self {
        let Score::Likelihood(family) = score else {
            return Self {
                encoding,
                score,
                concentration: 0.0,
                log_normalizer_ratio: 0.0,
            };
        };
        let concentration = encoding
            .distributions
            .as_ref()
            .map_or(f64::NAN, |laws| laws.get(family).concentration);
        let log_normalizer_ratio =
            family.log_normalizer_ratio(encoding.embedding.len(), concentration);
        Self {
            encoding,
            score,
            concentration,
            log_normalizer_ratio,
        }
    }

    fn of(&self, image: &ImageEncoding) -> f64 {
        let Score::Likelihood(family) = self.score else {
            return dot(&self.encoding.embedding, &image.embedding);
        };
        let Some(laws) = &self.encoding.distributions else {
            return f64::NAN;
        };
        let t = dot(&laws.get(family).mean_direction, &image.embedding);
        self.concentration * family.sufficient_statistic(t) + self.log_normalizer_ratio
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| f64::from(*x) * f64::from(*y))
        .sum()
}

fn scorers<'a>(encodings: impl Iterator<Item = &'a TextEncoding>, score: Score) -> Vec<Scorer<'a>> {
    encodings
        .map(|encoding| Scorer::new(encoding, score))
        .collect()
}

fn concentration(caption: &EncodedCaption, family: Family) -> f64 {
    caption
        .encoding
        .distributions
        .as_ref()
        .map_or(f64::NAN, |laws| laws.get(family).concentration)
}

/// Index of the greatest score, the first of equals.
fn best(scores: impl Iterator<Item = f64>) -> usize {
    let keep_first =
        |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
    scores
        .enumerate()
        .reduce(keep_first)
        .map_or(0, |best| best.0)
}

/// Recall@1 of one caption for each picture, over the pairs in `queries`.
fn recall(
    captions: &[EncodedCaption],
    gallery: &[ImageEncoding],
    score: Score,
    queries: &[usize],
) -> BothWays {
    let scorers = scorers(captions.iter().map(|caption| &caption.encoding), score);
    let finds_image =
        |i: usize| best(gallery.iter().map(|image| scorers[i].of(image))) == captions[i].scene;
    let finds_text =
        |i: usize| captions[best(scorers.iter().map(|scorer| scorer.of(&gallery[i])))].scene == i;
    let share = |hit: &(dyn Fn(usize) -> bool + Sync)| {
        queries.par_iter().filter(|&&i| hit(i)).count() as f64 / queries.len() as f64
    };
    BothWays {
        text_to_image: share(&finds_image),
        image_to_text: share(&finds_text),
    }
}

fn level_correlation(uncertainty: &[f64], is_correct: &[bool]) -> Result<f64> {
    let recall = recall_by_level(uncertainty, is_correct, UNCERTAINTY_LEVELS);
    let levels: Vec<f64> = (0..recall.len()).map(|level| level as f64).collect();
    spearman(&levels, &recall).context("recall that differs between uncertainty levels")
}

fn attribute_accuracy(session: &Session, seed: u64, score: Score) -> Result<BTreeMap<String, f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed + 1);
    let mut accuracy = BTreeMap::new();
    for AttributeTask {
        name,
        captions,
        label,
        scenes,
    } in tasks()
    {
        let scenes: Vec<Scene> = (0..ATTRIBUTE_SCENES).map(|i| scenes(&mut rng, i)).collect();
        let texts = pollster::block_on(session.encode_text(&captions))?;
        let scorers = scorers(texts.iter(), score);
        let images = encode_scenes(session, &scenes)?;
        let is_right = |(scene, image): (&Scene, &ImageEncoding)| {
            best(scorers.iter().map(|scorer| scorer.of(image))) == label(scene)
        };
        let n_right = scenes
            .iter()
            .zip(&images)
            .filter(|pair| is_right((pair.0, pair.1)))
            .count();
        accuracy.insert(name.to_owned(), n_right as f64 / ATTRIBUTE_SCENES as f64);
    }
    Ok(accuracy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_scores_is_the_best() {
        assert_eq!(best([1.0, 3.0, 3.0, 2.0].into_iter()), 1, "index");
    }

    #[test]
    fn recall_that_falls_with_uncertainty_correlates_by_minus_one() {
        let uncertainty: Vec<f64> = (0..1000).map(f64::from).collect();
        // In level L the first 100 − 10 L of a hundred queries are right.
        let is_correct: Vec<bool> = (0..1000).map(|i| i % 100 < 100 - i / 100 * 10).collect();
        let found = level_correlation(&uncertainty, &is_correct).expect("ten levels");
        assert!((found + 1.0).abs() < 1e-12, "{found}, expected -1");
    }

    #[test]
    fn recall_that_is_the_same_in_every_level_has_no_correlation() {
        let uncertainty: Vec<f64> = (0..100).map(f64::from).collect();
        let result = level_correlation(&uncertainty, &[true; 100]);
        assert!(result.is_err(), "{result:?}");
    }
}
