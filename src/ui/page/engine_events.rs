//! What follows on the page when an engine has something to say.

use leptos::prelude::*;

use crate::explorer::{
    AnswerSource, ExplorerState, GeneratedAnswers, GeneratedRequest, ModelChoice, ReadingCache,
    View,
};
use crate::protocol::{Answer, ModelCard, Progress, Request, Stored};
use crate::ui::card::Card;
use crate::ui::event::Event;
use crate::ui::model_panel;
use crate::ui::page::pictures::PictureState;
use crate::ui::page::state::{EngineState, PageState};

impl PageState {
    /// Takes note of what was recorded for the views, unless an engine was faster.
    pub(crate) fn learn_recorded(self, answers: &[Answer]) {
        let recorded = self.snapshot.with_untracked(|snapshot| {
            let recorded = snapshot.as_ref().filter(|snapshot| snapshot.recorded);
            recorded.map(|snapshot| (snapshot.card.clone(), made_at_start(&snapshot.answer)))
        });
        let is_ready = self
            .engine
            .with_untracked(|engine| matches!(engine, EngineState::Ready(_)));
        let Some((card, made)) = recorded.filter(|_| !is_ready) else {
            return;
        };
        for answer in answers {
            self.learn(&card, answer, AnswerSource::Past);
        }
        self.made.update(|known| {
            for made in made {
                known.learn(made, AnswerSource::Past);
            }
        });
    }

    pub(crate) fn learn(self, card: &ModelCard, answer: &Answer, source: AnswerSource) {
        self.cache.update(|cache| cache.learn(card, answer, source));
    }

    pub(crate) fn happened(self, event: Event) {
        match event {
            Event::Progress(progress) => self.progressed(progress),
            Event::Loaded(card) => self.loaded(card),
            Event::Changed(card) => {
                self.forget_answers();
                self.loaded(card);
                model_panel::suit_the_model(self);
            }
            Event::GivenUp(reason) => model_panel::given_up(self, reason),
            Event::Weighed(weighed) => self.shelf.weighed.set(Some(weighed)),
            Event::Stored(stored) => self.stored(stored),
            Event::AdapterRefused(message) => self.tell(format!(
                "These adapters cannot be used: {message}. The model goes on as it was."
            )),
            Event::Stopped(reason) => {
                self.tell(format!("No engine runs: {reason}. What was computed before stays on the page. Reload to try again."));
                self.engine.set(EngineState::Stopped(reason));
            }
            Event::Answered(snapshot) => {
                self.failed.set(false);
                self.learn(&snapshot.card, &snapshot.answer, AnswerSource::Engine);
                self.snapshot.set(Some(*snapshot));
            }
            Event::Compared(compared) => {
                self.failed.set(false);
                self.compared.set(Some(*compared));
            }
            Event::AnsweredAside(answered) => {
                self.failed_aside.set(false);
                self.learn(&answered.card, &answered.answer, AnswerSource::Engine);
                if let Some(made) = answered.question.made {
                    self.made
                        .update(|known| known.learn(made, AnswerSource::Engine));
                }
            }
            Event::Picture(reading) => self.files.update(|files| {
                if let Some(file) = files.get_mut(&reading.image) {
                    file.state = PictureState::Read(reading);
                }
            }),
            Event::PictureRefused { image, message } => self.refuse_picture(&image, &message),
            Event::Failed(message) => {
                self.failed.set(true);
                self.tell_failure(&message);
            }
            Event::FailedAside(message) => {
                self.failed_aside.set(true);
                self.tell_failure(&message);
            }
            Event::Restarted(words) => {
                self.choice.set("the engine before it stopped".into());
                self.engine.set(EngineState::Starting);
                self.tell(format!("The engine was started again ({words}). Your captions and pictures are still here."));
            }
            Event::Choice(reason) => self.choice.set(reason),
        }
    }

    /// A load goes on: of the first model, of another one beside it, or of the image encoder of the one at work.
    fn progressed(self, progress: Progress) {
        let is_first = self.engine.with_untracked(|engine| {
            matches!(engine, EngineState::Starting | EngineState::Loading(_))
        });
        self.shelf.progressed(&progress);
        if progress.loaded_bytes == progress.total_bytes {
            // There is more on the disk than before.
            self.client
                .with_value(|client| client.tell_engine(&Request::ListStored));
        }
        if is_first {
            self.engine.set(EngineState::Loading(progress));
        }
    }

    /// An engine answers from now on.
    fn loaded(self, card: Card) {
        let is_scenes = self.client.with_value(|client| client.has_scenes());
        self.shelf.loaded(if is_scenes {
            ModelChoice::Scenes
        } else {
            ModelChoice::Clip
        });
        self.cache.update(ReadingCache::outdate);
        self.made.update(GeneratedAnswers::outdate);
        match card {
            Card::Whole(_) => self.compared.set(None),
            Card::Bare(_) => self.snapshot.set(None),
        }
        self.engine.set(EngineState::Ready(card));
        let question = self.question.get_untracked();
        if !question.captions.is_empty() {
            self.client.with_value(|client| client.ask(question));
        }
        self.client
            .with_value(|client| client.tell_engine(&Request::ListStored));
    }

    fn stored(self, stored: Stored) {
        let is_news = self.shelf.stored.with_untracked(Option::is_none);
        if is_news && !stored.is_allowed {
            self.tell("This browser keeps nothing for this page, so a model is downloaded again at each visit. Everything else works.");
        }
        self.shelf.stored.set(Some(stored));
    }

    /// Forgets what another model said, of captions and of pictures.
    fn forget_answers(self) {
        self.snapshot.set(None);
        self.compared.set(None);
        self.cache.set(ReadingCache::default());
        self.made.set(GeneratedAnswers::default());
        self.choice.set(String::new());
        self.files.update(|files| {
            for file in files.values_mut() {
                file.state = PictureState::Shown;
            }
        });
    }

    fn tell_failure(self, message: &str) {
        self.tell(format!(
            "That could not be computed: {message}. The numbers from before are still here."
        ));
    }

    fn refuse_picture(self, image: &str, message: &str) {
        let name = self
            .files
            .with_untracked(|files| files.get(image).map(|file| file.alt.clone()));
        let name = name.unwrap_or_else(|| image.to_owned());
        self.remove_picture(image);
        self.tell(format!(
            "“{name}” was not added: {message}. Everything else is as it was."
        ));
    }
}

/// The made pictures that were recorded: those of the views as they are first opened on the page of this answer.
fn made_at_start(start: &Answer) -> Vec<GeneratedRequest> {
    let captions = start
        .captions
        .iter()
        .map(|reading| reading.caption.as_str());
    let mut state = ExplorerState::new(captions, start.images.iter().map(String::as_str));
    let made = |view: View| {
        state.view = view;
        GeneratedRequest::of_view(&state)
    };
    View::ALL.into_iter().filter_map(made).collect()
}
