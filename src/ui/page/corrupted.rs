//! The chosen picture at each severity of a corruption, and generated pictures as files.

use std::sync::Arc;

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::corruption::Corrupted;
use crate::explorer::views::corruption::corrupted_name;
use crate::explorer::views::studio::drawing::bmp;
use crate::explorer::{DRAWING, GeneratedPictures, Snapshot, drawing_file};
use crate::ui::dom::canvas;
use crate::ui::page::pictures::{CorruptedPictures, CorruptionChoice};
use crate::ui::page::state::PageState;

/// Generated pictures as files, each under its name; `None` where they are still being made.
pub(crate) fn files(
    page: PageState,
    of: &GeneratedPictures,
) -> Option<Vec<(String, Arc<Vec<u8>>)>> {
    match of {
        GeneratedPictures::Drawing(drawing) => {
            Some(vec![(DRAWING.to_owned(), Arc::new(drawing_file(drawing)))])
        }
        GeneratedPictures::Corrupted(image, corruption) => {
            let is_it = |chosen: &CorruptionChoice| {
                chosen.image == *image && chosen.corruption == *corruption
            };
            let of = untrack(|| chosen(page)).filter(is_it);
            page.corrupted.with(|known| {
                let known = known
                    .as_ref()
                    .filter(|known| Some(&known.of) == of.as_ref())?;
                // The engine knows the clean picture under its own name.
                let files = known.pictures.iter().enumerate().skip(1);
                let file = |(severity, pixels): (usize, &Arc<Vec<u8>>)| {
                    let file = Arc::new(bmp(pixels, known.side as usize));
                    (corrupted_name(severity), file)
                };
                Some(files.map(file).collect())
            })
        }
    }
}

/// Corrupts the chosen picture whenever it, the corruption or the model's way to read it is another one.
pub(crate) fn keep(page: PageState) {
    let chosen = Memo::new(move |_| {
        let of = chosen(page)?;
        let url = page
            .files
            .with(|files| files.get(&of.image).map(|file| file.url.clone()))?;
        Some((of, url))
    });
    Effect::new(move |_| {
        if let Some((of, url)) = chosen.get() {
            spawn_local(async move {
                if let Some(corrupted) = corrupt(page, of, &url).await {
                    page.corrupted.set(Some(corrupted));
                }
            });
        }
    });
}

/// The chosen picture, as the model of the last answer reads it; `None` before there is one.
fn chosen(page: PageState) -> Option<CorruptionChoice> {
    let card = |snapshot: &Option<Snapshot>| Some(snapshot.as_ref()?.card.squashes_pictures);
    let is_squashed = page.snapshot.with(card)?;
    page.state.with(|state| {
        Some(CorruptionChoice {
            image: state.picture.clone()?,
            corruption: state.image_corruption,
            is_squashed,
        })
    })
}

/// The picture at each severity; `None` where it cannot be drawn, or another one is chosen meanwhile.
async fn corrupt(page: PageState, of: CorruptionChoice, url: &str) -> Option<CorruptedPictures> {
    let side = page.world.get_untracked().picture_side();
    let part = match of.is_squashed {
        true => canvas::whole,
        false => canvas::middle_square,
    };
    let pixels = canvas::pixels(url, part, side).await?;
    let mut pictures = Vec::new();
    for corrupted in of.corruption.ladder(&pixels, side as usize, &of.image) {
        let pixels = match corrupted {
            Corrupted::Pixels(pixels) => pixels,
            Corrupted::Jpeg { quality } => {
                canvas::through_jpeg(&pixels, side, f64::from(quality) / 100.0).await?
            }
        };
        pictures.push(Arc::new(pixels));
        // The page handles input between two severities.
        TimeoutFuture::new(0).await;
        if untrack(|| chosen(page)).as_ref() != Some(&of) {
            return None;
        }
    }
    Some(CorruptedPictures { of, side, pictures })
}
