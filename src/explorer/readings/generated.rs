//! Pictures that the page itself makes: the scene in the studio, and a picture harmed by degrees.

use crate::explorer::readings::cache::AnswerSource;
use crate::explorer::state::ExplorerState;
use crate::explorer::view::View;
use crate::explorer::views::corruption::disturb::Harm;
use crate::explorer::views::studio::drawing::{Drawing, bmp};
use crate::scenes::render;

/// The page's name for the picture of the scene in the studio.
pub const DRAWING: &str = "drawing";
/// Pixels along the side of made pictures, as of those that the built-in model learned from.
pub const GENERATED_SIDE: usize = 128;

/// The page's name for a picture that was harmed to a degree.
pub fn harmed_name(severity: usize) -> String {
    format!("harmed-{severity}")
}

/// A drawing as a file.
pub fn drawing_file(drawing: &Drawing) -> Vec<u8> {
    bmp(&render(&drawing.scene(), GENERATED_SIDE), GENERATED_SIDE)
}

/// What made pictures show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GeneratedPictures {
    /// A scene.
    Drawing(Drawing),
    /// A picture of the page, by name, harmed to each degree.
    Harmed(String, Harm),
}

/// Made pictures and the captions that are compared with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedRequest {
    /// What the pictures show.
    pub of: GeneratedPictures,
    /// The captions.
    pub captions: Vec<String>,
}

impl GeneratedRequest {
    /// What the open view asks about.
    pub fn of_view(state: &ExplorerState) -> Option<Self> {
        let of = match state.view {
            View::Studio => GeneratedPictures::Drawing(state.drawing.clone()),
            View::Disturb => GeneratedPictures::Harmed(state.picture.clone()?, state.harm),
            _ => return None,
        };
        let (_, captions) = state.askable();
        (!captions.is_empty()).then_some(Self { of, captions })
    }
}

/// The made pictures of each kind that were answered last, and by whom.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeneratedAnswers {
    drawing: Option<(GeneratedRequest, AnswerSource)>,
    harmed: Option<(GeneratedRequest, AnswerSource)>,
}

impl GeneratedAnswers {
    /// Takes note of an answer.
    pub fn learn(&mut self, made: GeneratedRequest, source: AnswerSource) {
        let place = match made.of {
            GeneratedPictures::Drawing(_) => &mut self.drawing,
            GeneratedPictures::Harmed(..) => &mut self.harmed,
        };
        *place = Some((made, source));
    }

    /// Takes note that another engine answers from now on.
    pub fn outdate(&mut self) {
        for (_, source) in [&mut self.drawing, &mut self.harmed].into_iter().flatten() {
            *source = AnswerSource::Past;
        }
    }

    /// Whether the engine at work has answered this.
    pub fn has(&self, wanted: &GeneratedRequest) -> bool {
        self.last(wanted)
            .is_some_and(|(made, source)| made == wanted && *source == AnswerSource::Engine)
    }

    /// Whether the numbers at hand may be shown for this: they are its own, or an engine that is at work will soon
    /// replace those of the picture before.
    pub fn may_show(&self, wanted: &GeneratedRequest) -> bool {
        self.last(wanted)
            .is_some_and(|(made, source)| made.of == wanted.of || *source == AnswerSource::Engine)
    }

    fn last(&self, wanted: &GeneratedRequest) -> Option<&(GeneratedRequest, AnswerSource)> {
        match wanted.of {
            GeneratedPictures::Drawing(_) => self.drawing.as_ref(),
            GeneratedPictures::Harmed(..) => self.harmed.as_ref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(view: View) -> GeneratedRequest {
        let mut state = ExplorerState::new(["a star", ""], ["x"]);
        state.view = view;
        GeneratedRequest::of_view(&state).expect("the view has a made picture")
    }

    #[test]
    fn only_the_studio_and_the_harm_make_pictures() {
        assert_eq!(
            made(View::Disturb).of,
            GeneratedPictures::Harmed("x".into(), Harm::default()),
            "the chosen picture"
        );
        assert_eq!(made(View::Studio).captions, ["a star"], "what has words");
        let mut state = ExplorerState::new(["a star"], ["x"]);
        for view in [View::Explore, View::Words] {
            state.view = view;
            assert_eq!(GeneratedRequest::of_view(&state), None, "{view:?}");
        }
    }

    #[test]
    fn what_was_recorded_is_shown_for_its_own_picture_only_and_asked_again() {
        let mut answered = GeneratedAnswers::default();
        answered.learn(made(View::Studio), AnswerSource::Past);
        let mut other = made(View::Studio);
        assert!(answered.may_show(&other), "its own drawing");
        assert!(!answered.has(&other), "the engine has not answered");
        if let GeneratedPictures::Drawing(drawing) = &mut other.of {
            drawing.shift(0, 10, 0);
        }
        assert!(!answered.may_show(&other), "no longer what was recorded");
        assert!(!answered.may_show(&made(View::Disturb)), "another kind");
    }

    #[test]
    fn while_an_engine_answers_the_numbers_before_stay() {
        let mut answered = GeneratedAnswers::default();
        let (first, mut next) = (made(View::Studio), made(View::Studio));
        if let GeneratedPictures::Drawing(drawing) = &mut next.of {
            drawing.shift(0, 10, 0);
        }
        answered.learn(first.clone(), AnswerSource::Engine);
        assert!(answered.has(&first), "it was answered");
        assert!(answered.may_show(&next), "soon replaced");
        assert!(!answered.has(&next), "but not answered");
        answered.outdate();
        assert!(!answered.has(&first), "another engine is asked again");
    }
}
