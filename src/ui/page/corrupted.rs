//! The chosen picture, harmed to each degree for the view that shows it, and made pictures as files.

use std::sync::Arc;

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{
    Change, DRAWING, GENERATED_SIDE, GeneratedPictures, Harm, N_SEVERITIES, bmp, drawing_file,
    harmed_name,
};
use crate::ui::dom::canvas;
use crate::ui::page::state::PageState;

/// Pixels along the side, as the canvas counts them.
#[expect(clippy::cast_possible_truncation, reason = "a small number")]
pub(crate) const SIDE: u32 = GENERATED_SIDE as u32;

/// A picture of the page harmed to each degree, three bytes a pixel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Harmed {
    pub(crate) image: String,
    pub(crate) harm: Harm,
    pub(crate) pictures: Vec<Arc<Vec<u8>>>,
}

/// Made pictures as files, each under its name; `None` where they are still being made.
pub(crate) fn files(
    of: &GeneratedPictures,
    harmed: Option<&Harmed>,
) -> Option<Vec<(String, Arc<Vec<u8>>)>> {
    match of {
        GeneratedPictures::Drawing(drawing) => {
            Some(vec![(DRAWING.to_owned(), Arc::new(drawing_file(drawing)))])
        }
        GeneratedPictures::Harmed(image, harm) => {
            let harmed = harmed.filter(|known| known.image == *image && known.harm == *harm)?;
            let files = harmed.pictures.iter().enumerate();
            let file = |(severity, pixels): (usize, &Arc<Vec<u8>>)| {
                (harmed_name(severity), Arc::new(bmp(pixels, GENERATED_SIDE)))
            };
            Some(files.map(file).collect())
        }
    }
}

/// Harms the chosen picture whenever it, or the harm, is another one.
pub(crate) fn keep(page: PageState) {
    let chosen = Memo::new(move |_| {
        let (image, harm) = chosen(page)?;
        let url = page
            .files
            .with(|files| files.get(&image).map(|file| file.url.clone()))?;
        Some((image, url, harm))
    });
    Effect::new(move |_| {
        if let Some((image, url, harm)) = chosen.get() {
            spawn_local(async move {
                if let Some(pictures) = harm_all(page, &image, &url, harm).await {
                    page.harmed.set(Some(Harmed {
                        image,
                        harm,
                        pictures,
                    }));
                }
            });
        }
    });
}

fn chosen(page: PageState) -> Option<(String, Harm)> {
    page.state
        .with(|state| Some((state.picture.clone()?, state.harm)))
}

/// The picture harmed to each degree; `None` where it cannot be drawn, or another one is chosen meanwhile.
async fn harm_all(
    page: PageState,
    image: &str,
    url: &str,
    harm: Harm,
) -> Option<Vec<Arc<Vec<u8>>>> {
    let pixels = canvas::pixels(url, SIDE).await?;
    let mut pictures = Vec::new();
    for severity in 0..N_SEVERITIES {
        // Between two degrees the page looks at what the visitor does.
        TimeoutFuture::new(0).await;
        let now = untrack(|| chosen(page))?;
        if now.0 != image || now.1 != harm {
            return None;
        }
        let changed = match harm.change(&pixels, GENERATED_SIDE, severity) {
            Change::Pixels(pixels) => pixels,
            Change::Jpeg { quality } => canvas::through_jpeg(&pixels, SIDE, quality).await?,
        };
        pictures.push(Arc::new(changed));
    }
    Some(pictures)
}
