//! Scenes that fit the chosen caption and go along with the drag.

use leptos::html::Canvas;
use leptos::prelude::*;

use crate::explorer::views::studio::drawing::Drawing;
use crate::explorer::views::studio::ghosts::{GhostScenes, N_GHOSTS};
use crate::scenes::render;
use crate::ui::dom::browser;
use crate::ui::dom::canvas;
use crate::ui::page::state::PageState;
use crate::ui::panels::chosen_caption::chosen_text;

/// Pixels of a small scene, which the browser scales.
const SIDE: u32 = 112;

/// Four scenes of the chosen caption, which follow the drawing once a frame; they stand still where motion is unwanted.
#[component]
pub(crate) fn GhostScenes() -> impl IntoView {
    let page = expect_context::<PageState>();
    let (drawing, text) = (page.drawing(), chosen_text(page));
    let ghosts = RwSignal::new(GhostScenes::default());
    let n_objects = Memo::new(move |_| drawing.with(|drawing| drawing.objects.len()));
    Effect::new(move |_| {
        n_objects.track();
        let text = text.get();
        ghosts.set(drawing.with_untracked(|drawing| GhostScenes::new(&text, drawing)));
    });
    let is_due = StoredValue::new(false);
    // The view may be left before the frame comes.
    let follow = move || {
        is_due.try_set_value(false);
        let follow = |drawing: &Drawing| ghosts.try_update(|ghosts| ghosts.follow(drawing));
        drawing.try_with_untracked(follow);
    };
    Effect::new(move |_| {
        drawing.track();
        if !is_due.get_value() && !browser::wants_stillness() {
            is_due.set_value(true);
            request_animation_frame(follow);
        }
    });
    let ghost = move |i: usize| {
        let of_caption = move || ghosts.with(|ghosts| ghosts.shown.get(i).cloned());
        small_scene(Memo::new(move |_| of_caption()).into())
    };
    let label = move || format!("Other scenes that fit “{}”", text.get());
    view! {
        <figure class="ghosts" hidden=move || ghosts.with(|ghosts| ghosts.shown.is_empty())>
            <div role="img" aria-label=label>{(0..N_GHOSTS).map(ghost).collect_view()}</div>
            <figcaption class="aside">{label}". They move along as long as it stays true."</figcaption>
        </figure>
    }
}

/// A small picture of a scene; nothing without one.
pub(super) fn small_scene(drawing: Signal<Option<Drawing>>) -> AnyView {
    let surface = NodeRef::<Canvas>::new();
    Effect::new(move |_| {
        if let (Some(surface), Some(drawing)) = (surface.get(), drawing.get()) {
            let pixels = render(&drawing.scene(), SIDE as usize);
            canvas::paint(&surface, &pixels, SIDE);
        }
    });
    let digits = move || drawing.with(|drawing| drawing.as_ref().map(Drawing::encode));
    view! {
        <canvas node_ref=surface data-scene=digits hidden=move || digits().is_none() width=SIDE height=SIDE></canvas>
    }
    .into_any()
}
