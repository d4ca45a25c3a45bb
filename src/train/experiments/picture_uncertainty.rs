//! What the uncertainty of pictures says by itself, of methods in which pictures are distributions, too: `ProLIP`'s
//! figure 5 (pictures are more certain than captions), and whether it follows what a picture finds.

use std::cmp::Ordering;

use super::numbers::{LEVELS, Numbers, trend_numbers};
use crate::metrics::retrieval::{Hit, Levels};
use crate::metrics::{mean, quantile};
use crate::report::{Metric, Modality};
use crate::train::features::cache::CaptionRow;

/// Pictures' Recall@1 over levels of their own uncertainty, and, where captions have one in the same measure, which of
/// the two is more certain.
pub(super) fn picture_numbers(
    of_images: &[f64],
    of_texts: Option<&[f64]>,
    hits: &[Hit],
    captions: &[CaptionRow],
) -> Numbers {
    let mut numbers = Numbers::new();
    let is_hit: Vec<bool> = hits.iter().map(|hit| hit.rank == 0).collect();
    if is_hit.iter().filter(|is| **is).count() >= LEVELS {
        let levels = Levels::of(of_images, &is_hit, LEVELS);
        numbers.extend(trend_numbers(&levels, Metric::PictureLevels));
    }
    if let Some(of_texts) = of_texts {
        let own: Vec<f64> = captions
            .iter()
            .map(|caption| of_images[caption.image])
            .collect();
        numbers.insert(Metric::PictureMoreCertain, share_less(&own, of_texts));
        for (of, values) in [
            (Modality::Captions, of_texts),
            (Modality::Pictures, of_images),
        ] {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            let median = quantile(&sorted, 0.5);
            numbers.extend(median.map(|value| (Metric::MedianUncertainty(of), value)));
        }
    }
    numbers
}

/// Share of pairs whose first is less than the second; equals count half, so that what is always the same has one half.
pub(super) fn share_less(first: &[f64], second: &[f64]) -> f64 {
    let pairs = first.iter().zip(second);
    let less = pairs.map(|(a, b)| match a.total_cmp(b) {
        Ordering::Less => 1.0,
        Ordering::Equal => 0.5,
        Ordering::Greater => 0.0,
    });
    mean(&less.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::LevelStatistic;

    fn captions(n_images: usize) -> Vec<CaptionRow> {
        let caption = |image| CaptionRow {
            text: String::new(),
            image,
            n_tokens: 3,
            level: None,
            bits: None,
        };
        (0..n_images)
            .flat_map(|image| [caption(image), caption(image)])
            .collect()
    }

    #[test]
    fn each_caption_is_compared_with_its_own_picture() {
        let hits = [Hit { best: 0, rank: 0 }; 2];
        let texts = [0.3, 0.1, 0.5, 0.4];
        let numbers = picture_numbers(&[0.2, 0.4], Some(&texts), &hits, &captions(2));
        let found = |metric| numbers.get(&metric).copied();
        // 0.2 < 0.3, 0.2 > 0.1, 0.4 < 0.5, 0.4 = 0.4.
        assert_eq!(found(Metric::PictureMoreCertain), Some(2.5 / 4.0));
        let medians = [Modality::Captions, Modality::Pictures];
        let medians =
            medians.map(|of| found(Metric::MedianUncertainty(of)).expect("both are there"));
        assert!((medians[0] - 0.35).abs() < 1e-12 && (medians[1] - 0.3).abs() < 1e-12);
        let s = Metric::PictureLevels(LevelStatistic::Spearman);
        assert_eq!(found(s), None, "two pictures make no ten levels");
    }

    #[test]
    fn recall_that_falls_with_a_pictures_uncertainty_is_seen_without_captions() {
        let n = 1000;
        let uncertainty: Vec<f64> = (0..n).map(f64::from).collect();
        // Of the k-th tenth, the first 1000 − 100·k find: .9 of the most certain, none of the least.
        let rank = |i: i32| usize::from((i % 100) >= 90 - 10 * (i / 100));
        let hits: Vec<Hit> = (0..n)
            .map(|i| Hit {
                best: 0,
                rank: rank(i),
            })
            .collect();
        let numbers = picture_numbers(&uncertainty, None, &hits, &[]);
        let s = numbers[&Metric::PictureLevels(LevelStatistic::Spearman)];
        assert!((s + 1.0).abs() < 1e-12, "S {s}");
        assert!(
            !numbers.contains_key(&Metric::PictureMoreCertain),
            "captions have none"
        );
    }
}
