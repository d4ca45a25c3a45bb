//! Kappascope shows how vague a caption is.

pub mod error;
pub mod protocol;
#[cfg(feature = "xtask")]
pub mod xtask;
pub mod scenes;
