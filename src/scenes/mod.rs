//! The built-in world: scenes of simple objects, drawn, described, and counted.
//!
//! Because every scene is drawn from a known prior, the truth is known: whether a caption fits a scene
//! ([`Description::fits`]) and how much a caption tells ([`information`](information::information)), so that a
//! model's κ can be checked against the information that the words carry. Knows nothing of tensors, files or browsers.

pub mod description;
pub mod grammar;
pub mod information;
pub mod parse;
pub mod render;
pub mod scene;
pub mod vocabulary;
pub mod wording;

pub use description::Description;
pub use information::{Information, information};
pub use parse::parse;
pub use render::{ground_colours, render};
pub use scene::{Compositions, Object, Scene};
pub use wording::{Wording, say};
