//! What a loaded model is, with adapters or without.

use crate::protocol::{BareCard, ModelCard};

/// A loaded model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Card {
    /// It knows how vague a caption is.
    Whole(Box<ModelCard>),
    /// It compares captions with pictures, and no more.
    Bare(Box<BareCard>),
}

impl Card {
    /// A title for people.
    pub(crate) fn title(&self) -> &str {
        match self {
            Self::Whole(card) => &card.title,
            Self::Bare(card) => &card.title,
        }
    }

    /// `cpu` or `gpu`.
    pub(crate) fn engine(&self) -> &str {
        match self {
            Self::Whole(card) => &card.engine,
            Self::Bare(card) => &card.engine,
        }
    }

    /// The device in words.
    pub(crate) fn device(&self) -> &str {
        match self {
            Self::Whole(card) => &card.device,
            Self::Bare(card) => &card.device,
        }
    }

    /// Milliseconds of a warm pass.
    pub(crate) fn warm_millis(&self) -> f64 {
        match self {
            Self::Whole(card) => card.warm_millis,
            Self::Bare(card) => card.warm_millis,
        }
    }

    /// Whether its numbers were checked on this device.
    pub(crate) fn is_checked(&self) -> bool {
        match self {
            Self::Whole(card) => card.self_test.tolerance > 0.0,
            Self::Bare(card) => card.self_test.is_some() || card.is_vit_b_32,
        }
    }
}
