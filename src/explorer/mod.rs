//! What the page shows, as plain data: its state, its link, and the readings of an answer.
//!
//! Knows nothing of the browser, of drawing or of engines, so that all of it is tested natively.

mod access;
mod book;
mod classes;
mod cosines;
mod disturb;
mod drawing;
mod evidence;
mod export;
mod fitting;
mod focus;
mod fragment;
mod geometry;
mod ladder;
mod latest_queue;
mod lessons;
mod made;
mod misspell;
mod number;
mod pace;
mod photographs;
mod reading;
mod scale;
mod state;
mod suite;
mod supervisor;
mod traverse;
mod variants;
mod view;
mod want;
mod words;

pub use access::{Access, Control, Locks};
pub use book::{Book, Source};
pub use classes::{Classes, Judgement, MAX_CLASSES, is_disputed, judgement_words, thousandths};
pub use cosines::{Compared, CosineView, Cosines};
pub use disturb::{Change, Harm, N_SEVERITIES};
pub use drawing::{
    Drawing, Piece, bmp, colour_name, ground_name, light_name, shape_name, size_name, texture_name,
};
pub use evidence::{Evidence, EvidenceTable, Measured, OTHER_SEEDS};
pub use export::{command, csv, data_address, json};
pub use fitting::{N_WANTED, Search};
pub use focus::Focus;
pub use fragment::{OWN, decode, encode, encode_view};
pub use geometry::{
    CaptionGeometry, Curve, MAX_DIMENSION, MIN_DIMENSION, PictureTick, Spread, SpreadView,
    ball_words, caption_geometry, density_formula, density_formula_with_numbers, dimensions,
};
pub use ladder::{
    BUILT_IN_LADDERS, BuiltInLadder, Ladder, MAX_RUNGS, RungView, Step, bits_of, ladder_words,
    rung_views, rung_words, step_words,
};
pub use latest_queue::{LatestQueue, Out, Priority};
pub use lessons::{Failure, Lesson, Lessons, Question, Station, answer_words};
pub use made::{Answered, DRAWING, MADE_SIDE, Made, MadeOf, drawing_file, harmed_name};
pub use misspell::Slip;
pub use number::{file_size, percent, round_number, signed, three_significant};
pub use pace::Pace;
pub use photographs::{PHOTOGRAPH_SETS, PhotographSet};
pub use reading::{CaptionView, PairView, Readings, Snapshot, of_family, softmax};
pub use scale::Extent;
pub use state::{
    Beside, Caption, Direction, ExplorerState, MAX_CAPTIONS, MAX_PICTURES, Measure, ModelChoice,
    START_CAPTIONS,
};
pub use suite::Suite;
pub use supervisor::{
    Action, EngineEvent, EngineKind, Event, LoadId, LoadKind, LoadNote, LoadNotes, LoadedModel,
    ModelSource, ScoreRequest, Start, Supervisor, Unended, ViewAnswer,
};
pub use traverse::{Inclusion, Met, Traversal, agreement, pool};
pub use variants::{
    MAX_WORDS, Variant, WordView, is_cut, variant_captions, variants, whole, word_views,
    worth_words,
};
pub use view::View;
pub use want::Want;
pub use words::{
    beside_words, best_of_words, best_words, caption_note, dispute_words, family_name, formula,
    formula_with_numbers, measure_words, ordinal, rank_words, spoken, tokens_note,
};
