//! The field of one line in a list of them: a caption of the page, a rung of a ladder.

use leptos::ev::KeyboardEvent;
use leptos::html::Textarea;
use leptos::prelude::*;

use crate::explorer::Direction;
use crate::protocol::MAX_CAPTION_CHARACTERS;
use crate::ui::dom::cursor::Cursor;

/// Field of a line. Enter adds the next one; Alt with an arrow moves this one.
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
            node_ref=field rows="1" maxlength=MAX_CAPTION_CHARACTERS.to_string() spellcheck="false" autocomplete="off"
            prop:value=text on:keydown=on_key
            on:input:target=move |event| edit(event.target().value().replace('\n', " "))
        ></textarea>
    }
}
