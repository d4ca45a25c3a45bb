//! Names and shapes of the tensors of a model's two encoders.

use burn::tensor::Device;

use crate::model::clip::ClipConfig;
use crate::model::parameters::Parameters as _;

/// Name and shape of each tensor.
pub type Shapes = Vec<(String, Vec<usize>)>;

/// The tensors of each encoder; the scale and bias of the logits belong to neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Towers {
    /// Tensors of the text encoder.
    pub text: Shapes,
    /// Tensors of the image encoder.
    pub image: Shapes,
    /// Scale and bias of the logits, which are of neither.
    pub logits: Shapes,
}

impl Towers {
    /// The tensors of a model of these sizes; initialises none of them.
    #[must_use]
    pub fn of(clip: &ClipConfig, device: &Device) -> Self {
        let shapes = clip.init(device).named_shapes();
        let is_of_logits = |(name, _): &(String, _)| name.starts_with("logit_");
        let (logits, towers): (Shapes, Shapes) = shapes.into_iter().partition(is_of_logits);
        let (text, image) = towers.into_iter().partition(|(name, _)| is_text(name));
        Self {
            text,
            image,
            logits,
        }
    }

    /// The name of every tensor.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let all = self.text.iter().chain(&self.image).chain(&self.logits);
        all.map(|(name, _)| name.clone())
    }
}

/// Whether a tensor of an encoder is one of the text encoder's.
#[must_use]
pub fn is_text(name: &str) -> bool {
    name.starts_with("text_")
}
