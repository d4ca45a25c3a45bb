//! A link to a page, as an address and as a code.

use leptos::prelude::*;

use crate::ui::dom::browser;
use crate::ui::plot;

/// The link with this fragment; `name` is its hook, `label` what it is for.
pub(crate) fn shared_link(name: &'static str, label: &'static str, fragment: &str) -> AnyView {
    let address = browser::address_with(fragment);
    let code = plot::qr(&address).unwrap_or_else(|| {
        let words = "The link is too long for a QR code: fewer captions make it shorter.";
        view! { <p class="aside">{words}</p> }.into_any()
    });
    view! {
        <p class="text-control">
            <label for=name>{label}</label>
            <input id=name type="text" class="words" readonly prop:value=address.clone()/>
        </p>
        <p class="view-controls"><a class="ask" data-link=name href=address.clone()>"Open it"</a></p>
        <details class="twin"><summary>"QR code"</summary>{code}</details>
    }
    .into_any()
}
