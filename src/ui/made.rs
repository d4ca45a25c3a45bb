//! Pictures that the page itself makes: the scene in the studio, and a picture harmed by degrees.

use std::sync::Arc;

use crate::explorer::{Drawing, ExplorerState, Harm, View, bmp};
use crate::scenes::render;

/// The page's name for the picture of the scene in the studio.
pub(super) const DRAWING: &str = "drawing";
/// Pixels along the side that the built-in model sees; other models enlarge them.
const DRAWING_SIDE: usize = 64;

/// Made pictures and the captions that are compared with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) of: MadeOf,
    pub(super) captions: Vec<String>,
}

/// What made pictures show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MadeOf {
    /// A scene.
    Drawing(Drawing),
    /// A picture of the page, by name, harmed to each degree.
    Harmed(String, Harm),
}

/// A picture of the page harmed to each degree, three bytes a pixel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Harmed {
    pub(super) image: String,
    pub(super) harm: Harm,
    pub(super) side: usize,
    pub(super) pictures: Vec<Arc<Vec<u8>>>,
}

/// The page's name for a picture that was harmed to a degree.
pub(super) fn harmed_name(severity: usize) -> String {
    format!("harmed-{severity}")
}

/// What the open view asks about, given the harmed picture that is at hand.
pub(super) fn wanted(state: &ExplorerState, harmed: Option<&Harmed>) -> Option<Made> {
    let of = match state.view {
        View::Studio => MadeOf::Drawing(state.drawing.clone()),
        View::Disturb => {
            let Harmed { image, harm, .. } = harmed?;
            let is_chosen = state.picture.as_ref() == Some(image) && state.harm == *harm;
            is_chosen.then(|| MadeOf::Harmed(image.clone(), *harm))?
        }
        _ => return None,
    };
    let (_, captions) = state.askable();
    (!captions.is_empty()).then_some(Made { of, captions })
}

/// The pictures as files, each under its name.
pub(super) fn make(of: &MadeOf, harmed: Option<&Harmed>) -> Vec<(String, Arc<Vec<u8>>)> {
    match (of, harmed) {
        (MadeOf::Drawing(drawing), _) => {
            let pixels = render(&drawing.scene(), DRAWING_SIDE);
            vec![(DRAWING.to_owned(), Arc::new(bmp(&pixels, DRAWING_SIDE)))]
        }
        (MadeOf::Harmed(..), Some(Harmed { side, pictures, .. })) => {
            let files = pictures.iter().map(|pixels| Arc::new(bmp(pixels, *side)));
            files
                .enumerate()
                .map(|(severity, file)| (harmed_name(severity), file))
                .collect()
        }
        (MadeOf::Harmed(..), None) => Vec::new(),
    }
}
