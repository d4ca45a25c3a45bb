//! The parts of the page, one idea a file.

mod caption_row;
mod controls;
mod export;
mod gallery_strip;
pub(super) mod line_field;
mod masthead;
mod navigation;
mod notices;
mod pair_cell;
mod picture_headers;
mod prose;
mod save;
mod touched_pair;
mod tour;

pub(super) use caption_row::{CaptionRow, NewCaption};
pub(super) use controls::{Choice, Controls, FamilyChoice};
pub(super) use export::Export;
pub(super) use gallery_strip::GalleryStrip;
pub(super) use masthead::Masthead;
pub(super) use navigation::Navigation;
pub(super) use notices::Notices;
pub(super) use picture_headers::{AddPicture, Axis, PictureHeaders};
pub(super) use prose::Prose;
pub(super) use save::Save;
pub(super) use touched_pair::TouchedPair;
pub(super) use tour::{Tour, begin as begin_tour, end as end_tour};
