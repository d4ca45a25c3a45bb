//! The pictures that come with the page, and the answers that were recorded for them.

use std::sync::Arc;

use gloo_net::http::{Request, Response};
use js_sys::JSON;
use leptos::prelude::*;
use serde::de::DeserializeOwned;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{AnswerSource, Event, ModelChoice, PagePicture, Snapshot, View, World};
use crate::protocol::{CaptionReading, CompactDirection, RecordedAnswer, RecordedPicture};
use crate::report::GalleryEntry;
use crate::ui::dom::browser;
use crate::ui::engine::Client;
use crate::ui::page::later_task::LaterTask;
use crate::ui::page::pictures::{GalleryPicture, PictureFile, PictureState, too_many};
use crate::ui::page::state::PageState;
use crate::ui::page::status::first_answer;
use crate::ui::page::wall::{COLUMNS, ROWS};
use crate::wire;

/// Pictures of the gallery that a visitor starts from.
const N_START_PICTURES: usize = 6;

/// Files of a world that the page needs before it is first drawn, so that nothing moves afterwards.
#[derive(Debug, Clone)]
pub struct WorldFiles {
    pub(crate) world: World,
    gallery: Result<Vec<GalleryPicture>, String>,
    /// Answers recorded with the model; optional, since the page waits for its engine without them.
    recorded: Option<RecordedAnswer>,
}

impl WorldFiles {
    /// The world that is asked for, or else the first that was recorded: a page without its model opens with another.
    pub(crate) async fn first(asked: Option<World>) -> Self {
        if let Some(world) = asked {
            return Self::fetch(world).await;
        }
        let [first, other] = World::ALL;
        let opening = Self::fetch(first).await;
        match opening.recorded {
            Some(_) => opening,
            None => Self::fetch(other).await,
        }
    }

    /// Fetches the gallery's list and the recorded answers, which the document has asked for already.
    pub(crate) async fn fetch(world: World) -> Self {
        let (folder, examples) = (world.gallery(), world.examples());
        let gallery = fetch_json::<Vec<GalleryEntry>>(&format!("{folder}/gallery.json")).await;
        let recorded = fetch_json(&format!("{examples}/start.json")).await.ok();
        let mut pictures = Vec::<RecordedPicture>::new();
        if world.records_pictures() && recorded.is_some() {
            let recorded = fetch_json(&format!("{examples}/pictures.json")).await;
            // Without them the image encoder is loaded.
            pictures = recorded.unwrap_or_default();
        }
        let picture = |entry: GalleryEntry| {
            let is_it = |one: &&RecordedPicture| one.reading.image == entry.id;
            GalleryPicture {
                recorded: pictures.iter().find(is_it).cloned().map(Arc::new),
                entry,
                folder,
                bytes: None,
            }
        };
        Self {
            world,
            gallery: gallery.map(|entries| entries.into_iter().map(picture).collect()),
            recorded,
        }
    }
}

/// Shows the pictures that belong on the page, and the answers recorded for them.
pub(crate) fn open(page: PageState, opening: WorldFiles, is_linked: bool) {
    match opening.gallery {
        Ok(gallery) => page.gallery.set(gallery),
        Err(reason) => page.notify(format!(
            "The gallery could not be opened: {reason}. Your own pictures can still be added."
        )),
    }
    if is_linked {
        show_named(page);
    } else {
        show_start(page);
    }
    let (images, world) = (all_ids(page), opening.world);
    if let Some(recorded) = opening.recorded {
        show_recorded(page, world, recorded);
    }
    fetch_wall(page, world);
    spawn_local(async move {
        if page.state.with_untracked(|state| state.view) == View::Explore {
            // What is open needs nothing more.
            first_answer(page).await;
        }
        page.do_later(LaterTask::FetchAhead { world, images });
    });
}

/// Shows the pictures that a visitor starts from.
pub(crate) fn show_start(page: PageState) {
    let ids = all_ids(page);
    page.change(&mut |state| {
        for id in ids.iter().take(N_START_PICTURES) {
            state.add_picture(id);
        }
        if let Some(chosen) = ids.get(state.model.world().first_chosen()) {
            state.picture = Some(chosen.clone());
        }
    });
    show_missing(page);
}

fn all_ids(page: PageState) -> Vec<String> {
    page.gallery.with_untracked(|gallery| {
        gallery
            .iter()
            .map(|picture| picture.entry.id.clone())
            .collect()
    })
}

/// The picture of the gallery with this id.
fn known(page: PageState, id: &str) -> Option<GalleryPicture> {
    page.gallery.with_untracked(|gallery| {
        gallery
            .iter()
            .find(|picture| picture.entry.id == id)
            .cloned()
    })
}

/// Shows answers recorded with a world's model, unless an engine was faster or the page is another model's.
fn show_recorded(page: PageState, world: World, recorded: RecordedAnswer) {
    let model = page.state.with_untracked(|state| state.model);
    if page.snapshot.with_untracked(Option::is_some) || model != ModelChoice::BuiltIn(world) {
        return;
    }
    let keys = page.state.with_untracked(|state| {
        let key_of = |reading: &CaptionReading| {
            let mut captions = state.captions.iter();
            let known = captions.find(|caption| caption.text == reading.caption);
            // No caption has the key 0, so a caption that is not on the page is not shown.
            known.map_or(0, |caption| caption.key)
        };
        recorded.answer.captions.iter().map(key_of).collect()
    });
    page.learn(&recorded.card, &recorded.answer, AnswerSource::Past);
    page.snapshot.set(Some(Snapshot {
        card: recorded.card,
        keys,
        answer: recorded.answer,
        recorded: true,
    }));
}

/// Shows every picture that the state names and the page lacks, as soon as the gallery is known.
pub(crate) fn show_missing(page: PageState) {
    if !page.gallery.with_untracked(Vec::is_empty) {
        show_named(page);
    }
}

fn show_named(page: PageState) {
    let missing = page.files.with_untracked(|files| {
        page.state.with_untracked(|state| {
            state
                .pictures
                .iter()
                .filter(|id| !files.contains_key(*id))
                .cloned()
                .collect::<Vec<_>>()
        })
    });
    for id in missing {
        if page.restore_picture(&id) {
            continue;
        }
        match known(page, &id) {
            Some(picture) => show(page, &picture),
            None => {
                page.change(&mut |state| state.remove_picture(&id));
                page.notify(format!(
                    "The gallery has no picture “{id}” any more. The rest of the link is here."
                ));
            }
        }
    }
}

/// Puts a picture of the gallery on the page, or takes it off.
pub(crate) fn toggle(page: PageState, picture: &GalleryPicture) {
    let is_shown = page
        .state
        .with_untracked(|state| state.pictures.contains(&picture.entry.id));
    page.keep_step(None);
    if is_shown {
        page.remove_and_announce(&picture.entry.id);
    } else if page
        .state
        .try_update(|state| state.add_chosen_picture(&picture.entry.id))
        .unwrap_or(false)
    {
        page.client.with_value(Client::allow_image_encoder);
        show(page, picture);
    } else {
        page.notify(too_many(1));
    }
}

fn show(page: PageState, picture: &GalleryPicture) {
    let (id, file) = (
        picture.entry.id.clone(),
        PictureFile {
            url: picture.url(),
            alt: picture.entry.alt.clone(),
            credit: picture.entry.credit.clone(),
            bytes: None,
            state: PictureState::Shown,
        },
    );
    page.files.update(|files| {
        files.insert(id.clone(), file);
    });
    let recorded = picture.recorded.clone();
    spawn_local(async move {
        match gallery_bytes(page, &id).await {
            // It may have been taken off while it was fetched.
            Ok(bytes) if page.files.with_untracked(|files| files.contains_key(&id)) => {
                page.supervise(Event::AddPicture(PagePicture {
                    image: id,
                    bytes,
                    recorded,
                }));
            }
            Ok(_) => {}
            Err(reason) => {
                page.remove_picture(&id);
                page.notify(format!("The picture “{id}” could not be fetched: {reason}. Everything else still works."));
            }
        }
    });
}

/// The file of a picture of the gallery, fetched where it has not been.
pub(crate) async fn gallery_bytes(page: PageState, id: &str) -> Result<Arc<Vec<u8>>, String> {
    let picture = known(page, id).ok_or("it is not in the gallery")?;
    if let Some(bytes) = picture.bytes {
        return Ok(bytes);
    }
    let response = fetch(&picture.url()).await?;
    let bytes = Arc::new(response.binary().await.map_err(|error| error.to_string())?);
    page.gallery.update_untracked(|gallery| {
        if let Some(picture) = gallery.iter_mut().find(|picture| picture.entry.id == id) {
            picture.bytes = Some(Arc::clone(&bytes));
        }
    });
    Ok(bytes)
}

/// Fetches the embeddings of the pictures on a world's wall, and what its photographs show.
fn fetch_wall(page: PageState, world: World) {
    spawn_local(async move {
        let embeddings = fetch_bytes(&format!("{}/wall.bin", world.examples())).await;
        let Ok(bytes) = embeddings else { return };
        let read = |n_pictures| CompactDirection::read_all(&bytes, bytes.len() / n_pictures);
        match world {
            World::Scenes => page
                .wall
                .update(|wall| wall.drawings = read(wall.scenes.len())),
            World::Photographs => {
                let captions = format!("{}/wall.json", world.gallery());
                let captions = fetch_json::<Vec<String>>(&captions).await;
                page.wall.update(|wall| {
                    wall.photographs = read(COLUMNS * ROWS);
                    wall.captions = captions.unwrap_or_default();
                });
            }
        }
    });
}

/// A file beside the page, read as JSON.
pub(crate) async fn fetch_json<T: DeserializeOwned>(url: &str) -> Result<T, String> {
    let response = fetch(&browser::beside_page(url)).await?;
    let text = response.text().await.map_err(|error| error.to_string())?;
    // JSON is parsed by the browser and read as the engines' messages are: another parser would add to the page.
    let value = JSON::parse(&text).map_err(|error| wire::reason(&error))?;
    wire::from_js(value).map_err(|error| error.to_string())
}

/// A file beside the page, as it is.
async fn fetch_bytes(url: &str) -> Result<Vec<u8>, String> {
    let response = fetch(&browser::beside_page(url)).await?;
    response.binary().await.map_err(|error| error.to_string())
}

async fn fetch(url: &str) -> Result<Response, String> {
    let response = Request::get(url).send().await;
    let response = response.map_err(|_| "the network did not answer")?;
    match response.ok() {
        true => Ok(response),
        false => Err(format!("the server answered {}", response.status())),
    }
}
