//! What the chosen object is made of, what all of them lie on, and one more or one less.

use leptos::prelude::*;

use crate::explorer::{
    Drawing, Piece, colour_name, ground_name, light_name, shape_name, size_name, texture_name,
};
use crate::scenes::scene::{Colour, Ground, Light, MAX_OBJECTS, Shape, Size, Texture};
use crate::ui::page::state::PageState;
use crate::ui::views::select::Select;
use crate::ui::views::studio::view::drawing;

/// The tools under the drawing.
#[component]
pub(crate) fn Tools(chosen: RwSignal<usize>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let drawing = drawing(page);
    let n_pieces = move || drawing.with(|drawing| drawing.pieces.len());
    let is_full = move || n_pieces() >= MAX_OBJECTS;
    let is_single = move || n_pieces() < 2;
    let add = move |_| {
        let added = page.state.try_update(|state| state.drawing.add());
        if let Some(Some(i)) = added {
            chosen.set(i);
        }
    };
    let remove = move |_| {
        page.state
            .update(|state| _ = state.drawing.remove(chosen.get_untracked()));
        chosen.set(chosen.get_untracked().min(n_pieces() - 1));
    };
    let of_piece = move |read: fn(&Piece) -> usize| {
        Signal::derive(move || {
            drawing.with(|drawing| drawing.pieces.get(chosen.get()).map_or(0, read))
        })
    };
    let change = move |write: fn(&mut Piece, usize)| {
        Callback::new(move |value: usize| {
            page.state.update(|state| {
                if let Some(piece) = state.drawing.pieces.get_mut(chosen.get_untracked()) {
                    write(piece, value);
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
            <Select id="piece-shape" label="Shape" names=names(Shape::ALL, shape_name) value=of_piece(|piece| piece.shape.index())
                on_choose=change(|piece, i| piece.shape = at(Shape::ALL, i))/>
            <Select id="piece-colour" label="Colour" names=names(Colour::ALL, colour_name) value=of_piece(|piece| piece.colour.index())
                on_choose=change(|piece, i| piece.colour = at(Colour::ALL, i))/>
            <Select id="piece-size" label="Size" names=names(Size::ALL, size_name) value=of_piece(|piece| piece.size.index())
                on_choose=change(|piece, i| piece.size = at(Size::ALL, i))/>
            <Select id="piece-texture" label="Fill" names=names(Texture::ALL, texture_name) value=of_piece(|piece| piece.texture.index())
                on_choose=change(|piece, i| piece.texture = at(Texture::ALL, i))/>
            <Select id="ground" label="Ground" names=names(Ground::ALL, ground_name) value=of_all(|drawing| drawing.ground.index())
                on_choose=change_all(|drawing, i| drawing.ground = at(Ground::ALL, i))/>
            <Select id="light" label="Light" names=names(Light::ALL, light_name) value=of_all(|drawing| drawing.light.index())
                on_choose=change_all(|drawing, i| drawing.light = at(Light::ALL, i))/>
            <p class="view-controls">
                <button type="button" class="quiet" disabled=is_full on:click=add>"+ shape"</button>
                <button type="button" class="quiet" disabled=is_single on:click=remove>"remove the chosen shape"</button>
            </p>
        </div>
    }
}

fn names<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|value| name(*value)).collect()
}

/// The value at an index that a list of the same values offered.
fn at<T: Copy>(all: &[T], i: usize) -> T {
    all[i.min(all.len() - 1)]
}
