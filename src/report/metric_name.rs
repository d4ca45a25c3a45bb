//! Names of metrics in files, written and read: `t2i_recall_at_1`.

use std::fmt;
use std::str::FromStr;

use super::metric::{
    Grouped, Impacted, LevelStatistic, Metric, Modality, PathRoot, PathScore, RejectionResult,
    RejectionRule, Retrieval, Shift,
};

impl Metric {
    /// The metric of a name that is cut at its underscores.
    fn of_words(words: &[&str]) -> Option<Self> {
        let metric = match words {
            ["rsum"] => Self::RecallSum,
            ["rsum", "own"] => Self::OwnRecallSum,
            ["t2i", "recall", "at", "1", "full"] => Self::FullCaptionRecall,
            ["uncertainty", "vs", "bits"] => Self::UncertaintyVsBits,
            ["uncertainty", "vs", "bits", "distinct"] => Self::UncertaintyVsBitsDistinct,
            ["uncertainty", "vs", "tokens"] => Self::UncertaintyVsTokens,
            ["adjacent", "levels", "ordered"] => Self::AdjacentLevelsOrdered,
            ["n", "captions"] => Self::CaptionCount,
            ["n", "images"] => Self::PictureCount,
            ["fit", "seconds"] => Self::FitSeconds,
            ["measure", "seconds"] => Self::MeasureSeconds,
            ["session"] => Self::Session,
            ["diverged", "at", "step"] => Self::DivergedAtStep,
            ["fitted", "scale"] => Self::FittedScale,
            ["concentration", percent] => Self::Concentration(of_percent(percent)?),
            ["accuracy", task @ ..] => Self::Accuracy(task.join("_").into()),
            ["median", "uncertainty", of] => Self::MedianUncertainty(Modality::named(of)?),
            ["path", rest @ ..] => Self::path(rest)?,
            ["picture", "more", "certain"] => Self::PictureMoreCertain,
            ["picture", rest @ ..] => Self::PictureLevels(LevelStatistic::named(&rest.join("_"))?),
            ["disturbed", "less", "certain", rest @ ..] => {
                Self::CorruptedLessCertain(Shift::of_corruption(rest)?)
            }
            ["disturbed", rest @ ..] => Self::corrupted(rest)?,
            [of @ .., "noisy", side @ ("pictures" | "captions")] => {
                let shift = match *side {
                    "pictures" => Shift::NoisyPictures,
                    _ => Shift::NoisyCaptions,
                };
                Self::Shifted(Impacted::named(&of.join("_"))?, shift)
            }
            [of @ .., "mmi"] => Self::Shifted(Impacted::named(&of.join("_"))?, Shift::NoiseImpact),
            ["dummy", number, result] => {
                let rule = RejectionRule::Dummy(number.parse().ok()?);
                Self::Rejection(rule, RejectionResult::named(result)?)
            }
            [rule, "curve", step, side] => {
                let side = RejectionResult::named(side)?;
                Self::RejectionCurve(RejectionRule::named(rule)?, step.parse().ok()?, side)
            }
            [rule @ ("threshold" | "margin"), result] => {
                Self::Rejection(RejectionRule::named(rule)?, RejectionResult::named(result)?)
            }
            ["i2t", "own", rest @ ..] => Self::of_retrieval(Retrieval::ImageToOwnText, rest)?,
            ["i2t", "graded", "of", "level", level] => Self::LevelTextRecall(level.parse().ok()?),
            ["i2t", "graded", rest @ ..] => Self::of_retrieval(Retrieval::ImageToLevelText, rest)?,
            [of @ ("i2t" | "t2i"), rest @ ..] => Self::of_retrieval(Retrieval::named(of)?, rest)?,
            [of @ .., group, percent] => Self::Quantile(
                Grouped::named(&of.join("_"))?,
                group.parse().ok()?,
                of_percent(percent)?,
            ),
            _ => return None,
        };
        Some(metric)
    }

    fn of_retrieval(of: Retrieval, words: &[&str]) -> Option<Self> {
        match words {
            ["recall", "at", k] => Some(Self::Recall(of, k.parse().ok()?)),
            ["level", level] => Some(Self::LevelRecall(of, level.parse().ok()?)),
            words => Some(Self::Levels(of, LevelStatistic::named(&words.join("_"))?)),
        }
    }

    fn path(words: &[&str]) -> Option<Self> {
        let mut lengths = 1..words.len();
        lengths.find_map(|n| {
            let (root, score) = words.split_at(n);
            let root = PathRoot::named(&root.join("_"))?;
            Some(Self::Path(root, PathScore::named(&score.join("_"))?))
        })
    }

    fn corrupted(words: &[&str]) -> Option<Self> {
        // The longest name that fits: "rsum" begins "rsum_own", too.
        let mut lengths = (1..=words.len()).rev();
        let (of, rest) = lengths.find_map(|n| {
            let (of, rest) = words.split_at(n);
            Some((Impacted::named(&of.join("_"))?, rest))
        })?;
        Some(Self::Shifted(of, Shift::of_corruption(rest)?))
    }
}

/// The percent of a quantile's name: 50 of `q50`.
fn of_percent(word: &str) -> Option<usize> {
    word.strip_prefix('q')?.parse().ok()
}

impl RejectionRule {
    fn named(name: &str) -> Option<Self> {
        [Self::Threshold, Self::Margin]
            .into_iter()
            .find(|rule| rule.to_string() == name)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recall(of, k) => write!(f, "{}_recall_at_{k}", of.name()),
            Self::FullCaptionRecall => f.write_str("t2i_recall_at_1_full"),
            Self::LevelTextRecall(level) => write!(f, "i2t_graded_of_level_{level}"),
            Self::RecallSum => f.write_str("rsum"),
            Self::OwnRecallSum => f.write_str("rsum_own"),
            Self::Levels(of, statistic) => write!(f, "{}_{}", of.name(), statistic.name()),
            Self::LevelRecall(of, level) => write!(f, "{}_level_{level}", of.name()),
            Self::Shifted(of, shift) => shift.write(f, of.name()),
            Self::UncertaintyVsBits => f.write_str("uncertainty_vs_bits"),
            Self::UncertaintyVsBitsDistinct => f.write_str("uncertainty_vs_bits_distinct"),
            Self::UncertaintyVsTokens => f.write_str("uncertainty_vs_tokens"),
            Self::AdjacentLevelsOrdered => f.write_str("adjacent_levels_ordered"),
            Self::MedianUncertainty(of) => write!(f, "median_uncertainty_{}", of.name()),
            Self::Path(root, score) => write!(f, "path_{}_{}", root.name(), score.name()),
            Self::PictureMoreCertain => f.write_str("picture_more_certain"),
            Self::PictureLevels(statistic) => write!(f, "picture_{}", statistic.name()),
            Self::CorruptedLessCertain(shift) => shift.write(f, "less_certain"),
            Self::FittedScale => f.write_str("fitted_scale"),
            Self::Concentration(percent) => write!(f, "concentration_q{percent}"),
            Self::Quantile(of, group, percent) => write!(f, "{}_{group}_q{percent}", of.name()),
            Self::Accuracy(task) => write!(f, "accuracy_{task}"),
            Self::Rejection(rule, result) => write!(f, "{rule}_{}", result.name()),
            Self::RejectionCurve(rule, step, side) => {
                write!(f, "{rule}_curve_{step}_{}", side.name())
            }
            Self::CaptionCount => f.write_str("n_captions"),
            Self::PictureCount => f.write_str("n_images"),
            Self::FitSeconds => f.write_str("fit_seconds"),
            Self::MeasureSeconds => f.write_str("measure_seconds"),
            Self::Session => f.write_str("session"),
            Self::DivergedAtStep => f.write_str("diverged_at_step"),
        }
    }
}

impl Shift {
    /// The corruption, or mean over several, behind the name of what it changes.
    fn of_corruption(words: &[&str]) -> Option<Self> {
        Some(match words {
            [] => Self::Corrupted,
            ["mmi"] => Self::CorruptionImpact,
            [kind] => Self::Kind((*kind).to_owned().into()),
            [kind, severity] => Self::AtSeverity((*kind).to_owned().into(), severity.parse().ok()?),
            _ => return None,
        })
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, of: &str) -> fmt::Result {
        match self {
            Self::NoisyPictures => write!(f, "{of}_noisy_pictures"),
            Self::NoisyCaptions => write!(f, "{of}_noisy_captions"),
            Self::NoiseImpact => write!(f, "{of}_mmi"),
            Self::Corrupted => write!(f, "disturbed_{of}"),
            Self::CorruptionImpact => write!(f, "disturbed_{of}_mmi"),
            Self::Kind(kind) => write!(f, "disturbed_{of}_{kind}"),
            Self::AtSeverity(kind, severity) => write!(f, "disturbed_{of}_{kind}_{severity}"),
        }
    }
}

impl fmt::Display for RejectionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dummy(number) => write!(f, "dummy_{number}"),
            Self::Threshold => f.write_str("threshold"),
            Self::Margin => f.write_str("margin"),
        }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let words: Vec<&str> = name.split('_').collect();
        Self::of_words(&words).ok_or_else(|| format!("no metric is called {name:?}"))
    }
}

impl TryFrom<String> for Metric {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_committed_name_is_read_and_written_alike() {
        let committed = include_str!("../../public/evidence/scenes/results.json");
        let rows: Vec<serde_json::Value> = serde_json::from_str(committed).expect("rows");
        let mut names: Vec<&str> = rows
            .iter()
            .filter_map(|row| row["metric"].as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        let others = [
            "i2t_recall_at_1_noisy_pictures",
            "t2i_recall_at_1_noisy_captions",
            "t2i_recall_at_1_mmi",
            "accuracy_none_of_the_above",
            "i2t_graded_recall_at_5",
            "i2t_graded_of_level_3",
            "rsum_own",
            "disturbed_rsum_own",
            "disturbed_rsum_own_mmi",
            "disturbed_rsum_own_shot_5",
            "disturbed_i2t_own_recall_at_1_shot",
            "uncertainty_vs_bits_distinct",
            "median_uncertainty_captions",
            "median_uncertainty_pictures",
            "picture_more_certain",
            "path_to_no_words_precision",
            "path_to_most_inclusive_root_recall",
            "picture_spearman",
            "picture_r_squared",
            "disturbed_less_certain",
            "disturbed_less_certain_shot",
            "disturbed_less_certain_shot_5",
            "session",
            "fitted_scale",
            "concentration_q10",
        ];
        for name in names.into_iter().chain(others) {
            let metric = name.parse::<Metric>().expect("a known name");
            assert_eq!(metric.to_string(), name, "{metric:?}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "",
            "recall",
            "t2i_recall_at_x",
            "dummy_positive",
            "rsum_noisy",
        ] {
            let error = name.parse::<Metric>().expect_err("not known");
            assert!(error.contains(name), "{error}");
        }
    }
}
