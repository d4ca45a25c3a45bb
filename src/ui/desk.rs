//! An engine's worker with what it has been given; it ends when this is dropped.

use std::collections::VecDeque;

use leptos::web_sys;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Event, MessageEvent, Worker};

use crate::protocol::Request;
use crate::ui::card::Card;
use crate::ui::engine;
use crate::ui::engine::Kind;
use crate::ui::origin::Origin;
use crate::wire;

/// An engine with what it has been given.
pub(crate) struct Desk {
    pub(crate) serial: u64,
    pub(crate) kind: Kind,
    /// The model that it loads.
    pub(crate) origin: Origin,
    worker: Worker,
    pub(crate) card: Option<Card>,
    pub(crate) reading: VecDeque<String>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl Desk {
    /// Starts a worker and listens to it. What is sent before it says that it listens too is lost.
    pub(crate) fn open(
        kind: Kind,
        origin: Origin,
        serial: u64,
        on_message: impl Fn(JsValue) + 'static,
        on_death: impl Fn(String) + 'static,
    ) -> Result<Self, String> {
        let worker = kind.spawn()?;
        let on_message = Closure::new(move |event: MessageEvent| on_message(event.data()));
        let on_error = Closure::new(move |event: Event| {
            event.prevent_default();
            // A script that cannot be fetched gives a plain event, without a message.
            on_death(engine::reason(&event));
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Ok(Self {
            serial,
            kind,
            origin,
            worker,
            card: None,
            reading: VecDeque::new(),
            _on_message: on_message,
            _on_error: on_error,
        })
    }

    /// Posts a request.
    pub(crate) fn send(&self, request: &Request) -> Result<(), String> {
        self.post(&wire::to_js(request).map_err(|error| error.to_string())?)
    }

    /// Has the worker load its model.
    pub(crate) fn load(&self) -> Result<(), String> {
        self.post(&self.origin.message()?)
    }

    fn post(&self, message: &JsValue) -> Result<(), String> {
        self.worker
            .post_message(message)
            .map_err(|error| engine::reason(&error))
    }

    /// Posts a picture, and notes that it is being read.
    pub(crate) fn give_picture(&mut self, image: &str, bytes: &[u8]) {
        let request = Request::AddImage {
            image: image.to_owned(),
            bytes: bytes.to_vec(),
        };
        if self.send(&request).is_ok() {
            self.reading.push_back(image.to_owned());
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}
