//! The browser's document: focus, storage, address, canvas, and a view as a picture.

pub(super) mod browser;
pub(super) mod canvas;
pub(super) mod portrait;
