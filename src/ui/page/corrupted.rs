//! The chosen picture at each severity of a corruption, and generated pictures as files.

use std::sync::Arc;

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::corruption::{Corrupted, ImageCorruption};
use crate::explorer::views::corruption::corrupted_name;
use crate::explorer::views::studio::drawing::bmp;
use crate::explorer::{DRAWING, GeneratedPictures, drawing_file};
use crate::ui::dom::canvas;
use crate::ui::page::pictures::CorruptedPictures;
use crate::ui::page::state::PageState;

/// Generated pictures as files, each under its name; `None` where they are still being made.
pub(crate) fn files(
    of: &GeneratedPictures,
    corrupted: Option<&CorruptedPictures>,
) -> Option<Vec<(String, Arc<Vec<u8>>)>> {
    match of {
        GeneratedPictures::Drawing(drawing) => {
            Some(vec![(DRAWING.to_owned(), Arc::new(drawing_file(drawing)))])
        }
        GeneratedPictures::Corrupted(image, corruption) => {
            let is_it = |known: &&CorruptedPictures| {
                known.image == *image && known.corruption == *corruption
            };
            let known = corrupted.filter(is_it)?;
            // The picture itself is known under its own name.
            let files = known.pictures.iter().enumerate().skip(1);
            let file = |(severity, pixels): (usize, &Arc<Vec<u8>>)| {
                let file = Arc::new(bmp(pixels, known.side as usize));
                (corrupted_name(severity), file)
            };
            Some(files.map(file).collect())
        }
    }
}

/// Corrupts the chosen picture whenever it, or the corruption, is another one.
pub(crate) fn keep(page: PageState) {
    let chosen = Memo::new(move |_| {
        let (image, corruption) = chosen(page)?;
        let url = page
            .files
            .with(|files| files.get(&image).map(|file| file.url.clone()))?;
        Some((image, url, corruption))
    });
    Effect::new(move |_| {
        if let Some((image, url, corruption)) = chosen.get() {
            spawn_local(async move {
                if let Some(corrupted) = corrupt(page, image, &url, corruption).await {
                    page.corrupted.set(Some(corrupted));
                }
            });
        }
    });
}

fn chosen(page: PageState) -> Option<(String, ImageCorruption)> {
    page.state
        .with(|state| Some((state.picture.clone()?, state.image_corruption)))
}

/// The picture at each severity; `None` where it cannot be drawn, or another one is chosen meanwhile.
async fn corrupt(
    page: PageState,
    image: String,
    url: &str,
    corruption: ImageCorruption,
) -> Option<CorruptedPictures> {
    let side = page.world.get_untracked().picture_side();
    let pixels = canvas::pixels(url, side).await?;
    let mut pictures = Vec::new();
    for corrupted in corruption.ladder(&pixels, side as usize, &image) {
        let pixels = match corrupted {
            Corrupted::Pixels(pixels) => pixels,
            Corrupted::Jpeg { quality } => {
                canvas::through_jpeg(&pixels, side, f64::from(quality) / 100.0).await?
            }
        };
        pictures.push(Arc::new(pixels));
        // Between two severities the page looks at what the visitor does.
        TimeoutFuture::new(0).await;
        let (now, of) = untrack(|| chosen(page))?;
        if now != image || of != corruption {
            return None;
        }
    }
    Some(CorruptedPictures {
        image,
        corruption,
        side,
        pictures,
    })
}
