//! Requests of the open view, out of the page's state.

use super::readings::generated::GeneratedRequest;
use super::readings::request::ReadingRequest;
use super::state::ExplorerState;
use super::views::RequestInputs;

impl ReadingRequest {
    /// Captions and pictures that the open view asks about, given the pictures that an engine has read and the captions
    /// that it takes from elsewhere: from its pictures or its lessons.
    pub fn of_view(state: &ExplorerState, images: Vec<String>, elsewhere: Vec<String>) -> Self {
        let inputs = inputs(state, images, elsewhere);
        state.view.reading_request(inputs)
    }
}

impl GeneratedRequest {
    /// Generated pictures that the open view asks about, with its captions; `None` for a view that generates none.
    pub fn of_view(state: &ExplorerState) -> Option<Self> {
        let inputs = inputs(state, Vec::new(), Vec::new());
        let of = state.view.generated_pictures(&inputs)?;
        let captions = inputs.captions;
        (!captions.is_empty()).then_some(Self { of, captions })
    }
}

fn inputs(state: &ExplorerState, images: Vec<String>, elsewhere: Vec<String>) -> RequestInputs<'_> {
    let caption = state.chosen_caption();
    RequestInputs {
        captions: state.askable().1,
        caption: caption
            .and_then(|key| state.captions.text(key))
            .unwrap_or_default(),
        picture: state.picture.as_deref(),
        images,
        elsewhere,
        ladder: &state.ladder,
        classes: &state.classes,
        drawing: &state.drawing,
        image_corruption: state.image_corruption,
        misspelling: state.misspelling,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corruption::ImageCorruption;
    use crate::explorer::readings::generated::GeneratedPictures;
    use crate::explorer::state::ModelChoice;
    use crate::explorer::views::View;

    fn page(view: View) -> ExplorerState {
        let mut state = ExplorerState::new(ModelChoice::SCENES, ["a star", ""], ["x"]);
        state.view = view;
        state
    }

    fn request(view: View) -> ReadingRequest {
        ReadingRequest::of_view(&page(view), vec!["x".into()], Vec::new())
    }

    #[test]
    fn the_matrix_and_the_geometry_ask_nothing_more() {
        for view in [View::Explore, View::Geometry] {
            assert_eq!(request(view), ReadingRequest::default(), "{view:?}");
        }
    }

    #[test]
    fn words_and_rungs_are_asked_about_without_pictures() {
        let request_of_words = request(View::Words);
        let expected = ["a", "star", "a star"];
        assert_eq!(request_of_words.captions, expected, "beginnings and rests");
        let rungs = request(View::Ladder);
        assert_eq!(rungs.captions.len(), 6, "the rungs of the first ladder");
        for request in [request_of_words, rungs] {
            assert!(request.images.is_empty(), "κ needs no picture: {request:?}");
        }
    }

    #[test]
    fn captions_of_a_traversal_are_compared_with_each_other() {
        let request = request(View::Traverse);
        assert_eq!(request.captions, ["", "a star"], "the root and the page's");
        assert!(request.relates, "and with pictures: {request:?}");
    }

    #[test]
    fn classes_are_compared_with_every_picture() {
        let request = request(View::NoneOfThese);
        let expected = [
            "something red",
            "something yellow",
            "something green",
            "a picture",
        ];
        assert_eq!(request.captions, expected, "the classes and the dummy");
        assert_eq!(request.images, ["x"], "with the pictures that were read");
    }

    #[test]
    fn only_the_studio_and_the_corruption_generate_pictures() {
        let generated = |view: View| GeneratedRequest::of_view(&page(view));
        let corrupted = GeneratedPictures::Corrupted("x".into(), ImageCorruption::default());
        let of = generated(View::Corruption).map(|request| request.of);
        assert_eq!(of, Some(corrupted), "the chosen picture");
        let captions = generated(View::Studio).map(|request| request.captions);
        assert_eq!(captions, Some(vec!["a star".to_owned()]), "with words");
        for view in [View::Explore, View::Words] {
            assert_eq!(generated(view), None, "{view:?}");
        }
    }
}
