//! A second engine in the background: loaded, compared, and put to work if it is faster on this device.

use super::client::{Client, Event};
use super::desk::Desk;
use super::engine::{self, Kind};
use crate::protocol::{ImageReading, ModelCard, Response};

impl Client {
    /// Loads the GPU engine beside the CPU engine, where there is a real GPU.
    pub(super) async fn invite_rival(&self) {
        if self.0.borrow().rival.is_some() || self.0.borrow().restarts > 0 {
            return;
        }
        match engine::real_gpu()
            .await
            .and_then(|_| self.open_desk(Kind::Gpu))
        {
            Ok(desk) => self.0.borrow_mut().rival = Some(desk),
            Err(reason) => self.report(Event::Choice(reason)),
        }
    }

    /// Takes note of what the engine in the background says.
    pub(super) fn hear_rival(&self, response: Response) {
        match response {
            Response::Loaded(card) => self.compare(card),
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
    fn compare(&self, card: Box<ModelCard>) {
        let own_millis = self
            .0
            .borrow()
            .desk
            .as_ref()
            .and_then(|desk| Some(desk.card.as_ref()?.warm_millis));
        let Some(own_millis) = own_millis else { return };
        if card.warm_millis >= own_millis {
            let (gpu, cpu) = (card.warm_millis, own_millis);
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
                .and_then(|desk| Some(desk.card.as_ref()?.warm_millis));
            office.line.lost();
            card.zip(cpu)
        };
        if let Some((card, cpu)) = promoted {
            let gpu = card.warm_millis;
            self.report(Event::Choice(format!(
                "it takes {gpu:.0} ms where the CPU takes {cpu:.0}"
            )));
            self.report(Event::Loaded(card));
        }
        self.pump();
    }

    /// Ends the engine in the background, and says why.
    pub(super) fn dismiss_rival(&self, reason: &str) {
        self.0.borrow_mut().rival = None;
        self.report(Event::Choice(reason.to_owned()));
    }
}
