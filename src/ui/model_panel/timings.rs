//! "Measure this device": how long the loaded model takes here.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::explorer::{Event, LoadedModel, data_address, device_report, millis_text};
use crate::protocol::{DeviceTiming, Request};
use crate::ui::dom::browser;
use crate::ui::model_panel::models_state::Timings;
use crate::ui::page::state::{EngineState, PageState};

/// The button, and a table of what was measured, which can be saved.
#[component]
pub(crate) fn DeviceTimings() -> impl IntoView {
    let page = expect_context::<PageState>();
    let timings = page.models.timings;
    let measure = move |_| {
        timings.set(Timings::Running);
        page.supervise(Event::Query(Request::MeasureDevice));
    };
    let is_idle = move || {
        let is_ready = page
            .engine
            .with(|engine| matches!(engine, EngineState::Ready(_)));
        is_ready && timings.with(|timings| *timings != Timings::Running)
    };
    let found = move || {
        timings.with(|timings| match timings {
            Timings::Unknown => ().into_any(),
            Timings::Running => view! {
                <p class="aside">"The model reads captions and a picture, five times each …"</p>
            }
            .into_any(),
            Timings::Failed(why) => view! {
                <p class="trouble">{format!("This device was not measured: {why}.")}</p>
            }
            .into_any(),
            Timings::Measured(timings) => page.engine.with(|engine| match engine {
                EngineState::Ready(model) => table(model, timings),
                _ => ().into_any(),
            }),
        })
    };
    view! {
        <div class="timings" data-field="timings">
            <button type="button" data-act="measure" disabled=move || !is_idle() on:click=measure>
                "Measure this device"
            </button>
            <div data-spoken>{found}</div>
        </div>
    }
}

fn table(model: &LoadedModel, timings: &[DeviceTiming]) -> AnyView {
    let (load_millis, is_kept) = model.load_time();
    let from = if is_kept {
        "this browser’s disk"
    } else {
        "the network"
    };
    let rows = timings.iter().map(|timing| {
        let [first, median] = [timing.first_millis, timing.median_millis].map(millis_text);
        view! { <tr><th scope="row">{timing.work.clone()}</th><td>{first}</td><td>{median}</td></tr> }
    });
    let report = StoredValue::new(device_report(model, timings, &browser::name()));
    let save = move |_| {
        let address = data_address("application/json", &report.get_value());
        browser::save("kappascope-device.json", &address);
    };
    let copied = RwSignal::new(None);
    let copy = move |_| {
        spawn_local(async move { copied.set(Some(browser::copy(&report.get_value()).await)) });
    };
    let copy_words = move || match copied.get() {
        None => "Copy as JSON",
        Some(true) => "Copied",
        Some(false) => "The browser forbids copying",
    };
    view! {
        <p class="aside">{format!("The model took {} to load from {from}.", millis_text(load_millis))}</p>
        <table class="measures">
            <thead>
                <tr>
                    <th scope="col">"what"</th><th scope="col">"first time"</th><th scope="col">"median of five"</th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
        <button type="button" data-act="copy-timings" on:click=copy>{copy_words}</button>
        <button type="button" data-act="save-timings" on:click=save>"Save as JSON"</button>
    }
    .into_any()
}
