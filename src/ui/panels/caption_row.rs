//! One caption: its words on its halo, its numbers, and its cell for each picture.

use leptos::prelude::*;

use crate::explorer::{
    CaptionView, Direction, ExplorerState, HaloMark, History, MAX_CHANGES, WordChange, World,
    caption_note, halo_text, percent, respelt_captions, set_text, share_of_drawings,
    three_significant, tokens_note, word_changes,
};
use crate::protocol::Respelling;
use crate::ui::page::state::PageState;
use crate::ui::panels::each::each;
use crate::ui::panels::line_field::LineField;
use crate::ui::panels::measures::strokes;
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
    let view = Memo::new(move |_| page.caption_view(key));
    let tokens = Memo::new(move |_| page.cosines.with(|cosines| cosines.caption(key).cloned()));
    let ids = page.pictures();
    let mark = move || view.with(|view| view.as_ref().map(CaptionView::mark));
    let is_stale = Signal::derive(move || {
        let of_view = view.with(|view| view.as_ref().map(|view| view.caption.clone()));
        let of_tokens = || tokens.get().map(|tokens| tokens.caption);
        of_view.or_else(of_tokens) != Some(text.get())
    });
    // A dash is not dimmed while there are no numbers yet: it must be as legible as a number.
    let is_dimmed =
        move || is_stale.get() && (view.with(Option::is_some) || tokens.with(Option::is_some));
    let note = move || match tokens.get() {
        Some(tokens) => tokens_note(&tokens, None),
        None => caption_note(&text.get(), view.get().as_ref()),
    };
    let respellings = Memo::new(move |_| match tokens.get() {
        Some(tokens) => tokens.respellings,
        None => view.get().map(|view| view.respellings).unwrap_or_default(),
    });
    let zero_note = move || page.readings.with(|readings| readings.zero_note(key));
    view! {
        <tr
            role="row" class="row" class:stale=is_dimmed
            class:pointed=move || page.points_at_caption(key)
            data-caption=move || text.get() style:--certainty=move || plot::certainty(mark())
        >
            <th role="rowheader" class="caption">
                {plot::halo(mark, plot::HaloSize::Wide)}
                <div class="typed"><CaptionField key=key text=text/>{strokes(move || view.get(), text.into())}</div>
                <p class="note">{note}</p>
                <p class="note zero-note">{zero_note}</p>
                <Changes key=key text=text respellings=respellings/>
                <CaptionTools key=key text=text/>
            </th>
            <Numbers key=key text=text view=view is_stale=is_stale/>
            {each(move || ids.get(), move |id| view! { <PairCell caption=key text=text image=id/> }.into_any())}
        </tr>
    }
}

/// Field of a caption.
#[component]
fn CaptionField(key: u64, text: Memo<String>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let row = move || {
        page.state
            .with(|state| state.captions.iter().position(|caption| caption.key == key))
    };
    let label = move || format!("Caption {}", row().map_or(0, |row| row + 1));
    view! {
        <LineField
            key=key cursor=page.cursor text=text
            edit=move |text| page.edit_caption(key, text)
            add=move || page.add_caption("")
            shift=move |direction| page.move_caption(key, direction)
            attr:placeholder="say what a picture shows" attr:aria-label=label
            on:focus=move |_| page.edited.set(Some(key))
        />
    }
}

/// Changes of one word: those to another spelling, and others beside the caption that was edited or chosen last.
#[component]
fn Changes(key: u64, text: Memo<String>, respellings: Memo<Vec<Respelling>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let is_shown = move || {
        let chosen = || page.state.with(|state| state.caption);
        page.edited.get().or_else(chosen) == Some(key)
    };
    let changes = Memo::new(move |_| {
        let text = text.get();
        let respelt = respellings.with(|respellings| respelt_captions(&text, respellings));
        let others = is_shown()
            .then(|| word_changes(&text))
            .into_iter()
            .flatten();
        respelt
            .into_iter()
            .chain(others)
            .collect::<Vec<WordChange>>()
    });
    let read = move |i: usize, part: fn(WordChange) -> String| {
        changes.with(|changes| changes.get(i).cloned().map(part))
    };
    // The button stays while its words change, so that it keeps the focus.
    let button = |i: usize| {
        let change = move |_| {
            if let Some(caption) = read(i, |change| change.caption) {
                page.replace_caption(key, caption);
            }
        };
        view! {
            <button type="button" on:click=change>{move || read(i, |change| change.label)}</button>
        }
    };
    view! {
        <p class="changes" role="group" aria-label="Change one word">
            {(0..MAX_CHANGES).map(button).collect_view()}
        </p>
    }
}

/// The row's buttons; quiet until the row is pointed at or holds the focus.
#[component]
fn CaptionTools(key: u64, text: Memo<String>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let button = move |class: &'static str,
                       sign: &'static str,
                       verb: &'static str,
                       act: Callback<()>| {
        let label = move || format!("{verb}: {}", text.get());
        view! {
            <button type="button" class=class title=verb aria-label=label on:click=move |_| act.run(())>{sign}</button>
        }
    };
    let sort = Callback::new(move |()| page.sort_pictures(key));
    let shift = move |direction| Callback::new(move |()| page.move_caption(key, direction));
    let remove = Callback::new(move |()| page.remove_caption(key));
    view! {
        <span class="tools">
            {button("sort-row", "⇆", "Sort the pictures by this row", sort)}
            {button("shift", "↑", "Move up", shift(Direction::Up))}
            {button("shift", "↓", "Move down", shift(Direction::Down))}
            {button("remove-row", "×", "Remove the caption", remove)}
        </span>
    }
}

/// κ, 1/κ, and where 1/κ stands among the reference captions.
#[component]
fn Numbers(
    key: u64,
    text: Memo<String>,
    view: Memo<Option<CaptionView>>,
    is_stale: Signal<bool>,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let fits = Memo::new(move |_| {
        let lit = page.lit_pictures(key, &text.get())?;
        Some(match page.world.get() {
            World::Scenes => format!("fits {}", share_of_drawings(&lit)),
            // Nobody knows which photographs fit.
            World::Photographs => set_text(&lit),
        })
    });
    let read =
        move |part: fn(&CaptionView) -> Option<f64>| view.with(|view| view.as_ref().and_then(part));
    let mark = move || view.with(|view| view.as_ref().map(CaptionView::mark));
    let is_unread = move || mark() == Some(HaloMark::Unread);
    let number = move |field: &'static str,
                       part: fn(&CaptionView) -> Option<f64>,
                       show: fn(f64) -> String| {
        let exact = move || {
            read(part)
                .filter(|_| !is_stale.get())
                .map(|value| value.to_string())
        };
        let shown = move || match read(part) {
            Some(value) => show(value),
            None if page.is_bare.get() => "no adapter".to_owned(),
            None => "–".to_owned(),
        };
        view! { <span data-field=field data-value=exact title=exact>{shown}</span> }
    };
    view! {
        <td role="gridcell" class="numbers" class:bare=move || page.is_bare.get()>
            <span class="fits">{fits}</span>
            <span class="kappa">
                <i>"κ "</i><b>{number("kappa", |view| Some(view.concentration), three_significant)}</b>
            </span>
            <span class="inverse">
                "1/"<i>"κ "</i>{number("uncertainty", |view| Some(view.uncertainty), three_significant)}
            </span>
            {plot::track(move || read(|view| view.percentile))}
            <span class="vaguer" hidden=is_unread>
                "vaguer than "{number("percentile", |view| view.percentile, |value| percent(value / 100.0))}
                " of sample captions"
            </span>
            <span class="hidden">{move || mark().map(|mark| format!(". Its halo is {}", halo_text(mark)))}</span>
        </td>
    }
}

/// Adds a caption below the last, or the examples that are not there.
#[component]
pub(crate) fn NewCaption() -> impl IntoView {
    let page = expect_context::<PageState>();
    let lacks_examples = move || {
        page.state
            .with(|state| !state.missing_examples().is_empty())
    };
    let add_examples = move |_| {
        for caption in page.state.with_untracked(ExplorerState::missing_examples) {
            page.add_caption(caption);
        }
    };
    view! {
        <p class="new-caption">
            <button type="button" class="quiet" on:click=move |_| page.add_caption("")>"+ caption"</button>
            <Show when=lacks_examples>
                <button type="button" class="quiet" on:click=add_examples>"+ the examples"</button>
            </Show>
            <button
                type="button" class="quiet" title="Ctrl+Z" hidden=move || page.history.with(History::is_empty)
                on:click=move |_| page.undo()
            >"undo"</button>
        </p>
    }
}
