//! Changes of the document, as the browser reports them.

use js_sys::{Array, Function};
use leptos::web_sys::{MutationObserver, MutationObserverInit};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};

use crate::ui::dom::browser::document;

/// Calls back after elements came, went, were hidden or disabled and after their words changed, with a `MutationRecord`
/// of each change, as long as the page lives.
pub(crate) fn observe(on_change: impl FnMut(Array) + 'static) {
    let callback = Closure::wrap(Box::new(on_change) as Box<dyn FnMut(Array)>);
    // Without a `MutationObserver` the focus is lost with its element, and changes are not read out.
    begin(callback.as_ref().unchecked_ref()).ok();
    callback.forget();
}

/// Compiled once, and not for each observer.
fn begin(callback: &Function) -> Result<(), JsValue> {
    let options = MutationObserverInit::new();
    options.set_subtree(true);
    options.set_child_list(true);
    options.set_character_data(true);
    options.set_attribute_filter(&Array::of2(&"hidden".into(), &"disabled".into()));
    let document = document().ok_or(JsValue::UNDEFINED)?;
    MutationObserver::new(callback)?.observe_with_options(&document, &options)
}
