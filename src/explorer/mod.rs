//! What the page shows, as plain data: its state, its link, and the readings of an answer.
//!
//! Knows nothing of the browser or of drawing, and of engines only what they say, so that all of it is tested natively.

mod export;
mod extent;
mod halo;
mod latest_queue;
mod link;
mod locks;
mod number;
mod photographs;
mod readings;
mod state;
mod supervisor;
mod text;
mod transfer_rate;
mod view;
mod views;

pub use export::{command, csv, data_address, json};
pub use extent::Extent;
pub use halo::HaloShape;
pub use latest_queue::{LatestQueue, Out, Priority};
pub use link::{OWN, decode, encode, encode_view};
pub use locks::{Access, Control, Locks};
pub use number::{file_size, percent, round_number, signed, three_significant};
pub use photographs::{PHOTOGRAPH_SETS, PhotographSet};
pub use readings::cache::{AnswerSource, ReadingCache};
pub use readings::cosines::{Compared, CosineView, Cosines};
pub use readings::generated::{
    DRAWING, GENERATED_SIDE, GeneratedAnswers, GeneratedPictures, GeneratedRequest, drawing_file,
    harmed_name,
};
pub use readings::pair::{CaptionView, PairView, Readings, Snapshot, of_family, softmax};
pub use readings::request::ReadingRequest;
pub use state::{
    Beside, Caption, Direction, ExplorerState, MAX_CAPTIONS, MAX_PICTURES, Measure, ModelChoice,
    START_CAPTIONS,
};
pub use supervisor::{
    Action, EngineEvent, EngineKind, Event, LoadId, LoadKind, LoadNote, LoadNotes, LoadedModel,
    ModelSource, ScoreRequest, Start, Supervisor, Unended, ViewAnswer,
};
pub use text::{
    beside_text, best_of_text, best_text, caption_note, dispute_text, family_name, formula,
    formula_with_numbers, measure_text, ordinal, rank_text, spoken, tokens_note,
};
pub use transfer_rate::TransferRate;
pub use view::View;
pub use views::corruption::disturb::{Change, Harm, N_SEVERITIES};
pub use views::corruption::misspell::Slip;
pub use views::evidence::evaluation::{Evidence, EvidenceTable, Measured, OTHER_SEEDS};
pub use views::evidence::suite::Suite;
pub use views::geometry::{
    CaptionGeometry, Curve, MAX_DIMENSION, MIN_DIMENSION, PictureTick, Spread, SpreadView,
    ball_text, caption_geometry, density_formula, density_formula_with_numbers, dimensions,
};
pub use views::ladder::{
    BUILT_IN_LADDERS, BuiltInLadder, Ladder, MAX_RUNGS, RungView, Step, bits_of, ladder_text,
    rung_text, rung_views, step_text,
};
pub use views::learn::{Failure, Lesson, Lessons, Question, TourStep, answer_text};
pub use views::none_of_these::{
    Classes, Judgement, MAX_CLASSES, is_disputed, judgement_text, thousandths,
};
pub use views::studio::drawing::{
    Drawing, Piece, bmp, colour_name, ground_name, light_name, shape_name, size_name, texture_name,
};
pub use views::studio::scene_search::{N_WANTED, SceneSearch};
pub use views::traverse::{Inclusion, Met, Traversal, agreement, pool};
pub use views::word_variants::{
    MAX_WORDS, WordVariant, WordView, is_cut, variant_captions, whole, word_variants, word_views,
    worth_text,
};
