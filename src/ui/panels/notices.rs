//! Messages to the visitor: what happened, what still works, what to do.

use leptos::prelude::*;

use crate::ui::page::state::PageState;

/// The messages, over the page's lower edge so that nothing moves when one comes.
#[component]
pub(crate) fn Notices() -> impl IntoView {
    let page = expect_context::<PageState>();
    let dismiss = move |key| page.notices.dismiss(key);
    view! {
        <div class="notices" role="alert" aria-label="Messages">
            <For each=move || page.notices.shown() key=|notice| notice.key let:notice>
                <p class="notice">
                    <span>{notice.text}</span>
                    <button type="button" aria-label="Dismiss this message" on:click=move |_| dismiss(notice.key)>
                        "×"
                    </button>
                </p>
            </For>
        </div>
    }
}
