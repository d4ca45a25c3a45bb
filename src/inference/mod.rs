//! Captions and pictures in, plain numbers out: the same code natively and in the browser.
//!
//! Every read-back is awaited, because a browser cannot block. Knows neither the browser nor training nor the
//! messages of the page.

mod golden;
mod loader;
mod published;
mod reading;
mod session;
mod source;

pub use crate::model::parameters::{StoredTensor, TensorRecord, WeightFormat};
pub use crate::protocol::SelfTest;
pub use golden::{CPU_TOLERANCE, GPU_TOLERANCE, GoldenReadings};
pub use published::{Published, Tolerance};
pub use reading::{CaptionDistribution, ImageEncoding, PairCosines, TextEncoding};
pub use session::{CAPTIONS_PER_PASS, Session};
pub use source::Source;
