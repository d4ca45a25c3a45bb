//! What engines answered, as the page reads it: of one caption, of a caption with a picture, of captions that a view asks
//! about, and of pictures that a view generates.

pub(super) mod cache;
pub(super) mod cosines;
pub(super) mod generated;
pub(super) mod pair;
pub(super) mod request;
