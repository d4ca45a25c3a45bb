//! The focus, which goes to what stands nearest when the element that has it is removed, hidden or disabled.

use std::cell::RefCell;
use std::iter::successors;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::set_timeout;
use leptos::web_sys::{Element, HtmlElement};
use wasm_bindgen::JsCast as _;

use crate::ui::dom::browser::{document, focus, has_mouse, intercept};
use crate::ui::dom::changes::observe;

/// Selector of elements that take the focus and open no keyboard over the page.
const CONTROLS: &str = "button, select, summary, a[href], input:not([type=text]), [tabindex='0']";
/// Selector of these and of fields, where something is typed.
const CONTROLS_AND_FIELDS: &str =
    "button, select, summary, a[href], input, textarea, [tabindex='0']";
/// Selector of elements that keep no focus.
const UNUSABLE: &str = ":disabled, [hidden], [hidden] *";
/// The parts of the page within which what stands nearest is looked for.
const PARTS: &str = "main, #app, body";

/// The element that had the focus last and its ancestors, outward, each with its place among its siblings.
type Path = Rc<RefCell<Vec<(Element, usize)>>>;

/// Keeps the focus on the page, as long as the page lives.
pub(crate) fn keep() {
    let path = Path::default();
    let [seen, left] = [path.clone(), path.clone()];
    intercept("focusin", move |event| {
        let focused = event.target().and_then(|focused| focused.dyn_into().ok());
        seen.replace(path_of(focused));
    });
    intercept("focusout", move |_| mend_soon(&left));
    observe(move |_| mend_soon(&path));
}

fn path_of(focused: Option<Element>) -> Vec<(Element, usize)> {
    let ancestors = successors(focused, |element| element.parent_element());
    let place = |element: &Element| {
        let before = successors(element.previous_element_sibling(), |sibling| {
            sibling.previous_element_sibling()
        });
        before.count()
    };
    ancestors
        .map(|element| (element.clone(), place(&element)))
        .collect()
}

/// Looks for the focus after all else that follows from a change, which may give it a place itself.
fn mend_soon(path: &Path) {
    let path = path.clone();
    if !path.borrow().is_empty() {
        set_timeout(move || mend(&path), Duration::ZERO);
    }
}

/// Gives the focus a place if it was lost; if the visitor left what had it, that is forgotten.
fn mend(path: &Path) {
    let Some((last, _)) = path.borrow().first().cloned() else {
        return;
    };
    let is_usable = last.is_connected() && !matches(&last, UNUSABLE);
    if is_usable && has_focus(&last) {
        return;
    }
    let path = path.take();
    if !is_usable {
        give_to_nearest(&path);
    }
}

/// Gives the focus to the first control after the place where it was, else before it, else farther out; at last to the
/// open view.
fn give_to_nearest(path: &[(Element, usize)]) {
    let controls = if has_mouse() {
        CONTROLS_AND_FIELDS
    } else {
        CONTROLS
    };
    let ancestors = path.iter().skip(1).map(|(ancestor, _)| ancestor);
    for ((_, place), ancestor) in path.iter().zip(ancestors) {
        if matches(ancestor, PARTS) {
            break;
        }
        if !ancestor.is_connected() || matches(ancestor, UNUSABLE) {
            continue;
        }
        let children: Vec<Element> = children(ancestor).collect();
        let (before, after) = children.split_at(children.len().min(*place));
        let mut nearest = after.iter().chain(before.iter().rev());
        if nearest.any(|child| takes_focus(child, controls)) {
            return;
        }
    }
    if let Some(view) = document().and_then(|document| document.query_selector("main").ok()?) {
        try_focus(&view);
    }
}

/// Whether an element, or a control in it, takes the focus that it is given. Firefox leaves the focus at a control that
/// is disabled, where no key does anything.
fn takes_focus(element: &Element, controls: &str) -> bool {
    let is_usable = matches(element, controls) && !matches(element, UNUSABLE);
    is_usable && try_focus(element) || children(element).any(|child| takes_focus(&child, controls))
}

fn try_focus(element: &Element) -> bool {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        focus(element);
    }
    has_focus(element)
}

fn has_focus(element: &Element) -> bool {
    let focused = document().and_then(|document| document.active_element());
    focused.as_ref() == Some(element)
}

fn children(of: &Element) -> impl Iterator<Item = Element> {
    successors(of.first_element_child(), Element::next_element_sibling)
}

fn matches(element: &Element, selector: &str) -> bool {
    // The selectors are constants that the browser can parse.
    element.matches(selector).unwrap_or(false)
}
