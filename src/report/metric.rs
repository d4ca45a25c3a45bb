//! The numbers of an experiment by kind, with the direction in which they are better.

use std::borrow::Cow;

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
    /// Median of the uncertainty of captions or of pictures, of a method that has both in one measure.
    MedianUncertainty(Modality),
    /// Share of captions whose own picture is more certain than they are; equals count half.
    PictureMoreCertain,
    /// A statistic of pictures' Recall@1 over levels of their own uncertainty; own captions where truth is known.
    PictureLevels(LevelStatistic),
    /// Share of pictures that are less certain when they are corrupted; equals count half.
    CorruptedLessCertain(Shift),
    /// What is met on paths from pictures' captions to a root.
    Path(PathRoot, PathScore),
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

            pub(super) const fn name(self) -> &'static str {
                match self { $(Self::$case => $text),+ }
            }

            pub(super) fn named(name: &str) -> Option<Self> {
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
    /// The root that a path goes to.
    PathRoot {
        /// The embedding of no words.
        NoWords = "to_no_words",
        /// That and the caption whose distribution includes the picture's most.
        MostInclusive = "to_most_inclusive",
    }
}

named! {
    /// A score of a path against the captions of the picture's hierarchy.
    PathScore {
        /// Share of the captions met that are of the hierarchy.
        Precision = "precision",
        /// Share of the hierarchy that is met.
        Recall = "recall",
        /// Share of the hierarchy that the root itself finds.
        RootRecall = "root_recall",
    }
}

named! {
    /// The side of a pair whose uncertainty a number is of.
    Modality {
        /// Every caption of the test split.
        Captions = "captions",
        /// Every picture of the test split.
        Pictures = "pictures",
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
            | Self::PictureLevels(LevelStatistic::Spearman | LevelStatistic::Slope)
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
}
