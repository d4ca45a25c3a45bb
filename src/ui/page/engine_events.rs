//! Effects of engines' events on the page.

use std::collections::BTreeSet;

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{
    AnswerSource, EngineEvent, Event, ExplorerState, GeneratedAnswers, GeneratedRequest,
    LoadedModel, ModelChoice, OWN, Priority, ReadingCache, View, World, error_report,
};
use crate::protocol::{Answer, ImageReading, ModelCard, Progress, Request, Stored};
use crate::ui::dom::browser;
use crate::ui::engine::Client;
use crate::ui::model_panel::{self, Timings};
use crate::ui::page::pictures::PictureState;
use crate::ui::page::state::{EngineState, PageState};
use crate::ui::page::status::first_answer;

impl PageState {
    /// Keeps the recorded answers for the views, unless an engine was faster.
    pub(crate) fn learn_recorded(self, world: World, answers: &[Answer]) {
        if self.state.with_untracked(|state| state.model) != ModelChoice::BuiltIn(world) {
            return;
        }
        let recorded = self.snapshot.with_untracked(|snapshot| {
            let recorded = snapshot.as_ref().filter(|snapshot| snapshot.recorded);
            recorded.map(|snapshot| {
                (
                    snapshot.card.clone(),
                    generated_at_start(world, &snapshot.answer),
                )
            })
        });
        let is_ready = self
            .engine
            .with_untracked(|engine| matches!(engine, EngineState::Ready(_)));
        let Some((card, generated)) = recorded.filter(|_| !is_ready) else {
            return;
        };
        for answer in answers {
            self.learn(&card, answer, AnswerSource::Past);
        }
        self.generated.update(|known| {
            for request in generated {
                known.learn(request, AnswerSource::Past);
            }
        });
    }

    pub(crate) fn learn(self, card: &ModelCard, answer: &Answer, source: AnswerSource) {
        self.cache.update(|cache| cache.learn(card, answer, source));
    }

    pub(crate) fn handle_engine_event(self, event: EngineEvent) {
        self.report_failure(&event);
        match event {
            EngineEvent::Progress(progress) => self.progressed(progress),
            EngineEvent::Loaded(model) => self.loaded(model),
            EngineEvent::Changed(model) => {
                self.forget_answers();
                self.loaded(model);
                model_panel::adapt_page_to_clip(self);
            }
            EngineEvent::GivenUp(reason) => model_panel::given_up(self, reason),
            EngineEvent::DownloadSize(size) => self.models.download_size.set(Some(size)),
            EngineEvent::DeviceMeasured(timings) => self.models.timings.set(Timings::of(timings)),
            EngineEvent::Stored(stored) => self.stored(stored),
            EngineEvent::ModelsStored(stored) => model_panel::built_in_stored(self, stored),
            EngineEvent::AdapterRefused(name, message) => self.notify(format!(
                "The adapters “{name}” cannot be used: {message}. The model goes on as it was."
            )),
            EngineEvent::Stopped(reason) => {
                self.notify(format!(
                    "No engine runs: {reason}. What was computed before stays on the page."
                ));
                self.engine.set(EngineState::Stopped(reason));
            }
            EngineEvent::SafeMode => self.engine.set(EngineState::SafeMode),
            EngineEvent::Answered(snapshot) => {
                self.failed.set(false);
                self.learn(&snapshot.card, &snapshot.answer, AnswerSource::Engine);
                self.snapshot.set(Some(*snapshot));
            }
            EngineEvent::Compared(compared) => {
                self.failed.set(false);
                self.compared.set(Some(*compared));
            }
            EngineEvent::ViewAnswered(answered) => {
                self.view_request_failed.set(false);
                self.learn(&answered.card, &answered.answer, AnswerSource::Engine);
                if let Some(generated) = answered.request.generated {
                    self.generated
                        .update(|known| known.learn(generated, AnswerSource::Engine));
                }
            }
            EngineEvent::Picture(reading) => self.picture_read(reading),
            EngineEvent::PictureRefused { image, message } => self.refuse_picture(&image, &message),
            EngineEvent::Quarantined { caption, message } => self.quarantine(caption, &message),
            EngineEvent::Failed(priority, message) => self.request_failed(priority, &message),
            EngineEvent::Failure(message) => self.notify_failure(&message),
            EngineEvent::Restarted(message) => self.restarted(&message),
            EngineEvent::BackendChosen(reason) => self.choice.set(reason),
            EngineEvent::IsSlow(is_slow) => self.is_slow.set(is_slow),
        }
    }

    /// Keeps the report of a failure, with what the engine was doing until then.
    fn report_failure(self, event: &EngineEvent) {
        let (EngineEvent::Stopped(message)
        | EngineEvent::GivenUp(Some(message))
        | EngineEvent::Failed(_, message)
        | EngineEvent::Failure(message)
        | EngineEvent::Restarted(message)) = event
        else {
            return;
        };
        let (stage, engine) = self.engine.with_untracked(|engine| match engine {
            EngineState::Ready(model) => (
                "answering".to_owned(),
                format!("{}, {}", model.engine(), model.device()),
            ),
            EngineState::Loading(progress) => {
                let part = model_panel::stage_name(progress.stage);
                (format!("loading the {part}"), "none at work".to_owned())
            }
            _ => ("starting".to_owned(), "none at work".to_owned()),
        });
        let mut own: Vec<String> = self.state.with_untracked(|state| {
            let texts = state.captions.texts().chain(state.ladder.texts());
            texts.map(str::to_owned).collect()
        });
        self.files.with_untracked(|files| {
            let files = files.iter().filter(|(id, _)| id.starts_with(OWN));
            own.extend(files.map(|(_, file)| file.alt.clone()));
        });
        let (model, browser) = (self.client.with_value(Client::model), browser::name());
        let facts = [
            ("stage", stage.as_str()),
            ("engine", engine.as_str()),
            ("model", model.slug()),
            ("browser", browser.as_str()),
        ];
        self.failure.set(error_report(message, &facts, own));
    }

    /// Another engine takes the place of one that died.
    fn restarted(self, message: &str) {
        self.choice.set("the engine before it stopped".into());
        self.engine.set(EngineState::Starting);
        self.notify(format!(
            "The engine was started again ({message}). Your captions and pictures are still here."
        ));
    }

    fn request_failed(self, priority: Priority, message: &str) {
        match priority {
            Priority::Matrix => self.failed.set(true),
            Priority::Captions | Priority::GeneratedPictures => self.view_request_failed.set(true),
        }
        self.notify_failure(message);
    }

    /// Quarantines a caption that stops engines; another wording is another caption.
    fn quarantine(self, caption: String, message: &str) {
        self.notify(format!(
            "The caption “{caption}” is left out: {message}. All others are answered; change its words to have it \
             tried again."
        ));
        self.quarantined.update(|all| {
            all.insert(caption);
        });
    }

    /// A load goes on: of the first model, of another one beside it, or of the image encoder of the one at work.
    fn progressed(self, progress: Progress) {
        let is_first = self.engine.with_untracked(|engine| {
            matches!(engine, EngineState::Starting | EngineState::Loading(_))
        });
        self.models.progressed(&progress);
        if progress.loaded_bytes == progress.total_bytes {
            // There is more on the disk than before.
            self.supervise(Event::Query(Request::ListStored));
        }
        if is_first {
            self.engine.set(EngineState::Loading(progress));
        }
    }

    /// An engine answers from now on.
    fn loaded(self, model: LoadedModel) {
        let model_at_work = self.client.with_value(Client::model);
        let wanted = self.state.with_untracked(|state| state.model);
        self.models.loaded(model_at_work, wanted);
        self.cache.update(ReadingCache::outdate);
        self.generated.update(GeneratedAnswers::outdate);
        match model {
            LoadedModel::Adapted(_) => self.compared.set(None),
            LoadedModel::Bare(_) => self.snapshot.set(None),
        }
        self.engine.set(EngineState::Ready(model));
        self.compare_weights();
        let question = self.question.get_untracked();
        if !question.captions.is_empty() {
            self.supervise(Event::Ask(Priority::Matrix, question));
        }
        spawn_local(async move {
            // Only the panel of the models shows it.
            first_answer(self).await;
            self.supervise(Event::Query(Request::ListStored));
        });
    }

    /// Warns where the page's link was made with other weights of its model than those that answer; the page's own
    /// links name the latter from now on.
    pub(crate) fn compare_weights(self) {
        let now = self.engine.with_untracked(|engine| match engine {
            EngineState::Ready(model) => model.weights().to_owned(),
            _ => String::new(),
        });
        let (model, linked) = self
            .state
            .with_untracked(|state| (state.model, state.weights.clone()));
        if now.is_empty() || self.models.at_work.get_untracked() != Some(model) || linked == now {
            return;
        }
        if !linked.is_empty() {
            self.notify(format!(
                "This link was made with other weights of the model ({linked}; here {now}), so its numbers may differ."
            ));
        }
        // The address changes with the visitor's next step, and not for this.
        self.state.update_untracked(|state| state.weights = now);
    }

    fn stored(self, stored: Stored) {
        let is_news = self.models.stored.with_untracked(Option::is_none);
        if is_news && !stored.is_allowed {
            self.notify(
                "This browser keeps nothing for this page, so a model is downloaded again at each visit. \
                 Everything else works.",
            );
        }
        self.models.stored.set(Some(stored));
    }

    /// Forgets what another model said, of captions and of pictures.
    pub(crate) fn forget_answers(self) {
        self.snapshot.set(None);
        self.compared.set(None);
        self.cache.set(ReadingCache::default());
        self.generated.set(GeneratedAnswers::default());
        self.choice.set(String::new());
        self.quarantined.set(BTreeSet::new());
        self.files.update(|files| {
            for file in files.values_mut() {
                file.state = PictureState::Shown;
            }
        });
    }

    fn notify_failure(self, message: &str) {
        self.notify(format!(
            "That could not be computed: {message}. The numbers from before are still here."
        ));
    }

    /// Takes a picture's reading. One that the visitor has just added is chosen, since its numbers are wanted, and a
    /// narrow screen shows those of one picture alone.
    fn picture_read(self, reading: ImageReading) {
        let image = reading.image.clone();
        let is_added = self.files.try_update(|files| {
            let file = files.get_mut(&image)?;
            let before = std::mem::replace(&mut file.state, PictureState::Read(reading));
            Some(before == PictureState::Unread)
        });
        if is_added.flatten() == Some(true) {
            self.change(&mut |state| state.picture = Some(image.clone()));
        }
    }

    fn refuse_picture(self, image: &str, message: &str) {
        let name = self
            .files
            .with_untracked(|files| files.get(image).map(|file| file.alt.clone()));
        let name = name.unwrap_or_else(|| image.to_owned());
        self.remove_picture(image);
        self.notify(format!(
            "“{name}” was not added: {message}. Everything else is as it was."
        ));
    }
}

/// The generated pictures that were recorded: those of the views as they are first opened on the page of this answer.
fn generated_at_start(world: World, start: &Answer) -> Vec<GeneratedRequest> {
    if !world.has_known_truth() {
        return Vec::new();
    }
    let captions = start
        .captions
        .iter()
        .map(|reading| reading.caption.as_str());
    let images = start.images.iter().map(String::as_str);
    let mut state = ExplorerState::new(ModelChoice::BuiltIn(world), captions, images);
    let generated = |view: View| {
        state.view = view;
        GeneratedRequest::of_view(&state)
    };
    View::ALL.into_iter().filter_map(generated).collect()
}
