//! Entry point of the page in the browser, compiled to WebAssembly.
//!
//! `cargo xtask programs` makes two programs of it: what the page opens with, and what only `later` reaches.

use kappascope::ui::{self, LaterLoader, LaterProgram, NotLoaded};
use wasm_split_helpers::wasm_split;

/// What the page does not open with, once the program that holds it is there.
#[wasm_split(later, fallible)]
fn later() -> Result<LaterProgram, NotLoaded> {
    Ok(ui::later_program())
}

fn main() {
    ui::start(LaterLoader(|| Box::pin(later())));
}
