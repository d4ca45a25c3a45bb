//! Entry point of the page in the browser, compiled to WebAssembly.
//!
//! `cargo xtask split` makes two programs of it: what the page opens with, and what only `mount_later` reaches.

use std::any::Any;

use kappascope::ui::{self, LaterPart, NotLoaded, PartLoader};
use leptos::web_sys::HtmlElement;
use wasm_split_helpers::wasm_split;

/// Puts a part into its place, once the program that holds it is there.
#[wasm_split(later, fallible)]
fn mount_later(part: LaterPart, place: HtmlElement) -> Result<Box<dyn Any>, NotLoaded> {
    Ok(ui::mount(part, place))
}

fn main() {
    ui::start(PartLoader(|part, place| Box::pin(mount_later(part, place))));
}
