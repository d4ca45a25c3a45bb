//! Metrics of a fitted method on the test split: recall, its trend over uncertainty, and uncertainty against the truth.

use std::ops::Range;

use anyhow::Result;
use burn::tensor::Tensor;
use rayon::prelude::*;

use super::caption_uncertainty::{QUANTILES, caption_numbers};
use super::numbers::{LEVELS, Numbers, trend_numbers};
use super::picture_uncertainty::picture_numbers;
use super::relevance::{ImageHits, Relevance};
use crate::metrics::retrieval::{Hit, Levels, recall_sum, recalls, tells_levels_apart};
use crate::metrics::{mean, quantile};
use crate::report::{Metric, Retrieval};
use crate::train::features::cache::IdMap;
use crate::train::methods::{Method, Side};

/// Scores that are on the host at a time, which bounds the memory: 64 MB.
const SCORES_PER_PASS: usize = 1 << 24;
/// Scores that are computed at a time: 4 MB, which stay in a processor's cache from one operation to the next.
const SCORES_PER_TILE: usize = 1 << 20;
/// Features that go through a perceptron at a time.
const ROWS_PER_PASS: usize = 8192;

/// Pictures and captions of a split or a task, encoded by a method.
#[derive(Debug)]
pub struct Encoded<'a, M> {
    method: &'a M,
    images: Tensor<2>,
    texts: Tensor<2>,
    /// Uncertainty of each picture by itself, `[n_images, 1]`.
    uncertainty_of_images: Option<Tensor<2>>,
}

impl<'a, M: Method> Encoded<'a, M> {
    /// Pictures and captions as the method encodes them, from their features.
    #[must_use]
    pub fn new(method: &'a M, images: Tensor<2>, texts: Tensor<2>) -> Self {
        let uncertainty_of_images = uncertainty_of_images(method, &images);
        let images = in_passes(images, |rows| method.of_images(rows));
        let texts = in_passes(texts, |rows| method.of_texts(rows));
        Self {
            method,
            images,
            texts,
            uncertainty_of_images,
        }
    }

    /// These captions with other pictures, encoded by the same method.
    pub(super) fn with_images(&self, images: Tensor<2>) -> Self {
        let (method, texts) = (self.method, self.texts.clone());
        let uncertainty_of_images = uncertainty_of_images(method, &images);
        let images = in_passes(images, |rows| method.of_images(rows));
        Self {
            method,
            images,
            texts,
            uncertainty_of_images,
        }
    }

    /// These pictures with other captions, encoded by the same method.
    pub(super) fn with_texts(&self, texts: Tensor<2>) -> Self {
        let (method, images) = (self.method, self.images.clone());
        let texts = in_passes(texts, |rows| method.of_texts(rows));
        Self {
            method,
            images,
            texts,
            uncertainty_of_images: self.uncertainty_of_images.clone(),
        }
    }

    fn n_images(&self) -> usize {
        self.images.dims()[0]
    }

    pub(super) fn n_texts(&self) -> usize {
        self.texts.dims()[0]
    }

    /// Each picture against all captions: `f` is given the scores of some pictures at a time, row by row, and the
    /// number of the first.
    pub(super) fn by_image<T>(&self, f: impl FnMut(usize, &[f32]) -> Vec<T>) -> Result<Vec<T>> {
        let scores = |images: Range<usize>, texts: Range<usize>| self.scores(images, texts);
        by_query([self.n_images(), self.n_texts()], scores, f)
    }

    /// Results of `f` for each caption, from its number and its scores with all pictures.
    fn by_text<T>(&self, f: impl FnMut(usize, &[f32]) -> Vec<T>) -> Result<Vec<T>> {
        let scores =
            |texts: Range<usize>, images: Range<usize>| self.scores(images, texts).transpose();
        by_query([self.n_texts(), self.n_images()], scores, f)
    }

    fn scores(&self, images: Range<usize>, texts: Range<usize>) -> Tensor<2> {
        let images = self.images.clone().slice(images);
        self.method.scores(images, self.texts.clone().slice(texts))
    }

    /// Quantiles of κ of the uncertain side; none for a method that has no κ.
    fn concentration_numbers(&self) -> Result<Numbers> {
        let rows = match self.method.uncertain_side() {
            Side::Text => &self.texts,
            Side::Image => &self.images,
        };
        let Some(found) = self.method.concentration(rows.clone()) else {
            return Ok(Numbers::new());
        };
        let found: Vec<f32> = found.into_data().try_into_vec()?;
        let mut found: Vec<f64> = found.into_iter().map(f64::from).collect();
        found.sort_by(f64::total_cmp);
        let of = |percent| {
            let value = quantile(&found, percent as f64 / 100.0)?;
            Some((Metric::Concentration(percent), value))
        };
        Ok(QUANTILES.into_iter().filter_map(of).collect())
    }

    /// Whether uncertainty tells levels apart; true for a method that has none.
    pub(super) fn tells_levels_apart(&self) -> Result<bool> {
        let uncertainty = self.uncertainty()?;
        Ok(uncertainty.is_none_or(|(_, all)| tells_levels_apart(&all, LEVELS)))
    }

    /// Uncertainty of each picture by itself; `None` for a method in which it has none.
    pub(super) fn uncertainty_of_images(&self) -> Result<Option<Vec<f64>>> {
        let Some(found) = &self.uncertainty_of_images else {
            return Ok(None);
        };
        let found: Vec<f32> = found.clone().into_data().try_into_vec()?;
        Ok(Some(found.into_iter().map(f64::from).collect()))
    }

    /// Uncertainty of each row of the uncertain side.
    fn uncertainty(&self) -> Result<Option<(Side, Vec<f64>)>> {
        let side = self.method.uncertain_side();
        let (rows, gallery) = match side {
            Side::Text => (&self.texts, &self.images),
            Side::Image => (&self.images, &self.texts),
        };
        let ([n, _], [n_gallery, _]) = (rows.dims(), gallery.dims());
        let per_pass = (SCORES_PER_PASS / n_gallery.max(1)).max(1);
        let mut all = Vec::new();
        for part in parts(n, per_pass) {
            let chunk = rows.clone().slice(part);
            let Some(found) = self.method.uncertainty(chunk, gallery.clone()) else {
                return Ok(None);
            };
            let found: Vec<f32> = found.into_data().try_into_vec()?;
            all.extend(found.into_iter().map(f64::from));
        }
        Ok(Some((side, all)))
    }
}

/// Rows of scores, those of some queries at a time, put together from tiles of queries × gallery.
fn by_query<T>(
    [n_queries, n_gallery]: [usize; 2],
    scores: impl Fn(Range<usize>, Range<usize>) -> Tensor<2>,
    mut f: impl FnMut(usize, &[f32]) -> Vec<T>,
) -> Result<Vec<T>> {
    let per_pass = (SCORES_PER_PASS / n_gallery.max(1)).clamp(1, n_queries.max(1));
    let per_tile = (SCORES_PER_TILE / per_pass).max(1);
    let mut rows = vec![0.0; per_pass * n_gallery];
    let mut all = Vec::with_capacity(n_queries);
    for queries in parts(n_queries, per_pass) {
        let rows = &mut rows[..queries.len() * n_gallery];
        for items in parts(n_gallery, per_tile) {
            let tile = scores(queries.clone(), items.clone()).into_data();
            let of_tile = tile.as_slice::<f32>()?.chunks_exact(items.len());
            for (row, scores) in rows.chunks_exact_mut(n_gallery).zip(of_tile) {
                row[items.clone()].copy_from_slice(scores);
            }
        }
        all.extend(f(queries.start, rows));
    }
    Ok(all)
}

/// `0..n` in parts of `size`, the last of what is left.
fn parts(n: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n)
        .step_by(size)
        .map(move |start| start..(start + size).min(n))
}

/// Uncertainty of each picture by itself, from their features, some at a time.
fn uncertainty_of_images<M: Method>(method: &M, features: &Tensor<2>) -> Option<Tensor<2>> {
    let [n, _] = features.dims();
    let passes = parts(n, ROWS_PER_PASS)
        .map(|part| method.uncertainty_of_images(features.clone().slice(part)));
    Some(Tensor::cat(passes.collect::<Option<_>>()?, 0))
}

/// Rows of features through a perceptron, some at a time.
fn in_passes(rows: Tensor<2>, f: impl Fn(Tensor<2>) -> Tensor<2>) -> Tensor<2> {
    let [n, _] = rows.dims();
    let passes = parts(n, ROWS_PER_PASS).map(|part| f(rows.clone().slice(part)));
    Tensor::cat(passes.collect(), 0)
}

struct Retrieved {
    of_images: Vec<ImageHits>,
    of_texts: Vec<Hit>,
    /// Score of each caption with its own picture.
    own: Vec<f64>,
}

/// Retrieval both ways, over levels of uncertainty, and what the truth about captions says of the uncertainty.
///
/// A caption is to find its own picture, as with the papers' data sets. A picture is to find one of its own captions,
/// in COCO any of its five. Where truth is known there are two measures more: any caption that is true of the picture,
/// by which those win that say nothing, and any that is true among captions that say equally much.
///
/// # Errors
///
/// The device fails.
pub fn retrieval<M: Method>(encoded: &Encoded<'_, M>, ids: &IdMap) -> Result<Numbers> {
    let found = Retrieved::of(encoded, ids, &Relevance::of(ids))?;
    let mut numbers = recall_numbers(&found, ids);
    numbers.extend(encoded.concentration_numbers()?);
    let uncertainty = encoded.uncertainty()?;
    if let Some(of_images) = encoded.uncertainty_of_images()? {
        let of_texts = match &uncertainty {
            Some((Side::Text, of_texts)) => Some(of_texts.as_slice()),
            _ => None,
        };
        let hits = found.hits(|hits| match ids.truths {
            Some(_) => hits.own,
            None => hits.fitting,
        });
        numbers.extend(picture_numbers(&of_images, of_texts, &hits, &ids.captions));
    }
    if let Some((side, uncertainty)) = uncertainty {
        numbers.extend(level_numbers(&found, side, &uncertainty, ids));
        if side == Side::Text {
            numbers.extend(caption_numbers(&uncertainty, &found.own, &ids.captions));
        }
    }
    Ok(numbers)
}

/// Recall both ways, as [`retrieval`] counts it.
///
/// # Errors
///
/// The device fails.
pub(super) fn recall<M: Method>(
    encoded: &Encoded<'_, M>,
    ids: &IdMap,
    relevance: &Relevance,
) -> Result<Numbers> {
    Ok(recall_numbers(
        &Retrieved::of(encoded, ids, relevance)?,
        ids,
    ))
}

impl Retrieved {
    fn of<M: Method>(encoded: &Encoded<'_, M>, ids: &IdMap, relevance: &Relevance) -> Result<Self> {
        let n_texts = encoded.n_texts();
        let hits_of_image = |image: usize, row: &[f32]| relevance.hits_of_image(image, row);
        let of_images =
            encoded.by_image(|start, rows| in_parallel(rows, n_texts, start, hits_of_image))?;
        let n_images = encoded.n_images();
        let hit_of_text = |text: usize, row: &[f32]| {
            let own = ids.captions[text].image;
            (Hit::of(row, [own]), f64::from(row[own]))
        };
        let of_texts =
            encoded.by_text(|start, rows| in_parallel(rows, n_images, start, hit_of_text))?;
        let (of_texts, own) = of_texts.into_iter().unzip();
        Ok(Self {
            of_images,
            of_texts,
            own,
        })
    }

    /// Hits of pictures among one kind of right captions.
    fn hits(&self, right: impl Fn(&ImageHits) -> Hit) -> Vec<Hit> {
        self.of_images.iter().map(right).collect()
    }
}

/// Results of `f` for each row, computed in parallel; the first row has the number `start`.
fn in_parallel<T: Send>(
    rows: &[f32],
    width: usize,
    start: usize,
    f: impl Fn(usize, &[f32]) -> T + Sync,
) -> Vec<T> {
    let rows = rows.par_chunks_exact(width.max(1)).enumerate();
    rows.map(|(i, row)| f(start + i, row)).collect()
}

fn recall_numbers(found: &Retrieved, ids: &IdMap) -> Numbers {
    let (t2i, i2t) = (
        recalls(&found.of_texts),
        recalls(&found.hits(|hits| hits.fitting)),
    );
    let mut numbers = Numbers::new();
    let mut put = |of, recalls: [f64; 3]| {
        for (k, recall) in [1, 5, 10].into_iter().zip(recalls) {
            numbers.insert(Metric::Recall(of, k), recall);
        }
    };
    put(Retrieval::TextToImage, t2i);
    put(Retrieval::ImageToText, i2t);
    let mut sums = vec![(Metric::RecallSum, i2t)];
    if ids.truths.is_some() {
        let own = recalls(&found.hits(|hits| hits.own));
        put(Retrieval::ImageToOwnText, own);
        sums.push((Metric::OwnRecallSum, own));
    }
    let n_levels = found
        .of_images
        .first()
        .map_or(0, |hits| hits.of_level.len());
    let levels = (0..n_levels).map(|level| recalls(&found.hits(|hits| hits.of_level[level])));
    let levels: Vec<[f64; 3]> = levels.collect();
    if n_levels > 0 {
        let mean_at = |k: usize| mean(&levels.iter().map(|recalls| recalls[k]).collect::<Vec<_>>());
        put(Retrieval::ImageToLevelText, [0, 1, 2].map(mean_at));
    }
    let of_levels = levels.iter().enumerate();
    numbers.extend(of_levels.map(|(level, [at_1, ..])| (Metric::LevelTextRecall(level), *at_1)));
    for (sum, i2t) in sums {
        numbers.insert(sum, recall_sum(&[t2i, i2t].concat()));
    }
    if let Some(fullest) = ids.captions.iter().filter_map(|c| c.level).max() {
        let hits = found.of_texts.iter().zip(&ids.captions);
        let full = hits.filter(|(_, caption)| caption.level == Some(fullest));
        let full: Vec<Hit> = full.map(|(hit, _)| *hit).collect();
        numbers.insert(Metric::FullCaptionRecall, recalls(&full)[0]);
    }
    numbers
}

/// Recall over levels, both ways: queries by their own uncertainty on one way, by that of what they retrieve on the
/// other.
fn level_numbers(found: &Retrieved, side: Side, uncertainty: &[f64], ids: &IdMap) -> Numbers {
    let of_retrieved =
        |hits: &[Hit]| -> Vec<f64> { hits.iter().map(|hit| uncertainty[hit.best]).collect() };
    // The caption that a picture retrieves is the same whichever counts as right.
    let fitting = found.hits(|hits| hits.fitting);
    let (of_texts, of_images) = match side {
        Side::Text => (uncertainty.to_vec(), of_retrieved(&fitting)),
        Side::Image => (of_retrieved(&found.of_texts), uncertainty.to_vec()),
    };
    let is_hit = |hits: &[Hit]| -> Vec<bool> { hits.iter().map(|hit| hit.rank == 0).collect() };
    // Number of queries in each direction, for readers of the file.
    let mut numbers = Numbers::from([
        (Metric::CaptionCount, ids.captions.len() as f64),
        (Metric::PictureCount, ids.images.len() as f64),
    ]);
    let mut directions = vec![
        (Retrieval::TextToImage, &of_texts, is_hit(&found.of_texts)),
        (Retrieval::ImageToText, &of_images, is_hit(&fitting)),
    ];
    if ids.truths.is_some() {
        let is_own = is_hit(&found.hits(|hits| hits.own));
        directions.push((Retrieval::ImageToOwnText, &of_images, is_own));
    }
    for (direction, uncertainty, is_correct) in directions {
        let levels = Levels::of(uncertainty, &is_correct, LEVELS);
        let of_levels = levels.recall.iter().enumerate();
        numbers.extend(of_levels.map(|(i, recall)| (Metric::LevelRecall(direction, i), *recall)));
        if is_correct.iter().filter(|is| **is).count() >= LEVELS {
            let metric = |statistic| Metric::Levels(direction, statistic);
            numbers.extend(trend_numbers(&levels, metric));
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use burn::tensor::Int;

    use super::super::caption_uncertainty::fixture::captions;
    use super::*;
    use crate::device::cpu;
    use crate::model::adapter::{AdapterConfig, Family, MeanDirection};
    use crate::report::LevelStatistic;
    use crate::train::features::cache::{CaptionRow, Truths};
    use crate::train::methods::{AsymVlm, ContrastiveLoss, ZeroShot};

    const T2I: Metric = Metric::Recall(Retrieval::TextToImage, 1);
    const I2T: Metric = Metric::Recall(Retrieval::ImageToText, 1);

    /// Two pictures with those captions, none of which is known to be true of the other picture.
    fn ids() -> IdMap {
        IdMap {
            images: vec!["0".to_owned(), "1".to_owned()],
            captions: captions(),
            truths: None,
        }
    }

    #[test]
    fn captions_that_point_at_their_pictures_are_all_found() {
        let device = cpu();
        let images = Tensor::from_floats([[2.0, 0.0, 0.0], [0.0, 3.0, 0.0]], &device);
        let texts = [
            [1.0, 0.5, 0.0],
            [5.0, 0.0, 1.0],
            [0.2, 1.0, 0.0],
            [0.6, 0.5, 0.0],
        ];
        let clip = ZeroShot::new(&device);
        let encoded = Encoded::new(&clip, images, Tensor::from_floats(texts, &device));
        let numbers = retrieval(&encoded, &ids()).expect("a device");
        assert_eq!(numbers[&T2I], 0.75, "the last points at picture 0");
        let at_5 = numbers[&Metric::Recall(Retrieval::TextToImage, 5)];
        assert_eq!(at_5, 1.0, "there are but two pictures");
        assert_eq!(numbers[&I2T], 1.0, "any own caption is a hit");
        let full = numbers[&Metric::FullCaptionRecall];
        assert_eq!(full, 0.5, "the fullest level alone");
        let trend = Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman);
        assert!(!numbers.contains_key(&trend), "CLIP has no uncertainty");
        let median = Metric::Concentration(50);
        assert!(!numbers.contains_key(&median), "nor a concentration");
    }

    #[test]
    fn concentrations_are_summed_up_by_quantiles() {
        let (device, config) = (
            cpu(),
            AdapterConfig {
                embed_dim: 3,
                hidden_width: 4,
                hidden_layers: 1,
                mean_direction: MeanDirection::Learned,
            },
        );
        let (family, loss) = (Family::VonMisesFisher, ContrastiveLoss::InfoNce);
        let method = AsymVlm::new(&config, family, loss, &device);
        let images = Tensor::from_floats([[2.0, 0.0, 0.0], [0.0, 3.0, 0.0]], &device);
        let texts = Tensor::<2>::from_floats(
            [
                [1.0, 0.5, 0.0],
                [5.0, 0.0, 1.0],
                [0.2, 1.0, 0.0],
                [9.0, 9.0, 2.0],
            ],
            &device,
        );
        let natural_parameters = method.of_texts(texts.clone());
        let lengths = (natural_parameters.clone() * natural_parameters).sum_dim(1);
        let mut lengths: Vec<f32> = lengths.sqrt().into_data().try_into_vec().expect("f32");
        lengths.sort_by(f32::total_cmp);
        let encoded = Encoded::new(&method, images, texts);
        let numbers = retrieval(&encoded, &ids()).expect("a device");
        let [low, median, high] = [10, 50, 90].map(|q| numbers[&Metric::Concentration(q)]);
        let expected = f64::from(lengths[1] + lengths[2]) / 2.0;
        assert!(
            (median - expected).abs() < 1e-6,
            "{median}, expected {expected}"
        );
        let ends = [lengths[0], lengths[3]].map(f64::from);
        assert!(
            ends[0] <= low && low <= median && median <= high && high <= ends[1],
            "{low}, {median}, {high} in {ends:?}"
        );
    }

    #[test]
    fn a_picture_may_find_any_caption_that_is_true_of_it() {
        let device = cpu();
        let mut ids = ids();
        // Each picture finds the first caption of the other best, then its own.
        let images = Tensor::from_floats([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &device);
        let texts = [
            [0.0, 1.0, 0.0],
            [1.0, 0.2, 1.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 1.0],
        ];
        let clip = ZeroShot::new(&device);
        let encoded = Encoded::new(&clip, images, Tensor::from_floats(texts, &device));
        let strict = retrieval(&encoded, &ids).expect("a device");
        assert_eq!(strict[&I2T], 0.0, "own captions alone");
        // The first caption of picture 0 fits both; that of picture 1 does not.
        ids.truths = Some(Truths {
            meanings: vec![0, 1, 2, 2],
            pictures: vec![vec![0, 1], vec![0], vec![1]],
        });
        let fitting = retrieval(&encoded, &ids).expect("a device");
        assert_eq!(fitting[&I2T], 0.5, "picture 1 found a truth");
        let own = fitting[&Metric::Recall(Retrieval::ImageToOwnText, 1)];
        assert_eq!(own, 0.0, "but not its own");
        // Vague: picture 0 finds what is false of it, picture 1 what is true. Full: both find their own.
        let graded = fitting[&Metric::Recall(Retrieval::ImageToLevelText, 1)];
        let levels = [0, 1].map(|level| fitting[&Metric::LevelTextRecall(level)]);
        assert_eq!(
            (levels, graded),
            ([0.5, 1.0], 0.75),
            "among captions of one level"
        );
        let sums = [Metric::RecallSum, Metric::OwnRecallSum].map(|metric| fitting[&metric]);
        assert_eq!(
            sums[0] - sums[1],
            50.0,
            "RSUM counts own captions, or true ones: {sums:?}"
        );
        assert!(
            !strict.contains_key(&Metric::OwnRecallSum),
            "where truth is not known they are the same"
        );
    }

    #[test]
    fn rows_are_put_together_from_tiles_in_several_passes() {
        let device = cpu();
        let (n_queries, n_gallery) = (16, SCORES_PER_TILE + 3);
        let numbers = |range: Range<usize>| {
            Tensor::<1, Int>::arange(range.start as i64..range.end as i64, &device).float()
        };
        // Whole numbers that f32 holds exactly.
        let product = |queries: Range<usize>, items: Range<usize>| {
            (numbers(queries) + 1.0).unsqueeze_dim::<2>(1) * numbers(items).unsqueeze::<2>()
        };
        let found = by_query([n_queries, n_gallery], product, |start, rows| {
            let rows = rows.chunks_exact(n_gallery).enumerate();
            let is_right = |(i, row): (usize, &[f32])| {
                let mut items = row.iter().enumerate();
                items.all(|(item, score)| *score == ((start + i + 1) * item) as f32)
            };
            rows.map(is_right).collect()
        });
        let found = found.expect("a device");
        assert_eq!(found, [true; 16], "each query against each item");
    }

    /// Twenty queries each way, each of which retrieves the item of its own number; the first ones are found.
    fn first_found(n_found: usize) -> (Retrieved, IdMap) {
        let caption = |image| {
            let first = captions().swap_remove(0);
            CaptionRow { image, ..first }
        };
        let ids = IdMap {
            images: (0..20).map(|i| i.to_string()).collect(),
            captions: (0..20).map(caption).collect(),
            truths: None,
        };
        let hit = |best| Hit {
            best,
            rank: usize::from(best >= n_found),
        };
        let hits: Vec<Hit> = (0..20).map(hit).collect();
        let of_image = |hit: &Hit| ImageHits {
            fitting: *hit,
            own: *hit,
            of_level: Vec::new(),
        };
        let found = Retrieved {
            of_images: hits.iter().map(of_image).collect(),
            of_texts: hits,
            own: vec![0.0; 20],
        };
        (found, ids)
    }

    #[test]
    fn fewer_hits_than_levels_have_no_trend() {
        let uncertainty: Vec<f64> = (0..20).map(f64::from).collect();
        for (n_found, n_trends) in [(9, 0), (10, 6)] {
            let (found, ids) = first_found(n_found);
            let numbers = level_numbers(&found, Side::Text, &uncertainty, &ids);
            let count =
                |is: fn(&Metric) -> bool| numbers.keys().filter(|metric| is(metric)).count();
            let trends = count(|metric| matches!(metric, Metric::Levels(..)));
            let levels = count(|metric| matches!(metric, Metric::LevelRecall(..)));
            assert_eq!((trends, levels), (n_trends, 20), "{n_found} find");
        }
    }

    #[test]
    fn queries_are_levelled_by_the_uncertain_side() {
        // The ten most certain items are found.
        let (found, ids) = first_found(10);
        let uncertainty: Vec<f64> = (0..20).map(f64::from).collect();
        for side in [Side::Text, Side::Image] {
            let numbers = level_numbers(&found, side, &uncertainty, &ids);
            for direction in [Retrieval::TextToImage, Retrieval::ImageToText] {
                let recall = |level: usize| numbers[&Metric::LevelRecall(direction, level)];
                let ends = (recall(0), recall(9));
                assert_eq!(ends, (1.0, 0.0), "{side:?}, {direction:?}");
                let slope = numbers[&Metric::Levels(direction, LevelStatistic::Slope)];
                assert!(slope < 0.0, "it falls: {slope}");
            }
        }
        // Sorting by equal uncertainties would keep queries in the order of their numbers, in which those that find
        // come first.
        let numbers = level_numbers(&found, Side::Text, &[0.0; 20], &ids);
        let counted: Vec<String> = numbers.keys().map(ToString::to_string).collect();
        assert_eq!(counted, ["n_captions", "n_images"], "no levels, no S");
    }
}
