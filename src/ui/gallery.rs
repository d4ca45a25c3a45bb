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
use crate::protocol::Recorded;

const RECORDED: &str = "./examples/start.json";
/// Pictures of the gallery that a visitor starts from.
const N_START_PICTURES: usize = 6;

/// Fetches the list, the recorded answers and the pictures; hangs those that belong on the page.
pub(super) async fn open_gallery(exhibit: Exhibit, is_linked: bool) {
    match fetch_text(&format!("{GALLERY}gallery.json"))
        .await
        .and_then(|text| from_json::<Vec<GalleryPicture>>(&text))
    {
        Ok(gallery) => exhibit.gallery.set(gallery),
        Err(reason) => {
            return exhibit.tell(format!(
                "The gallery could not be opened: {reason}. Your own pictures can still be added."
            ));
        }
    }
    if !is_linked {
        let ids = exhibit.gallery.with_untracked(|gallery| {
            gallery
                .iter()
                .take(N_START_PICTURES)
                .map(|picture| picture.id.clone())
                .collect::<Vec<_>>()
        });
        exhibit.state.update(|state| {
            for id in &ids {
                state.add_picture(id);
            }
        });
    }
    hang_missing(exhibit);
    // Answers recorded with the model are a courtesy: without them the page waits for its engine.
    if let Ok(recorded) = fetch_text(RECORDED)
        .await
        .and_then(|text| from_json::<Recorded>(&text))
    {
        exhibit.show_recorded(recorded);
    }
    let ids = exhibit.gallery.with_untracked(|gallery| {
        gallery
            .iter()
            .map(|picture| picture.id.clone())
            .collect::<Vec<_>>()
    });
    for id in ids {
        // A picture that cannot be fetched ahead is fetched, and its absence told, when it is wanted.
        gallery_bytes(exhibit, &id).await.ok();
    }
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
    exhibit
        .files
        .update(|files| drop(files.insert(id.clone(), file)));
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

async fn fetch_text(url: &str) -> Result<String, String> {
    let response = Request::get(&browser::beside_page(url))
        .send()
        .await
        .map_err(|_| "the network did not answer")?;
    if !response.ok() {
        return Err(format!("the server answered {}", response.status()));
    }
    response.text().await.map_err(|error| error.to_string())
}

fn from_json<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
