//! A second engine in the background: loaded, compared, and put to work if it is faster on this device.

use wasm_bindgen_futures::spawn_local;

use crate::protocol::{ImageReading, Request, Response};
use crate::ui::card::Card;
use crate::ui::client::{Client, Office};
use crate::ui::desk::Desk;
use crate::ui::dom::browser;
use crate::ui::engine;
use crate::ui::engine::Kind;
use crate::ui::event::Event;

impl Client {
    /// Loads the GPU engine beside the CPU engine, once for each model, where there is a real GPU.
    pub(crate) fn invite_rival_soon(&self) {
        let is_done = {
            let office = &mut *self.0.borrow_mut();
            std::mem::replace(&mut office.invited, true) || office.restarts > 0
        };
        if !is_done && Kind::asked_for().is_none() {
            let client = self.clone();
            spawn_local(async move { client.invite_rival().await });
        }
    }

    async fn invite_rival(&self) {
        let lacks_picture = |office: &Office| {
            let probes = office.probes.as_ref();
            probes.is_some_and(|probes| probes.picture.is_none()) && !office.origin.is_scenes()
        };
        if browser::lacks_memory() {
            let reason = "the GPU engine needs memory of its own, and this device has little";
            return self.report(Event::Choice(reason.to_owned()));
        }
        match engine::real_gpu().await {
            Ok(_) if lacks_picture(&self.0.borrow()) => self.tell_engine(&Request::ProbePicture),
            Ok(_) => self.open_rival(),
            Err(reason) => self.report(Event::Choice(reason)),
        }
    }

    /// Starts the GPU engine beside the one at work.
    pub(crate) fn open_rival(&self) {
        let origin = self.0.borrow().origin.clone();
        match self.open_desk(Kind::Gpu, origin) {
            Ok(desk) => self.0.borrow_mut().rival = Some(desk),
            Err(reason) => self.report(Event::Choice(reason)),
        }
    }

    /// Takes note of what the engine in the background says.
    pub(crate) fn hear_rival(&self, response: Response) {
        match response {
            Response::Loaded(card) => self.compare(Card::Whole(card)),
            Response::LoadedBare(card) => self.compare(Card::Bare(card)),
            Response::Refused { message } => self.dismiss_rival(&message),
            Response::ImageAdded(ImageReading { image, .. })
            | Response::ImageRefused { image, .. } => {
                if let Some(rival) = &mut self.0.borrow_mut().rival {
                    rival.reading.retain(|known| *known != image);
                }
                self.promote_when_done();
            }
            _ => {}
        }
    }

    /// Keeps the rival if it is faster on this device.
    fn compare(&self, card: Card) {
        let own_millis = self
            .0
            .borrow()
            .desk
            .as_ref()
            .and_then(|desk| Some(desk.card.as_ref()?.warm_millis()));
        let Some(own_millis) = own_millis else { return };
        if card.warm_millis() >= own_millis {
            let (gpu, cpu) = (card.warm_millis(), own_millis);
            return self.dismiss_rival(&format!(
                "the GPU takes {gpu:.0} ms where the CPU takes {cpu:.0}"
            ));
        }
        {
            let office = &mut *self.0.borrow_mut();
            let Some(rival) = &mut office.rival else {
                return;
            };
            rival.card = Some(card);
            for (image, bytes) in &office.pictures {
                rival.give_picture(image, bytes);
            }
        }
        self.promote_when_done();
    }

    /// Lets the rival answer once it has read all pictures; what was asked meanwhile is asked again.
    fn promote_when_done(&self) {
        let promoted = {
            let office = &mut *self.0.borrow_mut();
            let done = |rival: &mut Desk| rival.card.is_some() && rival.reading.is_empty();
            let Some(rival) = office.rival.take_if(done) else {
                return;
            };
            let card = rival.card.clone();
            let cpu = office
                .desk
                .replace(rival)
                .and_then(|desk| Some(desk.card.as_ref()?.warm_millis()));
            office.line.lost();
            office.adapt_again();
            card.zip(cpu)
        };
        if let Some((card, cpu)) = promoted {
            let gpu = card.warm_millis();
            self.report(Event::Choice(format!(
                "it takes {gpu:.0} ms where the CPU takes {cpu:.0}"
            )));
            self.report(Event::Loaded(card));
        }
        self.pump();
    }

    /// Ends the engine in the background, and says why.
    pub(crate) fn dismiss_rival(&self, reason: &str) {
        self.0.borrow_mut().rival = None;
        self.report(Event::Choice(reason.to_owned()));
    }
}
