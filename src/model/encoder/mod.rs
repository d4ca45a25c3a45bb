//! The dual encoder of a model, whatever its towers are: captions and pictures → features in one space.
//!
//! CLIP's towers share their space by training; locked towers (Zhai et al. 2022,
//! [LiT](https://arxiv.org/abs/2111.07991)) were trained apart and share one by a head each. Knows nothing of
//! tokenizers, files or where weights come from.

mod config;
mod encoders;
mod exemplars;
mod head;
mod towers;

pub use config::{EncoderConfig, TowersConfig};
pub use encoders::{
    HeadedImage, HeadedText, IMAGE_EXEMPLARS, ImageEncoder, PooledImages, TEXT_EXEMPLARS,
    TextEncoder,
};
pub use exemplars::{Exemplars, ExemplarsConfig, ImageOutput};
pub use head::{Head, HeadConfig, HeadInput, NamedHead};
pub use towers::{ImageTower, ImageTowerConfig, LockedTextTower, TextTowerConfig};
