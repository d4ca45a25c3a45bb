//! Another model: loaded by an engine of its own while the one at work answers, then put in its place.

use std::rc::Rc;

use crate::protocol::{Probes, Request, Response};
use crate::ui::card::Card;
use crate::ui::client::{Client, Office};
use crate::ui::desk::Desk;
use crate::ui::engine::Kind;
use crate::ui::event::Event;
use crate::ui::origin::Origin;

impl Client {
    /// Has another model loaded; it answers as soon as it can.
    pub(crate) fn change_model(&self, origin: Origin) {
        self.0.borrow_mut().candidate = None;
        match self.open_desk(Kind::Cpu, origin) {
            Ok(desk) => self.0.borrow_mut().candidate = Some(desk),
            Err(reason) => self.report(Event::GivenUp(Some(reason))),
        }
    }

    /// Says which model the first engine is to load.
    pub(crate) fn begin_with(&self, origin: Origin) {
        self.0.borrow_mut().origin = origin;
    }

    /// Whether the model that answers, or is the first to, is the one that comes with the page.
    pub(crate) fn has_scenes(&self) -> bool {
        self.0.borrow().origin.is_scenes()
    }

    /// Ends the load that goes on.
    pub(crate) fn give_up(&self) {
        if self.0.borrow().candidate.is_some() {
            return self.dismiss_candidate(None);
        }
        self.tell_engine(&Request::Cancel);
    }

    /// Tells the load that goes on to wait or to go on.
    pub(crate) fn tell_load(&self, request: &Request) {
        self.send_to(
            |office| office.candidate.as_ref().or(office.desk.as_ref()),
            request,
        );
    }

    /// Asks the engine at work something that is no question about captions.
    pub(crate) fn tell_engine(&self, request: &Request) {
        self.send_to(|office| office.desk.as_ref(), request);
    }

    fn send_to(&self, desk: impl Fn(&Office) -> Option<&Desk>, request: &Request) {
        let sent = desk(&self.0.borrow()).map(|desk| desk.send(request));
        if let Some(Err(reason)) = sent {
            self.report(Event::Failed(reason));
        }
    }

    /// Gives the model adapters.
    pub(crate) fn adapt(&self, bytes: Vec<u8>) {
        self.0.borrow_mut().adapters = Some(Rc::new(bytes));
        self.0.borrow().adapt_again();
    }

    /// Takes note of what the engine with another model says.
    pub(crate) fn hear_candidate(&self, response: Response) {
        match response {
            Response::Progress(progress) => self.report(Event::Progress(progress)),
            Response::Loaded(card) => self.promote_candidate(Card::Whole(card)),
            Response::LoadedBare(card) => self.promote_candidate(Card::Bare(card)),
            Response::Refused { message } => self.dismiss_candidate(Some(message)),
            Response::Cancelled => self.dismiss_candidate(None),
            Response::Failed { message, .. } => self.0.borrow_mut().last_words = Some(message),
            _ => {}
        }
    }

    /// Puts the other model to work: the one before it goes, and all pictures are read anew.
    fn promote_candidate(&self, card: Card) {
        {
            let office = &mut *self.0.borrow_mut();
            let Some(mut desk) = office.candidate.take() else {
                return;
            };
            desk.card = Some(card.clone());
            office.origin = desk.origin.clone();
            (office.rival, office.adapters, office.probes) = (None, None, None);
            (office.invited, office.restarts) = (false, 0);
            office.line.lost();
            office.desk = Some(desk);
            office.note_probe(&card);
        }
        // The page takes pictures off that this model does not know, before any is read.
        self.report(Event::Changed(card));
        {
            let office = &mut *self.0.borrow_mut();
            let Some(desk) = &mut office.desk else { return };
            for (image, bytes) in &office.pictures {
                desk.give_picture(image, bytes);
            }
        }
        self.pump();
        if self.0.borrow().origin.is_scenes() {
            self.invite_rival_soon();
        }
    }

    fn dismiss_candidate(&self, message: Option<String>) {
        self.0.borrow_mut().candidate = None;
        self.report(Event::GivenUp(message));
    }

    /// Takes note that the engine with this number died; `false` if it was another one.
    pub(crate) fn bury_candidate(&self, serial: u64, message: &str) -> bool {
        let is_it = {
            let office = self.0.borrow();
            let candidate = office.candidate.as_ref();
            candidate.is_some_and(|desk| desk.serial == serial)
        };
        if is_it {
            let words = self.0.borrow_mut().last_words.take();
            self.dismiss_candidate(Some(words.unwrap_or_else(|| message.to_owned())));
        }
        is_it
    }
}

impl Office {
    /// Gives the engine at work the adapters that the visitor gave another one before it.
    pub(crate) fn adapt_again(&self) {
        let bare = self.desk.as_ref().filter(|desk| desk.card.is_some());
        if let (Some(desk), Some(adapters)) = (bare, &self.adapters) {
            let request = Request::Adapt {
                bytes: adapters.to_vec(),
            };
            // An engine that cannot be told is about to be replaced, and its successor is.
            desk.send(&request).ok();
        }
    }

    /// Keeps what a second engine is held against where no golden values are known.
    pub(crate) fn note_probe(&mut self, card: &Card) {
        if let Card::Bare(card) = card {
            self.probes = Some(Probes {
                caption: card.probe.clone(),
                picture: None,
            });
        }
    }
}
