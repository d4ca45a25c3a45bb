//! Retrieval with many captions for each picture, on score tables that come in chunks of rows.

use super::{LinearFit, first_hit_rank, linear_fit, recall_at_k, recall_by_level, spearman};

/// What one query found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The best item, the first of equals.
    pub best: usize,
    /// How many items stand before the best relevant one; the number of items where none is relevant.
    pub rank: usize,
}

impl Hit {
    fn of(scores: &[f32], is_relevant: impl Fn(usize) -> bool) -> Self {
        let keep_first = |best: (usize, f32), next: (usize, f32)| {
            if next.1 > best.1 { next } else { best }
        };
        let best = scores.iter().copied().enumerate().reduce(keep_first);
        Self {
            best: best.map_or(0, |best| best.0),
            rank: first_hit_rank(scores, is_relevant).unwrap_or(scores.len()),
        }
    }
}

/// Returns what pictures find among all captions.
///
/// `rows` are the scores of the pictures from `first_image` on, each against each of `n_texts` captions, row by row;
/// any caption of which `is_relevant(image, text)` is a hit.
pub fn image_hits(
    first_image: usize,
    rows: &[f32],
    n_texts: usize,
    is_relevant: impl Fn(usize, usize) -> bool,
) -> Vec<Hit> {
    let rows = rows.chunks_exact(n_texts.max(1)).enumerate();
    rows.map(|(i, row)| Hit::of(row, |text| is_relevant(first_image + i, text)))
        .collect()
}

/// Returns what captions find among `n_images` pictures.
///
/// `rows` are the scores of the captions from `first_text` on, each against every picture, row by row.
#[must_use]
pub fn text_hits(
    first_text: usize,
    rows: &[f32],
    n_images: usize,
    image_of_text: &[i64],
) -> Vec<Hit> {
    let rows = rows.chunks_exact(n_images.max(1)).enumerate();
    rows.map(|(i, row)| {
        let own = image_of_text[first_text + i];
        Hit::of(row, |image| image as i64 == own)
    })
    .collect()
}

/// Returns Recall@1, @5 and @10.
#[must_use]
pub fn recalls(hits: &[Hit]) -> [f64; 3] {
    let ranks: Vec<usize> = hits.iter().map(|hit| hit.rank).collect();
    [1, 5, 10].map(|k| recall_at_k(&ranks, k))
}

/// Returns the sum of recalls in percent, ELIP's RSUM: six of them, at 1, 5 and 10 both ways.
#[must_use]
pub fn recall_sum(recalls: &[f64]) -> f64 {
    100.0 * recalls.iter().sum::<f64>()
}

/// Returns ELIP's mean impact of shifted data, MMI: the relative loss of the mean of shifted recalls against the
/// recall on undisturbed data; `None` where that is zero or nothing was shifted.
#[must_use]
pub fn mean_impact(undisturbed: f64, shifted: &[f64]) -> Option<f64> {
    let is_defined = undisturbed > 0.0 && !shifted.is_empty();
    is_defined.then(|| (undisturbed - super::mean(shifted)) / undisturbed)
}

/// Recall over levels of uncertainty, and how well it falls.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Recall of each level, the most certain first.
    pub recall: Vec<f64>,
    /// Rank correlation S of level and recall; −1 is ideal.
    pub spearman: Option<f64>,
    /// The straight line through recall over level; its R² is blind to the sign of its slope.
    pub line: Option<LinearFit>,
}

impl Levels {
    /// Cuts queries into levels as [`recall_by_level`] does.
    #[must_use]
    pub fn of(uncertainty: &[f64], is_correct: &[bool], n_levels: usize) -> Self {
        let recall = recall_by_level(uncertainty, is_correct, n_levels);
        let level: Vec<f64> = (0..recall.len()).map(|level| level as f64).collect();
        Self {
            spearman: spearman(&level, &recall),
            line: linear_fit(&level, &recall),
            recall,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::fixture::{assert_close, fixture, numbers};

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the fixture's numbers are f32"
    )]
    fn floats(value: &serde_json::Value) -> Vec<f32> {
        numbers(value).into_iter().map(|x| x as f32).collect()
    }

    #[test]
    fn recalls_of_many_captions_a_picture_agree_with_numpy_in_any_chunks() {
        let fixture = fixture("metrics.json");
        let scores = floats(&fixture["scores"]);
        let owners: Vec<i64> = fixture["image_of_text"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|row| row.as_i64().expect("a whole number"))
            .collect();
        let (n_texts, n_images) = (owners.len(), scores.len() / owners.len());
        let transposed: Vec<f32> = (0..scores.len())
            .map(|at| scores[(at % n_images) * n_texts + at / n_images])
            .collect();
        for rows in [1, 4, n_texts] {
            let of_images = scores.chunks(rows * n_texts).enumerate();
            let of_images: Vec<Hit> = of_images
                .flat_map(|(i, chunk)| {
                    let is_own = |image: usize, text: usize| owners[text] == image as i64;
                    image_hits(i * rows, chunk, n_texts, is_own)
                })
                .collect();
            let of_texts = transposed.chunks(rows * n_images).enumerate();
            let of_texts: Vec<Hit> = of_texts
                .flat_map(|(i, chunk)| text_hits(i * rows, chunk, n_images, &owners))
                .collect();
            for (hits, name) in [(of_images, "image_recalls"), (of_texts, "text_recalls")] {
                let expected = numbers(&fixture[name]);
                assert_eq!(recalls(&hits).to_vec(), expected, "{name}, {rows} rows");
            }
        }
    }

    #[test]
    fn levels_agree_with_scipy() {
        let fixture = fixture("metrics.json");
        let uncertainty = numbers(&fixture["uncertainty"]);
        let is_correct: Vec<bool> = numbers(&fixture["is_correct"])
            .iter()
            .map(|x| *x > 0.5)
            .collect();
        let found = Levels::of(&uncertainty, &is_correct, 10);
        assert_eq!(found.recall, numbers(&fixture["levels"]), "recall by level");
        let line = found.line.expect("recall varies");
        let spearman = found.spearman.expect("recall varies");
        assert_close("S", spearman, &fixture["levels_spearman"]);
        assert_close("slope", line.slope, &fixture["levels_slope"]);
        assert_close("R²", line.r_squared, &fixture["levels_r_squared"]);
    }

    #[test]
    fn the_impact_of_shifted_data_is_the_papers() {
        // ELIP's table 1: CLIP's image retrieval at 1 falls from 35.3 to 30.4, 27.7 and 24.2, an impact of 22.3 %.
        let found = mean_impact(35.3, &[30.4, 27.7, 24.2]).expect("a recall");
        assert!((found - 0.223).abs() < 5e-4, "found {found}");
        assert_eq!(mean_impact(0.0, &[0.1]), None, "no recall to lose");
    }

    #[test]
    fn the_sum_of_perfect_recalls_is_six_hundred() {
        assert_eq!(recall_sum(&[1.0; 6]), 600.0, "percent");
    }
}
