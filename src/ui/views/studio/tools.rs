//! What the chosen object is made of, what all of them lie on, and one more or one less.

use leptos::prelude::*;

use crate::explorer::{Drawing, DrawnObject, value_name};
use crate::scenes::scene::{Colour, Ground, Light, MAX_OBJECTS, Shape, Size, Texture};
use crate::ui::page::state::PageState;
use crate::ui::views::select::Select;
use crate::ui::views::studio::view::drawing;

/// The tools under the drawing.
#[component]
pub(crate) fn Tools(chosen: RwSignal<usize>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let drawing = drawing(page);
    let n_objects = move || drawing.with(|drawing| drawing.objects.len());
    let is_full = move || n_objects() >= MAX_OBJECTS;
    let is_single = move || n_objects() < 2;
    let add = move |_| {
        let added = page.state.try_update(|state| state.drawing.add());
        if let Some(Some(i)) = added {
            chosen.set(i);
        }
    };
    let remove = move |_| {
        page.state
            .update(|state| _ = state.drawing.remove(chosen.get_untracked()));
        chosen.set(chosen.get_untracked().min(n_objects() - 1));
    };
    let of_object = move |read: fn(&DrawnObject) -> usize| {
        Signal::derive(move || {
            drawing.with(|drawing| drawing.objects.get(chosen.get()).map_or(0, read))
        })
    };
    let change = move |write: fn(&mut DrawnObject, usize)| {
        Callback::new(move |value: usize| {
            page.state.update(|state| {
                if let Some(object) = state.drawing.objects.get_mut(chosen.get_untracked()) {
                    write(object, value);
                }
            });
        })
    };
    let of_all = move |read: fn(&Drawing) -> usize| Signal::derive(move || drawing.with(read));
    let change_all = move |write: fn(&mut Drawing, usize)| {
        Callback::new(move |value: usize| {
            page.state.update(|state| write(&mut state.drawing, value));
        })
    };
    view! {
        <div class="studio-tools">
            <Select id="piece-shape" label="Shape" names=names(Shape::ALL) value=of_object(|object| object.shape.index())
                on_choose=change(|object, i| object.shape = at(Shape::ALL, i))/>
            <Select id="piece-colour" label="Colour" names=names(Colour::ALL) value=of_object(|object| object.colour.index())
                on_choose=change(|object, i| object.colour = at(Colour::ALL, i))/>
            <Select id="piece-size" label="Size" names=names(Size::ALL) value=of_object(|object| object.size.index())
                on_choose=change(|object, i| object.size = at(Size::ALL, i))/>
            <Select id="piece-texture" label="Fill" names=names(Texture::ALL) value=of_object(|object| object.texture.index())
                on_choose=change(|object, i| object.texture = at(Texture::ALL, i))/>
            <Select id="ground" label="Ground" names=names(Ground::ALL) value=of_all(|drawing| drawing.ground.index())
                on_choose=change_all(|drawing, i| drawing.ground = at(Ground::ALL, i))/>
            <Select id="light" label="Light" names=names(Light::ALL) value=of_all(|drawing| drawing.light.index())
                on_choose=change_all(|drawing, i| drawing.light = at(Light::ALL, i))/>
            <p class="view-controls">
                <button type="button" class="quiet" disabled=is_full on:click=add>"+ shape"</button>
                <button type="button" class="quiet" disabled=is_single on:click=remove>"remove the chosen shape"</button>
            </p>
        </div>
    }
}

fn names<T: std::fmt::Debug>(all: &[T]) -> Vec<String> {
    all.iter().map(value_name).collect()
}

/// The value at an index that a list of the same values offered.
fn at<T: Copy>(all: &[T], i: usize) -> T {
    all[i.min(all.len() - 1)]
}
