//! Captions from the general to the specific as one object, and whether κ rises with each rung.

use std::collections::HashMap;

use leptos::prelude::*;

use crate::explorer::views::ladder::{
    BUILT_IN_LADDERS, Ladder as Rungs, MAX_RUNGS, RungStep, RungView, bits_of, built_in_ladder,
    ladder_text, rung_text, rung_views, step_text,
};
use crate::explorer::{Direction, Extent, World, signed, three_significant};
use crate::ui::dom::browser;
use crate::ui::dom::cursor::Cursor;
use crate::ui::page::state::PageState;
use crate::ui::panels::controls::FamilyChoice;
use crate::ui::panels::each::each;
use crate::ui::panels::line_field::LineField;
use crate::ui::panels::measures::{Number, foot, head, strokes};
use crate::ui::panels::prose::about;
use crate::ui::plot;

const COLUMNS: &str = "Rung, the most general first|~how specific to the model|*κ*|\
    change|~what the words say|bits|step";
const ABOUT: &str = "
# Two measures of the same words
*κ* is what the model makes of a caption. *Bits* are what the words say about drawn scenes, whose rules are known:
each bit halves the scenes that fit. A rung that has more bits and no higher *κ* is marked: the model did not see what
the words added.

# What it is not
Bits are known only for sentences about drawn scenes, and stand in that world only. Nobody has counted photographs;
there *κ* can be held against the order of the rungs and no more. A ladder about one world means little to the
other’s model.";

/// The view: a choice of ladders, and the rungs of one.
#[component]
pub(crate) fn Ladder() -> impl IntoView {
    let page = expect_context::<PageState>();
    provide_context(Cursor::default());
    // Sampling the information of a long caption takes milliseconds; each is worked out once.
    let known_bits = StoredValue::new(HashMap::new());
    let rungs = Memo::new(move |_| {
        let texts: Vec<String> = page
            .state
            .with(|state| state.ladder.texts().map(str::to_owned).collect());
        let family = page.family();
        let is_known = page.world.get().has_known_truth();
        let bits = |text: &String| is_known.then(|| bits(known_bits, text)).flatten();
        let bits: Vec<Option<f64>> = texts.iter().map(bits).collect();
        page.cache
            .with(|cache| rung_views(&texts, &bits, cache, family))
    });
    view! {
        <section class="view" aria-labelledby="ladder-title">
            <h2 id="ladder-title">"Does each rung say more than the one above?"</h2>
            <LadderChoice/>
            <FamilyChoice/>
            <p class="finding">{move || rungs.with(|rungs| ladder_text(rungs))}</p>
            <RungTable rungs=rungs/>
            <NewRung/>
            {about(ABOUT)}
        </section>
    }
}

/// Information of a caption in bits, worked out once.
fn bits(known: StoredValue<HashMap<String, Option<f64>>>, text: &str) -> Option<f64> {
    let remembered = known.with_value(|known| known.get(text).copied());
    remembered.unwrap_or_else(|| {
        let bits = bits_of(text);
        known.update_value(|known| _ = known.insert(text.to_owned(), bits));
        bits
    })
}

/// The built-in ladders, and the page's own captions as one.
#[component]
fn LadderChoice() -> impl IntoView {
    let page = expect_context::<PageState>();
    let chosen = Memo::new(move |_| page.state.with(|state| built_in_ladder(&state.ladder)));
    let choose = move |value: String| {
        let at: Option<usize> = value.parse().ok();
        if let Some(built_in) = at.and_then(|i| BUILT_IN_LADDERS.get(i)) {
            page.keep_step(None);
            page.change(&mut |state| state.ladder = Rungs::new(built_in.rungs.iter().copied()));
        }
    };
    let take_captions = move |_| {
        page.keep_step(None);
        page.change(&mut |state| {
            let (_, captions) = state.askable();
            state.ladder = Rungs::new(captions.iter().map(String::as_str));
        });
    };
    // The options are told which of them is chosen: a select forgets its value when it is set before they are there.
    let option = move |i: usize, name: &'static str| {
        view! { <option value=i.to_string() prop:selected=move || chosen.get() == Some(i)>{name}</option> }
    };
    let group = move |world: World| {
        let ladders = BUILT_IN_LADDERS.iter().enumerate();
        let of_world = ladders.filter(|(_, ladder)| ladder.world == world);
        let options = of_world
            .map(|(i, ladder)| option(i, ladder.name))
            .collect_view();
        view! { <optgroup label=world.title()>{options}</optgroup> }
    };
    let groups = move || {
        let mut worlds = World::ALL;
        worlds.sort_by_key(|world| *world != page.world.get());
        worlds.map(group).collect_view()
    };
    view! {
        <p class="view-controls">
            <label>"Ladder "
                <select on:change=move |event| choose(event_target_value(&event))>
                    {groups}
                    <option value="own" disabled=true prop:selected=move || chosen.get().is_none()>"your own"</option>
                </select>
            </label>
            <button type="button" class="quiet" on:click=take_captions>"take the captions of the page"</button>
        </p>
    }
}

#[component]
fn RungTable(rungs: Memo<Vec<RungView>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let of = |ladder: &Rungs| ladder.iter().map(|rung| rung.key).collect::<Vec<_>>();
    let keys = Memo::new(move |_| page.state.with(|state| of(&state.ladder)));
    let extent = move |read: fn(&RungView) -> Option<f64>| {
        Memo::new(move |_| rungs.with(|rungs| Extent::of(rungs.iter().filter_map(read))))
    };
    let (kappas, bits) = (extent(kappa), extent(|rung| rung.bits));
    let rung = move |key| view! { <Rung key=key rungs=rungs kappas=kappas bits=bits/> }.into_any();
    view! {
        <table class="measures cards rungs">
            <caption class="hidden">"The rungs with κ, its change, and the information of the words"</caption>
            {head(COLUMNS)}
            <tbody>
                {each(move || keys.get(), rung)}
            </tbody>
            {foot(COLUMNS, [kappas, bits])}
        </table>
    }
}

fn kappa(rung: &RungView) -> Option<f64> {
    Some(rung.view.as_ref()?.concentration)
}

/// One rung with its numbers and its mark.
#[component]
fn Rung(
    key: u64,
    rungs: Memo<Vec<RungView>>,
    kappas: Memo<Extent>,
    bits: Memo<Extent>,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let place = Memo::new(move |_| {
        page.state
            .with(|state| state.ladder.iter().position(|rung| rung.key == key))
    });
    let rung = Memo::new(move |_| rungs.with(|rungs| rungs.get(place.get()?).cloned()));
    let read =
        move |part: fn(&RungView) -> Option<f64>| rung.with(|rung| rung.as_ref().and_then(part));
    let number = move |part| Signal::derive(move || read(part));
    let mark = move || rung.with(|rung| Some(rung.as_ref()?.view.as_ref()?.mark()));
    let text = move || rung.with(|rung| rung.as_ref().map(|rung| rung.text.clone()));
    let step = move || rung.with(|rung| rung.as_ref().map(step_text));
    // The mark says what the numbers say.
    let violates = move || {
        let violates = |rung: &RungView| rung.step == RungStep::Violates;
        !page.hides_numbers() && rung.with(|rung| rung.as_ref().is_some_and(violates))
    };
    view! {
        <tr
            class="rung" class:violates=violates data-rung=text
            style:--certainty=move || plot::certainty(mark())
        >
            <th scope="row">
                {plot::halo(mark, plot::HaloSize::Small)}<RungField key=key place=place rung=rung/>
            </th>
            <td class="plotted">{plot::bar(move || read(kappa), move || kappas.get())}</td>
            <Number field="rung-kappa" value=number(kappa) show=three_significant/>
            <Number field="rung-change" value=number(|rung| rung.change) show=signed/>
            <td class="plotted bits">{plot::bar(move || read(|rung| rung.bits), move || bits.get())}</td>
            <Number field="rung-bits" value=number(|rung| rung.bits) show=three_significant/>
            <td class="step">{step}</td>
        </tr>
    }
}

/// Field of a rung, with its buttons.
#[component]
fn RungField(key: u64, place: Memo<Option<usize>>, rung: Memo<Option<RungView>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let cursor = expect_context::<Cursor>();
    let text = Signal::derive(move || {
        rung.with(|rung| {
            rung.as_ref()
                .map(|rung| rung.text.clone())
                .unwrap_or_default()
        })
    });
    let number = move || place.get().map_or(0, |place| place + 1);
    let shift = move |direction| {
        if move_rung(page, key, direction) {
            page.spoken
                .set(format!("moved to rung {}", untrack(number)));
            browser::keep_focus();
        }
    };
    let remove = move || {
        page.keep_step(None);
        page.notify_removed(&text.get_untracked());
        page.change(&mut |state| state.ladder.remove(key));
    };
    let edit = move |text| {
        // Rungs and captions have keys of their own.
        page.keep_step(Some(u64::MAX - key));
        page.state.update(|state| state.ladder.edit(key, text));
    };
    let speak = move |_| {
        let words = rung.with_untracked(|rung| rung.as_ref().map(rung_text));
        page.speak_numbers(words.unwrap_or_default());
    };
    let button = move |sign: &'static str, verb: &'static str, act: Callback<()>| {
        let label = move || format!("{verb} rung {}", number());
        view! { <button type="button" aria-label=label on:click=move |_| act.run(())>{sign}</button> }
    };
    let view = move || rung.with(|rung| rung.as_ref()?.view.clone());
    view! {
        <span class="typed">
            <LineField
                key=key cursor=cursor text=text
                edit=edit
                add=move || add(page, cursor)
                shift=shift
                attr:class="words" attr:placeholder="say more than above"
                attr:aria-label=move || format!("Rung {}", number())
                on:change=speak
            />
            {strokes(view, text)}
        </span>
        <span class="rung-tools">
            {button("↑", "Move up", Callback::new(move |()| shift(Direction::Up)))}
            {button("↓", "Move down", Callback::new(move |()| shift(Direction::Down)))}
            {button("×", "Remove", Callback::new(move |()| remove()))}
        </span>
    }
}

/// Whether a rung moved by one place.
fn move_rung(page: PageState, key: u64, direction: Direction) -> bool {
    page.keep_step(None);
    let moved = page
        .state
        .try_update(|state| state.ladder.move_by_one(key, direction));
    moved == Some(true)
}

#[component]
fn NewRung() -> impl IntoView {
    let page = expect_context::<PageState>();
    let cursor = expect_context::<Cursor>();
    view! {
        <p class="view-controls">
            <button type="button" class="quiet" on:click=move |_| add(page, cursor)>"+ rung"</button>
        </p>
    }
}

/// Adds a rung below the last and puts the cursor into it.
fn add(page: PageState, cursor: Cursor) {
    page.keep_step(None);
    let key = page.state.try_update(|state| state.ladder.add(""));
    match key.flatten() {
        Some(key) => cursor.send(key),
        None => page.notify(format!(
            "{MAX_RUNGS} rungs are as many as fit. Remove one to add another."
        )),
    }
}
