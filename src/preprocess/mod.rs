//! Pictures and captions become arrays on the host.
//!
//! Must not know Burn, the browser or files: bytes and text come in, plain vectors go out. The same code runs natively
//! and in WebAssembly.

pub mod budget;
mod clean;
pub mod decode;
mod gif;
pub mod image;
mod jpeg;
mod pixels;
pub mod resize;
pub mod text;
pub mod tokenizer;
mod upright;
mod webp;
mod whole_words;

pub use budget::DecodeBudget;
pub use decode::{decode, decode_on_white, decode_within};
pub use image::{ImagePreprocess, ResizeMode};
pub use pixels::{DecodedImage, RgbPixels};
pub use text::{TextPreprocess, Tokens, word_level_tokenizer_json};
