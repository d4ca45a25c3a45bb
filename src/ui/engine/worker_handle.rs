//! Web worker of one engine, and its messages to the page.

use js_sys::Array;
use leptos::web_sys;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{
    Blob, BlobPropertyBag, ErrorEvent, Event, File, MessageEvent, Url, Worker, WorkerOptions,
    WorkerType,
};

use crate::explorer::EngineKind;
use crate::protocol::{Request, Response};
use crate::ui::dom::browser;
use crate::wire;

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
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = start_script(kind)
            .and_then(|script| Worker::new_with_options(&script, &options))
            .map_err(|error| wire::reason(&error))?;
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

/// Address of a script that starts an engine. It is a blob, since such a worker is under the page's own policy; one
/// with an address of its own is under none where the server sends no headers.
fn start_script(kind: EngineKind) -> Result<String, JsValue> {
    let name = match kind {
        EngineKind::Cpu => "engine_cpu",
        EngineKind::Gpu => "engine_gpu",
    };
    let script = browser::page_file(&format!("{name}.js"));
    let program = browser::page_file(&format!("{name}_bg.wasm"));
    // A worker cannot see whether the device has a mouse, so the page tells it how much memory to count on.
    let memory = browser::memory_gigabytes();
    let memory = memory.map_or_else(|| "undefined".to_owned(), |memory| memory.to_string());
    // The program is fetched beside its script, not after it. A failed fetch is thrown as an error of the worker, since
    // not every browser reports a rejected promise to the page.
    let text = format!(
        "self.memoryGigabytes = {memory};
        self.earlyMessages = [];
        self.onmessage = event => self.earlyMessages.push(event.data);
        try {{
            const parts = [import({:?}), fetch({:?}, {{ integrity: {:?} }})];
            const [{{ default: init }}, module_or_path] = await Promise.all(parts);
            await init({{ module_or_path }});
        }} catch (error) {{
            const why = `its program could not be started (${{error.message}})`;
            reportError(new Error(`${{why}}. If the page has been renewed meanwhile, reload it`));
        }}",
        script.address, program.address, program.integrity
    );
    let options = BlobPropertyBag::new();
    options.set_type("text/javascript");
    let parts = Array::of1(&text.into());
    // Never revoked: a worker reads its script when it likes, and there are as many as engines.
    Url::create_object_url_with_blob(&Blob::new_with_str_sequence_and_options(&parts, &options)?)
}
