//! Speech: sentences for screen readers, all from one place of the document.
//!
//! Two places would speak at once. What stands in an element marked `data-spoken` is therefore copied to that one when
//! it becomes another text, together with what else has changed meanwhile.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::web_sys::{Element, HtmlElement, MutationRecord, Node};
use wasm_bindgen::JsCast as _;

use crate::ui::dom::changes::observe;
use crate::ui::page::state::PageState;

/// Pause after which a changed text is read out: long enough that the finished word is read and not each letter.
pub(crate) const PAUSE: Duration = Duration::from_millis(900);

/// Sends the texts of marked elements to screen readers when they change, as long as the page lives.
pub(crate) fn keep(page: PageState) {
    let changed = Rc::new(RefCell::new(Vec::<HtmlElement>::new()));
    let known = Rc::clone(&changed);
    let mut speak = debounce(PAUSE, move |()| {
        let changed = mem::take(&mut *changed.borrow_mut());
        // Text that a teacher's link hides is not part of the inner text, and so is not read out. An element that has
        // left the page or takes no place on it is skipped: its inner text would hold hidden text, too.
        let changed = changed.iter().filter(|element| element.offset_width() > 0);
        let texts = changed.map(HtmlElement::inner_text);
        let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        if !texts.is_empty() {
            page.spoken.set(texts.join(" "));
        }
    });
    observe(move |records| {
        for record in records {
            let target = record.unchecked_ref::<MutationRecord>().target();
            if let Some(element) = target.as_ref().and_then(marked) {
                let mut changed = known.borrow_mut();
                changed.retain(|other| *other != element);
                changed.push(element);
                speak(());
            }
        }
    });
}

/// The marked element in which something changed.
fn marked(target: &Node) -> Option<HtmlElement> {
    let own = target.dyn_ref::<Element>().cloned();
    let element = own.or_else(|| target.parent_element())?;
    element.closest("[data-spoken]").ok()??.dyn_into().ok()
}
