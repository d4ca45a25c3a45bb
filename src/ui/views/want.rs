//! What the open view asks the engine about, beside the matrix.

use std::collections::BTreeMap;

use crate::explorer::{ExplorerState, View, Want, variant_captions};
use crate::ui::pictures::{PictureFile, read_pictures};

/// The captions and pictures that the open view needs numbers for.
pub(in crate::ui) fn want(state: &ExplorerState, files: &BTreeMap<String, PictureFile>) -> Want {
    match state.view {
        // The matrix has all that these need.
        View::Explore | View::Geometry => Want::default(),
        View::Ladder => Want::of(state.ladder.texts(), Vec::new()),
        View::Words => {
            let caption = state.chosen_caption().and_then(|key| state.text(key));
            Want::of(variant_captions(caption.unwrap_or_default()), Vec::new())
        }
        View::NoneOfThese => Want::of(state.classes.captions(), read_pictures(state, files)),
    }
}
