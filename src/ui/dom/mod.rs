//! The browser's document: its changes, focus, storage, address, canvas, and a view as SVG.

pub(super) mod browser;
pub(super) mod canvas;
pub(super) mod changes;
pub(super) mod cursor;
pub(super) mod focus;
pub(super) mod svg;
