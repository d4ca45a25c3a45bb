//! The page's side of the worker boundary: keeps one engine at work, replaces one that dies, and drops stale answers.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use wasm_bindgen_futures::spawn_local;

use super::desk::Desk;
use super::engine::{self, Kind};
use super::made::Made;
use crate::explorer::{Arrival, Lane, Newest, Snapshot};
use crate::protocol::{Answer, ImageReading, ModelCard, Progress, Request, Response};
use crate::wire;

/// Deaths without an answer between them after which the page stops trying.
const MAX_RESTARTS: u8 = 3;
/// How an engine's message begins when it is its last one; the worker's `error` event follows.
const LAST_WORDS: &str = "the engine stopped";

/// What the client tells the page.
#[derive(Debug)]
pub(super) enum Event {
    /// A load goes on.
    Progress(Progress),
    /// This engine answers from now on.
    Loaded(Box<ModelCard>),
    /// No engine answers any more, and why.
    Stopped(String),
    /// The newest question was answered.
    Answered(Box<Snapshot>),
    /// A picture can be asked about.
    Picture(ImageReading),
    /// A picture cannot be used, and why.
    PictureRefused { image: String, message: String },
    /// A question asked aside was answered.
    AnsweredAside(Box<Aside>),
    /// A request failed, and why.
    Failed(String),
    /// A question asked aside failed, and why.
    FailedAside(String),
    /// The engine died and was started again; what it said.
    Restarted(String),
    /// Why the other engine is not used, or that it is.
    Choice(String),
}

/// What became of a question asked aside.
#[derive(Debug)]
pub(super) struct Aside {
    pub(super) question: Question,
    pub(super) card: ModelCard,
    pub(super) answer: Answer,
}

/// A question: captions with their keys, and pictures; one asked aside has no keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Question {
    pub(super) keys: Vec<u64>,
    pub(super) captions: Vec<String>,
    pub(super) images: Vec<String>,
    /// What the pictures that are made for this question show.
    pub(super) made: Option<Made>,
    /// Those pictures, each under its name; they replace the ones of that name.
    pub(super) pictures: Vec<(String, Arc<Vec<u8>>)>,
}

/// The page's one connection to whichever engine is at work.
#[derive(Clone)]
pub(super) struct Client(pub(super) Rc<RefCell<Office>>);

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").finish_non_exhaustive()
    }
}

pub(super) struct Office {
    pub(super) report: Rc<dyn Fn(Event)>,
    pub(super) manifest_url: String,
    pub(super) line: Newest<Question>,
    pub(super) pictures: Vec<(String, Rc<Vec<u8>>)>,
    pub(super) desk: Option<Desk>,
    pub(super) rival: Option<Desk>,
    pub(super) last_serial: u64,
    pub(super) restarts: u8,
    /// The picture that was being read when an engine died.
    pub(super) suspect: Option<String>,
    pub(super) last_words: Option<String>,
}

impl Client {
    /// A client of the model behind this manifest, without an engine yet.
    pub(super) fn new(manifest_url: String, report: Rc<dyn Fn(Event)>) -> Self {
        Self(Rc::new(RefCell::new(Office {
            report,
            manifest_url,
            line: Newest::default(),
            pictures: Vec::new(),
            desk: None,
            rival: None,
            last_serial: 0,
            restarts: 0,
            suspect: None,
            last_words: None,
        })))
    }

    /// Starts an engine and has it load the model.
    pub(super) fn start(&self, kind: Kind) {
        engine::load_begins();
        let desk = self.open_desk(kind);
        match desk {
            Ok(desk) => self.0.borrow_mut().desk = Some(desk),
            Err(reason) => self.report(Event::Stopped(reason)),
        }
    }

    /// Gives the engine a picture, now or as soon as there is one.
    pub(super) fn add_picture(&self, image: &str, bytes: Vec<u8>) {
        let (bytes, office) = (Rc::new(bytes), &mut *self.0.borrow_mut());
        for desk in [&mut office.desk, &mut office.rival]
            .into_iter()
            .flatten()
            .filter(|desk| desk.card.is_some())
        {
            desk.give_picture(image, &bytes);
        }
        office.pictures.push((image.to_owned(), bytes));
    }

    /// Has the engine forget a picture.
    pub(super) fn remove_picture(&self, image: &str) {
        let office = &mut *self.0.borrow_mut();
        office.pictures.retain(|(known, _)| known != image);
        for desk in [&office.desk, &office.rival].into_iter().flatten() {
            // An engine that cannot be told is about to be replaced by one that was never given the picture.
            desk.send(&Request::RemoveImage {
                image: image.to_owned(),
            })
            .ok();
        }
    }

    /// Asks; a newer question takes the place of one that waits.
    pub(super) fn ask(&self, question: Question) {
        self.0.borrow_mut().line.ask(question);
        self.pump();
    }

    /// Asks when the matrix has no question; a newer one takes the place of one that waits.
    pub(super) fn ask_aside(&self, question: Question) {
        self.0.borrow_mut().line.ask_aside(question);
        self.pump();
    }

    /// Asks about made pictures when nothing else waits; a newer question takes the place of one that waits.
    pub(super) fn ask_made(&self, question: Question) {
        self.0.borrow_mut().line.ask_made(question);
        self.pump();
    }

    pub(super) fn report(&self, event: Event) {
        let report = Rc::clone(&self.0.borrow().report);
        report(event);
    }

    pub(super) fn open_desk(&self, kind: Kind) -> Result<Desk, String> {
        let serial = {
            let mut office = self.0.borrow_mut();
            office.last_serial += 1;
            office.last_serial
        };
        let (hears, sees) = (self.clone(), self.clone());
        let on_message = move |value| match wire::from_js(value) {
            Ok(response) => hears.hear(serial, response),
            Err(error) => hears.report(Event::Failed(error.to_string())),
        };
        let on_death = move |message| {
            // The closure that runs now belongs to the desk that is about to be dropped.
            let client = sees.clone();
            spawn_local(async move { client.bury(serial, message) });
        };
        Desk::open(kind, serial, on_message, on_death)
    }

    /// Sends the next question, if the engine can answer one.
    pub(super) fn pump(&self) {
        let mut office = self.0.borrow_mut();
        let office = &mut *office;
        let Some(desk) = office.desk.as_mut().filter(|desk| desk.card.is_some()) else {
            return;
        };
        let Some((id, question)) = office.line.to_send() else {
            return;
        };
        for (image, bytes) in &question.pictures {
            desk.give_picture(image, bytes);
        }
        let request = Request::Score {
            id,
            captions: question.captions,
            images: question.images,
        };
        if let Err(reason) = desk.send(&request) {
            let report = Rc::clone(&office.report);
            spawn_local(async move { report(Event::Failed(reason)) });
        }
    }

    fn hear(&self, serial: u64, response: Response) {
        let is = |desk: &Option<Desk>| desk.as_ref().is_some_and(|desk| desk.serial == serial);
        let (at_work, is_rival) = {
            let office = self.0.borrow();
            (is(&office.desk), is(&office.rival))
        };
        if matches!(response, Response::Started) {
            self.have_load(serial);
        } else if at_work {
            self.hear_desk(response);
        } else if is_rival {
            self.hear_rival(response);
        }
    }

    /// Has an engine load the model, now that it listens.
    fn have_load(&self, serial: u64) {
        let sent = {
            let office = self.0.borrow();
            let mut desks = [&office.desk, &office.rival].into_iter().flatten();
            let request = Request::Load {
                manifest_url: office.manifest_url.clone(),
            };
            desks
                .find(|desk| desk.serial == serial)
                .map(|desk| desk.send(&request))
        };
        if let Some(Err(reason)) = sent {
            self.report(Event::Failed(reason));
        }
    }

    fn hear_desk(&self, response: Response) {
        match response {
            Response::Started => {}
            Response::Progress(progress) => self.report(Event::Progress(progress)),
            Response::Loaded(card) => self.loaded(card),
            Response::Refused { message } => self.refused(message),
            Response::ImageAdded(reading) => {
                self.picture_done(&reading.image);
                self.report(Event::Picture(reading));
            }
            Response::ImageRefused { image, message } => {
                self.picture_done(&image);
                self.0
                    .borrow_mut()
                    .pictures
                    .retain(|(known, _)| *known != image);
                self.report(Event::PictureRefused { image, message });
            }
            Response::Scored(answer) => self.scored(answer),
            Response::Failed {
                id: Some(id),
                message,
            } => {
                let arrival = self.0.borrow_mut().line.arrived(id);
                match arrival {
                    Arrival::Newest(_) => self.report(Event::Failed(message)),
                    Arrival::Aside(_) => self.report(Event::FailedAside(message)),
                    Arrival::Stale | Arrival::Unasked => {}
                }
                self.pump();
            }
            Response::Failed { id: None, message } if message.starts_with(LAST_WORDS) => {
                self.0.borrow_mut().last_words = Some(message);
            }
            Response::Failed { id: None, message } => self.report(Event::Failed(message)),
            // Nothing on the page asks for these yet.
            Response::LoadedBare(_)
            | Response::Cancelled
            | Response::Weighed(_)
            | Response::Stored(_)
            | Response::Compared(_) => {}
        }
    }

    fn loaded(&self, card: Box<ModelCard>) {
        engine::load_ends();
        let kind = {
            let office = &mut *self.0.borrow_mut();
            let Some(desk) = &mut office.desk else { return };
            desk.card = Some(card.clone());
            for (image, bytes) in &office.pictures {
                desk.give_picture(image, bytes);
            }
            desk.kind
        };
        self.report(Event::Loaded(card));
        self.pump();
        if kind == Kind::Cpu && Kind::asked_for().is_none() {
            let client = self.clone();
            spawn_local(async move { client.invite_rival().await });
        }
    }

    fn refused(&self, message: String) {
        engine::load_ends();
        let kind = self.0.borrow_mut().desk.take().map(|desk| desk.kind);
        if kind == Some(Kind::Gpu) {
            self.report(Event::Choice(format!(
                "the GPU engine was refused: {message}"
            )));
            self.start(Kind::Cpu);
        } else {
            self.report(Event::Stopped(message));
        }
    }

    fn picture_done(&self, image: &str) {
        let mut office = self.0.borrow_mut();
        if office.suspect.as_deref() == Some(image) {
            office.suspect = None;
        }
        if let Some(desk) = &mut office.desk {
            desk.reading.retain(|known| known != image);
        }
    }

    fn scored(&self, answer: Answer) {
        let arrival = self.0.borrow_mut().line.arrived(answer.id);
        let card = self
            .0
            .borrow()
            .desk
            .as_ref()
            .and_then(|desk| desk.card.clone());
        let event = card.and_then(|card| match arrival {
            Arrival::Newest(question) => Some(Event::Answered(Box::new(Snapshot {
                card: *card,
                keys: question.keys,
                answer,
                recorded: false,
            }))),
            Arrival::Aside(question) => Some(Event::AnsweredAside(Box::new(Aside {
                question,
                card: *card,
                answer,
            }))),
            Arrival::Stale | Arrival::Unasked => None,
        });
        if let Some(event) = event {
            self.0.borrow_mut().restarts = 0;
            self.report(event);
        }
        self.pump();
    }

    /// Replaces an engine that died, and asks its last question once more.
    fn bury(&self, serial: u64, message: String) {
        if self
            .0
            .borrow()
            .rival
            .as_ref()
            .is_some_and(|rival| rival.serial == serial)
        {
            return self.dismiss_rival(&format!("the GPU engine stopped: {message}"));
        }
        let Some(desk) = self
            .0
            .borrow_mut()
            .desk
            .take_if(|desk| desk.serial == serial)
        else {
            return;
        };
        let (words, blamed, gave_up) = {
            let office = &mut *self.0.borrow_mut();
            office.restarts += 1;
            let blamed = desk
                .reading
                .front()
                .cloned()
                .filter(|image| office.suspect.replace(image.clone()).as_ref() == Some(image));
            let words = office
                .last_words
                .take()
                .unwrap_or_else(|| message.to_owned());
            (words, blamed, office.line.lost())
        };
        if let Some(image) = blamed {
            self.0
                .borrow_mut()
                .pictures
                .retain(|(known, _)| *known != image);
            self.report(Event::PictureRefused {
                image,
                message: "the engine stopped twice while reading it".into(),
            });
        }
        if let Some(lane) = gave_up {
            let message = format!("these captions stopped the engine twice: {words}");
            self.report(match lane {
                Lane::Main => Event::Failed(message),
                Lane::Aside | Lane::Made => Event::FailedAside(message),
            });
        }
        if self.0.borrow().restarts > MAX_RESTARTS {
            engine::load_ends();
            return self.report(Event::Stopped(words));
        }
        self.report(Event::Restarted(words));
        self.start(Kind::Cpu);
    }
}
