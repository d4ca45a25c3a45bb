//! Controls that a teacher's link locks or hides: styles that show it, and event listeners that enforce it.

use leptos::prelude::*;
use leptos::web_sys;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, Event, KeyboardEvent};

use crate::explorer::{Access, ExplorerState, Locks, PageControl};
use crate::ui::dom::browser;
use crate::ui::dom::changes::observe;
use crate::ui::page::state::PageState;

/// Events by which a control is used; they are stopped before they reach a locked one.
const USES: [&str; 5] = ["keydown", "beforeinput", "input", "change", "click"];
/// The styles of what is locked: text that says what is chosen, in place of fields and buttons.
const LOCKED: &str = "PARTS { pointer-events: none !important }
PARTS:is(textarea, input, select), PARTS :is(textarea, input, select) {
  appearance: none; border-color: transparent !important; box-shadow: none !important; background: none !important
}
PARTS:is(button, label, .tools, .changes, .new-caption, .gallery, .rung-tools, .to-tour),
PARTS :is(a, button, .choice:not(:has(:checked))):not([aria-current], [aria-pressed=true]) { display: none !important }
PARTS .view-group:not(:has([aria-current])) { display: none !important }
PARTS .choice span { border-color: transparent !important }
";
/// The elements of fields.
const FIELDS: [&str; 3] = ["textarea", "input", "select"];
/// The selector of the fields that can be read only, as the roles of others cannot.
const TEXT_FIELDS: &str = "textarea, input[type=text]";
/// The attributes of a text field that is only read; the first is on no field that is open.
const READ_ONLY: &[(&str, &str)] = &[
    ("tabindex", "-1"),
    ("aria-readonly", "true"),
    ("readonly", ""),
];
/// The attributes of another field that cannot be used.
const DISABLED: &[(&str, &str)] = &[("tabindex", "-1"), ("aria-disabled", "true")];
/// Events that bring pictures, wherever on the page they happen.
const DROP_EVENTS: [&str; 2] = ["drop", "paste"];

/// The selector of a control's parts on the page.
fn parts(control: PageControl) -> &'static str {
    match control {
        PageControl::Views => "nav.views, .to-game, .to-tour",
        PageControl::Models => {
            "[data-act=models], #models, .worlds, .way-back, [data-act=other-lessons]"
        }
        PageControl::Captions => ".row textarea, .tools, .changes, .new-caption",
        PageControl::Pictures => ".add-picture, .gallery, .picture .remove",
        PageControl::Order => ".sort, .sort-by, .sort-row",
        PageControl::Distribution => "fieldset.distribution",
        PageControl::Bars => ".controls fieldset:not(.distribution), .ranks fieldset",
        PageControl::Ladder => ".rungs textarea, .rung-tools, [data-view=ladder] .view-controls",
        PageControl::Studio => ".stage, .studio-tools, .others",
        PageControl::Dimension => ".slider:has(#dimension)",
        PageControl::Classes => ".class-controls",
        PageControl::Corruption => ".corruption fieldset",
        PageControl::Numbers => {
            // Sorting, the files and the command would give away the order or the numbers.
            // The findings of lessons and games are not numbers, so they stay.
            ".numbers, .wall-panel, .zero-note, .number, [data-value], .halo, .bar, .track, .axis, .pair, .marginal, \
                .ball, [data-view]:not([data-view=learn], [data-view=teach], [data-view=traverse]) .finding, \
                [data-view=evidence] :is(.aside, .measures, .chart), \
                .spreads, .ranks, .step, .place, .details, .shares, .measured, .formula, .twin, .answer, .feet, \
                .ball-beside figcaption, .sort, .sort-by, .sort-row, .export"
        }
        PageControl::Prose => ".prose",
        PageControl::Export => ".export, .save, [data-act=card]",
    }
}

/// The selector of what disappears when a control is hidden: words and rungs stay, the means to change them go.
fn hidden_parts(control: PageControl) -> &'static str {
    match control {
        PageControl::Captions => ".tools, .changes, .new-caption",
        PageControl::Ladder => ".rung-tools, [data-view=ladder] .view-controls",
        PageControl::Studio => ".studio-tools, .others",
        control => parts(control),
    }
}

impl PageState {
    /// Whether a teacher's link hides numbers.
    pub(crate) fn hides_numbers(self) -> bool {
        let access = |state: &ExplorerState| state.locks.access(PageControl::Numbers);
        self.state.with(access) == Access::Hidden
    }

    /// Sends a sentence with numbers to screen readers, unless a teacher's link hides numbers.
    pub(crate) fn speak_numbers(self, sentence: String) {
        if !untrack(|| self.hides_numbers()) {
            self.spoken.set(sentence);
        }
    }
}

/// The styles of what is locked or hidden, and a line that says so.
#[component]
pub(crate) fn Prepared() -> impl IntoView {
    let page = expect_context::<PageState>();
    let locks = Memo::new(move |_| page.state.with(|state| state.locks));
    let rule = |control: &str, style: &str| format!(":is({control}) {{ {style} !important }}\n");
    let styles = move || {
        let locks = locks.get();
        let hidden = locks.with(Access::Hidden).map(|control| {
            // Hidden numbers keep their place, so that nothing moves when they are shown.
            let style = match control {
                PageControl::Numbers => "visibility: hidden",
                _ => "display: none",
            };
            rule(hidden_parts(control), style)
        });
        let locked = unusable(locks)
            .map(|control| LOCKED.replace("PARTS", &format!(":is({})", parts(control))));
        hidden.chain(locked).collect::<String>()
    };
    let words = move || {
        let locks = locks.get();
        let locked: Vec<&str> = locks.with(Access::Locked).map(PageControl::name).collect();
        (!locked.is_empty()).then(|| {
            let locked = locked.join(", ").to_lowercase();
            view! {
                <aside class="aside prepared" aria-label="Prepared page">
                    "This page was prepared for a class; locked: "{locked}"."
                </aside>
            }
        })
    };
    let sheet = browser::style_sheet();
    Effect::new(move |_| {
        if let Some(sheet) = &sheet {
            // Events on locked controls are refused in any case; without the styles they only look usable.
            sheet.replace_sync(&styles()).ok();
        }
    });
    words
}

/// Keeps locked and hidden controls from being used by keys, by assistive programs, or by what is dropped on the page.
pub(crate) fn keep(page: PageState) {
    for name in USES {
        browser::intercept(name, move |event| {
            if !leaves(event) && uses_a_locked_control(page, event) {
                stop(event);
            }
        });
    }
    let locks = Memo::new(move |_| page.state.with(|state| state.locks));
    Effect::new(move |_| mark_fields(locks.get()));
    observe(move |_| {
        if locks.get_untracked() != Locks::default() {
            mark_fields(locks.get_untracked());
        }
    });
    for name in DROP_EVENTS {
        browser::intercept(name, move |event| {
            let access = page
                .state
                .with_untracked(|state| state.locks.access(PageControl::Pictures));
            if access != Access::Open || uses_a_locked_control(page, event) {
                stop(event);
            }
        });
    }
}

/// Makes the fields of locked controls, and no others, read-only or disabled: Tab passes them over.
fn mark_fields(locks: Locks) {
    let locked: Vec<&str> = unusable(locks).map(parts).collect();
    let locked = locked.join(", ");
    let all =
        FIELDS.map(|name| browser::document().map(|page| page.get_elements_by_tag_name(name)));
    for fields in all.iter().flatten() {
        for field in (0..fields.length()).filter_map(|i| fields.item(i)) {
            // The selectors are constants that the browser can parse; an empty one matches nothing.
            let is_locked = field.closest(&locked).ok().flatten().is_some();
            let attributes = match field.matches(TEXT_FIELDS) {
                Ok(true) => READ_ONLY,
                _ => DISABLED,
            };
            if is_locked != field.has_attribute(attributes[0].0) {
                for (name, value) in attributes {
                    // Setting an attribute fails only for a name that XML forbids.
                    match is_locked {
                        true => field.set_attribute(name, value).ok(),
                        false => field.remove_attribute(name).ok(),
                    };
                }
            }
        }
    }
}

/// Whether a key only moves the focus on.
fn leaves(event: &Event) -> bool {
    let key = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key);
    key.is_some_and(|key| key == "Tab")
}

fn uses_a_locked_control(page: PageState, event: &Event) -> bool {
    let target = event.target();
    let Some(target) = target
        .as_ref()
        .and_then(|target| target.dyn_ref::<Element>())
    else {
        return false;
    };
    let locks = page.state.with_untracked(|state| state.locks);
    // The selectors are constants that the browser can parse.
    unusable(locks).any(|control| target.closest(parts(control)).ok().flatten().is_some())
}

/// The controls that are locked or hidden and must not be used.
fn unusable(locks: Locks) -> impl Iterator<Item = PageControl> {
    let is_unusable = move |control: &PageControl| {
        control.can_be_locked() && locks.access(*control) != Access::Open
    };
    PageControl::ALL.into_iter().filter(is_unusable)
}

fn stop(event: &Event) {
    event.prevent_default();
    event.stop_immediate_propagation();
}
