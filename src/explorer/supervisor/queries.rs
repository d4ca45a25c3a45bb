//! Questions that are not about captions: what a download would cost, and what the browser keeps.

use super::event::EngineEvent;
use super::machine::{QUERY_MILLIS, Supervisor};
use crate::protocol::{HubFailure, HubFault, Request};

impl Supervisor {
    /// Sends a query to the engine at work, now or as soon as there is one.
    pub(super) fn query(&mut self, request: Request) {
        if let Some(serial) = self.main.as_ref().map(|engine| engine.serial) {
            self.post(serial, request.clone());
        }
        self.queries.retain(|(known, _)| *known != request);
        self.queries.push((request, self.now));
    }

    pub(super) fn query_done(&mut self, is_done: impl Fn(&Request) -> bool) {
        self.queries.retain(|(query, _)| !is_done(query));
    }

    /// Sends the engine now at work the queries that the one before it did not answer, but for the times of that one.
    pub(super) fn repost_queries(&mut self) {
        if self
            .queries
            .iter()
            .any(|(query, _)| *query == Request::MeasureDevice)
        {
            self.query_done(|query| *query == Request::MeasureDevice);
            let message = "another engine has taken its place".to_owned();
            self.emit(EngineEvent::DeviceMeasured(Err(message)));
        }
        let serial = self.main.as_ref().map_or(0, |engine| engine.serial);
        for (query, _) in self.queries.clone() {
            self.post(serial, query);
        }
    }

    /// Answers queries that no engine answered in time with an error.
    pub(super) fn give_up_queries(&mut self) {
        let now = self.now;
        // Keeping models takes as long as the network needs, so it has no limit.
        let is_late = |(query, at): &mut (Request, f64)| {
            now - *at >= QUERY_MILLIS && !matches!(query, Request::StoreModels(_))
        };
        let late: Vec<_> = self.queries.extract_if(.., is_late).collect();
        for (query, _) in late {
            let message = "no engine answered".to_owned();
            match query {
                Request::QueryDownloadSize(_) => {
                    let fault = HubFault::Other;
                    let failure = HubFailure { fault, message };
                    self.emit(EngineEvent::DownloadSize(Err(failure)));
                }
                Request::MeasureDevice => self.emit(EngineEvent::DeviceMeasured(Err(message))),
                Request::DeleteStored => self.emit(EngineEvent::Failure(message)),
                // What the browser keeps is shown where it is known.
                _ => {}
            }
        }
    }
}
