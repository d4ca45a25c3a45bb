//! What the open view asks the engine about, beside the matrix.

use crate::explorer::state::ExplorerState;
use crate::explorer::view::View;
use crate::explorer::views::corruption::disturb::N_SEVERITIES;
use crate::explorer::views::traverse::pool;
use crate::explorer::views::word_variants::variant_captions;

/// Captions to ask about, each against each of the pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadingRequest {
    /// The captions, each once.
    pub captions: Vec<String>,
    /// The pictures by name.
    pub images: Vec<String>,
    /// Whether the captions are compared with each other, too.
    pub relates: bool,
}

impl ReadingRequest {
    /// A wish for these captions, those without words and those named before left out.
    pub fn of(captions: impl IntoIterator<Item = String>, images: Vec<String>) -> Self {
        let mut want = Self {
            captions: Vec::new(),
            images,
            relates: false,
        };
        for caption in captions {
            if !caption.trim().is_empty() && !want.captions.contains(&caption) {
                want.captions.push(caption);
            }
        }
        want
    }

    /// What the open view needs numbers for, given the pictures that an engine has read and the captions that it
    /// takes from elsewhere: from its pictures or its lessons.
    pub fn of_view(state: &ExplorerState, images: Vec<String>, elsewhere: Vec<String>) -> Self {
        match state.view {
            // The matrix has all that these need; a drawing is asked about by itself.
            View::Explore | View::Geometry | View::Studio | View::Evidence => Self::default(),
            View::Ladder => Self::of(state.ladder.texts(), Vec::new()),
            View::Words => {
                let caption = state.chosen_caption().and_then(|key| state.text(key));
                Self::of(variant_captions(caption.unwrap_or_default()), Vec::new())
            }
            View::Disturb => {
                let caption = state.chosen_caption().and_then(|key| state.text(key));
                let texts = state
                    .slip
                    .ladder(caption.unwrap_or_default(), N_SEVERITIES - 1);
                Self::of(texts, images)
            }
            View::Learn | View::Teach => Self::of(elsewhere, Vec::new()),
            View::NoneOfThese => Self::of(state.classes.captions(), images),
            View::Traverse => Self {
                captions: pool(state, &elsewhere),
                images,
                relates: true,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(view: View) -> ReadingRequest {
        let mut state = ExplorerState::new(["a star", ""], ["x"]);
        state.view = view;
        ReadingRequest::of_view(&state, vec!["x".into()], Vec::new())
    }

    #[test]
    fn the_matrix_and_the_geometry_ask_nothing_more() {
        for view in [View::Explore, View::Geometry] {
            assert_eq!(want(view), ReadingRequest::default(), "{view:?}");
        }
    }

    #[test]
    fn words_are_asked_about_in_one_question_without_pictures() {
        let want = want(View::Words);
        assert_eq!(
            want.captions,
            ["a", "star", "a star"],
            "beginnings and rests of the longest caption"
        );
        assert!(want.images.is_empty(), "κ needs no picture: {want:?}");
    }

    #[test]
    fn rungs_are_asked_about_without_pictures() {
        let want = want(View::Ladder);
        assert_eq!(want.captions.len(), 6, "the rungs of the first ladder");
        assert!(want.images.is_empty(), "κ needs no picture: {want:?}");
    }

    #[test]
    fn captions_to_be_met_are_compared_with_each_other() {
        let want = want(View::Traverse);
        assert_eq!(want.captions, ["", "a star"], "the root and the page's");
        assert!(want.relates, "and with pictures: {want:?}");
    }

    #[test]
    fn classes_are_compared_with_every_picture() {
        let want = want(View::NoneOfThese);
        let expected = [
            "something red",
            "something yellow",
            "something green",
            "a picture",
        ];
        assert_eq!(want.captions, expected, "the classes and the dummy");
        assert_eq!(want.images, ["x"], "with the pictures that were read");
    }
}
