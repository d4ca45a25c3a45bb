//! Kappascope shows how vague a caption is.

#[cfg(feature = "engine")]
pub mod device;
pub mod error;
pub mod explorer;
#[cfg(feature = "engine")]
pub mod inference;
pub mod metrics;
#[cfg(feature = "engine")]
pub mod model;
pub mod numerics;
#[cfg(feature = "engine")]
pub mod preprocess;
pub mod protocol;
pub mod scenes;
#[cfg(feature = "train")]
pub mod train;
#[cfg(feature = "page")]
pub mod ui;
#[cfg(feature = "engine")]
pub mod weights;
#[cfg(feature = "page")]
pub mod wire;
#[cfg(feature = "xtask")]
pub mod xtask;
