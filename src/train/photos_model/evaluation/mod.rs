//! Evaluation of a model of photographs: every measure of `evaluation.json`, from matrices on the host.
//!
//! Knows nothing of towers, heads and adapters, nor of how they were trained: embeddings and κ come in.

mod evaluate;
mod expert;
mod ladders;
mod line_drawing;
mod outsider_pictures;
mod outsiders;
mod recall;
mod summary;
mod table;
mod text_picture;

pub use evaluate::{EvaluationInput, evaluate};
pub use expert::{ExpertRating, JudgedPair, judged_pairs, read_ratings};
pub use ladders::EncodedLadders;
pub use outsider_pictures::{LINE_DRAWINGS, outsider_pictures};
pub use outsiders::EncodedOutsiders;
pub use summary::{report, summarize};
pub use table::markdown;
