//! Files that the visitor picked: they come beside a message and are read slice by slice, never as a whole.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use web_sys::Blob;

pub use crate::wire::FILES;
use crate::wire::property;

/// The files that came last, by name; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Picked(Rc<RefCell<BTreeMap<String, Blob>>>);

impl Picked {
    /// Keeps a message's files, and gives the message without them.
    #[must_use]
    pub fn take_from(&self, message: JsValue) -> JsValue {
        let files = property(&message, FILES);
        if !files.is_object() {
            return message;
        }
        let files = Array::from(&files).into_iter().filter_map(|file| {
            let name = property(&file, "name").as_string()?;
            Some((name, file.dyn_into::<Blob>().ok()?))
        });
        *self.0.borrow_mut() = files.collect();
        // The message is this program's own copy, so it may be changed.
        let object: &Object = message.unchecked_ref();
        Reflect::delete_property(object, &FILES.into()).ok();
        message
    }

    /// Handles of the files that came last, by name.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, Blob> {
        self.0.borrow().clone()
    }
}
