//! Reports of the experiments and lists of the galleries, written by `train` and read by the page: plain data, with the
//! JSON keys of the files.
//!
//! Knows nothing of how the numbers came about, nor of how they are shown.

mod adapted;
mod evaluation;
mod figure;
mod finding;
mod gallery;
mod metric;
mod metric_name;
mod photos;
mod summary;

pub use adapted::{AdaptedCosine, AdaptedFamily, AdaptedReport};
pub use evaluation::{BitsCorrelation, BothWays, Evaluation, FamilyEvaluation, OutOfDistribution};
pub use figure::{Figure, FigureLine, FigurePanel};
pub use finding::{FindingVerdict, SuiteFinding, SuiteFindings, VerdictCounts, VerdictWord};
pub use gallery::{GalleryEntry, PhotographCredit};
pub use metric::{
    Better, Grouped, Impacted, LevelStatistic, Metric, Modality, PathRoot, PathScore,
    RejectionResult, RejectionRule, Retrieval, Shift,
};
pub use photos::{
    Agreement, CosineMeasures, Hierarchy, LadderMeasures, OrderBaseline, OrderBaselines,
    OutsiderAuroc, PhotosEvaluation, PhotosFamily, PhotosReport, PhotosSummary, Quantized,
    RecallAt, Spread,
};
pub use summary::{SuiteEnvironment, SuiteFeatures, SummaryRow, shown_on_the_page};
