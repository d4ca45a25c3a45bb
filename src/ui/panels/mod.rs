//! The parts that views share, one idea a file.

pub(super) mod caption_row;
pub(super) mod chosen_caption;
pub(super) mod chosen_picture;
pub(super) mod controls;
pub(super) mod each;
pub(super) mod export;
pub(super) mod formula;
pub(super) mod gallery_strip;
pub(super) mod game;
pub(super) mod line_field;
pub(super) mod masthead;
pub(super) mod measures;
pub(super) mod navigation;
pub(super) mod notices;
mod pair_cell;
pub(super) mod picture_headers;
pub(super) mod prose;
pub(super) mod ranks;
pub(super) mod save;
pub(super) mod select;
pub(super) mod share_card;
pub(super) mod shared_link;
pub(super) mod touched_pair;
pub(super) mod tour;
pub(super) mod wall;
pub(super) mod worlds;
