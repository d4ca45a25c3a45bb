//! The field of one line in a list of them: a caption of the page, a rung of a ladder.

use leptos::ev::KeyboardEvent;
use leptos::html::Textarea;
use leptos::prelude::*;

use leptos::web_sys;
use web_sys::HtmlElement;

use crate::explorer::Direction;
use crate::ui::dom::browser;

/// Which line of a list takes the cursor, once its field is drawn.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cursor(RwSignal<Option<Arrival>>);

#[derive(Debug, Clone, Copy)]
struct Arrival {
    line: u64,
    scrolls: bool,
}

impl Cursor {
    /// Sends the cursor to a line, and brings the line into sight.
    pub(crate) fn send(self, line: u64) {
        self.0.set(Some(Arrival {
            line,
            scrolls: true,
        }));
    }

    /// Leaves the cursor in a line, in sight or not.
    pub(crate) fn leave(self, line: u64) {
        self.0.set(Some(Arrival {
            line,
            scrolls: false,
        }));
    }

    /// Puts the cursor into a line's field, if it is its turn.
    fn arrive(self, line: u64, field: &HtmlElement) {
        if let Some(arrival) = self.0.get().filter(|arrival| arrival.line == line) {
            browser::focus(field);
            if arrival.scrolls {
                browser::bring_into_sight(field);
            }
            self.0.set(None);
        }
    }
}

/// Where a line is typed. Enter adds the next one; Alt with an arrow moves this one.
#[component]
pub(crate) fn LineField(
    key: u64,
    cursor: Cursor,
    #[prop(into)] text: Signal<String>,
    edit: impl Fn(String) + 'static,
    add: impl Fn() + 'static,
    shift: impl Fn(Direction) + 'static,
) -> impl IntoView {
    let field = NodeRef::<Textarea>::new();
    Effect::new(move |_| {
        if let Some(field) = field.get() {
            cursor.arrive(key, &field);
        }
    });
    let on_key = move |event: KeyboardEvent| {
        match (event.key().as_str(), event.alt_key()) {
            ("Enter", _) if !event.is_composing() => add(),
            ("ArrowUp", true) => shift(Direction::Up),
            ("ArrowDown", true) => shift(Direction::Down),
            _ => return,
        }
        event.prevent_default();
    };
    view! {
        <textarea
            node_ref=field rows="1" spellcheck="false" autocomplete="off" prop:value=text on:keydown=on_key
            on:input:target=move |event| edit(event.target().value().replace('\n', " "))
        ></textarea>
    }
}
