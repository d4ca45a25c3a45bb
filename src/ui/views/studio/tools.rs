//! Tools for the drawing: properties of the chosen object, ground and light, and adding or removing an object.

use leptos::prelude::*;

use crate::explorer::views::studio::drawing::{Drawing, value_name};
use crate::scenes::scene::{Colour, Ground, Light, MAX_OBJECTS, Shape, Size, Texture};
use crate::ui::page::state::PageState;
use crate::ui::panels::select::Select;

/// The tools under the drawing.
#[component]
pub(crate) fn Tools(chosen: RwSignal<usize>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let drawing = page.drawing();
    let n_objects = move || drawing.with(|drawing| drawing.objects.len());
    let is_full = move || n_objects() >= MAX_OBJECTS;
    let is_single = move || n_objects() < 2;
    let add = move |_| {
        page.keep_step(None);
        let added = page.state.try_update(|state| state.drawing.add());
        if let Some(Some(i)) = added {
            chosen.set(i);
        }
    };
    let remove = move |_| {
        page.keep_step(None);
        page.change(&mut |state| _ = state.drawing.remove(chosen.get_untracked()));
        chosen.set(chosen.get_untracked().min(n_objects() - 1));
    };
    let shape = property(chosen, Shape::ALL, |drawing, i| {
        Some(&mut drawing.objects.get_mut(i)?.shape)
    });
    let colour = property(chosen, Colour::ALL, |drawing, i| {
        Some(&mut drawing.objects.get_mut(i)?.colour)
    });
    let size = property(chosen, Size::ALL, |drawing, i| {
        Some(&mut drawing.objects.get_mut(i)?.size)
    });
    let texture = property(chosen, Texture::ALL, |drawing, i| {
        Some(&mut drawing.objects.get_mut(i)?.texture)
    });
    let ground = property(chosen, Ground::ALL, |drawing, _| Some(&mut drawing.ground));
    let light = property(chosen, Light::ALL, |drawing, _| Some(&mut drawing.light));
    view! {
        <div class="studio-tools">
            {shape("piece-shape", "Shape")}
            {colour("piece-colour", "Colour")}
            {size("piece-size", "Size")}
            {texture("piece-texture", "Fill")}
            {ground("ground", "Ground")}
            {light("light", "Light")}
            <p class="view-controls">
                <button type="button" class="quiet" disabled=is_full on:click=add>"+ shape"</button>
                <button type="button" class="quiet" disabled=is_single on:click=remove>
                    "remove the chosen shape"
                </button>
            </p>
        </div>
    }
}

/// A choice among all values of a property of the drawing or its chosen object, given an id and a label.
fn property<T: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static>(
    chosen: RwSignal<usize>,
    all: &'static [T],
    field: fn(&mut Drawing, usize) -> Option<&mut T>,
) -> impl Fn(&'static str, &'static str) -> AnyView {
    let page = expect_context::<PageState>();
    let value = Signal::derive(move || {
        let mut drawing = page.state.with(|state| state.drawing.clone());
        let value = field(&mut drawing, chosen.get()).copied();
        all.iter()
            .position(|known| Some(*known) == value)
            .unwrap_or(0)
    });
    let choose = Callback::new(move |i: usize| {
        page.keep_step(None);
        page.change(&mut |state| {
            let field = field(&mut state.drawing, chosen.get_untracked());
            if let (Some(field), Some(value)) = (field, all.get(i)) {
                *field = *value;
            }
        });
    });
    move |id, label| {
        let names = all.iter().map(value_name).collect();
        view! { <Select id=id label=label names=names value=value on_choose=choose/> }.into_any()
    }
}
