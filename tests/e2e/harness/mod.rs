//! What the tests of the built page stand on: a browser, a server, the page's `data-` hooks, and a small CLIP.
//!
//! Knows no view and asserts nothing about one.

mod browser;
mod driver;
pub mod machine;
mod page;
mod server;
pub mod tiny_clip;

pub use browser::Browser;
pub use page::{
    ANSWERING, WINDOWS, add_picture, assert_agree, assert_fits, assert_near, assert_sound, axe,
    axe_finds, built_in_model, engine, escaped, gallery_picture, golden_picture, kept, manifest,
    native_kappas, native_reading, native_table, new_picture, open_ready, pictures, reading, rows,
    text, type_first_caption, wait_for_caption, wait_until_it_says, wait_until_kept,
    wait_until_ready, weights,
};
pub use server::{Server, dist, dist_release};
