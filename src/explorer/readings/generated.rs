//! Pictures that the page generates: the scene in the studio, and a picture at each severity of a corruption.

use super::cache::AnswerSource;
use crate::corruption::ImageCorruption;
use crate::explorer::views::studio::drawing::{Drawing, bmp};
use crate::scenes::render;

/// The page's name for the picture of the scene in the studio.
pub const DRAWING: &str = "drawing";
/// Side of a drawn picture in pixels, in the gallery and in the studio: the same scene has the same numbers.
pub const PICTURE_SIDE: usize = 256;

/// A drawing as a file.
pub fn drawing_file(drawing: &Drawing) -> Vec<u8> {
    bmp(&render(&drawing.scene(), PICTURE_SIDE), PICTURE_SIDE)
}

/// Contents of generated pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GeneratedPictures {
    /// The scene that the visitor edits in the studio.
    Drawing(Drawing),
    /// A picture of the page, by name, at each severity of a corruption, from 1.
    Corrupted(String, ImageCorruption),
}

/// Generated pictures and the captions that are compared with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedRequest {
    /// Contents of the pictures that are generated for the engine.
    pub of: GeneratedPictures,
    /// Captions of the matrix that have words, in its order.
    pub captions: Vec<String>,
}

/// The last answered request for generated pictures of each kind, and who answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeneratedAnswers {
    drawing: Option<(GeneratedRequest, AnswerSource)>,
    corrupted: Option<(GeneratedRequest, AnswerSource)>,
}

impl GeneratedAnswers {
    /// Keeps the answer to a request about generated pictures, in place of the earlier one of its kind.
    pub fn learn(&mut self, request: GeneratedRequest, source: AnswerSource) {
        let place = match request.of {
            GeneratedPictures::Drawing(_) => &mut self.drawing,
            GeneratedPictures::Corrupted(..) => &mut self.corrupted,
        };
        *place = Some((request, source));
    }

    /// Marks all answers as past: another engine answers from now on.
    pub fn outdate(&mut self) {
        for (_, source) in [&mut self.drawing, &mut self.corrupted]
            .into_iter()
            .flatten()
        {
            *source = AnswerSource::Past;
        }
    }

    /// Whether the engine at work has answered this.
    pub fn has(&self, request: &GeneratedRequest) -> bool {
        self.last(request)
            .is_some_and(|(last, source)| last == request && *source == AnswerSource::Engine)
    }

    /// Whether the last numbers may be shown for this request: they are of the same picture, or an engine is at work
    /// that will soon replace them.
    pub fn may_show(&self, request: &GeneratedRequest) -> bool {
        self.last(request)
            .is_some_and(|(last, source)| last.of == request.of || *source == AnswerSource::Engine)
    }

    fn last(&self, request: &GeneratedRequest) -> Option<&(GeneratedRequest, AnswerSource)> {
        match request.of {
            GeneratedPictures::Drawing(_) => self.drawing.as_ref(),
            GeneratedPictures::Corrupted(..) => self.corrupted.as_ref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Answer, RecordedAnswer};

    fn request(of: GeneratedPictures) -> GeneratedRequest {
        let captions = vec!["a star".to_owned()];
        GeneratedRequest { of, captions }
    }

    /// Requests for the first drawing, and for it after a shift.
    fn drawings() -> [GeneratedRequest; 2] {
        [0, 10].map(|shift| {
            let mut drawing = Drawing::default();
            drawing.shift(0, shift, 0);
            request(GeneratedPictures::Drawing(drawing))
        })
    }

    /// The gallery's first picture and the first drawing are one scene.
    #[test]
    fn the_first_drawing_was_recorded_with_the_numbers_of_its_picture() {
        let start = include_str!("../../../public/examples/scenes/start.json");
        let views = include_str!("../../../public/examples/scenes/views.json");
        let RecordedAnswer { answer: start, .. } = serde_json::from_str(start).expect("it is ours");
        let views: Vec<Answer> = serde_json::from_str(views).expect("it is ours");
        let is_drawn = |answer: &&Answer| answer.images == [DRAWING];
        let drawn = views.iter().find(is_drawn).expect("it was recorded");
        assert_eq!(start.images[0], "star-above-circle", "its picture");
        let of_picture = start.pairs.iter().step_by(start.images.len());
        let pairs = drawn.pairs.iter().zip(of_picture);
        for ((drawn, shown), reading) in pairs.zip(&start.captions) {
            let error = (drawn.cosine - shown.cosine).abs();
            let caption = &reading.caption;
            assert!(error < 1e-6, "{caption}: {drawn:?} and {shown:?}");
        }
        assert_eq!(drawn.pairs.len(), start.captions.len(), "every caption");
    }

    #[test]
    fn recorded_numbers_are_shown_for_their_own_picture_only_and_asked_for_again() {
        let mut answers = GeneratedAnswers::default();
        let [first, other] = drawings();
        answers.learn(first.clone(), AnswerSource::Past);
        assert!(answers.may_show(&first), "its own drawing");
        assert!(!answers.has(&first), "the engine has not answered");
        assert!(!answers.may_show(&other), "no longer what was recorded");
        let corrupted = request(GeneratedPictures::Corrupted(
            "x".into(),
            ImageCorruption::default(),
        ));
        assert!(!answers.may_show(&corrupted), "another kind");
    }

    #[test]
    fn while_an_engine_answers_the_last_numbers_stay() {
        let mut answers = GeneratedAnswers::default();
        let [first, next] = drawings();
        answers.learn(first.clone(), AnswerSource::Engine);
        assert!(answers.has(&first), "it was answered");
        assert!(answers.may_show(&next), "soon replaced");
        assert!(!answers.has(&next), "but not answered");
        answers.outdate();
        assert!(!answers.has(&first), "another engine is asked again");
    }
}
