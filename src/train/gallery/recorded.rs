//! Answers for a world's first paint: its model's scores of the starting captions and the first pictures, and its
//! answers to the requests of the other views when they are first opened; and the embeddings of its gallery's pictures.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::pictures::{DecodedPicture, gallery_scenes};
use crate::answer::{self, EngineFacts, familiarity, model_card};
use crate::corruption::Corrupted;
use crate::explorer::views::corruption::corrupted_name;
use crate::explorer::views::ladder::BUILT_IN_LADDERS;
use crate::explorer::views::learn::Lessons;
use crate::explorer::{
    DRAWING, ExplorerState, GeneratedPictures, GeneratedRequest, PICTURE_SIDE, ReadingRequest,
    View, World, minimal_pairs,
};
use crate::inference::{ImageEncoding, SelfTest, Session};
use crate::preprocess::RgbPixels;
use crate::protocol::{Answer, ImageReading, PerFamily, RecordedAnswer, RecordedPicture};
use crate::scenes::render;
use crate::train::files::{make_folder, put, read_json};

/// Pictures that the page shows at the start.
const N_PICTURES: usize = 6;

/// A world with the model that answers for it.
#[derive(Debug)]
pub struct WorldModel<'a> {
    /// World whose gallery and first captions are answered for.
    pub world: World,
    /// Session of the world's model, which answers.
    pub session: &'a Session,
    /// Outcome of the self-test on the model's golden values.
    pub self_test: SelfTest,
    /// The pictures of its gallery.
    pub gallery: &'a [DecodedPicture],
}

impl WorldModel<'_> {
    /// Writes `start.json`, `views.json` and, where the page reads it, `pictures.json`.
    ///
    /// # Errors
    ///
    /// The model has no adapters, the lessons cannot be read, or a file cannot be written.
    pub fn record(&self, folder: &Path, lessons: &Path) -> Result<()> {
        let pixels: Vec<RgbPixels> = self.gallery.iter().map(|one| one.pixels.clone()).collect();
        let embeddings = pollster::block_on(self.session.encode_images(&pixels))?;
        let start = self.start(&embeddings)?;
        let mut views: Vec<Answer> = self
            .requests(&read_json(lessons)?)
            .into_iter()
            .map(|request| ask(self.session, request, &embeddings))
            .collect::<Result<_>>()?;
        views.extend(self.minimal_pairs_answer(&embeddings)?);
        views.extend(self.generated_answers()?);
        for caption in views.iter_mut().flat_map(|answer| &mut answer.captions) {
            // Only the matrix stands beside the wall.
            caption.mean_direction = PerFamily::default();
        }
        make_folder(folder)?;
        put(&folder.join("start.json"), serde_json::to_string(&start)?)?;
        put(&folder.join("views.json"), serde_json::to_string(&views)?)?;
        if self.world.records_pictures() {
            let pictures = serde_json::to_string(&self.pictures(embeddings))?;
            put(&folder.join("pictures.json"), pictures)?;
        }
        Ok(())
    }

    /// The matrix as the page starts.
    fn start(&self, embeddings: &[ImageEncoding]) -> Result<RecordedAnswer> {
        let captions = self.world.captions().map(str::to_owned);
        let matrix = ReadingRequest::of(captions, self.first_names());
        let answer = ask(self.session, matrix, embeddings)?;
        let engine = EngineFacts {
            name: "recorded".to_owned(),
            device: "the native program".to_owned(),
            weights_bytes: self.session.manifest().weights_bytes(),
            from_cache: false,
            load_millis: 0.0,
        };
        let first = self.gallery.iter().zip(embeddings).take(N_PICTURES);
        Ok(RecordedAnswer {
            card: model_card(self.session, self.self_test, engine)?,
            images: first
                .map(|(picture, encoding)| self.reading(picture, encoding))
                .collect(),
            answer,
        })
    }

    /// Readings and embeddings of all pictures of the gallery.
    fn pictures(&self, embeddings: Vec<ImageEncoding>) -> Vec<RecordedPicture> {
        let encoder = self.session.manifest().image_encoder();
        let pictures = self.gallery.iter().zip(embeddings);
        let recorded = |(picture, encoding): (&DecodedPicture, ImageEncoding)| RecordedPicture {
            encoder: encoder.clone(),
            reading: self.reading(picture, &encoding),
            embedding: encoding.embedding,
        };
        pictures.map(recorded).collect()
    }

    fn reading(&self, picture: &DecodedPicture, encoding: &ImageEncoding) -> ImageReading {
        let side = |pixels| u32::try_from(pixels).unwrap_or(u32::MAX);
        ImageReading {
            image: picture.id.clone(),
            width: side(picture.pixels.width),
            height: side(picture.pixels.height),
            notes: Vec::new(),
            familiarity: familiarity(self.session, &picture.pixels, encoding),
        }
    }

    /// Names of the pictures that the page shows at the start.
    fn first_names(&self) -> Vec<String> {
        let first = self.gallery.iter().take(N_PICTURES);
        first.map(|picture| picture.id.clone()).collect()
    }

    /// The page as it starts, with a view open.
    fn opened(&self, view: View) -> ExplorerState {
        let names = self.first_names();
        let mut state = ExplorerState::start(self.world, names.iter().map(String::as_str));
        state.view = view;
        state
    }

    /// Requests of the views when they are opened on the page as it starts, and of the ladders in the menu, each once.
    fn requests(&self, lessons: &Lessons) -> Vec<ReadingRequest> {
        let first = self.gallery.iter().take(N_PICTURES);
        let written: Vec<String> = first.flat_map(|picture| picture.captions.clone()).collect();
        let request = |view: View| {
            let elsewhere = if view.shows_lessons() {
                lessons.captions().collect()
            } else {
                written.clone()
            };
            ReadingRequest::of_view(&self.opened(view), self.first_names(), elsewhere)
        };
        let mut requests: Vec<ReadingRequest> = Vec::new();
        let views = View::ALL.into_iter().map(request);
        for request in views.chain(self.ladders()) {
            if !request.captions.is_empty() && !requests.contains(&request) {
                requests.push(request);
            }
        }
        requests
    }

    /// Requests about the world's ladders in the menu, which ask about no pictures.
    fn ladders(&self) -> impl Iterator<Item = ReadingRequest> {
        let world = self.world;
        let ladders = BUILT_IN_LADDERS.into_iter();
        let of_world = ladders.filter(move |ladder| ladder.world == world);
        of_world.map(|ladder| {
            let rungs = ladder.rungs.iter().map(|&rung| rung.to_owned());
            ReadingRequest::of(rungs, Vec::new())
        })
    }

    /// The matrix of the drawings that differ in one word; none but for scenes, whose gallery has them.
    fn minimal_pairs_answer(&self, embeddings: &[ImageEncoding]) -> Result<Option<Answer>> {
        if !self.world.has_known_truth() {
            return Ok(None);
        }
        let page = minimal_pairs(&self.opened(View::Explore));
        let embedding = |id: &String| {
            let at = self.gallery.iter().position(|picture| picture.id == *id)?;
            embeddings.get(at).cloned()
        };
        let pictures: Option<Vec<ImageEncoding>> = page.pictures.iter().map(embedding).collect();
        let pictures = pictures.context("the gallery lacks a drawing of the minimal pairs")?;
        let captions = page.captions.iter().map(|caption| caption.text.clone());
        let matrix = ReadingRequest::of(captions, page.pictures.clone());
        ask(self.session, matrix, &pictures).map(Some)
    }

    /// Answers about the pictures that views generate when they are opened on the page as it starts; none but for
    /// scenes, which alone can be drawn here pixel by pixel as the page draws them.
    fn generated_answers(&self) -> Result<Vec<Answer>> {
        if !self.world.has_known_truth() {
            return Ok(Vec::new());
        }
        let generated = View::ALL
            .into_iter()
            .filter_map(|view| GeneratedRequest::of_view(&self.opened(view)));
        let answer = |request: GeneratedRequest| {
            let (images, pictures): (Vec<_>, Vec<_>) =
                generated_pictures(&request.of)?.into_iter().unzip();
            let encodings = pollster::block_on(self.session.encode_images(&pictures))?;
            let request = ReadingRequest::of(request.captions, images);
            ask(self.session, request, &encodings)
        };
        generated.map(answer).collect()
    }
}

/// Generated pictures by name, as the page makes them.
fn generated_pictures(of: &GeneratedPictures) -> Result<Vec<(String, RgbPixels)>> {
    let square = |pixels, side| RgbPixels {
        width: side,
        height: side,
        pixels,
    };
    let (image, corruption) = match of {
        GeneratedPictures::Drawing(drawing) => {
            let picture = square(render(&drawing.scene(), PICTURE_SIDE), PICTURE_SIDE);
            return Ok(vec![(DRAWING.to_owned(), picture)]);
        }
        GeneratedPictures::Corrupted(image, corruption) => (image, corruption),
    };
    let named = gallery_scenes().into_iter().find(|(id, _)| id == image);
    let (_, scene) = named.with_context(|| format!("the gallery has no picture {image}"))?;
    let side = World::Scenes.picture_side() as usize;
    let pixels = render(&scene, side);
    let ladder = corruption.ladder(&pixels, side, image);
    let named = |(severity, corrupted)| match corrupted {
        Corrupted::Pixels(pixels) => Ok((corrupted_name(severity), square(pixels, side))),
        Corrupted::Jpeg { .. } => anyhow::bail!("only the page has the codec for JPEG"),
    };
    // The engine knows the clean picture under its own name.
    ladder.enumerate().skip(1).map(named).collect()
}

/// Answer as an engine would give it; the request's images are the first of `images`, or none where it names none.
fn ask(session: &Session, request: ReadingRequest, images: &[ImageEncoding]) -> Result<Answer> {
    let started = Instant::now();
    let texts = pollster::block_on(session.encode_text(&request.captions))?;
    let images: Vec<&ImageEncoding> = images.iter().take(request.images.len()).collect();
    let answer = answer::answer(
        request.captions,
        &texts,
        request.images,
        &images,
        request.relates,
    )?;
    Ok(Answer {
        millis: started.elapsed().as_secs_f64() * 1e3,
        ..answer
    })
}
