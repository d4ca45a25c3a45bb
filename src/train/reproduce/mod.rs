//! `train embed` and `train merge`: features of frozen encoders.

pub mod cache;
pub mod embed_cli;
pub mod embed_files;
pub mod embed_scenes;
pub mod merge;
pub mod part_of;
pub mod pieces;
mod towers;
pub mod world;
