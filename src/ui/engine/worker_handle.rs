//! Web worker of one engine, and its messages to the page.

use js_sys::Function;
use leptos::web_sys;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{ErrorEvent, Event, File, MessageEvent, Worker};

use crate::explorer::EngineKind;
use crate::protocol::{Request, Response};
use crate::wire::{self, property};

/// A running worker, which is listened to.
pub(super) struct WorkerHandle {
    worker: Worker,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl WorkerHandle {
    /// Starts a worker. What is posted to it before its program runs is kept for it.
    pub(super) fn spawn(
        kind: EngineKind,
        on_response: impl Fn(Result<Response, String>) + 'static,
        on_death: impl Fn(String) + 'static,
    ) -> Result<Self, String> {
        let worker = start(kind).map_err(|error| wire::reason(&error))?;
        let on_message = Closure::new(move |event: MessageEvent| {
            on_response(wire::from_js(event.data()).map_err(|error| error.to_string()));
        });
        let on_error = Closure::new(move |event: Event| {
            event.prevent_default();
            // A script that cannot be fetched gives a plain event, without a message.
            let message = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message);
            on_death(message.unwrap_or_else(|| "its program could not be loaded".to_owned()));
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Ok(Self {
            worker,
            _on_message: on_message,
            _on_error: on_error,
        })
    }

    /// Posts a request, with files beside it.
    pub(super) fn post(&self, request: &Request, files: &[File]) -> Result<(), String> {
        let message = wire::to_js(request).map_err(|error| error.to_string())?;
        if !files.is_empty() {
            let files: Vec<JsValue> = files.iter().map(JsValue::from).collect();
            wire::put_files(&message, files).map_err(|error| error.to_string())?;
        }
        let posted = self.worker.post_message(&message);
        posted.map_err(|error| wire::reason(&error))
    }

    /// Ends the worker, which is not heard any more.
    pub(super) fn terminate(&self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

/// Has the document's own script start an engine, or hand over the one that it started beside this program.
fn start(kind: EngineKind) -> Result<Worker, JsValue> {
    let name = match kind {
        EngineKind::Cpu => "engine_cpu",
        EngineKind::Gpu => "engine_gpu",
    };
    let start: Function = property(&js_sys::global(), "startEngine").dyn_into()?;
    start.call1(&JsValue::NULL, &name.into())?.dyn_into()
}
