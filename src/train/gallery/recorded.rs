//! Answers for the page's first paint: what the model says of the starting captions and the first pictures, and of all
//! that the other views ask when they are first opened.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::pictures::{captions_of, gallery_scenes};
use super::png::picture;
use crate::answer::{self, EngineFacts, familiarity, model_card};
use crate::corruption::Corrupted;
use crate::explorer::{
    DRAWING, ExplorerState, GENERATED_SIDE, GeneratedPictures, GeneratedRequest, Lessons,
    ReadingRequest, START_CAPTIONS, View, corrupted_name,
};
use crate::inference::{ImageEncoding, SelfTest, Session};
use crate::preprocess::RgbPixels;
use crate::protocol::{Answer, ImageReading, Recorded};
use crate::scenes::render;
use crate::train::files;

/// Pictures that the page shows at the start.
const N_PICTURES: usize = 6;

/// Writes `start.json` and `views.json`.
///
/// # Errors
///
/// The model has no adapters, the lessons cannot be read, or a file cannot be written.
pub fn write(session: &Session, self_test: SelfTest, folder: &Path, lessons: &Path) -> Result<()> {
    let scenes = gallery_scenes().into_iter().take(N_PICTURES);
    let named = scenes.map(|(id, scene)| (id.to_owned(), picture(&scene)));
    let (names, pictures): (Vec<_>, Vec<_>) = named.unzip();
    let images = pollster::block_on(session.encode_images(&pictures))?;
    let matrix = ReadingRequest::of(START_CAPTIONS.map(str::to_owned), names.clone());
    let answer = ask(session, matrix, &images)?;
    let readings = names.iter().zip(&pictures);
    let readings = readings.map(|(image, picture)| ImageReading {
        image: image.clone(),
        width: u32::try_from(picture.width).unwrap_or(u32::MAX),
        height: u32::try_from(picture.height).unwrap_or(u32::MAX),
        notes: Vec::new(),
        familiarity: familiarity(session, picture),
    });
    let engine = EngineFacts {
        name: "recorded".to_owned(),
        device: "the native program".to_owned(),
        weights_bytes: session.manifest().weights_bytes(),
        from_cache: false,
        load_millis: 0.0,
        warm_millis: answer.millis,
    };
    let recorded = Recorded {
        card: model_card(session, self_test, engine)?,
        images: readings.collect(),
        answer,
    };
    let wants = wants(&names, lessons)?.into_iter();
    let views = wants.map(|want| ask(session, want, &images));
    let mut views: Vec<Answer> = views.collect::<Result<_>>()?;
    views.extend(made_answers(session, &names)?);
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("start.json"), serde_json::to_string(&recorded)?)?;
    std::fs::write(folder.join("views.json"), serde_json::to_string(&views)?)?;
    Ok(())
}

/// The page as it starts, with a view open.
fn start(names: &[String], view: View) -> ExplorerState {
    let mut state = ExplorerState::new(START_CAPTIONS, names.iter().map(String::as_str));
    state.view = view;
    state
}

/// What the model says of the pictures that views make when they are opened on the page as it starts.
fn made_answers(session: &Session, names: &[String]) -> Result<Vec<Answer>> {
    let of_view = |view| GeneratedRequest::of_view(&start(names, view));
    let answer = |made: GeneratedRequest| {
        let (images, pictures): (Vec<_>, Vec<_>) = made_pictures(&made.of)?.into_iter().unzip();
        let encodings = pollster::block_on(session.encode_images(&pictures))?;
        let request = ReadingRequest::of(made.captions, images);
        ask(session, request, &encodings)
    };
    View::ALL
        .into_iter()
        .filter_map(of_view)
        .map(answer)
        .collect()
}

/// Made pictures by name, as the page makes them.
fn made_pictures(of: &GeneratedPictures) -> Result<Vec<(String, RgbPixels)>> {
    let square = |pixels| RgbPixels {
        width: GENERATED_SIDE,
        height: GENERATED_SIDE,
        pixels,
    };
    let (image, corruption) = match of {
        GeneratedPictures::Drawing(drawing) => {
            let picture = square(render(&drawing.scene(), GENERATED_SIDE));
            return Ok(vec![(DRAWING.to_owned(), picture)]);
        }
        GeneratedPictures::Corrupted(image, corruption) => (image, corruption),
    };
    let named = gallery_scenes().into_iter().find(|(id, _)| id == image);
    let (_, scene) = named.with_context(|| format!("the gallery has no picture {image}"))?;
    let pixels = render(&scene, GENERATED_SIDE);
    let ladder = corruption.ladder(&pixels, GENERATED_SIDE, image);
    let named = |(severity, corrupted)| match corrupted {
        Corrupted::Pixels(pixels) => Ok((corrupted_name(severity), square(pixels))),
        Corrupted::Jpeg { .. } => anyhow::bail!("only the page has the codec for JPEG"),
    };
    ladder.enumerate().map(named).collect()
}

/// What the views ask when they are opened on the page as it starts.
fn wants(names: &[String], lessons: &Path) -> Result<Vec<ReadingRequest>> {
    let lessons: Lessons = files::read_json(lessons)?;
    let written = captions_of(N_PICTURES);
    let want = |view: View| {
        let elsewhere = match view {
            View::Traverse => written.clone(),
            View::Learn => lessons.captions().collect(),
            _ => Vec::new(),
        };
        ReadingRequest::of_view(&start(names, view), names.to_vec(), elsewhere)
    };
    let asked = View::ALL.into_iter().map(want);
    Ok(asked.filter(|want| !want.captions.is_empty()).collect())
}

/// What an engine would answer; the images are those of the wish, or none where it names none.
fn ask(session: &Session, want: ReadingRequest, images: &[ImageEncoding]) -> Result<Answer> {
    let started = Instant::now();
    let texts = pollster::block_on(session.encode_text(&want.captions))?;
    let images: Vec<&ImageEncoding> = images.iter().take(want.images.len()).collect();
    let answer = answer::answer(want.captions, &texts, want.images, &images, want.relates)?;
    Ok(Answer {
        millis: started.elapsed().as_secs_f64() * 1e3,
        ..answer
    })
}
