//! Which engines there are, where they lie, and whether this device has a GPU worth asking.

use js_sys::{Function, Promise, Reflect};
use leptos::web_sys;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Worker, WorkerOptions, WorkerType};

use crate::ui::dom::browser;

/// Loads that began and did not end, kept from visit to visit.
const UNFINISHED_LOADS: &str = "kappascope.unfinished-loads";
/// As many unfinished loads mean that loading itself crashes the page.
const SAFE_MODE_AT: u32 = 2;

/// One of the two engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Cpu,
    Gpu,
}

impl Kind {
    /// The engine asked for by `?backend=`.
    pub(crate) fn asked_for() -> Option<Self> {
        match browser::query("backend")?.as_str() {
            "cpu" => Some(Self::Cpu),
            "gpu" => Some(Self::Gpu),
            _ => None,
        }
    }

    fn script(self) -> &'static str {
        match self {
            Self::Cpu => "./engine_cpu_loader.js",
            Self::Gpu => "./engine_gpu_loader.js",
        }
    }

    /// Starts the engine's worker.
    pub(crate) fn spawn(self) -> Result<Worker, String> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        Worker::new_with_options(&browser::beside_page(self.script()), &options)
            .map_err(|error| reason(&error))
    }
}

/// Notes that a load begins.
pub(crate) fn load_begins() {
    browser::remember(UNFINISHED_LOADS, browser::remembered(UNFINISHED_LOADS) + 1);
}

/// Notes that a load ended, well or with a stated reason.
pub(crate) fn load_ends() {
    browser::remember(UNFINISHED_LOADS, 0);
}

/// Whether the page crashed so often while loading that it should not load by itself.
pub(crate) fn is_safe_mode() -> bool {
    browser::remembered(UNFINISHED_LOADS) >= SAFE_MODE_AT
}

/// The GPU's name, or why there is none worth asking.
///
/// A software GPU is far slower than the CPU engine, so it does not count.
pub(crate) async fn real_gpu() -> Result<String, String> {
    let navigator =
        browser::window().map_or(JsValue::UNDEFINED, |window| window.navigator().into());
    let gpu = property(&navigator, "gpu");
    if gpu.is_undefined() {
        return Err("this browser offers no WebGPU".into());
    }
    let adapter = request_adapter(&gpu)
        .await
        .map_err(|error| reason(&error))?;
    if adapter.is_null() || adapter.is_undefined() {
        return Err("this browser offers no GPU adapter".into());
    }
    let info = property(&adapter, "info");
    let word = |name| property(&info, name).as_string().unwrap_or_default();
    // `isFallbackAdapter` moved from the adapter to its `info` in 2025.
    let is_software = [&adapter, &info]
        .iter()
        .any(|place| property(place, "isFallbackAdapter").is_truthy())
        || word("architecture") == "swiftshader";
    if is_software {
        return Err("the only GPU here is imitated in software".into());
    }
    Ok([word("vendor"), word("architecture")]
        .join(" ")
        .trim()
        .to_owned())
}

async fn request_adapter(gpu: &JsValue) -> Result<JsValue, JsValue> {
    let request: Function = property(gpu, "requestAdapter").dyn_into()?;
    let promise: Promise = request.call0(gpu)?.dyn_into()?;
    JsFuture::from(promise).await
}

fn property(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

/// What a JavaScript exception says.
pub(crate) fn reason(exception: &JsValue) -> String {
    property(exception, "message")
        .as_string()
        .unwrap_or_else(|| "no reason given".into())
}
