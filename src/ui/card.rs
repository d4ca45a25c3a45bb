//! What a loaded model is, with adapters or without.

use crate::protocol::{BareCard, ModelCard};

/// A loaded model.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Card {
    /// It knows how vague a caption is.
    Whole(Box<ModelCard>),
    /// It compares captions with pictures, and no more.
    Bare(Box<BareCard>),
}

impl Card {
    /// A title for people.
    pub(super) fn title(&self) -> &str {
        match self {
            Self::Whole(card) => &card.title,
            Self::Bare(card) => &card.title,
        }
    }

    /// `cpu` or `gpu`.
    pub(super) fn engine(&self) -> &str {
        match self {
            Self::Whole(card) => &card.engine,
            Self::Bare(card) => &card.engine,
        }
    }

    /// The device in words.
    pub(super) fn device(&self) -> &str {
        match self {
            Self::Whole(card) => &card.device,
            Self::Bare(card) => &card.device,
        }
    }

    /// Milliseconds of a warm pass.
    pub(super) fn warm_millis(&self) -> f64 {
        match self {
            Self::Whole(card) => card.warm_millis,
            Self::Bare(card) => card.warm_millis,
        }
    }

    /// Whether its numbers were checked on this device.
    pub(super) fn is_checked(&self) -> bool {
        match self {
            Self::Whole(card) => card.self_test.tolerance > 0.0,
            Self::Bare(card) => card.self_test.is_some() || card.is_vit_b_32,
        }
    }
}
