//! Changes of the document, as the browser tells of them.

use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};

use crate::ui::dom::browser::{document, window};
use crate::wire::property;

/// Calls back after elements came, went, were hidden or disabled and after their words changed, with a record of each
/// change, as long as the page lives.
pub(crate) fn observe(on_change: impl FnMut(Array) + 'static) {
    let callback = Closure::wrap(Box::new(on_change) as Box<dyn FnMut(Array)>);
    // A browser without it tells of nothing: the focus is lost as it was, and changes are not read out.
    begin(callback.as_ref()).ok();
    callback.forget();
}

/// Compiled once, and not for each observer; web-sys is built without the names.
fn begin(callback: &JsValue) -> Result<(), JsValue> {
    let window = window().map_or(JsValue::UNDEFINED, JsValue::from);
    let class: Function = property(&window, "MutationObserver").dyn_into()?;
    let observer = Reflect::construct(&class, &Array::of1(callback))?;
    let observe: Function = property(&observer, "observe").dyn_into()?;
    let options = Object::new();
    for name in ["subtree", "childList", "characterData"] {
        Reflect::set(&options, &name.into(), &JsValue::TRUE)?;
    }
    let attributes = Array::of2(&"hidden".into(), &"disabled".into());
    Reflect::set(&options, &"attributeFilter".into(), &attributes)?;
    let document = document().map_or(JsValue::UNDEFINED, JsValue::from);
    observe.call2(&observer, &document, &options).map(drop)
}
