//! Kappascope shows how vague a caption is.

pub mod error;
pub mod explorer;
pub mod metrics;
pub mod numerics;
#[cfg(feature = "engine")]
pub mod preprocess;
pub mod protocol;
pub mod scenes;
#[cfg(feature = "page")]
pub mod wire;
#[cfg(feature = "xtask")]
pub mod xtask;
