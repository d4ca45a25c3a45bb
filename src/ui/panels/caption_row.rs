//! One caption: its words on its halo, its numbers, and its cell for each picture.

use leptos::prelude::*;

use crate::explorer::{
    CaptionView, Direction, ExplorerState, ModelChoice, caption_note, halo_text, percent,
    three_significant, tokens_note,
};
use crate::ui::page::state::PageState;
use crate::ui::panels::line_field::LineField;
use crate::ui::panels::pair_cell::PairCell;
use crate::ui::plot;

/// A row of the matrix.
#[component]
pub(crate) fn CaptionRow(key: u64) -> impl IntoView {
    let page = expect_context::<PageState>();
    let text = Memo::new(move |_| {
        page.state
            .with(|state| state.captions.text(key).unwrap_or_default().to_owned())
    });
    let view = Memo::new(move |_| {
        page.readings
            .with(|readings| readings.caption(key).cloned())
    });
    let ids = Memo::new(move |_| page.state.with(|state| state.pictures.clone()));
    let percentile = move || view.with(|view| view.as_ref().map(|view| view.percentile));
    let certainty = move || {
        percentile().map_or_else(
            || "50%".to_owned(),
            |percentile| format!("{:.1}%", 100.0 - percentile),
        )
    };
    let tokens = Memo::new(move |_| page.cosines.with(|cosines| cosines.caption(key).cloned()));
    let is_stale = move || {
        let known = view.with(|view| view.as_ref().map(|view| view.caption.clone()));
        let known = known.or_else(|| tokens.get().map(|tokens| tokens.caption));
        known.is_none_or(|known| text.with(|text| known != *text))
    };
    let note = move || match tokens.get() {
        Some(tokens) => tokens_note(&tokens),
        None => caption_note(&text.get(), view.get().as_ref()),
    };
    view! {
        <tr role="row" class="row" class:stale=is_stale class:pointed=move || page.points_at_caption(key) data-caption=move || text.get() style:--certainty=certainty>
            <th role="rowheader" class="caption">
                {plot::halo(percentile, plot::Size::Wide)}
                <CaptionField key=key text=text/>
                <p class="note">{note}</p>
                <CaptionTools key=key text=text/>
            </th>
            <Numbers view=view is_stale=Signal::derive(is_stale)/>
            <For each=move || ids.get() key=Clone::clone let:id><PairCell caption=key text=text image=id/></For>
        </tr>
    }
}

/// Where a caption is typed.
#[component]
fn CaptionField(key: u64, text: Memo<String>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let number = move || {
        page.state.with(|state| {
            state
                .captions
                .iter()
                .position(|caption| caption.key == key)
                .map_or(0, |row| row + 1)
        })
    };
    view! {
        <LineField
            key=key cursor=page.cursor text=text
            edit=move |text| page.edit_caption(key, text)
            add=move || page.add_caption("")
            shift=move |direction| page.move_caption(key, direction)
            attr:placeholder="say what a picture shows" attr:aria-label=move || format!("Caption {}", number())
            on:focus=move |_| page.edited.set(Some(key))
        />
    }
}

/// The row's buttons; quiet until the row is pointed at or holds the focus.
#[component]
fn CaptionTools(key: u64, text: Memo<String>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let label = move |verb: &str| format!("{verb}: {}", text.get());
    view! {
        <span class="tools">
            <button type="button" class="sort-row" title="sort the pictures by this row" aria-label=move || label("Sort the pictures by") on:click=move |_| page.sort_pictures(key)>"⇆"</button>
            <button type="button" aria-label=move || label("Move up") on:click=move |_| page.move_caption(key, Direction::Up)>"↑"</button>
            <button type="button" aria-label=move || label("Move down") on:click=move |_| page.move_caption(key, Direction::Down)>"↓"</button>
            <button type="button" aria-label=move || label("Remove the caption") on:click=move |_| page.state.update(|state| state.remove_caption(key))>"×"</button>
        </span>
    }
}

/// κ, 1/κ, and where 1/κ stands among the reference captions.
#[component]
fn Numbers(view: Memo<Option<CaptionView>>, is_stale: Signal<bool>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let number = move |read: fn(&CaptionView) -> f64| view.with(|view| view.as_ref().map(read));
    let shown = move |read| match number(read) {
        Some(value) => three_significant(value),
        None if page.is_bare.get() => "no adapter".to_owned(),
        None => "–".to_owned(),
    };
    let exact = move |read| {
        number(read)
            .filter(|_| !is_stale.get())
            .map(|value| value.to_string())
    };
    let percentile = move || number(|view| view.percentile);
    view! {
        <td role="gridcell" class="numbers" class:bare=move || page.is_bare.get()>
            <span class="kappa"><i>"κ "</i><b data-field="kappa" data-value=move || exact(|view| view.concentration) title=move || exact(|view| view.concentration)>{move || shown(|view| view.concentration)}</b></span>
            <span class="inverse">"1/"<i>"κ "</i><span data-field="uncertainty" data-value=move || exact(|view| view.uncertainty) title=move || exact(|view| view.uncertainty)>{move || shown(|view| view.uncertainty)}</span></span>
            {plot::track(percentile)}
            <span class="vaguer">"vaguer than "<span data-field="percentile" data-value=move || exact(|view| view.percentile) title=move || exact(|view| view.percentile)>{move || percentile().map_or_else(|| "–".to_owned(), |value| percent(value / 100.0))}</span></span>
            <span class="hidden">{move || percentile().map(halo_text)}</span>
        </td>
    }
}

/// Adds a caption below the last, or the examples that are not there.
#[component]
pub(crate) fn NewCaption() -> impl IntoView {
    let page = expect_context::<PageState>();
    let lacks_examples = move || {
        page.state.with(|state| {
            state.model == ModelChoice::Scenes && !state.missing_examples().is_empty()
        })
    };
    let add_examples = move |_| {
        for caption in page.state.with_untracked(ExplorerState::missing_examples) {
            page.add_caption(caption);
        }
    };
    view! {
        <p class="new-caption">
            <button type="button" class="quiet" on:click=move |_| page.add_caption("")>"+ caption"</button>
            <Show when=lacks_examples><button type="button" class="quiet" on:click=add_examples>"+ the examples"</button></Show>
        </p>
    }
}
