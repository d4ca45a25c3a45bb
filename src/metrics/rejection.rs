//! None of the above: does a classifier notice pictures that belong to none of its classes?

use super::{auroc, share};

/// The best class of one picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Index of the best class, the first of equals.
    pub class: usize,
    /// The score of that class.
    pub score: f64,
    /// Distance of the score from that of the second best class; infinite where there is no second.
    pub margin: f64,
}

impl Choice {
    /// The best of these scores; `None` without scores.
    ///
    /// # Examples
    /// ```
    /// use kappascope::metrics::rejection::Choice;
    /// let choice = Choice::of(&[0.2, 0.7, 0.1]).unwrap();
    /// assert_eq!((choice.class, choice.score), (1, 0.7));
    /// assert!(Choice::of(&[]).is_none(), "nothing to choose from");
    /// ```
    #[must_use]
    pub fn of(scores: &[f64]) -> Option<Self> {
        let (mut class, mut second) = (0, f64::NEG_INFINITY);
        for (i, &score) in scores.iter().enumerate().skip(1) {
            if score > scores[class] {
                second = scores[class];
                class = i;
            } else {
                second = second.max(score);
            }
        }
        let score = *scores.get(class)?;
        Some(Self {
            class,
            score,
            margin: score - second,
        })
    }
}

/// Shares of right decisions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Share of the pictures of a class that are given to that class.
    pub positive: f64,
    /// Share of the pictures of no class that are refused.
    pub negative: f64,
}

/// Returns the accuracy of choices among classes and a dummy; `labels` are `None` for pictures that belong to none.
#[must_use]
pub fn with_dummy(choices: &[Choice], labels: &[Option<usize>], dummy: usize) -> Accuracy {
    let right = |is_positive: bool| -> f64 {
        let of_kind = choices.iter().zip(labels);
        let of_kind = of_kind.filter(|(_, label)| label.is_some() == is_positive);
        let is_right = of_kind.map(|(choice, label)| choice.class == label.unwrap_or(dummy));
        share(is_right.collect::<Vec<bool>>().into_iter())
    };
    Accuracy {
        positive: right(true),
        negative: right(false),
    }
}

/// A picture that is refused where its confidence is below a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Score or margin of its best class.
    pub confidence: f64,
    /// Whether it belongs to a class, and whether that is the best one.
    pub label: Option<bool>,
}

/// One point of a rejection curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperatingPoint {
    /// Pictures below it are refused.
    pub threshold: f64,
    /// Accuracy at this threshold.
    pub accuracy: Accuracy,
}

/// Returns the accuracy at every threshold that makes a difference, the lowest first: each confidence that occurs,
/// and infinity.
#[must_use]
pub fn rejection_curve(candidates: &[Candidate]) -> Vec<OperatingPoint> {
    let mut sorted = candidates.to_vec();
    sorted.sort_by(|a, b| a.confidence.total_cmp(&b.confidence));
    let n_positive = sorted.iter().filter(|c| c.label.is_some()).count();
    let n_negative = (sorted.len() - n_positive).max(1) as f64;
    let n_positive = n_positive.max(1) as f64;
    let mut right = sorted.iter().filter(|c| c.label == Some(true)).count() as f64;
    let mut refused = 0.0;
    let mut curve = Vec::new();
    let mut point = |threshold: f64, right: f64, refused: f64| {
        curve.push(OperatingPoint {
            threshold,
            accuracy: Accuracy {
                positive: right / n_positive,
                negative: refused / n_negative,
            },
        });
    };
    for tied in sorted.chunk_by(|a, b| a.confidence == b.confidence) {
        point(tied[0].confidence, right, refused);
        right -= tied.iter().filter(|c| c.label == Some(true)).count() as f64;
        refused += tied.iter().filter(|c| c.label.is_none()).count() as f64;
    }
    point(f64::INFINITY, right, refused);
    curve
}

/// Returns the point of a curve whose accuracies lie nearest to these, in the plane of both.
#[must_use]
pub fn nearest_point(curve: &[OperatingPoint], target: Accuracy) -> Option<OperatingPoint> {
    let distance = |point: &OperatingPoint| {
        (point.accuracy.positive - target.positive).hypot(point.accuracy.negative - target.negative)
    };
    let nearer = |a: &OperatingPoint, b: &OperatingPoint| distance(a).total_cmp(&distance(b));
    curve.iter().copied().min_by(nearer)
}

/// Returns the probability that a picture of a class is more confident than one of none.
#[must_use]
pub fn rejection_auroc(candidates: &[Candidate]) -> Option<f64> {
    let of = |is_positive: bool| -> Vec<f64> {
        let of_kind = candidates
            .iter()
            .filter(|c| c.label.is_some() == is_positive);
        of_kind.map(|c| c.confidence).collect()
    };
    auroc(&of(true), &of(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::fixture::{assert_close, fixture, numbers};

    fn candidates(fixture: &serde_json::Value) -> Vec<Candidate> {
        let labels = numbers(&fixture["rejection_label"]);
        let confidence = numbers(&fixture["rejection_confidence"]);
        let candidate = |(confidence, label): (f64, f64)| Candidate {
            confidence,
            label: (label >= 0.0).then_some(label > 0.5),
        };
        confidence.into_iter().zip(labels).map(candidate).collect()
    }

    #[test]
    fn the_area_agrees_with_scipy() {
        let fixture = fixture("metrics.json");
        let found = rejection_auroc(&candidates(&fixture)).expect("both kinds");
        assert_close("auroc", found, &fixture["rejection_auroc"]);
    }

    #[test]
    fn every_point_of_the_curve_is_a_count() {
        let candidates = candidates(&fixture("metrics.json"));
        let shares = |threshold: f64| {
            let kept = |c: &Candidate| c.confidence >= threshold;
            let positives = candidates.iter().filter(|c| c.label.is_some());
            let negatives = candidates.iter().filter(|c| c.label.is_none());
            Accuracy {
                positive: share(
                    positives
                        .map(|c| kept(c) && c.label == Some(true))
                        .collect::<Vec<_>>()
                        .into_iter(),
                ),
                negative: share(negatives.map(|c| !kept(c)).collect::<Vec<_>>().into_iter()),
            }
        };
        let curve = rejection_curve(&candidates);
        assert!(curve.len() > 10, "{} points", curve.len());
        for point in curve {
            let expected = shares(point.threshold);
            let error = (point.accuracy.positive - expected.positive)
                .abs()
                .max((point.accuracy.negative - expected.negative).abs());
            assert!(error < 1e-12, "{point:?}, counted {expected:?}");
        }
    }

    #[test]
    fn a_dummy_takes_what_belongs_nowhere() {
        let choices = [
            [3.0, 1.0, 2.0],
            [0.0, 1.0, 5.0],
            [4.0, 0.0, 1.0],
            [0.0, 2.0, 2.0],
        ]
        .map(|scores| Choice::of(&scores).expect("scores"));
        let found = with_dummy(&choices, &[Some(0), None, None, Some(1)], 2);
        let expected = Accuracy {
            positive: 1.0,
            negative: 0.5,
        };
        assert_eq!(found, expected, "the last is the first of equals");
        assert_eq!(choices[0].margin, 1.0, "3 − 2");
        assert_eq!(Choice::of(&[]), None, "nothing to choose from");
    }
}
