//! Answers for the page's first paint: what the model says of the starting captions and the first pictures.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;

use super::export::picture;
use super::gallery::hung_scenes;
use crate::answer::{Engine, caption_reading, familiarity, model_card, pair_reading};
use crate::explorer::START_CAPTIONS;
use crate::inference::{SelfTest, Session};
use crate::protocol::{Answer, ImageReading, Recorded};

/// Pictures that hang at the start.
const N_PICTURES: usize = 6;

/// Writes `start.json`.
///
/// # Errors
///
/// The model has no adapters, or the file cannot be written.
pub fn write(session: &Session, self_test: SelfTest, folder: &Path) -> Result<()> {
    let captions = START_CAPTIONS.map(str::to_owned);
    let started = Instant::now();
    let texts = pollster::block_on(session.encode_text(&captions))?;
    let hung = hung_scenes().into_iter().take(N_PICTURES);
    let (names, pictures): (Vec<_>, Vec<_>) = hung
        .map(|(id, scene)| (id.to_owned(), picture(&scene)))
        .unzip();
    let images = pollster::block_on(session.encode_images(&pictures))?;
    let pairs = texts
        .iter()
        .flat_map(|text| images.iter().map(move |image| pair_reading(text, image)));
    let answer = Answer {
        id: 0,
        captions: captions
            .into_iter()
            .zip(&texts)
            .map(|(caption, text)| caption_reading(caption, text))
            .collect::<Result<_, _>>()?,
        images: names.clone(),
        pairs: pairs.collect::<Result<_, _>>()?,
        millis: started.elapsed().as_secs_f64() * 1e3,
    };
    let images = names.into_iter().zip(&pictures);
    let images = images.map(|(image, picture)| ImageReading {
        image,
        width: u32::try_from(picture.width).unwrap_or(u32::MAX),
        height: u32::try_from(picture.height).unwrap_or(u32::MAX),
        notes: Vec::new(),
        familiarity: familiarity(session, picture),
    });
    let engine = Engine {
        name: "recorded".to_owned(),
        device: "the native program".to_owned(),
        from_cache: false,
        load_millis: 0.0,
        warm_millis: answer.millis,
    };
    let recorded = Recorded {
        card: model_card(session, self_test, engine)?,
        images: images.collect(),
        answer,
    };
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("start.json"), serde_json::to_string(&recorded)?)?;
    Ok(())
}
