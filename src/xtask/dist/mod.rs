//! `cargo xtask dist`: the release, made of the built page.
//!
//! The release is the built page with a content policy, with engines that are named by their content, with a service
//! worker that keeps it for use without a network, and with the licences of everything in it.

pub(super) mod file;
mod index;
mod licences;
mod release;
pub(super) mod sha256;

pub(super) use release::{build, write};
