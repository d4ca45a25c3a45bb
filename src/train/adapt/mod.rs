//! `train adapt`: an imported encoder and captioned pictures → adapters of both families beside the encoder.
//!
//! Embeds, fits, measures and exports by what other folders do one stage at a time; what the folder of a run holds
//! already is not done again. Knows no method but `AsymVLM` and the cosine it is measured against.

mod evaluation;
mod pipeline;

pub use evaluation::markdown;
pub use pipeline::AdaptRun;
