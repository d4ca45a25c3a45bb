//! The page in the browser: captions as rows, pictures as columns, and the numbers of each pair.
//!
//! `page` holds the signals and what acts on them, `views` a file or a folder for each view, `panels` the parts that
//! views share, `plot` marks and bars, `dom` calls to the browser; `explorer` works out the numbers and texts. A new
//! view needs a row in `explorer::views`, its own file in each, and a style sheet. `later` is about the parts of the
//! page whose program is loaded once the rest is at work.
//!
//! Knows the protocol and the arithmetic of readings; never a tensor, a model or an engine's inside.
#![expect(
    unreachable_pub,
    reason = "the component macro makes its functions public, whatever they say"
)]

mod app;
mod dom;
mod engine;
mod later;
mod model_panel;
mod page;
mod panels;
mod plot;
mod views;

pub use app::{later_program, start};
pub use later::{LaterLoader, LaterProgram, NotLoaded};
