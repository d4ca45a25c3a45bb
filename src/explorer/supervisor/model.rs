//! Engines and models as the supervisor knows them: which kinds there are, where weights come from, and what was
//! loaded.

use crate::explorer::state::ModelChoice;
use crate::explorer::world::World;
use crate::protocol::{BareCard, Hub, ModelCard};

/// One of the two engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineKind {
    /// An engine on the CPU, which starts soonest and runs everywhere.
    Cpu,
    /// An engine that computes through WebGPU.
    Gpu,
}

/// Source of a model's weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSource {
    /// The page brings it.
    BuiltIn(World),
    /// A manifest on the page's own site, by its path.
    SameSite(&'static str),
    /// A model of the model hub.
    Hub(Hub),
    /// Files that the visitor picked, by the number of that choice.
    Files(u64),
}

impl Default for ModelSource {
    fn default() -> Self {
        Self::FALLBACK
    }
}

impl ModelSource {
    /// The model in place of one that does not come: it is small, and the page brings it.
    pub const FALLBACK: Self = Self::BuiltIn(World::Scenes);

    /// Whether it is the model that takes the place of others.
    #[must_use]
    pub fn is_fallback(&self) -> bool {
        *self == Self::FALLBACK
    }

    /// Whether the page brings it.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        matches!(self, Self::BuiltIn(_))
    }

    /// The model of the page that has its weights from here.
    #[must_use]
    pub fn model(&self) -> ModelChoice {
        match self {
            Self::BuiltIn(world) => ModelChoice::BuiltIn(*world),
            _ => ModelChoice::Clip,
        }
    }

    /// The name under which deaths while it is loaded are counted from visit to visit; empty for files, which a reload
    /// asks for again.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::BuiltIn(World::Scenes) => "built-in".to_owned(),
            Self::BuiltIn(world) => world.slug().to_owned(),
            Self::SameSite(path) => (*path).to_owned(),
            Self::Hub(hub) => hub.address(),
            Self::Files(_) => String::new(),
        }
    }
}

/// A loaded model as the page lists it.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadedModel {
    /// A model with adapters, which gives each caption its κ.
    Adapted(Box<ModelCard>),
    /// A model without adapters, which only compares captions with pictures.
    Bare(Box<BareCard>),
}

impl LoadedModel {
    /// A title for people.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Adapted(model) => &model.title,
            Self::Bare(model) => &model.title,
        }
    }

    /// Eight hexadecimal digits that other weights do not have; empty where they are not known.
    #[must_use]
    pub fn weights(&self) -> &str {
        match self {
            Self::Adapted(model) => &model.weights,
            Self::Bare(model) => &model.weights,
        }
    }

    /// SHA-256 of each shard of the image encoder, which identify it.
    pub(super) fn image_encoder(&self) -> &[String] {
        match self {
            Self::Adapted(model) => &model.image_encoder,
            Self::Bare(model) => &model.image_encoder,
        }
    }

    /// Origin of the weights, with their digits.
    #[must_use]
    pub fn origin_text(&self) -> String {
        let made = match self {
            Self::Adapted(model) => &model.provenance,
            Self::Bare(model) => &model.provenance,
        };
        match self.weights() {
            "" => made.clone(),
            weights => format!("{made}\nweights {weights}"),
        }
    }

    /// Kind of the engine that has the model: `cpu` or `gpu`.
    #[must_use]
    pub fn engine(&self) -> &str {
        match self {
            Self::Adapted(model) => &model.engine,
            Self::Bare(model) => &model.engine,
        }
    }

    /// The device in words.
    #[must_use]
    pub fn device(&self) -> &str {
        match self {
            Self::Adapted(model) => &model.device,
            Self::Bare(model) => &model.device,
        }
    }

    /// Milliseconds of the load, and whether the weights came from the browser's disk.
    #[must_use]
    pub fn load_time(&self) -> (f64, bool) {
        match self {
            Self::Adapted(model) => (model.load_millis, model.from_cache),
            Self::Bare(model) => (model.load_millis, model.from_cache),
        }
    }

    /// Whether its numbers were checked on this device.
    #[must_use]
    pub fn is_checked(&self) -> bool {
        match self {
            Self::Adapted(model) => model.self_test.tolerance > 0.0,
            Self::Bare(model) => model.self_test.is_some() || model.is_vit_b_32,
        }
    }

    /// Whether the weights are `OpenAI`'s: they answer as those of ViT-B/32, or their origin is a model of that owner.
    #[must_use]
    pub fn is_openai(&self) -> bool {
        match self {
            Self::Bare(model) if model.is_vit_b_32 => true,
            _ => names_openai(&self.origin_text()),
        }
    }
}

/// Whether the origin of weights names a model of `OpenAI`'s at the hub.
fn names_openai(origin: &str) -> bool {
    let mut words = origin.split_whitespace();
    words.any(|word| word.starts_with("openai/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_names_openai_by_the_owner_of_its_id() {
        for (origin, expected) in [
            ("openai/clip-vit-large-patch14 at 32bd64288804d66e", true),
            (
                "train adapt openai/clip-vit-base-patch32 --data coco (seed 0, commit 1, 2)",
                true,
            ),
            ("google/siglip-base-patch16-224 at 7fd15f0689c79d79", false),
            ("notopenai/clip at 1", false),
            ("a file of the visitor's", false),
        ] {
            assert_eq!(names_openai(origin), expected, "{origin}");
        }
    }
}
