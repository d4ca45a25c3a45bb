//! The models side by side: what each is, weighs, can and cannot do.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::views::evidence::photographs::PhotographsEvaluation;
use crate::explorer::{LoadedModel, ModelChoice, World, file_size};
use crate::protocol::Hub;
use crate::ui::model_panel::actions;
use crate::ui::model_panel::models_state::{Load, ModelsState};
use crate::ui::model_panel::progress::LoadBar;
use crate::ui::model_panel::sources::Sources;
use crate::ui::model_panel::stored_weights::StoredWeights;
use crate::ui::model_panel::timings::DeviceTimings;
use crate::ui::page::gallery;
use crate::ui::page::state::{EngineState, PageState};
use crate::ui::panels::prose::emphasized;

const PHOTOGRAPHS: &str = "Made for photographs and everyday English: type what you like, and add photographs of your \
    own. Of each caption it says how vague it is. Nobody has counted how many photographs a caption fits, so its \
    numbers can be compared with one another and with people’s judgement, but with no truth.";
const SCENES: &str = "Made for drawings of one to four shapes; gives each caption its *κ*. The true information of a \
    caption is known in this world, so *κ* can be checked. It knows no photographs, and no words but those of \
    its world.";

/// Texts about a model that the visitor loads.
#[derive(Debug, Clone, Copy)]
struct ClipTexts {
    /// Title of the model before it is loaded, from when on its own is shown.
    title: &'static str,
    about: &'static str,
    license: &'static str,
}

const OPENAI: ClipTexts = ClipTexts {
    title: "CLIP ViT-B/32",
    about: "OpenAI’s model knows photographs and nearly all English words. By itself it has no *κ*: it compares by \
        cosine until it is given adapters. It counts badly, often ignores “not”, and its makers ask that it is not \
        used to watch or to recognise people.",
    license: "MIT, © OpenAI.",
};
const OTHER_CLIP: ClipTexts = ClipTexts {
    title: "A model of CLIP’s kind",
    about: "It knows photographs, and the words that it learned beside them. By itself it has no *κ*: it compares by \
        cosine until it is given adapters. Its makers say what it must not be used for.",
    license: "Licensed as its makers say.",
};

/// Measurements of the photographs' model.
const MEASURED: &str = "./models/photos/evaluation.json";

/// Opens and closes the panel; says when a load goes on behind it.
#[component]
pub(crate) fn ModelButton() -> impl IntoView {
    let page = expect_context::<PageState>();
    let models = page.models;
    let words = move || {
        let share = models.load.with(|load| match load {
            Load::Going(progress) if models.at_work.with(Option::is_some) => {
                Some(progress.loaded_bytes * 100 / progress.stage_end_bytes.max(1))
            }
            _ => None,
        });
        share.map_or_else(
            || "Models".to_owned(),
            |percent| format!("Models: {percent} % loaded"),
        )
    };
    view! {
        <button
            type="button" class="quiet" data-act="models" aria-controls="models"
            aria-expanded=move || models.is_open.get().to_string() on:click=move |_| actions::toggle(page)
        >
            {words}
        </button>
    }
}

/// Panel of the models: those to choose from, how far a load is, and what the browser keeps.
#[component]
pub(crate) fn ModelPanel() -> impl IntoView {
    let page = expect_context::<PageState>();
    let models = page.models;
    let origin = move || of_model(page, LoadedModel::origin_text);
    view! {
        <section id="models" class="models" aria-label="Models" hidden=move || !models.is_open.get()>
            {World::ALL.map(|world| view! { <BuiltInModel world=world/> }).collect_view()}
            <ClipModel/>
            <div class="doings">
                <p class="aside" data-field="engine">
                    {move || of_model(page, |card| card_text(card, &page.choice.get()))}
                </p>
                <details data-field="origin" hidden=move || origin().is_none()>
                    <summary>"How its weights were made"</summary><pre>{origin}</pre>
                </details>
                <p class="trouble" data-field="trouble" data-spoken>{move || models.trouble.get()}</p>
                <DeviceTimings/>
                <LoadBar/>
                <StoredWeights/>
            </div>
        </section>
    }
}

/// A model that comes with the page.
#[component]
fn BuiltInModel(world: World) -> impl IntoView {
    let page = expect_context::<PageState>();
    let (models, model) = (page.models, ModelChoice::BuiltIn(world));
    let (about, license) = match world {
        World::Photographs => (PHOTOGRAPHS, "Its folder holds licences and sources."),
        World::Scenes => (SCENES, "MIT or Apache-2.0."),
    };
    let size = move || {
        models
            .bytes_of(world)
            .map(|bytes| format!("{}. ", file_size(bytes)))
    };
    let cost = cost_of_eight_bits(page, world);
    view! {
        <div class="model" data-model=world.slug() aria-current=move || current(models, model)>
            <h2>{world.title()}" (built in) "<span class="status">{move || status(page, model)}</span></h2>
            <p>{emphasized(about)}</p>
            <p class="aside">{size}{license}" "<span data-field="eight-bits">{move || cost.get()}</span></p>
            <button
                type="button" data-act=world.slug() hidden=move || current(models, model).is_some()
                on:click=move |_| actions::open_world(page, world)
            >
                "Use "{world.title()}
            </button>
        </div>
    }
}

/// CLIP or a model of its kind, which the visitor loads: `OpenAI`'s where that is known.
#[component]
fn ClipModel() -> impl IntoView {
    let page = expect_context::<PageState>();
    let at_work = move || current(page.models, ModelChoice::Clip);
    let is_offered = actions::hub().id == Hub::vit_b_32().id;
    let texts = move || {
        let is_openai = at_work().map_or(is_offered, |_| page.is_openai());
        if is_openai { OPENAI } else { OTHER_CLIP }
    };
    let title = move || {
        let card_title = of_model(page, |card| card.title().to_owned());
        let own = card_title.filter(|_| at_work().is_some());
        own.unwrap_or_else(|| texts().title.to_owned())
    };
    view! {
        <div class="model" data-model="clip" aria-current=at_work>
            <h2>{title}" "<span class="status">{move || status(page, ModelChoice::Clip)}</span></h2>
            <p>{move || emphasized(texts().about)}</p>
            <p class="aside">
                {move || texts().license}
                " Its text encoder is loaded first; the image encoder comes with your first picture."
            </p>
            <Sources/>
        </div>
    }
}

/// Measured loss by weights in eight bits, fetched when the panel is opened over a model that has them.
fn cost_of_eight_bits(page: PageState, world: World) -> RwSignal<Option<String>> {
    let (models, cost) = (page.models, RwSignal::new(None));
    Effect::new(move |_| {
        let is_at_work = current(models, ModelChoice::BuiltIn(world)).is_some();
        if world != World::Photographs || !is_at_work || !models.is_open.get() {
            return;
        }
        let family = page.family();
        spawn_local(async move {
            let found = gallery::fetch_json::<PhotographsEvaluation>(MEASURED).await;
            // Without the file the panel lacks one sentence.
            cost.set(
                found
                    .ok()
                    .and_then(|found| found.cost_of_eight_bits(family)),
            );
        });
    });
    cost
}

/// Marks the model that answers.
fn current(models: ModelsState, model: ModelChoice) -> Option<&'static str> {
    let is_at_work = models.at_work.with(|at_work| *at_work == Some(model));
    is_at_work.then_some("true")
}

/// A text about the model that answers.
fn of_model(page: PageState, text: impl Fn(&LoadedModel) -> String) -> Option<String> {
    page.engine.with(|engine| match engine {
        EngineState::Ready(card) => Some(text(card)),
        _ => None,
    })
}

/// Sentences on the engine at work and the reason why it is the one.
fn card_text(card: &LoadedModel, choice: &str) -> String {
    let engine = engine_name(card);
    let why = if choice.is_empty() {
        String::new()
    } else {
        format!(" ({choice})")
    };
    let checked = if card.is_checked() {
        " · checked on this device"
    } else {
        ""
    };
    format!("On the {engine}, {}{why}{checked}.", card.device())
}

/// The kind of engine, for people.
pub(crate) fn engine_name(card: &LoadedModel) -> &'static str {
    match card.engine() {
        "gpu" => "GPU",
        _ => "CPU",
    }
}

/// State of the model that answers, and whether its weights are known; empty for another model.
fn status(page: PageState, model: ModelChoice) -> &'static str {
    if current(page.models, model).is_none() {
        return "";
    }
    page.engine.with(|engine| match engine {
        EngineState::Ready(LoadedModel::Bare(card)) if card.is_vit_b_32 => {
            "at work, and answers as OpenAI’s is known to"
        }
        // Imported weights were compared with OpenAI's answers by the program that imported them.
        EngineState::Ready(LoadedModel::Bare(card)) if card.self_test.is_none() => {
            "at work; not known to be OpenAI’s weights"
        }
        _ => "at work",
    })
}
