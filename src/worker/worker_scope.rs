//! The dedicated worker's global scope: messages to the page, the clock, and the last message of an engine that panics.

use std::cell::Cell;
use std::panic;

use js_sys::{Array, Function};
use wasm_bindgen::prelude::{Closure, JsCast as _, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::control::{Control, LoadCommand};
use super::files::Picked;
use super::queue::Queue;
use crate::error::{Error, Result};
use crate::protocol::{Progress, Request, Response, SHORT_MEMORY_GIGABYTES};
use crate::wire::{self, property, reason};

/// Least number of milliseconds between two messages of a load's progress, each of which the page shows.
const PROGRESS_MILLIS: f64 = 50.0;

thread_local! {
    /// When the page was last told how far a load is.
    static TOLD_AT: Cell<f64> = const { Cell::new(f64::NEG_INFINITY) };
}

/// Global scope of the worker that this code runs in.
pub(super) fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

/// Gigabytes of memory, where the page says: it sees more of the device than a worker.
fn memory_gigabytes() -> Option<f64> {
    property(&scope(), "memoryGigabytes").as_f64()
}

/// Whether the device has little memory, by what the page says.
pub(super) fn is_short_of_memory() -> bool {
    memory_gigabytes().is_some_and(|memory| memory < SHORT_MEMORY_GIGABYTES)
}

/// Sends a message to the page.
pub(super) fn post(response: &Response) {
    let sent = wire::to_js(response).and_then(|value| {
        scope()
            .post_message(&value)
            .map_err(|value| js_error(&value))
    });
    if let Err(error) = sent {
        // No page is left that could receive it.
        web_sys::console::error_1(&error.to_string().into());
    }
}

/// Puts the page's messages into the queue, first those that came before the engine listened, but for those to a load
/// that goes on; files that come with a message are kept for it.
pub(super) fn listen(queue: Queue, control: Control, picked: Picked) {
    let take = move |message: JsValue| {
        let message = picked.take_from(message);
        match wire::from_js(message) {
            Ok(Request::Pause) => control.set(LoadCommand::Pause),
            Ok(Request::Resume) => control.set(LoadCommand::Run),
            Ok(Request::Cancel) => control.set(LoadCommand::Cancel),
            Ok(Request::FetchNothing) => control.set_fetches_nothing(true),
            Ok(Request::FetchMissing) => control.set_fetches_nothing(false),
            Ok(request) => {
                if request.is_load() {
                    control.set(LoadCommand::Run);
                }
                queue.push(request);
            }
            Err(error) => post(&Response::Failed {
                id: None,
                message: error.to_string(),
            }),
        }
    };
    // Kept by the script that started this program.
    let early = property(&scope(), "earlyMessages").dyn_into::<Array>();
    early.iter().flat_map(Array::iter).for_each(&take);
    let on_message =
        Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| take(event.data()));
    scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // It must live as long as the worker.
    on_message.forget();
}

/// Tells the page that the engine panicked.
pub(super) fn report_panics() {
    panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        let message = info.to_string();
        post(&Response::Crashed { message });
    }));
}

/// Tells the page that the engine lost its GPU.
pub fn report_lost_gpu(message: String) {
    post(&Response::Lost { message });
}

/// Runs this program's constructors, which `build.rs` has the linker export, and must come before what they prepare.
///
/// # Errors
///
/// The program was linked without that export.
pub fn run_constructors() -> Result<()> {
    let constructors = property(&wasm_bindgen::exports(), "__wasm_call_ctors");
    let constructors = constructors
        .dyn_into::<Function>()
        .map_err(|_| Error::Engine("this program does not export its constructors".to_owned()))?;
    let done = constructors.call0(&JsValue::NULL);
    done.map(|_| ()).map_err(|exception| js_error(&exception))
}

/// Tells the page that the engine is alive.
pub(super) fn heartbeat() {
    post(&Response::Heartbeat);
}

/// Tells the page how far a load is, unless it was told a moment ago and more is to come.
pub(super) fn post_progress(progress: Progress) {
    let now = now_millis();
    let is_stage_done = progress.loaded_bytes >= progress.stage_end_bytes;
    if is_stage_done || now - TOLD_AT.get() >= PROGRESS_MILLIS {
        TOLD_AT.set(now);
        post(&Response::Progress(progress));
    }
}

/// Milliseconds since the worker began.
pub(super) fn now_millis() -> f64 {
    scope().performance().map_or(0.0, |clock| clock.now())
}

/// A JavaScript exception as the library's error.
pub(super) fn js_error(exception: &JsValue) -> Error {
    Error::Engine(reason(exception))
}
