//! The numbers of an experiment by kind, with the direction in which they are better, and their names in files.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A name that a table knows or a file holds.
type Name = Cow<'static, str>;

/// Measure of an experiment; written as in `results.json`, for example `t2i_recall_at_1`.
///
/// ```
/// use kappascope::report::{Better, Metric, Retrieval};
///
/// let metric: Metric = "t2i_recall_at_1".parse()?;
/// assert_eq!(metric, Metric::Recall(Retrieval::TextToImage, 1));
/// assert_eq!(metric.better(), Better::Higher);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Metric {
    /// Recall@k: share of queries with a right item among the first k.
    Recall(Retrieval, usize),
    /// Recall@1 from captions of the fullest level to pictures.
    FullCaptionRecall,
    /// Recall@1 of pictures among the captions of one level of the hierarchy, 0 the vaguest.
    LevelTextRecall(usize),
    /// ELIP's RSUM: sum of six recalls in percent. Where truth is known, of pictures any caption that is true counts.
    RecallSum,
    /// RSUM where a picture must find a caption that was said of itself, though others are true of it, too.
    OwnRecallSum,
    /// A statistic of Recall@1 over levels of uncertainty.
    Levels(Retrieval, LevelStatistic),
    /// Recall@1 of the queries of one level of uncertainty, 0 the most certain.
    LevelRecall(Retrieval, usize),
    /// Recall under noise or corruptions, or its loss.
    Shifted(Impacted, Shift),
    /// Spearman correlation of captions' uncertainty and bits of information, a caption counted as often as it was
    /// said; of earlier results alone.
    UncertaintyVsBits,
    /// Spearman correlation of distinct captions' uncertainty and bits of information, each caption counted once.
    UncertaintyVsBitsDistinct,
    /// Spearman correlation of captions' uncertainty and number of tokens.
    UncertaintyVsTokens,
    /// Share of adjacent levels of one hierarchy whose uncertainty falls.
    AdjacentLevelsOrdered,
    /// The factor τ on the logits as it was fitted.
    FittedScale,
    /// A quantile, in percent, of the concentration κ of captions, or of pictures where theirs is uncertain.
    Concentration(usize),
    /// A quantile, in percent, of a value within a group of captions.
    Quantile(Grouped, usize, usize),
    /// Zero-shot accuracy on the classification task of this name.
    Accuracy(Name),
    /// Accuracy on pictures of a class or of none, where a rule refuses some.
    Rejection(RejectionRule, RejectionResult),
    /// Accuracy at one point, by its index, of the curve over all thresholds.
    RejectionCurve(RejectionRule, usize, RejectionResult),
    /// Captions that were measured on.
    CaptionCount,
    /// Pictures that were measured on.
    PictureCount,
    /// Time of the fit in seconds.
    FitSeconds,
    /// Time of the measurement in seconds.
    MeasureSeconds,
    /// Place of the session in `environment.json` in which it was fitted: on which machine, of which commit.
    Session,
    /// Step at which the loss of a diverged training stopped being a number; there are no other numbers of it.
    DivergedAtStep,
}

/// Whether higher or lower numbers are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Higher is better, as with recall.
    Higher,
    /// Lower is better, as with time or a correlation that is ideal at −1.
    Lower,
}

/// Declares an enum of plain cases with their names in files.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$case_doc])* $case,)+ }

        impl $name {
            /// Every case, in the order of the tables.
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            const fn name(self) -> &'static str {
                match self { $(Self::$case => $text),+ }
            }

            fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|case| case.name() == name)
            }
        }
    };
}

named! {
    /// Direction of retrieval: the side of the queries, and the captions that count as right.
    Retrieval {
        /// Captions as queries: right is the picture that they were said of.
        TextToImage = "t2i",
        /// Pictures as queries: right is any caption that is true of them.
        ImageToText = "i2t",
        /// Pictures as queries: right is a caption that was said of them, though more are true.
        ImageToOwnText = "i2t_own",
        /// Pictures as queries among the captions of one level of the hierarchy, which say equally much: right is any
        /// that is true of them. Mean over the levels.
        ImageToLevelText = "i2t_graded",
    }
}

named! {
    /// Value of captions that quantiles describe, and the grouping of the captions.
    Grouped {
        /// Uncertainty of captions by number of tokens.
        UncertaintyByTokens = "uncertainty_tokens",
        /// Uncertainty of captions by level of the hierarchy.
        UncertaintyByLevel = "uncertainty_level",
        /// Score of the own picture by level of the hierarchy.
        ScoreByLevel = "score_level",
        /// Uncertainty of captions by whole bits of information.
        UncertaintyByBits = "uncertainty_bits",
    }
}

named! {
    /// The numbers of which ELIP reports the loss under corruptions.
    Impacted {
        /// RSUM, the sum of six recalls in percent.
        RecallSum = "rsum",
        /// Recall@1 from captions to pictures.
        TextToImage = "t2i_recall_at_1",
        /// Recall@1 from pictures to captions.
        ImageToText = "i2t_recall_at_1",
        /// RSUM with own captions.
        OwnRecallSum = "rsum_own",
        /// Recall@1 from pictures to own captions.
        ImageToOwnText = "i2t_own_recall_at_1",
    }
}

named! {
    /// A statistic of Recall@1 over levels of uncertainty.
    LevelStatistic {
        /// Rank correlation S of level and recall; −1 is ideal.
        Spearman = "spearman",
        /// R² of the straight line through recall over level.
        RSquared = "r_squared",
        /// Slope of that line.
        Slope = "slope",
    }
}

/// Noise or corruption of the test split, or a mean or relative loss over several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shift {
    /// Pictures of a noisy data set with clean captions.
    NoisyPictures,
    /// Captions of a noisy data set with clean pictures.
    NoisyCaptions,
    /// Share that is lost in the mean of noisy pictures, noisy captions and both.
    NoiseImpact,
    /// Mean over all kinds of corruption of one side.
    Corrupted,
    /// Share that is lost in that mean: ELIP's mean multimodal impact, MMI.
    CorruptionImpact,
    /// Mean over the severities of one kind.
    Kind(Name),
    /// One kind at one severity.
    AtSeverity(Name, u8),
}

/// Rule by which pictures of no class are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RejectionRule {
    /// The dummy caption of this number competes with the classes.
    Dummy(usize),
    /// The greatest probability must reach a threshold.
    Threshold,
    /// The greatest probability must lead the second by a margin.
    Margin,
}

named! {
    /// Measure of a rule of rejection.
    RejectionResult {
        /// Accuracy on pictures of a class.
        Positive = "positive",
        /// Accuracy on pictures of no class.
        Negative = "negative",
        /// Area under the ROC curve.
        Auroc = "auroc",
    }
}

impl Retrieval {
    /// Name of the direction in tables and figures.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::TextToImage => "text → image",
            Self::ImageToText => "image → text",
            Self::ImageToOwnText => "image → own text",
            Self::ImageToLevelText => "image → true text of its level",
        }
    }
}

impl Shift {
    /// Whether it is of a noisy data set, not of a corruption of the own one.
    #[must_use]
    pub const fn is_of_noise(&self) -> bool {
        matches!(
            self,
            Self::NoisyPictures | Self::NoisyCaptions | Self::NoiseImpact
        )
    }
}

impl Impacted {
    /// The number on clean data.
    #[must_use]
    pub const fn clean(self) -> Metric {
        match self {
            Self::RecallSum => Metric::RecallSum,
            Self::TextToImage => Metric::Recall(Retrieval::TextToImage, 1),
            Self::ImageToText => Metric::Recall(Retrieval::ImageToText, 1),
            Self::OwnRecallSum => Metric::OwnRecallSum,
            Self::ImageToOwnText => Metric::Recall(Retrieval::ImageToOwnText, 1),
        }
    }
}

impl Metric {
    /// Whether higher or lower numbers are better.
    #[must_use]
    pub const fn better(&self) -> Better {
        match self {
            Self::Levels(_, LevelStatistic::Spearman | LevelStatistic::Slope)
            | Self::Shifted(_, Shift::NoiseImpact | Shift::CorruptionImpact)
            | Self::UncertaintyVsBits
            | Self::UncertaintyVsBitsDistinct
            | Self::UncertaintyVsTokens
            | Self::FitSeconds
            | Self::MeasureSeconds
            | Self::Session => Better::Lower,
            _ => Better::Higher,
        }
    }

    /// Whether it is a point of a figure, of which there are too many for a list.
    #[must_use]
    pub const fn is_point_of_figure(&self) -> bool {
        matches!(
            self,
            Self::Quantile(..) | Self::LevelRecall(..) | Self::RejectionCurve(..) | Self::Session
        )
    }

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

    fn corrupted(words: &[&str]) -> Option<Self> {
        // The longest name that fits: "rsum" begins "rsum_own", too.
        let mut lengths = (1..=words.len()).rev();
        let (of, rest) = lengths.find_map(|n| {
            let (of, rest) = words.split_at(n);
            Some((Impacted::named(&of.join("_"))?, rest))
        })?;
        let shift = match rest {
            [] => Shift::Corrupted,
            ["mmi"] => Shift::CorruptionImpact,
            [kind] => Shift::Kind((*kind).to_owned().into()),
            [kind, severity] => {
                Shift::AtSeverity((*kind).to_owned().into(), severity.parse().ok()?)
            }
            _ => return None,
        };
        Some(Self::Shifted(of, shift))
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
