//! Answers of simulated engines: readings without numbers.

use crate::protocol::{
    Answer, BareCard, CaptionReading, CaptionTokens, Comparison, ImageReading, ModelCard, Response,
};

pub(super) fn reading(image: String) -> ImageReading {
    ImageReading {
        image,
        width: 1,
        height: 1,
        notes: Vec::new(),
        familiarity: None,
    }
}

pub(super) fn answer(id: u64, captions: Vec<String>, images: Vec<String>) -> Answer {
    let captions = captions.into_iter().map(|caption| CaptionReading {
        caption,
        ..CaptionReading::default()
    });
    Answer {
        id,
        captions: captions.collect(),
        images,
        ..Answer::default()
    }
}

pub(super) fn comparison(id: u64, captions: Vec<String>, images: Vec<String>) -> Comparison {
    let Answer {
        captions, images, ..
    } = answer(id, captions, images);
    let captions = captions.into_iter().map(|reading| CaptionTokens {
        caption: reading.caption,
        ..CaptionTokens::default()
    });
    Comparison {
        id,
        captions: captions.collect(),
        images,
        ..Comparison::default()
    }
}

/// Response to a load of a model with this image encoder.
pub(super) fn loaded(is_adapted: bool, image_encoder: Vec<String>) -> Response {
    if is_adapted {
        Response::Loaded(Box::new(card(image_encoder)))
    } else {
        Response::LoadedBare(Box::new(bare_card(image_encoder)))
    }
}

fn card(image_encoder: Vec<String>) -> ModelCard {
    ModelCard {
        name: String::new(),
        title: String::new(),
        embed_dim: 4,
        logit_scale: Default::default(),
        reference_uncertainty: Default::default(),
        picture_sets: None,
        squashes_pictures: false,
        provenance: String::new(),
        weights: String::new(),
        image_encoder,
        engine: String::new(),
        device: String::new(),
        self_test: Default::default(),
        weights_bytes: 0,
        from_cache: false,
        load_millis: 0.0,
    }
}

fn bare_card(image_encoder: Vec<String>) -> BareCard {
    BareCard {
        name: String::new(),
        title: String::new(),
        embed_dim: 4,
        provenance: String::new(),
        weights: String::new(),
        image_encoder,
        license: String::new(),
        engine: String::new(),
        device: String::new(),
        self_test: None,
        is_vit_b_32: false,
        weights_bytes: 0,
        has_vision: false,
        from_cache: false,
        load_millis: 0.0,
        probe: vec![1.0],
    }
}
