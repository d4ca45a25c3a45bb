//! A model as a folder: a manifest and the shards it describes; or as another program's checkpoint.
//!
//! Works on bytes and knows nothing of where they come from, so the same code runs in the browser.

pub mod adapter_file;
pub mod f16_stream;
pub mod http_answer;
pub mod hub_hashes;
pub mod manifest;
pub mod original;
pub mod plan;
pub mod shard;
mod size_limits;
mod validate;
