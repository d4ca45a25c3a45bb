//! Actions of a visitor on models, and their effects.

use leptos::prelude::*;
use leptos::web_sys;
use serde::Deserialize;
use wasm_bindgen_futures::spawn_local;
use web_sys::File;

use crate::explorer::{Event, ModelChoice, ModelSource, OWN, PHOTOGRAPH_SETS, TransferRate, World};
use crate::protocol::{Hub, Request};
use crate::ui::dom::browser;
use crate::ui::engine::Client;
use crate::ui::model_panel::models_state::{Load, SameSiteModel};
use crate::ui::page::gallery;
use crate::ui::page::state::PageState;
use crate::ui::page::worlds;

/// CLIP as `train import` writes it beside the page.
pub(crate) const CLIP: &str = "./models/clip-vit-b-32/manifest.json";
/// CLIP with weights in eight bits, as `train import` writes it beside the page.
pub(crate) const CLIP_INT8: &str = "./models/clip-vit-b-32-int8/manifest.json";

/// Key of the source from which the visitor had the weights of CLIP loaded, kept from visit to visit.
const SOURCE: &str = "kappascope.clip-source";
/// The model at the hub that the visitor had loaded last, with its commit.
const HUB: &str = "kappascope.hub";
/// Whether that load was paused.
const PAUSED: &str = "kappascope.clip-paused";

/// The model to begin with: that of the address, where the visitor had it loaded before; else the page says how to have
/// it.
pub(crate) fn open(page: PageState) -> ModelSource {
    if !browser::remembers() {
        page.notify(
            "This browser keeps no settings for this page, so each visit begins with the built-in model. \
             Everything else works.",
        );
    }
    if browser::query("hub").is_some_and(|address| known_hub(&address).is_none()) {
        page.notify(
            "The address of this page names a model hub that it does not know. It is not asked.",
        );
    }
    if let Some(world) = page.state.with_untracked(|state| state.model.built_in()) {
        return ModelSource::BuiltIn(world);
    }
    let models = page.models;
    match remembered_source() {
        Some(source) if browser::remembered(PAUSED) == 0 => {
            models.begin();
            return source;
        }
        left => offer(page, left),
    }
    ModelSource::FALLBACK
}

/// Loads CLIP if a link that is opened in the running page was made with it.
pub(crate) fn follow_link(page: PageState) {
    let at_work = page.client.with_value(Client::model);
    let wanted = page.state.with_untracked(|state| state.model);
    if wanted == ModelChoice::Clip && at_work != wanted {
        match remembered_source() {
            Some(source) => load(page, source),
            None => offer(page, None),
        }
    }
}

/// Says how to have the model of the address; it may wait where the visitor left it.
fn offer(page: PageState, left: Option<ModelSource>) {
    let models = page.models;
    if left.is_none() {
        models.trouble.set(Some(
            "This page was made with CLIP or a model of its kind. Until that is loaded, the built-in model answers."
                .into(),
        ));
    }
    models.left.set(left);
    refresh_sources(page);
    models.is_open.set(true);
}

/// The model at the hub that the page offers: the one that `?hub=` names, that the visitor took last, or `OpenAI`'s.
pub(crate) fn hub() -> Hub {
    let named = browser::query("hub").and_then(|address| known_hub(&address));
    named.unwrap_or_else(remembered_hub)
}

/// The model at the hub that the visitor took last: an address of the page never begins a load from elsewhere.
fn remembered_hub() -> Hub {
    let remembered = browser::remembered_text(HUB);
    let known = remembered.and_then(|address| known_hub(&address));
    known.unwrap_or_else(Hub::vit_b_32)
}

/// The model that an address names at a hub that this page may ask.
fn known_hub(address: &str) -> Option<Hub> {
    let origin = browser::origin()?;
    Hub::parse(address).filter(|hub| hub.is_known(&origin))
}

/// Opens or closes the panel.
pub(crate) fn toggle(page: PageState) {
    page.models.is_open.update(|is_open| *is_open = !*is_open);
    if page.models.is_open.get_untracked() {
        refresh_sources(page);
    }
}

/// Looks up which models the page's own site serves, and which the browser keeps.
fn refresh_sources(page: PageState) {
    page.supervise(Event::Query(Request::ListStored));
    let built_in = World::ALL.map(World::manifest);
    for path in built_in.into_iter().chain([CLIP, CLIP_INT8]) {
        spawn_local(async move {
            // Where there is none, the panel says how to put one there.
            if let Ok(manifest) = gallery::fetch_json::<Sizes>(path).await {
                let found = SameSiteModel {
                    path,
                    bytes: manifest.shards.iter().map(|shard| shard.bytes).sum(),
                };
                page.models.found.update(|all| {
                    all.retain(|known| known.path != path);
                    all.push(found);
                });
            }
        });
    }
}

/// Part of a manifest that the panel reads.
#[derive(Debug, Deserialize)]
struct Sizes {
    shards: Vec<ShardSize>,
}

#[derive(Debug, Deserialize)]
struct ShardSize {
    bytes: u64,
}

/// Asks the hub for the download size of one of its models.
pub(crate) fn query_download_size(page: PageState, hub: Hub) {
    page.models.download_size.set(None);
    page.supervise(Event::Query(Request::QueryDownloadSize(hub)));
}

/// Loads CLIP from a source, at the visitor's click.
pub(crate) fn load_clip(page: PageState, source: ModelSource) {
    page.client
        .with_value(|client| client.allow_fetching(&source));
    load(page, source);
}

/// Loads CLIP from a source; without a click in this visit, only from what the browser keeps.
fn load(page: PageState, source: ModelSource) {
    browser::remember(SOURCE, code(&source));
    if let ModelSource::Hub(hub) = &source {
        browser::remember_text(HUB, &hub.address());
    }
    browser::remember(PAUSED, 0);
    if !matches!(source, ModelSource::Files(_)) {
        browser::ask_for_lasting_storage();
    }
    let at_work = page.models.at_work.get_untracked();
    page.change(&mut |state| {
        if at_work == Some(state.model) {
            // These weights are those of the model before, not a link's.
            state.weights.clear();
        }
        state.turn_to(ModelChoice::Clip);
    });
    page.models.begin();
    page.supervise(Event::ChangeModel(source));
}

/// Loads a model from files that the visitor picked.
pub(crate) fn load_files(page: PageState, files: Vec<File>) {
    load_clip(page, page.client.with_value(|client| client.pick(files)));
}

/// Goes to a model that comes with the page, in the view that is open.
pub(crate) fn open_world(page: PageState, world: World) {
    let view = page.state.with_untracked(|state| state.view);
    worlds::go_to(page, world, view);
}

/// Pauses the load; it stays paused after a reload.
pub(crate) fn pause(page: PageState) {
    browser::remember(PAUSED, 1);
    page.models.is_paused.set(true);
    page.models.transfer_rate.update(TransferRate::rest);
    page.supervise(Event::Pause);
}

/// Resumes a load that was paused.
pub(crate) fn resume(page: PageState) {
    browser::remember(PAUSED, 0);
    page.models.is_paused.set(false);
    page.supervise(Event::Resume);
}

/// Ends the load; what has arrived is kept.
pub(crate) fn cancel(page: PageState) {
    page.models.load.set(Load::None);
    page.supervise(Event::Cancel);
}

/// Takes note that a model does not come.
pub(crate) fn given_up(page: PageState, reason: Option<String>) {
    let models = page.models;
    models.load.set(Load::None);
    models.is_paused.set(false);
    let is_ended = reason.is_none();
    match reason {
        Some(reason) => {
            models.trouble.set(Some(format!(
                "That model could not be loaded: {reason}. Nothing changed; what has arrived is kept for another try."
            )));
            models.left.set(remembered_source());
            refresh_sources(page);
            models.is_open.set(true);
        }
        None => {
            browser::remember(SOURCE, 0);
            browser::remember(PAUSED, 0);
        }
    }
    // A page that began with CLIP waits for it; one that had another model is that model's again.
    let at_work = page.client.with_value(Client::model);
    let goes_on = models.at_work.get_untracked() == Some(at_work);
    let wanted = page.state.with_untracked(|state| state.model);
    if wanted == ModelChoice::Clip && (is_ended || goes_on) {
        page.change(&mut |state| state.turn_to(at_work));
        page.compare_weights();
    }
    worlds::follow_engine(page);
}

/// Deletes what the browser keeps of models; the next visit begins with a built-in one.
pub(crate) fn delete_stored(page: PageState) {
    browser::remember(SOURCE, 0);
    page.models.left.set(None);
    page.client.with_value(Client::forbid_fetching);
    page.supervise(Event::Query(Request::DeleteStored));
}

/// Keeps both built-in models, for use without a network.
pub(crate) fn store_built_in(page: PageState) {
    page.models.is_keeping.set(true);
    browser::ask_for_lasting_storage();
    let manifests = World::ALL.map(|world| {
        let manifest = browser::page_file(world.manifest());
        (manifest.address, manifest.integrity)
    });
    page.supervise(Event::Query(Request::StoreModels(manifests.into())));
}

/// Says that both built-in models are kept, or why not.
pub(crate) fn built_in_stored(page: PageState, stored: Result<(), String>) {
    page.models.is_keeping.set(false);
    page.notify(match stored {
        Ok(()) => "Both built-in models are kept: this page needs no network any more.".to_owned(),
        Err(reason) => {
            format!("Not all could be kept: {reason}. What has arrived stays for another try.")
        }
    });
}

/// Puts captions on the page that CLIP knows, where the visitor has typed none, and takes pictures off that would have
/// its image encoder loaded before the visitor adds one.
pub(crate) fn adapt_page_to_clip(page: PageState) {
    let captions = World::Scenes.captions();
    if page
        .state
        .with_untracked(|state| state.has_captions(&captions))
    {
        let captions = PHOTOGRAPH_SETS[0].captions;
        page.change(&mut |state| state.replace_captions(captions));
    }
    let pictures = page.state.with_untracked(|state| state.pictures.clone());
    let of_gallery = pictures.iter().filter(|id| !id.starts_with(OWN));
    of_gallery.for_each(|id| page.remove_picture(id));
}

fn code(source: &ModelSource) -> u32 {
    match source {
        ModelSource::BuiltIn(_) | ModelSource::Files(_) => 0,
        ModelSource::SameSite(CLIP_INT8) => 2,
        ModelSource::SameSite(_) => 1,
        ModelSource::Hub(_) => 3,
    }
}

fn remembered_source() -> Option<ModelSource> {
    match browser::remembered(SOURCE) {
        1 => Some(ModelSource::SameSite(CLIP)),
        2 => Some(ModelSource::SameSite(CLIP_INT8)),
        3 => Some(ModelSource::Hub(remembered_hub())),
        _ => None,
    }
}
