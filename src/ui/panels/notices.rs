//! Messages to the visitor: what happened, what still works, what to do.

use leptos::prelude::*;

use crate::ui::page::notices::Notice;
use crate::ui::page::state::PageState;
use crate::ui::panels::each::each;

/// The messages, over the page's lower edge so that nothing moves when one comes.
#[component]
pub(crate) fn Notices() -> impl IntoView {
    let page = expect_context::<PageState>();
    let notice = move |Notice { key, text }| {
        let dismiss = move |_| page.notices.dismiss(key);
        view! {
            <p class="notice">
                <span>{text}</span>
                <button type="button" aria-label="Dismiss this message" on:click=dismiss>"×"</button>
            </p>
        }
        .into_any()
    };
    view! {
        <div class="notices" role="alert" aria-label="Messages">
            {each(move || page.notices.shown(), notice)}
        </div>
    }
}
