//! Questions that are not about captions: what a download would cost, and what the browser keeps.

use super::event::EngineEvent;
use super::machine::{QUERY_MILLIS, Supervisor};
use crate::protocol::Request;

impl Supervisor {
    /// Asks the engine at work something that is not about captions, now or as soon as there is one that listens.
    pub(super) fn query(&mut self, request: Request) {
        let listening = self.main.as_ref().filter(|engine| engine.is_listening);
        if let Some(serial) = listening.map(|engine| engine.serial) {
            self.post(serial, request.clone());
        }
        self.queries.retain(|(known, _)| *known != request);
        self.queries.push((request, self.now));
    }

    pub(super) fn query_done(&mut self, is_done: impl Fn(&Request) -> bool) {
        self.queries.retain(|(query, _)| !is_done(query));
    }

    /// Asks the engine now at work what the one before it did not answer; how long that one takes no other can say.
    pub(super) fn repost_queries(&mut self) {
        if self
            .queries
            .iter()
            .any(|(query, _)| *query == Request::MeasureDevice)
        {
            self.query_done(|query| *query == Request::MeasureDevice);
            let message = "another engine has taken its place".to_owned();
            self.tell(EngineEvent::DeviceMeasured(Err(message)));
        }
        let serial = self.main.as_ref().map_or(0, |engine| engine.serial);
        for (query, _) in self.queries.clone() {
            self.post(serial, query);
        }
    }

    /// Says of questions that nobody answers that they are not answered.
    pub(super) fn give_up_queries(&mut self) {
        let now = self.now;
        // How long it takes to keep models is the network's to say.
        let is_late = |(query, at): &mut (Request, f64)| {
            now - *at >= QUERY_MILLIS && !matches!(query, Request::Keep(_))
        };
        let late: Vec<_> = self.queries.extract_if(.., is_late).collect();
        for (query, _) in late {
            let message = "no engine answered".to_owned();
            match query {
                Request::QueryDownloadSize(_) => {
                    self.tell(EngineEvent::DownloadSize(Err(message)));
                }
                Request::MeasureDevice => self.tell(EngineEvent::DeviceMeasured(Err(message))),
                Request::DeleteStored => self.tell(EngineEvent::Trouble(message)),
                // What the browser keeps is shown where it is known.
                _ => {}
            }
        }
    }
}
