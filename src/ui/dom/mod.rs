//! The browser's document: focus, storage, address, canvas, and a view as SVG.

pub(super) mod browser;
pub(super) mod canvas;
pub(super) mod cursor;
pub(super) mod svg;
