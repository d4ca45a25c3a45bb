//! The worlds that come with the page: which one is shown, the way to the other, and the way back.

use leptos::prelude::*;

use crate::explorer::{ModelChoice, World};
use crate::ui::page::state::PageState;
use crate::ui::page::worlds;

/// The worlds, of which one is shown.
#[component]
pub(crate) fn WorldChoice() -> impl IntoView {
    let page = expect_context::<PageState>();
    let choice = move |world: World| {
        let model = ModelChoice::BuiltIn(world);
        let is_shown = move || page.shown_model() == model;
        let open = move |_| {
            let view = page.state.with_untracked(|state| state.view);
            worlds::go_to(page, world, view);
        };
        let about = match world {
            World::Photographs => "",
            World::Scenes => ": a world whose truth is known",
        };
        view! {
            <button
                type="button" class="world" data-world=world.slug() aria-pressed=move || is_shown().to_string()
                on:click=open
            ><b>{world.title()}</b>{about}</button>
        }
    };
    view! { <div class="worlds" role="group" aria-label="World">{World::ALL.map(choice).collect_view()}</div> }
}

/// Note that a view has switched to the world whose truth is known, with the way back.
#[component]
pub(crate) fn WayBack() -> impl IntoView {
    let page = expect_context::<PageState>();
    move || {
        let left = page.left.get()?;
        let world = left
            .model
            .built_in()
            .filter(|world| !world.has_known_truth())?;
        let go_back = move |_| worlds::go_to(page, world, left.view);
        Some(view! {
            <p class="aside way-back">
                {worlds::GONE_TO_SCENES}
                <button type="button" class="quiet" data-act="back" on:click=go_back>"Back to "{world.title()}</button>
            </p>
        })
    }
}
