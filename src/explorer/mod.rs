//! What the page shows, as plain data: its state, its link, and the readings of an answer.
//!
//! Knows nothing of the browser, of drawing or of engines, so that all of it is tested natively.

mod focus;
mod fragment;
mod newest;
mod number;
mod reading;
mod scale;
mod state;
mod words;

pub use focus::Focus;
pub use fragment::{OWN, decode, encode};
pub use newest::{Arrival, Newest};
pub use number::{file_size, percent, round_number, three_significant};
pub use reading::{CaptionView, PairView, Readings, Snapshot, softmax};
pub use scale::Extent;
pub use state::{
    Beside, Caption, Direction, ExplorerState, MAX_CAPTIONS, MAX_PICTURES, START_CAPTIONS,
};
pub use words::{beside_words, best_words, caption_note, formula, formula_with_numbers, spoken};
