//! Zero-shot classification by captions, and rejection of pictures that belong to no class.

use anyhow::{Context as _, Result};

use super::measure::Encoded;
use super::numbers::Numbers;
use crate::metrics::rejection::{
    Accuracy, Candidate, Choice, nearest_point, rejection_auroc, rejection_curve, with_dummy,
};
use crate::report::{Metric, RejectionResult, RejectionRule};
use crate::train::features::cache::TaskIds;
use crate::train::methods::Method;

/// Points of a rejection curve that are kept, at equal steps of the share of all pictures that are refused.
pub(super) const CURVE_STEPS: usize = 20;

/// CLIP's own factor, at which its cosines become the probabilities that a threshold is set on.
const CLIP_SCALE: f64 = 100.0;
/// The paper's operating points of CLIP with a threshold and with a margin.
const PAPERS_THRESHOLD: Accuracy = Accuracy {
    positive: 0.646,
    negative: 0.560,
};
const PAPERS_MARGIN: Accuracy = Accuracy {
    positive: 0.584,
    negative: 0.579,
};

/// The labels of a task with the scores of every picture.
#[derive(Debug)]
pub(super) struct Classified<'a> {
    /// The class of each picture, or none.
    labels: &'a [Option<usize>],
    n_classes: usize,
    n_dummies: usize,
    /// Scores of each picture with the classes, then with the dummies.
    scores: Vec<Vec<f64>>,
}

impl<'a> Classified<'a> {
    /// Scores every picture of a task.
    pub(super) fn new<M: Method>(encoded: &Encoded<'_, M>, ids: &'a TaskIds) -> Result<Self> {
        let (n_texts, n_classes) = (encoded.n_texts(), ids.classes.len());
        let of_row = |row: &[f32]| by_class(row, n_classes, ids.n_templates);
        Ok(Self {
            labels: &ids.labels,
            n_classes,
            n_dummies: ids.dummies.len(),
            scores: encoded.by_image(|_, rows| rows.chunks_exact(n_texts).map(of_row).collect())?,
        })
    }

    fn choices(&self, columns: &[usize]) -> Result<Vec<Choice>> {
        let choose = |row: &Vec<f64>| {
            let scores: Vec<f64> = columns.iter().map(|&column| row[column]).collect();
            Choice::of(&scores).context("a task has classes")
        };
        self.scores.iter().map(choose).collect()
    }

    /// Share of pictures that belong to a class and are given to it.
    pub(super) fn accuracy(&self) -> Result<f64> {
        let classes: Vec<usize> = (0..self.n_classes).collect();
        Ok(with_dummy(&self.choices(&classes)?, self.labels, usize::MAX).positive)
    }

    /// Accuracy on pictures of a class and of none, with each dummy in turn.
    pub(super) fn with_dummies(&self) -> Result<Numbers> {
        let mut numbers = Numbers::new();
        for i in 0..self.n_dummies {
            let columns: Vec<usize> = (0..self.n_classes).chain([self.n_classes + i]).collect();
            let found = with_dummy(&self.choices(&columns)?, self.labels, self.n_classes);
            let rule = RejectionRule::Dummy(i);
            let of = |result| Metric::Rejection(rule, result);
            numbers.insert(of(RejectionResult::Positive), found.positive);
            numbers.insert(of(RejectionResult::Negative), found.negative);
        }
        Ok(numbers)
    }

    /// Accuracies by a threshold on CLIP's probability and by one on its margin, without a dummy.
    pub(super) fn with_thresholds(&self) -> Result<Numbers> {
        let rows = self.scores.iter().map(|row| &row[..self.n_classes]);
        let choices = rows.map(|row| Choice::of(&softmax(row)).context("a task has classes"));
        let choices = choices.collect::<Result<Vec<_>>>()?;
        let mut numbers = Numbers::new();
        let score: fn(&Choice) -> f64 = |choice| choice.score;
        for (rule, confidence, target) in [
            (RejectionRule::Threshold, score, PAPERS_THRESHOLD),
            (RejectionRule::Margin, |choice| choice.margin, PAPERS_MARGIN),
        ] {
            let candidate = |(choice, label): (&Choice, &Option<usize>)| Candidate {
                confidence: confidence(choice),
                label: label.map(|label| label == choice.class),
            };
            let candidates: Vec<_> = choices.iter().zip(self.labels).map(candidate).collect();
            numbers.extend(by_confidence(rule, &candidates, target));
        }
        Ok(numbers)
    }
}

/// Accuracies when the least confident candidates are refused: at points of the curve over all thresholds, at the point
/// nearest to a target, and the area under the ROC curve.
fn by_confidence(rule: RejectionRule, candidates: &[Candidate], target: Accuracy) -> Numbers {
    let curve = rejection_curve(candidates);
    let mut numbers = Numbers::new();
    for step in 0..=CURVE_STEPS {
        let found = curve[step * (curve.len() - 1) / CURVE_STEPS].accuracy;
        let point = |side| Metric::RejectionCurve(rule, step, side);
        numbers.insert(point(RejectionResult::Positive), found.positive);
        numbers.insert(point(RejectionResult::Negative), found.negative);
    }
    let of = |result| Metric::Rejection(rule, result);
    if let Some(point) = nearest_point(&curve, target) {
        numbers.insert(of(RejectionResult::Positive), point.accuracy.positive);
        numbers.insert(of(RejectionResult::Negative), point.accuracy.negative);
    }
    let area = rejection_auroc(candidates);
    numbers.extend(area.map(|area| (of(RejectionResult::Auroc), area)));
    numbers
}

/// The mean score of each class over its captions, which for likelihoods is their geometric mean; dummies follow as
/// they are.
fn by_class(row: &[f32], n_classes: usize, n_templates: usize) -> Vec<f64> {
    let (classes, dummies) = row.split_at(n_classes * n_templates);
    let mean = |scores: &[f32]| {
        let sum: f64 = scores.iter().map(|score| f64::from(*score)).sum();
        sum / n_templates as f64
    };
    let classes = classes.chunks(n_templates).map(mean);
    classes
        .chain(dummies.iter().map(|score| f64::from(*score)))
        .collect()
}

fn softmax(cosines: &[f64]) -> Vec<f64> {
    let greatest = cosines.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weight = |cosine: &f64| (CLIP_SCALE * (cosine - greatest)).exp();
    let weights: Vec<f64> = cosines.iter().map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three pictures of two classes and two of none, by cosine; a dummy column behind the classes.
    fn classified(labels: &[Option<usize>]) -> Classified<'_> {
        Classified {
            labels,
            n_classes: 2,
            n_dummies: 1,
            scores: vec![
                vec![0.30, 0.20, 0.25],
                vec![0.10, 0.28, 0.20],
                vec![0.33, 0.30, 0.10],
                vec![0.20, 0.21, 0.25],
                vec![0.24, 0.20, 0.22],
            ],
        }
    }

    #[test]
    fn the_captions_of_a_class_speak_together() {
        let row = [0.5, 0.25, 1.0, 0.0, 0.125];
        let expected = [0.375, 0.5, 0.125];
        assert_eq!(
            by_class(&row, 2, 2),
            expected,
            "two classes in two templates, and a dummy"
        );
    }

    const LABELS: [Option<usize>; 5] = [Some(0), Some(1), Some(1), None, None];

    #[test]
    fn a_dummy_competes_with_the_classes() {
        let classified = classified(&LABELS);
        let accuracy = classified.accuracy().expect("classes");
        assert!((accuracy - 2.0 / 3.0).abs() < 1e-12, "found {accuracy}");
        let dummy = |result| Metric::Rejection(RejectionRule::Dummy(0), result);
        let found = classified.with_dummies().expect("classes");
        let negative = found[&dummy(RejectionResult::Negative)];
        assert_eq!(negative, 0.5, "one of two is refused");
        let positive = found[&dummy(RejectionResult::Positive)];
        assert!((positive - 2.0 / 3.0).abs() < 1e-12, "found {positive}");
    }

    #[test]
    fn a_threshold_tells_sure_pictures_from_unsure_ones() {
        let auroc = |rule| Metric::Rejection(rule, RejectionResult::Auroc);
        let found = classified(&LABELS).with_thresholds().expect("classes");
        // Probabilities at scale 100 are 1/(1 + e^−d) with d = 10, 18, 3 of a class and 1, 4 of none: five of the six
        // pairs are in order.
        let area = found[&auroc(RejectionRule::Threshold)];
        assert!((area - 5.0 / 6.0).abs() < 1e-6, "found {area}");
        let has_margin = found.contains_key(&auroc(RejectionRule::Margin));
        assert!(has_margin, "margin too: {found:?}");
    }
}
