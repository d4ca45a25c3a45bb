//! Numbers that the papers print, to stand beside those that are measured.
//!
//! `AsymVLM`, tables A.2 (retrieval), A.4 (zero-shot accuracy) and 2 (none of the above): mean and standard deviation
//! over five seeds. ELIP, tables 1, 4, 5 and 7: one training, on features of CLIP ViT-L/14.

use std::borrow::Cow;

use super::results::Summary;
use crate::report::{Impacted, LevelStatistic, Metric, RejectionRule, Retrieval, Shift};
use crate::train::methods::MethodName::{
    self, AsymvlmPs, AsymvlmVmf, Bayesvlm, Clip, Deterministic, ElipContrastive,
    ElipImageBottleneck, ElipTextBottleneck, Pcmepp, Pfe, Probvlm, Prolip,
};

/// Seeds of the paper.
const SEEDS: usize = 5;

/// Mean and standard deviation.
type Printed = (f64, f64);

/// The numbers of [`RETRIEVAL`], in order.
const RETRIEVAL_METRICS: [Metric; 6] = [
    Metric::Recall(Retrieval::ImageToText, 1),
    Metric::Levels(Retrieval::ImageToText, LevelStatistic::RSquared),
    Metric::Levels(Retrieval::ImageToText, LevelStatistic::Spearman),
    Metric::Recall(Retrieval::TextToImage, 1),
    Metric::Levels(Retrieval::TextToImage, LevelStatistic::RSquared),
    Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman),
];
/// The numbers of [`ZERO_SHOT`], in order.
const ZERO_SHOT_METRICS: [Metric; 4] = [
    Metric::Accuracy(Cow::Borrowed("cifar10")),
    Metric::Accuracy(Cow::Borrowed("cifar100")),
    Metric::Accuracy(Cow::Borrowed("stl10")),
    Metric::Accuracy(Cow::Borrowed("imagenet")),
];

/// The paper's own data set that stands beside one that it did not measure, with its name: `Flickr8k` is a part of
/// FLICKR-30K, the pictures of `HierarCaps` are COCO's; of others its largest.
fn beside(dataset: &str) -> (&'static str, &'static str) {
    let measured_on = dataset.rsplit(" → ").next().unwrap_or(dataset);
    match measured_on {
        "photos" | "flickr8k" | "flickr30k" => ("flickr30k", "FLICKR-30K"),
        "cc" => ("cc", "CC-200K"),
        _ => ("coco", "COCO"),
    }
}

/// Printed values of a number for two methods on the data nearest to these, for the reader; empty where the paper has
/// none. A picture's own captions are what the paper calls image → text.
#[must_use]
pub(super) fn of_pair(dataset: &str, metric: &Metric, pair: [MethodName; 2]) -> String {
    let metric = match metric {
        Metric::Recall(Retrieval::ImageToOwnText, k) => Metric::Recall(Retrieval::ImageToText, *k),
        Metric::Levels(Retrieval::ImageToOwnText, of) => {
            Metric::Levels(Retrieval::ImageToText, *of)
        }
        other => other.clone(),
    };
    let (of, name) = beside(dataset);
    let [ours, theirs] = pair.map(|method| printed(of, method, &metric));
    let both = ours.zip(theirs);
    let both = both.map(|(a, b)| format!("{name}: {:.3} against {:.3}", a.mean, b.mean));
    both.unwrap_or_default()
}

/// Balanced accuracy of two methods with a dummy, and accuracy on positives and negatives, as the paper's table 2 has
/// them; empty where it has not.
#[must_use]
pub(super) fn balanced(dummy: usize, pair: [MethodName; 2]) -> String {
    let [ours, theirs] = pair.map(|method| with_dummy(dummy, method));
    let both = ours.zip(theirs);
    let both = both.map(|(a, b)| format!("CIFAR: {a} against {b}"));
    both.unwrap_or_default()
}

/// Balanced accuracy of a method with a dummy and of CLIP with a threshold or margin, as the paper's table 2 has them;
/// empty where it has not.
#[must_use]
pub(super) fn balanced_by_threshold(
    dummy: usize,
    method: MethodName,
    rule: RejectionRule,
) -> String {
    let mut of_clip = REJECTION_OF_CLIP.iter();
    let of_clip = of_clip.find(|row| row.0 == rule).map(|row| rates(row.1));
    let both = with_dummy(dummy, method).zip(of_clip);
    let both = both.map(|(a, b)| format!("CIFAR: {a} against {b}"));
    both.unwrap_or_default()
}

fn with_dummy(dummy: usize, method: MethodName) -> Option<String> {
    let mut rows = REJECTION.iter();
    let row = rows.find(|row| (row.0, row.1) == (dummy, method))?;
    Some(rates(row.2))
}

fn rates((positive, negative): (f64, f64)) -> String {
    let balanced = f64::midpoint(positive, negative);
    format!("{balanced:.3} ({positive:.3} / {negative:.3})")
}

/// ELIP's number under a shift beside that of CLIP as it is, or fine-tuned; empty where it prints none.
#[must_use]
pub(super) fn of_elip(of: Impacted, shift: &Shift, other: MethodName) -> String {
    let is_rsum = matches!(of, Impacted::RecallSum | Impacted::OwnRecallSum);
    let both = match (shift, other) {
        (Shift::CorruptionImpact, Clip) if is_rsum => "0.080 against 0.140",
        (Shift::CorruptionImpact, Deterministic) if is_rsum => "0.080 against 0.168",
        (Shift::Corrupted, Clip) if is_rsum => "463.1 against 339.1",
        (Shift::Corrupted, Deterministic) if is_rsum => "463.1 against 349.8",
        (Shift::NoiseImpact, Clip) if of == Impacted::TextToImage => "0.179 against 0.223",
        (Shift::NoiseImpact, Clip) if !is_rsum => "0.154 against 0.233",
        _ => return String::new(),
    };
    format!("COCO: {both}")
}

/// ELIP's Recall@1 beside that without one of its parts, or without any bottleneck, as its table 4 has them.
#[must_use]
pub(super) fn of_elip_without(direction: Retrieval, ablation: MethodName) -> String {
    let both = match (direction, ablation) {
        (Retrieval::TextToImage, ElipTextBottleneck) => "0.604 against 0.528",
        (Retrieval::TextToImage, ElipImageBottleneck) => "0.604 against 0.601",
        (Retrieval::TextToImage, ElipContrastive) => "0.604 against 0.603",
        (Retrieval::TextToImage, Clip) => "0.604 against 0.445",
        (_, ElipTextBottleneck) => "0.784 against 0.713",
        (_, ElipImageBottleneck) => "0.784 against 0.766",
        (_, ElipContrastive) => "0.784 against 0.767",
        (_, Clip) => "0.784 against 0.602",
        _ => return String::new(),
    };
    format!("COCO: {both}")
}

/// The share of ELIP's Recall@1 that is lost under shift, in the mean of three scenarios, beside that without its
/// evidential loss.
#[must_use]
pub(super) fn of_elip_without_evidence(of: Impacted) -> String {
    let both = match of {
        Impacted::TextToImage => "0.179 against 0.190",
        _ => "0.154 against 0.161",
    };
    format!("COCO: {both}")
}

/// ELIP's Recall@1 on FLICKR-30K, trained on COCO, beside CLIP's.
#[must_use]
pub(super) fn of_elip_elsewhere(direction: Retrieval) -> String {
    let both = match direction {
        Retrieval::TextToImage => "0.839 against 0.687",
        _ => "0.952 against 0.880",
    };
    format!("COCO → FLICKR-30K: {both}")
}

/// `ProLIP`'s number on its own captions' uncertainty along `HierarCaps` (appendix C.6); empty for other numbers.
#[must_use]
pub(super) fn of_hierarchies(metric: &Metric) -> String {
    match metric {
        Metric::AdjacentLevelsOrdered => "ProLIP, HierarCaps: 0.900".to_owned(),
        _ => String::new(),
    }
}

/// Printed mean and deviation of a number; `None` where the paper has none.
#[must_use]
pub(super) fn printed(dataset: &str, method: MethodName, metric: &Metric) -> Option<Summary> {
    let at = |metrics: &[Metric]| metrics.iter().position(|known| known == metric);
    let (mean, sd) = if let Some(column) = at(&RETRIEVAL_METRICS) {
        let mut rows = RETRIEVAL.iter();
        rows.find(|row| (row.0, row.1) == (dataset, method))?.2[column]
    } else {
        let (column, mut rows) = (at(&ZERO_SHOT_METRICS)?, ZERO_SHOT.iter());
        rows.find(|row| (row.0, row.1) == (dataset, method))?.2[column]
    };
    Some(Summary { mean, sd, n: SEEDS })
}

#[rustfmt::skip]
const RETRIEVAL: [(&str, MethodName, [Printed; 6]); 21] = [
    ("coco", Pfe, [(0.500, 0.000), (0.558, 0.253), (-0.722, 0.193), (0.304, 0.000), (0.946, 0.021), (-0.988, 0.008)]),
    ("coco", Pcmepp, [(0.500, 0.000), (0.931, 0.006), (-0.996, 0.004), (0.304, 0.000), (0.948, 0.010), (-0.990, 0.004)]),
    ("coco", Bayesvlm, [(0.506, 0.007), (0.884, 0.020), (-0.976, 0.011), (0.323, 0.006), (0.932, 0.023), (-0.985, 0.014)]),
    ("coco", Probvlm, [(0.480, 0.004), (0.951, 0.011), (-0.981, 0.006), (0.293, 0.001), (0.979, 0.002), (-1.000, 0.000)]),
    ("coco", Prolip, [(0.500, 0.000), (0.808, 0.025), (-0.908, 0.031), (0.304, 0.000), (0.876, 0.007), (-0.985, 0.012)]),
    ("coco", AsymvlmVmf, [(0.561, 0.002), (0.948, 0.016), (-0.988, 0.013), (0.392, 0.001), (0.984, 0.004), (-1.000, 0.000)]),
    ("coco", AsymvlmPs, [(0.558, 0.004), (0.937, 0.013), (-0.984, 0.012), (0.390, 0.002), (0.989, 0.001), (-1.000, 0.000)]),
    ("flickr30k", Pfe, [(0.680, 0.000), (0.675, 0.186), (-0.832, 0.094), (0.451, 0.000), (0.955, 0.002), (-0.998, 0.005)]),
    ("flickr30k", Pcmepp, [(0.679, 0.001), (0.455, 0.386), (-0.178, 0.650), (0.451, 0.000), (0.900, 0.063), (-0.918, 0.067)]),
    ("flickr30k", Bayesvlm, [(0.637, 0.012), (0.916, 0.035), (-0.976, 0.013), (0.425, 0.010), (0.934, 0.011), (-0.973, 0.019)]),
    ("flickr30k", Probvlm, [(0.646, 0.006), (0.826, 0.062), (-0.914, 0.029), (0.422, 0.002), (0.964, 0.016), (-0.985, 0.012)]),
    ("flickr30k", Prolip, [(0.678, 0.000), (0.829, 0.032), (-0.954, 0.041), (0.450, 0.000), (0.928, 0.010), (-0.978, 0.005)]),
    ("flickr30k", AsymvlmVmf, [(0.688, 0.005), (0.860, 0.029), (-0.976, 0.010), (0.504, 0.001), (0.960, 0.006), (-0.995, 0.006)]),
    ("flickr30k", AsymvlmPs, [(0.688, 0.005), (0.854, 0.021), (-0.947, 0.032), (0.498, 0.002), (0.946, 0.021), (-0.993, 0.006)]),
    ("cc", Pfe, [(0.352, 0.000), (0.857, 0.075), (-0.521, 0.757), (0.336, 0.000), (0.988, 0.008), (-0.595, 0.798)]),
    ("cc", Pcmepp, [(0.352, 0.000), (0.198, 0.375), (-0.148, 0.430), (0.336, 0.000), (0.779, 0.105), (-0.887, 0.060)]),
    ("cc", Bayesvlm, [(0.347, 0.010), (0.905, 0.025), (-0.968, 0.016), (0.304, 0.008), (0.874, 0.026), (-0.937, 0.022)]),
    ("cc", Probvlm, [(0.316, 0.001), (0.772, 0.102), (-0.837, 0.066), (0.302, 0.001), (0.775, 0.029), (-0.965, 0.021)]),
    ("cc", Prolip, [(0.351, 0.000), (0.968, 0.007), (-0.990, 0.009), (0.335, 0.000), (0.992, 0.002), (-1.000, 0.000)]),
    ("cc", AsymvlmVmf, [(0.395, 0.002), (0.990, 0.003), (-1.000, 0.000), (0.383, 0.003), (0.991, 0.002), (-0.998, 0.005)]),
    ("cc", AsymvlmPs, [(0.393, 0.001), (0.992, 0.004), (-1.000, 0.000), (0.380, 0.002), (0.993, 0.001), (-1.000, 0.000)]),
];

#[rustfmt::skip]
const ZERO_SHOT: [(&str, MethodName, [Printed; 4]); 12] = [
    ("coco", Deterministic, [(0.684, 0.055), (0.300, 0.017), (0.829, 0.030), (0.395, 0.002)]),
    ("coco", AsymvlmPs, [(0.847, 0.007), (0.470, 0.012), (0.952, 0.005), (0.502, 0.002)]),
    ("coco", AsymvlmVmf, [(0.837, 0.010), (0.477, 0.010), (0.940, 0.010), (0.507, 0.003)]),
    ("flickr30k", Deterministic, [(0.688, 0.030), (0.342, 0.019), (0.874, 0.012), (0.369, 0.007)]),
    ("flickr30k", AsymvlmPs, [(0.791, 0.019), (0.413, 0.009), (0.920, 0.009), (0.451, 0.003)]),
    ("flickr30k", AsymvlmVmf, [(0.792, 0.011), (0.422, 0.014), (0.918, 0.006), (0.464, 0.002)]),
    ("cc", Deterministic, [(0.779, 0.037), (0.411, 0.011), (0.922, 0.017), (0.450, 0.004)]),
    ("cc", AsymvlmPs, [(0.861, 0.008), (0.542, 0.005), (0.968, 0.001), (0.520, 0.002)]),
    ("cc", AsymvlmVmf, [(0.866, 0.013), (0.542, 0.013), (0.967, 0.004), (0.527, 0.001)]),
    ("coco", Clip, [(0.888, 0.000), (0.642, 0.000), (0.974, 0.000), (0.632, 0.000)]),
    ("flickr30k", Clip, [(0.888, 0.000), (0.642, 0.000), (0.974, 0.000), (0.632, 0.000)]),
    ("cc", Clip, [(0.888, 0.000), (0.642, 0.000), (0.974, 0.000), (0.632, 0.000)]),
];

/// Accuracy on positives and negatives with each of three dummies: table 2, in the order "a photo", "a photo of an
/// object", "a photo of something".
#[rustfmt::skip]
const REJECTION: [(usize, MethodName, (f64, f64)); 12] = [
    (0, Clip, (0.888, 0.009)), (0, Deterministic, (0.769, 0.115)), (0, AsymvlmPs, (0.845, 0.547)), (0, AsymvlmVmf, (0.857, 0.587)),
    (1, Clip, (0.888, 0.009)), (1, Deterministic, (0.778, 0.037)), (1, AsymvlmPs, (0.849, 0.609)), (1, AsymvlmVmf, (0.858, 0.557)),
    (2, Clip, (0.888, 0.009)), (2, Deterministic, (0.769, 0.125)), (2, AsymvlmPs, (0.843, 0.595)), (2, AsymvlmVmf, (0.857, 0.585)),
];

/// Accuracy of CLIP without a dummy on positives and negatives: table 2.
const REJECTION_OF_CLIP: [(RejectionRule, (f64, f64)); 2] = [
    (RejectionRule::Threshold, (0.646, 0.560)),
    (RejectionRule::Margin, (0.584, 0.579)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_numbers_are_found_by_data_set_method_and_metric() {
        for (dataset, method, metric, expected) in [
            ("coco", AsymvlmVmf, "t2i_recall_at_1", Some((0.392, 0.001))),
            ("flickr30k", Pcmepp, "i2t_spearman", Some((-0.178, 0.650))),
            ("cc", Deterministic, "accuracy_stl10", Some((0.922, 0.017))),
            ("coco", Clip, "accuracy_cifar10", Some((0.888, 0.0))),
            ("scenes", AsymvlmVmf, "t2i_recall_at_1", None),
            ("coco", AsymvlmVmf, "rsum", None),
        ] {
            let metric: Metric = metric.parse().expect("a metric");
            let found = printed(dataset, method, &metric).map(|found| (found.mean, found.sd));
            assert_eq!(found, expected, "{dataset}, {method:?}, {metric}");
        }
    }

    #[test]
    fn numbers_stand_beside_those_of_the_papers_nearest_data() {
        let recall = Metric::Recall(Retrieval::TextToImage, 1);
        for (dataset, expected) in [
            ("photos", "FLICKR-30K: 0.504 against 0.451"),
            ("photos → hierarcaps", "COCO: 0.392 against 0.304"),
            ("scenes", "COCO: 0.392 against 0.304"),
            ("cc", "CC-200K: 0.383 against 0.336"),
        ] {
            let found = of_pair(dataset, &recall, [AsymvlmVmf, Pfe]);
            assert_eq!(found, expected, "{dataset}");
        }
        let none = of_pair("photos", &Metric::RecallSum, [AsymvlmVmf, Pfe]);
        assert_eq!(none, "", "which the paper does not print");
    }

    #[test]
    fn each_part_of_elip_adds_to_its_printed_recall() {
        for direction in [Retrieval::TextToImage, Retrieval::ImageToText] {
            for ablation in [
                ElipTextBottleneck,
                ElipImageBottleneck,
                ElipContrastive,
                Clip,
            ] {
                let printed = of_elip_without(direction, ablation);
                let numbers = printed.trim_start_matches("COCO: ").split(" against ");
                let numbers: Vec<f64> =
                    numbers.map(|number| number.parse().expect("two")).collect();
                assert!(
                    numbers[0] > numbers[1],
                    "{direction:?}, {ablation:?}: {printed}"
                );
            }
        }
        assert_eq!(
            of_elip_without(Retrieval::TextToImage, Pfe),
            "",
            "no part of it"
        );
    }

    #[test]
    fn elips_numbers_are_those_of_its_tables() {
        use Impacted::{ImageToText, OwnRecallSum, TextToImage};
        for (of, shift, other, expected) in [
            (
                OwnRecallSum,
                Shift::CorruptionImpact,
                Clip,
                "COCO: 0.080 against 0.140",
            ),
            (
                OwnRecallSum,
                Shift::Corrupted,
                Deterministic,
                "COCO: 463.1 against 349.8",
            ),
            (
                TextToImage,
                Shift::NoiseImpact,
                Clip,
                "COCO: 0.179 against 0.223",
            ),
            (
                ImageToText,
                Shift::NoiseImpact,
                Clip,
                "COCO: 0.154 against 0.233",
            ),
            (TextToImage, Shift::CorruptionImpact, Clip, ""),
        ] {
            let found = of_elip(of, &shift, other);
            assert_eq!(found, expected, "{of:?}, {shift:?}, {other:?}");
        }
    }
}
