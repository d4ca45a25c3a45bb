//! The answer to the page's question: a wall of pictures, of which those are lit that a caption could mean, and of
//! drawings those ringed that the model takes it to mean.

use leptos::ev::Event;
use leptos::html::Canvas;
use leptos::prelude::*;

use crate::explorer::{
    KeyedCaption, LitPictures, World, coverage_text, found_text, lit_share_text, percent,
    ringed_text,
};
use crate::scenes::{Scene, render};
use crate::ui::dom::canvas;
use crate::ui::page::later_task::LaterTask;
use crate::ui::page::state::PageState;
use crate::ui::page::wall::{COLUMNS, ROWS, SIDE, pictures_name};

/// Place in the page's history of the slider of the coverage; no caption's key is as great.
const SLIDER: u64 = 1 << 33;
const TRUTH: &str = "Counted from the words, over all drawings that this world can make; the model has no part in it.";
const NO_SENTENCE: &str =
    "Scenes does not know such a sentence, so nobody can count the drawings that it means.";

#[component]
pub(crate) fn Wall() -> impl IntoView {
    let page = expect_context::<PageState>();
    let world = Memo::new(move |_| page.wall_world());
    let key = Memo::new(move |_| shown_caption(page));
    let text = Memo::new(move |_| {
        let key = key.get()?;
        page.state
            .with(|state| state.captions.text(key).map(str::to_owned))
    });
    let lit = Memo::new(move |_| page.lit_pictures(key.get()?, &text.get()?));
    let ringed = Memo::new(move |_| page.ringed_pictures(key.get()?));
    let unlit = move || key.get().filter(|_| lit.with(Option::is_none));
    let what = move || account_of_share(page, unlit(), world.get());
    let answer = move || match world.get().zip(lit.get()) {
        Some((world, lit)) => lit_share_text(world, &lit),
        None => "–".to_owned(),
    };
    let account = move || match lit.with(Option::is_none) && text.get().is_some() {
        true => NO_SENTENCE,
        false => TRUTH,
    };
    let rings = move || {
        let (ringed, lit, coverage) = (ringed.get(), lit.get(), page.stated_coverage()?);
        Some(ringed_text(ringed.as_ref(), lit.as_ref(), coverage))
    };
    let spoken = move || lit.with(|lit| lit_text(lit.as_ref()));
    let save = move |_| {
        let caption = key.get_untracked().zip(text.get_untracked());
        if let (Some(caption), Some(world), Some(lit)) =
            (caption, world.get_untracked(), lit.get_untracked())
        {
            page.do_later(LaterTask::SaveCard {
                caption,
                world,
                lit,
            });
        }
    };
    view! {
        <section
            class="wall-panel" aria-label="Pictures that these words could mean" hidden=move || world.get().is_none()
        >
            <div class="wall-answer">
                <p class="wall-caption">{move || asked(text.get())}</p>
                <p class="fits"><b data-field="fits">{answer}</b>" "{what}</p>
                <div hidden=move || world.get() != Some(World::Scenes)>
                    <p class="aside">{account}</p>
                    <p class="aside" data-field="ringed">{rings}</p>
                </div>
                <Show when=move || page.stated_coverage().is_some()><Coverage/></Show>
                <button
                    type="button" class="quiet" data-act="card" disabled=move || lit.with(Option::is_none) on:click=save
                >"Save as a card"</button>
            </div>
            <div class="wall" class:unknown=move || lit.with(Option::is_none) role="img" aria-label=spoken>
                {move || world.get().map(|world| tiles(page, world, [lit, ringed]))}
            </div>
        </section>
    }
}

/// The caption of which the wall tells, as the beginning of a sentence.
fn asked(text: Option<String>) -> String {
    match text {
        Some(text) => format!("“{text}” could mean"),
        None => "Say something, and see what it could mean".to_owned(),
    }
}

/// Pictures that the share is of, or why there is no share of a caption that lights none.
fn account_of_share(page: PageState, unlit: Option<u64>, world: Option<World>) -> &'static str {
    let view = unlit.and_then(|key| page.caption_view(key));
    match view.is_some_and(|view| view.is_unread()) {
        true => "the model cannot read this",
        false => pictures_name(world),
    }
}

/// Number of lit pictures, for screen readers.
fn lit_text(lit: Option<&LitPictures>) -> String {
    match lit {
        Some(set) => format!("{} of {} pictures are lit", set.n_lit(), set.lit.len()),
        None => "No picture is lit".to_owned(),
    }
}

/// The caption under the pointer, else the one edited or chosen last, else the best of the picture, else the last that
/// lights one, else the last.
fn shown_caption(page: PageState) -> Option<u64> {
    let captions = page.captions_with_words();
    let has_words = |key: &u64| captions.iter().any(|caption| caption.key == *key);
    let pointed = page.pointed.with(|pointed| pointed.caption);
    let chosen = || page.state.with(|state| state.caption).filter(has_words);
    let known = pointed.or_else(|| page.edited.get()).filter(has_words);
    known.or_else(chosen).or_else(|| {
        let touched = page.touched.get().map(|(key, _)| key);
        let chosen = captions.iter().find(|caption| Some(caption.key) == touched);
        let lights = |caption: &&KeyedCaption| {
            let lit = page.lit_pictures(caption.key, &caption.text);
            lit.is_some_and(|lit| lit.lit.contains(&true))
        };
        let shown = chosen.into_iter().chain(captions.iter().rev()).find(lights);
        let shown = shown.or(chosen).or(captions.last());
        shown.map(|caption| caption.key)
    })
}

/// The tiles of a world's wall, each lit while the caption could mean it; drawings are ringed while they are in the
/// model's set.
fn tiles(page: PageState, world: World, sets: [Memo<Option<LitPictures>>; 2]) -> AnyView {
    let [is_lit, is_ringed] = sets.map(|set| {
        move |i: usize| {
            let holds = move |set: &LitPictures| set.lit.get(i) == Some(&true);
            move || set.with(|set| set.as_ref().is_some_and(holds))
        }
    });
    match world {
        World::Scenes => {
            let scenes = page.wall.with_untracked(|wall| wall.scenes.clone());
            let scenes = scenes.into_iter().enumerate();
            let tile = |(i, scene)| {
                // What fades a drawing would fade its ring, too.
                view! {
                    <span class:ringed=is_ringed(i)>
                        <SceneTile scene=scene attr:class="tile" class:lit=is_lit(i)/>
                    </span>
                }
            };
            scenes.map(tile).collect_view().into_any()
        }
        World::Photographs => {
            let tile = |i: usize| {
                let at = |place: usize, n: usize| 100.0 * place as f64 / (n - 1) as f64;
                let (x, y) = (at(i % COLUMNS, COLUMNS), at(i / COLUMNS, ROWS));
                let caption = move || page.wall.with(|wall| wall.captions.get(i).cloned());
                view! {
                    <i
                        class="tile photograph" class:lit=is_lit(i) title=caption
                        style:background-position=format!("{x:.3}% {y:.3}%")
                    ></i>
                }
            };
            (0..COLUMNS * ROWS).map(tile).collect_view().into_any()
        }
    }
}

#[component]
fn SceneTile(scene: Scene) -> impl IntoView {
    let surface = NodeRef::<Canvas>::new();
    let pixels = render(&scene, SIDE as usize);
    Effect::new(move |_| {
        if let Some(surface) = surface.get() {
            canvas::paint(&surface, &pixels, SIDE);
        }
    });
    view! { <canvas node_ref=surface width=SIDE height=SIDE></canvas> }
}

/// Slider of the coverage of the model's set, with the coverage that was measured.
#[component]
fn Coverage() -> impl IntoView {
    let page = expect_context::<PageState>();
    let most = move || page.picture_sets(|sets| sets.coverages.len().saturating_sub(1));
    let stated = move || page.stated_coverage().map(percent);
    let choose = move |event: Event| {
        let i: usize = event_target_value(&event).parse().unwrap_or_default();
        let chosen = page.picture_sets(|sets| sets.coverages.get(i).copied());
        if let Some(coverage) = chosen.flatten() {
            page.keep_step(Some(SLIDER));
            page.change(&mut |state| state.coverage = coverage);
        }
    };
    let found = move || {
        let (family, i) = (page.family(), page.i_coverage());
        let text = page.picture_sets(|sets| coverage_text(sets, family, i));
        let line = |line: String| view! { <p class="aside">{line}</p> };
        text.map(|text| text.into_iter().map(line).collect_view())
    };
    let line = move || {
        let (family, i) = (page.family(), page.i_coverage());
        page.picture_sets(|sets| found_text(sets, family, i))
    };
    let what = move || match page.wall_world() {
        Some(World::Scenes) => "The drawing described is ringed for ",
        _ => "The right one is lit for ",
    };
    view! {
        <label class="coverage">
            {what}<b data-field="coverage">{stated}</b>" of captions"
            <input
                type="range" min="0" max=most step="1" aria-valuetext=stated
                prop:value=move || page.i_coverage().to_string() on:input=choose
            />
        </label>
        <p class="aside" data-field="found">{move || line().flatten()}</p>
        <details><summary>"Is that so?"</summary>{found}</details>
    }
}
