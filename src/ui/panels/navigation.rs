//! The way from view to view, each with an address of its own.

use leptos::ev::MouseEvent;
use leptos::html::Nav;
use leptos::prelude::*;

use crate::explorer::{View, encode, encode_view};
use crate::ui::dom::browser;
use crate::ui::page::state::PageState;

/// One link for each view, in their groups.
#[component]
pub(crate) fn Navigation() -> impl IntoView {
    let mut groups: Vec<&'static str> = View::ALL.map(View::group).to_vec();
    groups.dedup();
    let links = |group: &'static str| {
        let views = View::ALL.into_iter().filter(|view| view.group() == group);
        views
            .map(|view| view! { <li><Link to=view/></li> })
            .collect_view()
    };
    let group = |name: &'static str| {
        view! {
            <div class="view-group">
                <span class="label" aria-hidden="true">{name}</span>
                <ul aria-label=name>{links(name)}</ul>
            </div>
        }
    };
    let page = expect_context::<PageState>();
    let views = NodeRef::<Nav>::new();
    let view = Memo::new(move |_| page.state.with(|state| state.view));
    // On a phone the row scrolls sideways. Where things stand is known without more work once the page is laid out.
    Effect::new(move |_| {
        let selector = format!("[data-to={}]", view.get().slug());
        if let Some(views) = views.get() {
            request_animation_frame(move || browser::bring_to_middle(&views, &selector));
        }
    });
    view! { <nav node_ref=views class="views" aria-label="Views">{groups.into_iter().map(group).collect_view()}</nav> }
}

/// A link that carries the whole page; a plain click stays on it and keeps the visitor's own pictures.
#[component]
fn Link(to: View) -> impl IntoView {
    let page = expect_context::<PageState>();
    let href = Memo::new(move |_| page.state.with(|state| encode_view(state, to)));
    let current = move || (page.state.with(|state| state.view) == to).then_some("page");
    let follow = move |event: MouseEvent| {
        let opens_elsewhere =
            event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
        if !opens_elsewhere {
            event.prevent_default();
            open(page, to);
        }
    };
    view! {
        <a data-to=to.slug() href=move || format!("#{}", href.get()) aria-current=current on:click=follow>
            {to.name()}
        </a>
    }
}

/// Opens a view as a new entry of the history; the present one is left as it stands.
pub(crate) fn open(page: PageState, view: View) {
    let (now, then) = page
        .state
        .with_untracked(|state| (encode(state), encode_view(state, view)));
    if now != then {
        browser::set_fragment(&now);
        browser::push_fragment(&then);
        page.change(&mut |state| state.view = view);
    }
}
