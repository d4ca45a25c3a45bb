//! Engines' answers as the page reads them: of the matrix, of captions that a view asks about, and of pictures that a
//! view generates.

pub(super) mod best;
pub(super) mod cache;
pub(super) mod caption_view;
pub(super) mod comparison;
pub(super) mod cosines;
pub(super) mod generated;
pub(super) mod matrix;
pub(super) mod pair_view;
pub(super) mod request;
pub(super) mod snapshot;
