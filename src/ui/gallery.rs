//! The pictures that come with the page, and the answers that were recorded for them.

use std::sync::Arc;

use gloo_net::http::Request;
use leptos::prelude::*;
use serde::Deserialize;
use wasm_bindgen_futures::spawn_local;

use super::browser;
use super::exhibit::Exhibit;
use super::intake::too_many;
use super::pictures::{GALLERY, GalleryPicture, PictureFile, PictureState};
use crate::protocol::{Answer, Recorded};

const RECORDED: &str = "./examples/start.json";
const RECORDED_VIEWS: &str = "./examples/views.json";
/// Pictures of the gallery that a visitor starts from.
const N_START_PICTURES: usize = 6;

/// What the page needs before it is first drawn, so that nothing moves afterwards.
#[derive(Debug, Clone)]
pub struct Opening {
    gallery: Result<Vec<GalleryPicture>, String>,
    /// Recorded with the model; a courtesy, without which the page waits for its engine.
    recorded: Option<Recorded>,
}

impl Opening {
    /// Fetches the gallery's list and the recorded answers, which the document has asked for already.
    pub(super) async fn fetch() -> Self {
        let gallery = fetch_json(&format!("{GALLERY}gallery.json")).await;
        Self {
            gallery,
            recorded: fetch_json(RECORDED).await.ok(),
        }
    }
}

/// Hangs the pictures that belong on the page and shows what was recorded for them.
pub(super) fn open(exhibit: Exhibit, opening: Opening, is_linked: bool) {
    match opening.gallery {
        Ok(gallery) => exhibit.gallery.set(gallery),
        Err(reason) => exhibit.tell(format!(
            "The gallery could not be opened: {reason}. Your own pictures can still be added."
        )),
    }
    if is_linked {
        hang_missing(exhibit);
    } else {
        hang_start(exhibit);
    }
    let ids = all_ids(exhibit);
    if let Some(recorded) = opening.recorded {
        exhibit.show_recorded(recorded);
    }
    spawn_local(async move {
        // A courtesy, too: without it the views wait for the engine.
        if let Ok(answers) = fetch_json::<Vec<Answer>>(RECORDED_VIEWS).await {
            exhibit.learn_recorded(&answers);
        }
        for id in ids {
            // A picture that cannot be fetched ahead is fetched, and its absence told, when it is wanted.
            gallery_bytes(exhibit, &id).await.ok();
        }
    });
}

/// Hangs the pictures that a visitor starts from.
pub(super) fn hang_start(exhibit: Exhibit) {
    let ids = all_ids(exhibit);
    exhibit.state.update(|state| {
        for id in ids.iter().take(N_START_PICTURES) {
            state.add_picture(id);
        }
    });
    hang_missing(exhibit);
}

fn all_ids(exhibit: Exhibit) -> Vec<String> {
    let ids = |gallery: &Vec<GalleryPicture>| {
        let ids = gallery.iter().map(|picture| picture.id.clone());
        ids.collect()
    };
    exhibit.gallery.with_untracked(ids)
}

/// Hangs every picture that the state names and the page does not show yet.
pub(super) fn hang_missing(exhibit: Exhibit) {
    let missing = exhibit.files.with_untracked(|files| {
        exhibit.state.with_untracked(|state| {
            state
                .pictures
                .iter()
                .filter(|id| !files.contains_key(*id))
                .cloned()
                .collect::<Vec<_>>()
        })
    });
    for id in missing {
        let known = exhibit
            .gallery
            .with_untracked(|gallery| gallery.iter().find(|picture| picture.id == id).cloned());
        match known {
            Some(picture) => hang(exhibit, &picture),
            None => {
                exhibit.state.update(|state| state.remove_picture(&id));
                exhibit.tell(format!(
                    "The gallery has no picture “{id}” any more. The rest of the link is here."
                ));
            }
        }
    }
}

/// Puts a picture of the gallery on the page, or takes it off.
pub(super) fn toggle(exhibit: Exhibit, picture: &GalleryPicture) {
    let is_shown = exhibit
        .state
        .with_untracked(|state| state.pictures.contains(&picture.id));
    if is_shown {
        exhibit.remove_picture(&picture.id);
    } else if exhibit
        .state
        .try_update(|state| state.add_picture(&picture.id))
        .unwrap_or(false)
    {
        hang(exhibit, picture);
    } else {
        exhibit.tell(too_many(1));
    }
}

fn hang(exhibit: Exhibit, picture: &GalleryPicture) {
    let (id, file) = (
        picture.id.clone(),
        PictureFile {
            url: picture.url(),
            alt: picture.alt.clone(),
            state: PictureState::Hung,
        },
    );
    exhibit.files.update(|files| {
        files.insert(id.clone(), file);
    });
    spawn_local(async move {
        match gallery_bytes(exhibit, &id).await {
            // It may have been taken off while it was fetched.
            Ok(bytes)
                if exhibit
                    .files
                    .with_untracked(|files| files.contains_key(&id)) =>
            {
                exhibit
                    .client
                    .with_value(|client| client.add_picture(&id, bytes.to_vec()));
            }
            Ok(_) => {}
            Err(reason) => {
                exhibit.remove_picture(&id);
                exhibit.tell(format!("The picture “{id}” could not be fetched: {reason}. Everything else still works."));
            }
        }
    });
}

async fn gallery_bytes(exhibit: Exhibit, id: &str) -> Result<Arc<Vec<u8>>, String> {
    let picture = exhibit
        .gallery
        .with_untracked(|gallery| gallery.iter().find(|picture| picture.id == id).cloned());
    let picture = picture.ok_or("it is not in the gallery")?;
    if let Some(bytes) = picture.bytes {
        return Ok(bytes);
    }
    let response = Request::get(&picture.url())
        .send()
        .await
        .map_err(|_| "the network did not answer")?;
    if !response.ok() {
        return Err(format!("the server answered {}", response.status()));
    }
    let bytes = Arc::new(response.binary().await.map_err(|error| error.to_string())?);
    exhibit.gallery.update_untracked(|gallery| {
        if let Some(picture) = gallery.iter_mut().find(|picture| picture.id == id) {
            picture.bytes = Some(Arc::clone(&bytes));
        }
    });
    Ok(bytes)
}

/// A file beside the page, read as JSON.
pub(super) async fn fetch_json<T: for<'a> Deserialize<'a>>(url: &str) -> Result<T, String> {
    let request = Request::get(&browser::beside_page(url));
    let response = request
        .send()
        .await
        .map_err(|_| "the network did not answer")?;
    if !response.ok() {
        return Err(format!("the server answered {}", response.status()));
    }
    let text = response.text().await.map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}
