//! The cursor on its way to a line whose field is yet to be drawn.

use leptos::prelude::*;
use leptos::web_sys::HtmlElement;

use crate::ui::dom::browser;

/// Line of a list that takes the cursor, once its field is drawn.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cursor(RwSignal<Option<Target>>);

#[derive(Debug, Clone, Copy)]
struct Target {
    line: u64,
    scrolls: bool,
}

impl Cursor {
    /// Sends the cursor to a line, and brings the line into sight.
    pub(crate) fn send(self, line: u64) {
        self.0.set(Some(Target {
            line,
            scrolls: true,
        }));
    }

    /// Leaves the cursor in a line, in sight or not.
    pub(crate) fn leave(self, line: u64) {
        self.0.set(Some(Target {
            line,
            scrolls: false,
        }));
    }

    /// Puts the cursor into a line's field, if it is its turn.
    pub(crate) fn arrive(self, line: u64, field: &HtmlElement) {
        if let Some(target) = self.0.get().filter(|target| target.line == line) {
            browser::focus(field);
            if target.scrolls {
                browser::bring_into_sight(field);
            }
            self.0.set(None);
        }
    }
}
