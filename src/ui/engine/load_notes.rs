//! Deaths while a model was loaded, and loads that go on, kept in the browser's storage for later visits and other
//! tabs.
//!
//! Each has an entry of its own, so that tabs do not write over each other.

use js_sys::{Date, Math};
use leptos::web_sys;
use wasm_bindgen::JsCast as _;
use web_sys::{NavigationType, PerformanceNavigationTiming, Storage};

use crate::explorer::{LoadId, LoadKind, LoadNote, LoadNotes, UnfinishedLoad};
use crate::ui::dom::browser;

/// Prefix of the keys `kappascope.strikes|KIND|SOURCE`, whose values are numbers of deaths.
const STRIKES: &str = "kappascope.strikes";
/// `kappascope.loading|TAB|KIND|SOURCE`: when the page that loads was last seen.
const LOADING: &str = "kappascope.loading";
/// This tab's name, which only a reload keeps.
const TAB: &str = "kappascope.tab";

/// Notes of earlier visits and other tabs; those of this tab before it was reloaded are its own.
pub(super) fn recall() -> LoadNotes {
    let mut notes = LoadNotes::default();
    let Some(storage) = storage() else {
        return notes;
    };
    let n_entries = storage.length().unwrap_or_default();
    let keys = (0..n_entries).filter_map(|i| storage.key(i).ok().flatten());
    if !is_reload()
        && let Some(session) = session()
    {
        // “Duplicate tab”, which is no reload, copies the name of a tab whose load may still go on.
        session.remove_item(TAB).ok();
    }
    let (own, now) = (tab(), Date::now());
    for key in keys.collect::<Vec<_>>() {
        let value = storage.get_item(&key).ok().flatten().unwrap_or_default();
        let parts: Vec<&str> = key.splitn(4, '|').collect();
        match parts[..] {
            [STRIKES, kind, source] => {
                let load = load(kind, source);
                notes.strikes.extend(load.zip(value.parse().ok()));
            }
            [LOADING, tab, kind, source] => {
                let Some(load) = load(kind, source) else {
                    continue;
                };
                let began: u64 = value.parse().unwrap_or_default();
                let age_millis = now - began as f64;
                let is_own = tab == own;
                let unfinished = UnfinishedLoad {
                    load,
                    is_own,
                    age_millis,
                };
                if unfinished.counts() {
                    remove(&key);
                }
                notes.unfinished.push(unfinished);
            }
            _ => {}
        }
    }
    notes
}

/// Keeps something, where the browser grants storage: without it the page only forgets.
pub(super) fn keep(note: &LoadNote) {
    let loading =
        |load: &LoadId| format!("{LOADING}|{}|{}|{}", tab(), load.kind.slug(), load.source);
    let strikes = |load: &LoadId| format!("{STRIKES}|{}|{}", load.kind.slug(), load.source);
    match note {
        LoadNote::IsLoading(load) => put(&loading(load), &Date::now().to_string()),
        LoadNote::HasEnded(load) => remove(&loading(load)),
        LoadNote::Strikes(load, 0) => remove(&strikes(load)),
        LoadNote::Strikes(load, n_strikes) => put(&strikes(load), &n_strikes.to_string()),
    }
}

fn load(kind: &str, source: &str) -> Option<LoadId> {
    let kind = LoadKind::ALL
        .into_iter()
        .find(|known| known.slug() == kind)?;
    let source = source.to_owned();
    Some(LoadId { kind, source })
}

/// Whether the page was reloaded, as it is after a crash.
fn is_reload() -> bool {
    let clock = browser::window().and_then(|window| window.performance());
    let entry = clock.map(|clock| clock.get_entries_by_type("navigation").get(0));
    let entry = entry.and_then(|entry| entry.dyn_into::<PerformanceNavigationTiming>().ok());
    entry.is_some_and(|entry| entry.type_() == NavigationType::Reload)
}

fn tab() -> String {
    let session = session();
    let known = session
        .as_ref()
        .and_then(|session| session.get_item(TAB).ok().flatten());
    known.unwrap_or_else(|| {
        let name = Math::random().to_string();
        if let Some(session) = session {
            // A tab without a name is taken for another one at its next load.
            session.set_item(TAB, &name).ok();
        }
        name
    })
}

fn session() -> Option<Storage> {
    browser::window()?.session_storage().ok().flatten()
}

fn put(key: &str, value: &str) {
    if let Some(storage) = storage() {
        storage.set_item(key, value).ok();
    }
}

fn remove(key: &str) {
    if let Some(storage) = storage() {
        storage.remove_item(key).ok();
    }
}

fn storage() -> Option<Storage> {
    browser::window()?.local_storage().ok().flatten()
}
