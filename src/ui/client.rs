//! The page's side of the worker boundary: keeps one engine at work, replaces one that dies, and drops stale answers.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use crate::explorer::{Arrival, Compared, Lane, Newest, Snapshot};
use crate::protocol::{Answer, Comparison, Probes, Request, Response};
use crate::ui::card::Card;
use crate::ui::desk::Desk;
use crate::ui::engine;
use crate::ui::engine::Kind;
use crate::ui::event::{Aside, Event, Question};
use crate::ui::origin::Origin;
use crate::wire;

/// Deaths without an answer between them after which the page stops trying.
const MAX_RESTARTS: u8 = 3;
/// How an engine's message begins when it is its last one; the worker's `error` event follows.
const LAST_WORDS: &str = "the engine stopped";

/// The page's one connection to whichever engine is at work.
#[derive(Clone)]
pub(crate) struct Client(pub(crate) Rc<RefCell<Office>>);

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").finish_non_exhaustive()
    }
}

pub(crate) struct Office {
    pub(crate) report: Rc<dyn Fn(Event)>,
    /// The model that answers, or is the first to.
    pub(crate) origin: Origin,
    /// Adapters that the visitor gave it.
    pub(crate) adapters: Option<Rc<Vec<u8>>>,
    /// What its first engine made of the caption and the picture by which engines are compared.
    pub(crate) probes: Option<Probes>,
    pub(crate) line: Newest<Question>,
    pub(crate) pictures: Vec<(String, Rc<Vec<u8>>)>,
    pub(crate) desk: Option<Desk>,
    pub(crate) rival: Option<Desk>,
    /// An engine that loads another model while the one at work answers.
    pub(crate) candidate: Option<Desk>,
    /// Whether the GPU engine was given a chance with this model.
    pub(crate) invited: bool,
    pub(crate) last_serial: u64,
    pub(crate) restarts: u8,
    /// The picture that was being read when an engine died.
    pub(crate) suspect: Option<String>,
    pub(crate) last_words: Option<String>,
}

impl Client {
    /// A client of the model that comes with the page, without an engine yet.
    pub(crate) fn new(report: Rc<dyn Fn(Event)>) -> Self {
        Self(Rc::new(RefCell::new(Office {
            report,
            origin: Origin::Scenes,
            adapters: None,
            probes: None,
            line: Newest::default(),
            pictures: Vec::new(),
            desk: None,
            rival: None,
            candidate: None,
            invited: false,
            last_serial: 0,
            restarts: 0,
            suspect: None,
            last_words: None,
        })))
    }

    /// Starts an engine and has it load the model.
    pub(crate) fn start(&self, kind: Kind) {
        engine::load_begins();
        let origin = self.0.borrow().origin.clone();
        let desk = self.open_desk(kind, origin);
        match desk {
            Ok(desk) => self.0.borrow_mut().desk = Some(desk),
            Err(reason) => self.report(Event::Stopped(reason)),
        }
    }

    /// Gives the engine a picture, now or as soon as there is one.
    pub(crate) fn add_picture(&self, image: &str, bytes: Vec<u8>) {
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
    pub(crate) fn remove_picture(&self, image: &str) {
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
    pub(crate) fn ask(&self, question: Question) {
        self.0.borrow_mut().line.ask(question);
        self.pump();
    }

    /// Asks when the matrix has no question; a newer one takes the place of one that waits.
    pub(crate) fn ask_aside(&self, question: Question) {
        self.0.borrow_mut().line.ask_aside(question);
        self.pump();
    }

    /// Asks about made pictures when nothing else waits; a newer question takes the place of one that waits.
    pub(crate) fn ask_made(&self, question: Question) {
        self.0.borrow_mut().line.ask_made(question);
        self.pump();
    }

    pub(crate) fn report(&self, event: Event) {
        let report = Rc::clone(&self.0.borrow().report);
        report(event);
    }

    pub(crate) fn open_desk(&self, kind: Kind, origin: Origin) -> Result<Desk, String> {
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
        Desk::open(kind, origin, serial, on_message, on_death)
    }

    /// Sends the next question, if the engine can answer one.
    pub(crate) fn pump(&self) {
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
            relates: question.relates,
        };
        if let Err(reason) = desk.send(&request) {
            let report = Rc::clone(&office.report);
            spawn_local(async move { report(Event::Failed(reason)) });
        }
    }

    fn hear(&self, serial: u64, response: Response) {
        let is = |desk: &Option<Desk>| desk.as_ref().is_some_and(|desk| desk.serial == serial);
        let (at_work, is_rival, is_candidate) = {
            let office = self.0.borrow();
            (is(&office.desk), is(&office.rival), is(&office.candidate))
        };
        if matches!(response, Response::Started) {
            self.have_load(serial);
        } else if at_work {
            self.hear_desk(response);
        } else if is_rival {
            self.hear_rival(response);
        } else if is_candidate {
            self.hear_candidate(response);
        }
    }

    /// Has an engine load its model, now that it listens.
    fn have_load(&self, serial: u64) {
        let sent = {
            let office = self.0.borrow();
            let desks = [&office.desk, &office.rival, &office.candidate];
            let desk = desks
                .into_iter()
                .flatten()
                .find(|desk| desk.serial == serial);
            desk.map(|desk| {
                if let (Kind::Gpu, Some(probes)) = (desk.kind, &office.probes) {
                    desk.send(&Request::Expect(probes.clone()))?;
                }
                desk.load()
            })
        };
        if let Some(Err(reason)) = sent {
            self.report(Event::Failed(reason));
        }
    }

    fn hear_desk(&self, response: Response) {
        match response {
            Response::Started => {}
            Response::Progress(progress) => self.report(Event::Progress(progress)),
            Response::Loaded(card) => self.loaded(Card::Whole(card)),
            Response::LoadedBare(card) => self.loaded(Card::Bare(card)),
            Response::Refused { message } => self.refused(Some(message)),
            Response::Cancelled => self.refused(None),
            Response::Weighed(weighed) => self.report(Event::Weighed(Ok(weighed))),
            Response::NotWeighed { message } => self.report(Event::Weighed(Err(message))),
            Response::Stored(stored) => self.report(Event::Stored(stored)),
            Response::PictureProbed { embedding } => {
                if let Some(probes) = &mut self.0.borrow_mut().probes {
                    probes.picture = Some(embedding);
                }
                self.open_rival();
            }
            Response::KeptAdapters { bytes } => self.adapt(bytes),
            Response::AdapterRefused { message } => {
                self.0.borrow_mut().adapters = None;
                self.report(Event::AdapterRefused(message));
            }
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
            Response::Compared(comparison) => self.compared(comparison),
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
        }
    }

    fn loaded(&self, card: Card) {
        engine::load_ends();
        let (kind, is_scenes) = {
            let office = &mut *self.0.borrow_mut();
            office.note_probe(&card);
            let Some(desk) = &mut office.desk else { return };
            // An engine that was given adapters is loaded a second time.
            let has_pictures = desk.card.replace(card.clone()).is_some();
            if !has_pictures {
                for (image, bytes) in &office.pictures {
                    desk.give_picture(image, bytes);
                }
                office.adapt_again();
            }
            let desk = office.desk.as_ref();
            let kind = desk.map(|desk| desk.kind);
            (kind, office.origin.is_scenes())
        };
        self.report(Event::Loaded(card));
        self.pump();
        if kind == Some(Kind::Cpu) && is_scenes {
            self.invite_rival_soon();
        }
    }

    fn refused(&self, message: Option<String>) {
        engine::load_ends();
        let (kind, was_scenes) = {
            let office = &mut *self.0.borrow_mut();
            let was_scenes = office.origin.is_scenes();
            office.origin = Origin::Scenes;
            (office.desk.take().map(|desk| desk.kind), was_scenes)
        };
        if !was_scenes {
            self.report(Event::GivenUp(message));
            self.start(Kind::asked_for().unwrap_or(Kind::Cpu));
        } else if kind == Some(Kind::Gpu) {
            let message = message.unwrap_or_default();
            self.report(Event::Choice(format!(
                "the GPU engine was refused: {message}"
            )));
            self.start(Kind::Cpu);
        } else {
            self.report(Event::Stopped(message.unwrap_or_default()));
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
        let has_vision = office
            .desk
            .as_ref()
            .is_some_and(|desk| desk.kind == Kind::Cpu);
        let is_large = !office.origin.is_scenes();
        drop(office);
        if has_vision && is_large {
            // Only now are all weights on this machine, so that a second engine downloads nothing.
            self.invite_rival_soon();
        }
    }

    fn compared(&self, comparison: Comparison) {
        let arrival = self.0.borrow_mut().line.arrived(comparison.id);
        if let Arrival::Newest(question) = arrival {
            self.0.borrow_mut().restarts = 0;
            self.report(Event::Compared(Box::new(Compared {
                keys: question.keys,
                comparison,
            })));
        }
        self.pump();
    }

    fn scored(&self, answer: Answer) {
        let arrival = self.0.borrow_mut().line.arrived(answer.id);
        let card = match self
            .0
            .borrow()
            .desk
            .as_ref()
            .and_then(|desk| desk.card.as_ref())
        {
            Some(Card::Whole(card)) => Some(card.clone()),
            _ => None,
        };
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
        if self.bury_candidate(serial, &message) {
            return;
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
