//! `train evaluate`: what a model knows, on scenes that no training and no tuning has seen.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context as _, Result};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use rayon::prelude::*;

use crate::family::{Family, PerFamily};
use crate::inference::{ImageEncoding, Session, TextEncoding};
use crate::metrics::retrieval::Levels;
use crate::metrics::{mean, spearman};
use crate::report::{BitsCorrelation, BothWays, Evaluation, FamilyEvaluation};
use crate::scenes::grammar::{N_LEVELS, full_description, hierarchy, random_part};
use crate::scenes::{Compositions, Description, Scene, Wording, information, say};
use crate::train::export::out_of_distribution;
use crate::train::export::scene_sets::encode_scenes;
use crate::train::scenes_model::attributes::tasks;

/// Seed of the test scenes.
pub const TEST_SEED: u64 = 2_000_000;
/// Scenes in the gallery of the recall on full captions.
const RECALL_GALLERY: usize = 1000;
/// Scenes for each attribute.
const ATTRIBUTE_SCENES: usize = 1000;
/// Groups of equal size, from the most certain captions to the vaguest.
const UNCERTAINTY_LEVELS: usize = 10;

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
    /// Indices of the first scenes that hold a composition which training never showed.
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
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let sample = |_| Scene::sample(Compositions::All, rng);
        let scenes: Vec<Scene> = (0..n_scenes).map(sample).collect();
        let all = || scenes.iter().enumerate();
        let levels = all().flat_map(|(i, scene)| hierarchy(scene, rng).map(|level| (i, level)));
        let hierarchies = levels.collect();
        let parts = all()
            .map(|(i, scene)| (i, random_part(scene, rng)))
            .collect();
        let gallery = all().take(RECALL_GALLERY);
        let full: Vec<_> = gallery
            .map(|(i, scene)| (i, full_description(scene, rng)))
            .collect();
        let mut words = |descriptions, wording| captions(session, descriptions, wording, rng);
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
        let (all, new): (Vec<usize>, _) = ((0..gallery.len()).collect(), &self.new_compositions);
        Ok(FamilyEvaluation {
            recall_at_1: recall(&self.full, gallery, likelihood, &all),
            recall_at_1_new_wording: recall(&self.full_in_new_words, gallery, likelihood, &all),
            recall_at_1_new_compositions: recall(&self.full, gallery, likelihood, new),
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
        let values: Vec<f64> = self.hierarchies.iter().map(value).collect();
        let of_level = |level| values[level..].iter().copied().step_by(N_LEVELS);
        let mean_of = |level| mean(&of_level(level).collect::<Vec<_>>());
        (0..N_LEVELS).map(mean_of).collect()
    }

    /// Share of adjacent levels of one hierarchy whose 1/κ falls.
    fn adjacent_levels_ordered(&self, family: Family) -> f64 {
        let kappas = self
            .hierarchies
            .iter()
            .map(|caption| concentration(caption, family));
        let kappas: Vec<f64> = kappas.collect();
        let hierarchies = kappas.chunks_exact(N_LEVELS);
        let pairs = hierarchies.flat_map(|levels| levels.windows(2));
        let ordered = pairs.map(|pair| f64::from(u8::from(pair[1] > pair[0])));
        mean(&ordered.collect::<Vec<_>>())
    }

    /// Spearman of recall over uncertainty levels, queries from all levels.
    fn spearman_levels(&self, family: Family) -> Result<BothWays> {
        let captions: Vec<&EncodedCaption> = self.hierarchies.iter().chain(&self.parts).collect();
        let encodings = captions.iter().map(|caption| &caption.encoding);
        let scorers = scorers(encodings, Score::Likelihood(family));
        let uncertainty = captions
            .iter()
            .map(|caption| 1.0 / concentration(caption, family));
        let uncertainty: Vec<f64> = uncertainty.collect();
        let finds_own = |(caption, scorer): (&&EncodedCaption, &Scorer<'_>)| {
            best(self.images.iter().map(|image| scorer.of(image))) == caption.scene
        };
        let found: Vec<bool> = captions.par_iter().zip(&scorers).map(finds_own).collect();
        let retrieve = |image| best(scorers.iter().map(|scorer| scorer.of(image)));
        let retrieved: Vec<usize> = self.images.par_iter().map(retrieve).collect();
        let is_own = retrieved
            .iter()
            .enumerate()
            .map(|(i, &text)| captions[text].scene == i);
        let is_own: Vec<bool> = is_own.collect();
        let of_retrieved: Vec<f64> = retrieved.iter().map(|&text| uncertainty[text]).collect();
        Ok(BothWays {
            text_to_image: level_correlation(&uncertainty, &found)?,
            image_to_text: level_correlation(&of_retrieved, &is_own)?,
        })
    }

    fn kappa_vs_bits(&self, family: Family) -> Result<BTreeMap<String, BitsCorrelation>> {
        let mut seen = HashSet::new();
        let all = self.hierarchies.iter().chain(&self.parts);
        let all = all.filter(|caption| seen.insert(caption.text.as_str()));
        let all: Vec<&EncodedCaption> = all.collect();
        let group = |n_constraints: RangeInclusive<usize>| {
            let of_group =
                |c: &&EncodedCaption| n_constraints.contains(&c.description.n_constraints());
            let chosen: Vec<_> = all.iter().copied().filter(of_group).collect();
            let bits: Vec<f64> = chosen.iter().map(|c| c.bits).collect();
            let against = |value: &dyn Fn(&EncodedCaption) -> f64| {
                let values: Vec<f64> = chosen.iter().map(|c| value(c)).collect();
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
            ("all".to_owned(), group(0..=usize::MAX)?),
            ("one_attribute".to_owned(), group(1..=1)?),
            ("several_attributes".to_owned(), group(2..=3)?),
        ]))
    }
}

fn captions(
    session: &Session,
    descriptions: Vec<(usize, Description)>,
    wording: Wording,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<EncodedCaption>> {
    let texts = descriptions
        .iter()
        .map(|(_, description)| say(description, wording, rng));
    let texts: Vec<String> = texts.collect();
    let encodings = pollster::block_on(session.encode_text(&texts))?;
    let bits = descriptions
        .par_iter()
        .map(|(_, description)| information(description).bits);
    let bits: Vec<f64> = bits.collect();
    let found = descriptions.into_iter().zip(bits).zip(texts).zip(encodings);
    let caption = |((((scene, description), bits), text), encoding)| EncodedCaption {
        scene,
        description,
        bits,
        text,
        encoding,
    };
    Ok(found.map(caption).collect())
}

/// Score by which pairs are ranked.
#[derive(Clone, Copy)]
enum Score {
    Cosine,
    Likelihood(Family),
}

/// Scores pictures under one caption; what all of them need is computed once.
struct Scorer<'a> {
    embedding: &'a [f32],
    /// Family, concentration and log normaliser of the caption's distribution; none where pairs are ranked by cosine.
    likelihood: Option<(Family, f64, f64)>,
}

impl<'a> Scorer<'a> {
    fn new(encoding: &'a TextEncoding, score: Score) -> Self {
        let Score::Likelihood(family) = score else {
            let (embedding, likelihood) = (&encoding.embedding[..], None);
            return Self {
                embedding,
                likelihood,
            };
        };
        let Some(distributions) = &encoding.distributions else {
            let (embedding, likelihood) =
                (&encoding.embedding[..], Some((family, f64::NAN, f64::NAN)));
            return Self {
                embedding,
                likelihood,
            };
        };
        let distribution = distributions.get(family);
        let kappa = distribution.concentration;
        let normalizer = family.log_normalizer_ratio(encoding.embedding.len(), kappa);
        Self {
            embedding: &distribution.mean_direction,
            likelihood: Some((family, kappa, normalizer)),
        }
    }

    fn of(&self, image: &ImageEncoding) -> f64 {
        let cosine = dot(self.embedding, &image.embedding);
        let Some((family, concentration, log_normalizer_ratio)) = self.likelihood else {
            return cosine;
        };
        concentration * family.sufficient_statistic(cosine) + log_normalizer_ratio
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    let products = a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y));
    products.sum()
}

fn scorers<'a>(encodings: impl Iterator<Item = &'a TextEncoding>, score: Score) -> Vec<Scorer<'a>> {
    encodings
        .map(|encoding| Scorer::new(encoding, score))
        .collect()
}

fn concentration(caption: &EncodedCaption, family: Family) -> f64 {
    let distributions = caption.encoding.distributions.as_ref();
    distributions.map_or(f64::NAN, |both| both.get(family).concentration)
}

/// Index of the greatest score, the first of equals.
fn best(scores: impl Iterator<Item = f64>) -> usize {
    let keep_first =
        |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
    let best = scores.enumerate().reduce(keep_first);
    best.map_or(0, |best| best.0)
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
    let levels = Levels::of(uncertainty, is_correct, UNCERTAINTY_LEVELS);
    let found = levels.spearman;
    found.context("uncertainty levels that are told apart, and recall that differs between them")
}

fn attribute_accuracy(session: &Session, seed: u64, score: Score) -> Result<BTreeMap<String, f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed + 1);
    let mut accuracy = BTreeMap::new();
    for task in tasks() {
        let scenes = (0..ATTRIBUTE_SCENES).map(|i| (task.scenes)(&mut rng, i));
        let scenes: Vec<Scene> = scenes.collect();
        let texts = pollster::block_on(session.encode_text(&task.captions))?;
        let scorers = scorers(texts.iter(), score);
        let images = encode_scenes(session, &scenes)?;
        let is_right = |(scene, image): &(&Scene, &ImageEncoding)| {
            best(scorers.iter().map(|scorer| scorer.of(image))) == (task.label)(scene)
        };
        let n_right = scenes.iter().zip(&images).filter(is_right).count();
        accuracy.insert(
            task.name.to_owned(),
            n_right as f64 / ATTRIBUTE_SCENES as f64,
        );
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
        let is_correct: Vec<bool> = (0..100).map(|i| i < 50).collect();
        let result = level_correlation(&[0.5; 100], &is_correct);
        assert!(result.is_err(), "the order of rows alone: {result:?}");
    }
}
