//! The page's logic as plain data: its state, its link, and the readings of an answer.
//!
//! Knows nothing of the browser or of drawing, and of engines only what they say, so that all of it is tested natively.

mod captions;
mod class_code;
mod device_report;
mod error_report;
mod export;
mod extent;
mod formula;
mod guessing_game;
mod halo;
mod history;
mod latest_queue;
mod legibility;
mod link;
mod locks;
mod markup;
mod measure;
mod minimal_pairs;
mod number;
mod pair_text;
mod photographs;
mod readings;
mod requests;
mod respelling;
mod share_card;
mod state;
mod supervisor;
mod text;
mod transfer_rate;
pub mod views;
mod wall;
mod world;

pub use captions::{CaptionList, Direction, KeyedCaption};
pub use class_code::{LessonScore, class_lines};
pub use device_report::{device_report, millis_text};
pub use error_report::error_report;
pub use export::{command, csv, data_address, json};
pub use extent::Extent;
pub use formula::formula_markup;
pub use guessing_game::{Game, GameAnswer, N_ROUNDS, game_rounds};
pub use halo::{HaloMark, HaloShape, halo_density, halo_text};
pub use history::History;
pub use latest_queue::{LatestQueue, Priority, SentRequest};
pub use legibility::Legibility;
pub use link::{decode, encode, encode_class, encode_view};
pub use locks::{Access, Locks, PageControl};
pub use markup::escaped;
pub use measure::{Measure, SecondNumber};
pub use minimal_pairs::{
    MAX_CHANGES, MINIMAL_PAIRS, WordChange, minimal_pairs, respelt_captions, word_changes,
};
pub use number::{
    file_size, grouped, percent, round_number, signed, three_significant, two_decimals,
};
pub use pair_text::{
    LikelihoodGain, cosine_text, described_text, exact_text, matrix_text, nats_text, times_text,
};
pub use photographs::{PHOTOGRAPH_SETS, PhotographSet};
pub use readings::best::{BestMarks, free_offset};
pub use readings::cache::{AnswerSource, ReadingCache};
pub use readings::caption_view::CaptionView;
pub use readings::comparison::{PairNumbers, compare_families};
pub use readings::cosines::{CosineSnapshot, CosineView, Cosines};
pub use readings::generated::{
    DRAWING, GeneratedAnswers, GeneratedPictures, GeneratedRequest, PICTURE_SIDE, drawing_file,
};
pub use readings::matrix::Readings;
pub use readings::pair_view::PairView;
pub use readings::request::ReadingRequest;
pub use readings::snapshot::Snapshot;
pub use share_card::{CARD_SIZE, ShareCard};
pub use state::{ExplorerState, MAX_CAPTIONS, MAX_PICTURES, MAX_QUESTION_BYTES, ModelChoice, OWN};
pub use supervisor::{
    Action, EngineEvent, EngineKind, Event, LoadId, LoadKind, LoadNote, LoadNotes, LoadedModel,
    ModelSource, PagePicture, ScoreRequest, Start, Supervisor, UnfinishedLoad, ViewAnswer,
};
pub use text::{
    beside_text, best_text, caption_note, dispute_text, family_name, firsts_text, formula,
    formula_of_equal_concentrations, formula_with_numbers, measure_text, ordinal, rank_text,
    share_text, spoken, tokens_note, zero_text,
};
pub use transfer_rate::TransferRate;
pub use views::View;
pub use wall::{
    LitPictures, N_WALL_SCENES, coverage_text, fitting_scenes, found_text, likely_pictures,
    lit_share_text, nearest_coverage, ringed_text, set_text, share_of_drawings, share_of_pictures,
    wall_scenes,
};
pub use world::World;
