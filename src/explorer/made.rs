//! Pictures that the page itself makes: the scene in the studio, and a picture harmed by degrees.

use super::book::Source;
use super::disturb::Harm;
use super::drawing::{Drawing, bmp};
use super::state::ExplorerState;
use super::view::View;
use crate::scenes::render;

/// The page's name for the picture of the scene in the studio.
pub const DRAWING: &str = "drawing";
/// Pixels along the side of made pictures, as of those that the built-in model learned from.
pub const MADE_SIDE: usize = 128;

/// The page's name for a picture that was harmed to a degree.
pub fn harmed_name(severity: usize) -> String {
    format!("harmed-{severity}")
}

/// A drawing as a file.
pub fn drawing_file(drawing: &Drawing) -> Vec<u8> {
    bmp(&render(&drawing.scene(), MADE_SIDE), MADE_SIDE)
}

/// What made pictures show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MadeOf {
    /// A scene.
    Drawing(Drawing),
    /// A picture of the page, by name, harmed to each degree.
    Harmed(String, Harm),
}

/// Made pictures and the captions that are compared with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// What the pictures show.
    pub of: MadeOf,
    /// The captions.
    pub captions: Vec<String>,
}

impl Made {
    /// What the open view asks about.
    pub fn of_view(state: &ExplorerState) -> Option<Self> {
        let of = match state.view {
            View::Studio => MadeOf::Drawing(state.drawing.clone()),
            View::Disturb => MadeOf::Harmed(state.picture.clone()?, state.harm),
            _ => return None,
        };
        let (_, captions) = state.askable();
        (!captions.is_empty()).then_some(Self { of, captions })
    }
}

/// The made pictures of each kind that were answered last, and by whom.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answered {
    drawing: Option<(Made, Source)>,
    harmed: Option<(Made, Source)>,
}

impl Answered {
    /// Takes note of an answer.
    pub fn learn(&mut self, made: Made, source: Source) {
        let place = match made.of {
            MadeOf::Drawing(_) => &mut self.drawing,
            MadeOf::Harmed(..) => &mut self.harmed,
        };
        *place = Some((made, source));
    }

    /// Takes note that another engine answers from now on.
    pub fn outdate(&mut self) {
        for (_, source) in [&mut self.drawing, &mut self.harmed].into_iter().flatten() {
            *source = Source::Past;
        }
    }

    /// Whether the engine at work has answered this.
    pub fn has(&self, wanted: &Made) -> bool {
        self.last(wanted)
            .is_some_and(|(made, source)| made == wanted && *source == Source::Engine)
    }

    /// Whether the numbers at hand may be shown for this: they are its own, or an engine that is at work will soon
    /// replace those of the picture before.
    pub fn may_show(&self, wanted: &Made) -> bool {
        self.last(wanted)
            .is_some_and(|(made, source)| made.of == wanted.of || *source == Source::Engine)
    }

    fn last(&self, wanted: &Made) -> Option<&(Made, Source)> {
        match wanted.of {
            MadeOf::Drawing(_) => self.drawing.as_ref(),
            MadeOf::Harmed(..) => self.harmed.as_ref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(view: View) -> Made {
        let mut state = ExplorerState::new(["a star", ""], ["x"]);
        state.view = view;
        Made::of_view(&state).expect("the view has a made picture")
    }

    #[test]
    fn only_the_studio_and_the_harm_make_pictures() {
        assert_eq!(
            made(View::Disturb).of,
            MadeOf::Harmed("x".into(), Harm::default()),
            "the chosen picture"
        );
        assert_eq!(made(View::Studio).captions, ["a star"], "what has words");
        let mut state = ExplorerState::new(["a star"], ["x"]);
        for view in [View::Explore, View::Words] {
            state.view = view;
            assert_eq!(Made::of_view(&state), None, "{view:?}");
        }
    }

    #[test]
    fn what_was_recorded_is_shown_for_its_own_picture_only_and_asked_again() {
        let mut answered = Answered::default();
        answered.learn(made(View::Studio), Source::Past);
        let mut other = made(View::Studio);
        assert!(answered.may_show(&other), "its own drawing");
        assert!(!answered.has(&other), "the engine has not answered");
        if let MadeOf::Drawing(drawing) = &mut other.of {
            drawing.shift(0, 10, 0);
        }
        assert!(!answered.may_show(&other), "no longer what was recorded");
        assert!(!answered.may_show(&made(View::Disturb)), "another kind");
    }

    #[test]
    fn while_an_engine_answers_the_numbers_before_stay() {
        let mut answered = Answered::default();
        let (first, mut next) = (made(View::Studio), made(View::Studio));
        if let MadeOf::Drawing(drawing) = &mut next.of {
            drawing.shift(0, 10, 0);
        }
        answered.learn(first.clone(), Source::Engine);
        assert!(answered.has(&first), "it was answered");
        assert!(answered.may_show(&next), "soon replaced");
        assert!(!answered.has(&next), "but not answered");
        answered.outdate();
        assert!(!answered.has(&first), "another engine is asked again");
    }
}
