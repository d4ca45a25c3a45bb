//! Evaluation of a model of photographs: every measure of `evaluation.json`, from matrices on the host.
//!
//! Knows nothing of towers, heads and adapters, nor of how they were trained: embeddings and κ come in.

mod captions;
mod encoded;
mod evaluate;
mod expert;
mod ladders;
mod outsider_pictures;
mod outsiders;
mod picture_sets;
mod recall;
mod scores;
mod summary;
mod table;
mod text_picture;

pub use captions::RetrievalCaptions;
pub use encoded::{Distributions, EncodedLadders, EncodedOutsiders, EncodedPairs};
pub use evaluate::{EvaluationInput, evaluate};
pub use expert::{ExpertRating, JudgedPair, judged_pairs, read_ratings};
pub use outsider_pictures::outsider_pictures;
pub use picture_sets::{markdown as picture_sets_markdown, picture_sets};
pub use summary::{report, summarize};
pub use table::markdown;
