//! Going from one world to another: each is left as it stands, and found so again.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{Event, ExplorerState, ModelChoice, ModelSource, OWN, View, World, encode};
use crate::ui::dom::browser;
use crate::ui::engine::Client;
use crate::ui::page::gallery;
use crate::ui::page::gallery::WorldFiles;
use crate::ui::page::state::{EngineState, PageState};

/// Note that a view has switched to the world whose truth is known.
pub(crate) const GONE_TO_SCENES: &str = "This view compares the model with the truth, which is known of drawn scenes \
    only. So the page has gone to Scenes; your photographs are as you left them. ";

/// Choice of the pictures with which a world is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pictures {
    /// The pictures that a visitor starts with.
    First,
    /// The pictures that the state names.
    Named,
}

/// Opens a world at a view as a new entry of the history; the present one is left as it stands.
pub(crate) fn go_to(page: PageState, world: World, view: View) {
    browser::set_fragment(&page.state.with_untracked(encode));
    enter(page, world, view);
    browser::push_fragment(&page.state.with_untracked(encode));
}

/// Opens a world at a view: as it was left, or else as a visitor finds it.
pub(crate) fn enter(page: PageState, world: World, view: View) {
    let lacks_truth = view.needs_known_truth() && !world.has_known_truth();
    let view = if lacks_truth { View::default() } else { view };
    let before = page.state.get_untracked();
    if before.model == ModelChoice::BuiltIn(world) {
        return page.change(&mut |state| state.view = view);
    }
    let left = page.left.get_untracked();
    let left = left.filter(|left| left.model == ModelChoice::BuiltIn(world));
    let pictures = left.as_ref().map_or(Pictures::First, |_| Pictures::Named);
    let mut state = left.unwrap_or_else(|| first(world, &before));
    for own in gone_pictures(page, &state) {
        state.remove_picture(&own);
    }
    state.view = view;
    state.read_as(&before);
    turn_to(page, state, pictures);
    put_to_work(page, world);
}

/// The world's page as a visitor finds it, with the captions that were typed for CLIP.
fn first(world: World, before: &ExplorerState) -> ExplorerState {
    let mut state = ExplorerState::start(world, []);
    if before.model == ModelChoice::Clip && !before.has_offered_captions() {
        state.captions = before.captions.clone();
    }
    state
}

/// The visitor's own pictures in a state that were taken off the page since.
fn gone_pictures(page: PageState, state: &ExplorerState) -> Vec<String> {
    let own = state.pictures.iter().filter(|id| id.starts_with(OWN));
    page.files.with_untracked(|files| {
        let gone = own.filter(|id| !files.contains_key(*id));
        gone.cloned().collect()
    })
}

/// Loads the model and shows the gallery of the world that a link opened in the page names.
pub(crate) fn follow_link(page: PageState) {
    let model = page.state.with_untracked(|state| state.model);
    if page.gallery_world.get_value() != model.world() {
        take_gallery_off(page);
        show_gallery(page, model.world(), Pictures::Named, None);
    }
    if let Some(world) = model.built_in()
        && page.client.with_value(Client::model) != model
    {
        page.forget_answers();
        put_to_work(page, world);
    }
}

/// Shows the world whose model answers in place of one that does not come.
pub(crate) fn follow_engine(page: PageState) {
    let (model, shown) = (
        page.client.with_value(Client::model),
        page.state.with_untracked(|state| state.model),
    );
    if let (Some(world), Some(_)) = (model.built_in(), shown.built_in())
        && model != shown
    {
        let mut state = ExplorerState::start(world, []);
        page.state.with_untracked(|before| state.read_as(before));
        turn_to(page, state, Pictures::First);
    }
}

/// Goes to the world whose truth is known wherever a view needs that.
pub(crate) fn keep_truth(page: PageState) {
    Effect::new(move |_| {
        let view = page.state.with(|state| {
            let world = state.model.built_in()?;
            let lacks_truth = state.view.needs_known_truth() && !world.has_known_truth();
            lacks_truth.then_some(state.view)
        });
        if let Some(view) = view {
            enter(page, World::Scenes, view);
            page.spoken.set(GONE_TO_SCENES.into());
        }
    });
}

/// Puts another page in place of this one, which is kept.
fn turn_to(page: PageState, state: ExplorerState, pictures: Pictures) {
    let before = page.state.get_untracked();
    let world = state.model.world();
    page.forget_answers();
    page.state.set(state);
    take_gallery_off(page);
    show_gallery(page, world, pictures, Some(before.clone()));
    page.left.set(Some(ExplorerState {
        view: if before.view.needs_known_truth() {
            View::default()
        } else {
            before.view
        },
        tour_step: None,
        ..before
    }));
}

/// Takes off the page's pictures what comes with the gallery before.
fn take_gallery_off(page: PageState) {
    let is_gone = |id: &String| !id.starts_with(OWN);
    let gone = page.files.try_update(|files| {
        files
            .extract_if(.., |id, _| is_gone(id))
            .collect::<Vec<_>>()
    });
    for (id, _) in gone.into_iter().flatten() {
        page.supervise(Event::RemovePicture(id));
    }
    page.gallery.set(Vec::new());
}

/// Fetches and shows a gallery, and with it the visitor's own pictures of the page before.
fn show_gallery(page: PageState, world: World, pictures: Pictures, before: Option<ExplorerState>) {
    page.gallery_world.set_value(world);
    spawn_local(async move {
        let opening = WorldFiles::fetch(world).await;
        // The visitor may have gone on meanwhile.
        if page.gallery_world.get_value() != world {
            return;
        }
        gallery::open(page, opening, pictures == Pictures::Named);
        if let Some(mut before) = before {
            for gone in gone_pictures(page, &before) {
                before.remove_picture(&gone);
            }
            page.change(&mut |state| state.take_own_pictures(&before));
        }
    });
}

/// Loads the model of a world in place of the one at work.
fn put_to_work(page: PageState, world: World) {
    let is_waiting = page.engine.get_untracked() == EngineState::SavesData;
    page.engine.set(EngineState::Starting);
    page.models.begin();
    page.models.at_work.set(None);
    if is_waiting {
        page.start_engine(ModelSource::BuiltIn(world));
    } else {
        page.supervise(Event::OpenWorld(world));
    }
}
