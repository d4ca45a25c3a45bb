//! The few things the page asks of the browser itself; each does without what is denied.

use leptos::task::tick;
use leptos::web_sys;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    CssStyleSheet, Document, Element, Event, FocusOptions, History, HtmlElement,
    ScrollIntoViewOptions, ScrollLogicalPosition, ServiceWorkerContainer, Storage, Window,
};

use crate::protocol::SHORT_MEMORY_GIGABYTES;
use crate::wire::property;

/// Pixels above and below an element that has been brought into sight.
const SURROUNDINGS: f64 = 96.0;

/// Marks the entries of the history that the page shows or has shown.
const OWN_ENTRY: &str = "kappascope";

/// The page's window; `None` where there is none, as in a worker.
pub(crate) fn window() -> Option<Window> {
    web_sys::window()
}

/// The page's document; `None` without a window.
pub(crate) fn document() -> Option<Document> {
    window()?.document()
}

/// The element with this `id`.
pub(crate) fn element(id: &str) -> Option<HtmlElement> {
    document()?.get_element_by_id(id)?.dyn_into().ok()
}

/// Sets an attribute of the root element.
pub(crate) fn mark_root(name: &str, value: &str) {
    if let Some(root) = document().and_then(|document| document.document_element()) {
        // Only a name that is no XML name can fail, and ours are constants.
        root.set_attribute(name, value).ok();
    }
}

/// Whether the visitor points with a mouse, so that taking the cursor opens no keyboard over the page.
pub(crate) fn has_mouse() -> bool {
    is_in_media("(hover: hover) and (pointer: fine)")
}

/// Whether the visitor asked for as little motion as possible.
pub(crate) fn wants_stillness() -> bool {
    is_in_media("(prefers-reduced-motion: reduce)")
}

fn is_in_media(media: &str) -> bool {
    let query = window().and_then(|window| window.match_media(media).ok().flatten());
    query.is_some_and(|query| query.matches())
}

/// Leaves the focus in its line, and in sight, when lines of a list change places: an element that moves loses it.
pub(crate) fn keep_focus() {
    let focused = document().and_then(|document| document.active_element());
    let line = |focused: &HtmlElement| focused.closest("tr, li").ok()??.dyn_into().ok();
    if let Some(focused) = focused.and_then(|focused| focused.dyn_into().ok())
        && let Some(line) = line(&focused)
    {
        spawn_local(async move {
            tick().await;
            focus_within(&line, &focused);
            bring_into_sight(&focused);
        });
    }
}

/// Gives the focus first to a line, since some of its buttons are only there while it has it.
fn focus_within(line: &HtmlElement, element: &HtmlElement) {
    line.set_tab_index(-1);
    focus(line);
    focus(element);
    // Only a name that is no XML name can fail.
    line.remove_attribute("tabindex").ok();
}

/// Gives an element the focus and leaves the page as it is scrolled.
pub(crate) fn focus(element: &HtmlElement) {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    // What cannot take the focus has gone from the page, or is still there to be clicked.
    element.focus_with_options(&options).ok();
}

/// Gives the first element that a selector names the focus, once the page has been drawn anew.
pub(crate) fn focus_soon(selector: &'static str) {
    spawn_local(async move {
        // An effect may change what another one draws.
        tick().await;
        tick().await;
        let found = document().and_then(|document| document.query_selector(selector).ok()?);
        if let Some(element) = found.and_then(|found| found.dyn_into().ok()) {
            focus(&element);
        }
    });
}

/// Gives the first control in an element the focus.
pub(crate) fn focus_first(within: &Element) {
    let control = within.query_selector("button, input, a").ok().flatten();
    if let Some(control) = control.and_then(|control| control.dyn_into().ok()) {
        focus(&control);
    }
}

/// The value of a token of the style sheets, such as `--ink`.
pub(crate) fn token(name: &str) -> String {
    let root = document().and_then(|document| document.document_element());
    let styles = root.and_then(|root| window()?.get_computed_style(&root).ok()?);
    let value = styles.and_then(|styles| styles.get_property_value(name).ok());
    value.unwrap_or_default()
}

/// Scrolls the page as far as it takes to see an element and its surroundings.
pub(crate) fn bring_into_sight(element: &HtmlElement) {
    let height = window().and_then(|window| window.inner_height().ok()?.as_f64());
    if let (Some(window), Some(height)) = (window(), height) {
        let frame = element.get_bounding_client_rect();
        let above = (frame.top() - SURROUNDINGS).min(0.0);
        let below = (frame.bottom() + SURROUNDINGS - height).max(0.0);
        window.scroll_by_with_x_and_y(0.0, above + below);
    }
}

/// Scrolls the page and what scrolls within it as far as it takes to see an element.
pub(crate) fn bring_into_view(element: &Element) {
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    options.set_inline(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

/// Scrolls what holds an element and scrolls sideways to its end.
pub(crate) fn scroll_to_end(of: &Element, row: &str) {
    if let Some(row) = of.closest(row).ok().flatten() {
        row.set_scroll_left(row.scroll_width());
    }
}

/// Marks the part of the page that a card speaks of, brings it into sight, and gives the card the focus.
pub(crate) fn speak_of(selector: Option<&str>, card: &str) {
    let find = |selector: &str| document()?.query_selector(selector).ok().flatten();
    if let Some(before) = find(".spoken-of") {
        before.class_list().remove_1("spoken-of").ok();
    }
    if let Some(part) = selector.and_then(find) {
        part.class_list().add_1("spoken-of").ok();
        bring_into_view(&part);
    }
    if let Some(card) = element(card) {
        focus(&card);
        // In a low window it lies below the view and not over it.
        bring_into_view(&card);
    }
}

/// Scrolls what scrolls sideways so that an element in it stands in the middle.
pub(crate) fn bring_to_middle(row: &HtmlElement, selector: &str) {
    let element = row.query_selector(selector).ok().flatten();
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let room = row.client_width() - element.offset_width();
        row.set_scroll_left(element.offset_left() - room / 2);
    }
}

/// The fragment of the address, without `#`.
pub(crate) fn fragment() -> String {
    let hash = window().and_then(|window| window.location().hash().ok());
    hash.unwrap_or_default().trim_start_matches('#').to_owned()
}

/// Replaces the fragment without a new entry in the history.
pub(crate) fn set_fragment(fragment: &str) {
    replace_entry(Some(&format!("#{fragment}")));
}

/// Changes the fragment with a new entry in the history, to which the visitor can come back.
pub(crate) fn push_fragment(fragment: &str) {
    if let Some(history) = history() {
        let address = format!("#{fragment}");
        // Refused when it happens too often; then only the way back is missing.
        history
            .push_state_with_url(&OWN_ENTRY.into(), "", Some(&address))
            .ok();
    }
}

/// Makes the entry of the history at which the page stands its own, once it shows what the address says.
pub(crate) fn own_entry() {
    replace_entry(None);
}

fn replace_entry(address: Option<&str>) {
    if let Some(history) = history() {
        // Browsers refuse when it happens too often; the next change carries everything again.
        history
            .replace_state_with_url(&OWN_ENTRY.into(), "", address)
            .ok();
    }
}

/// Whether the page itself made the entry of the history at which it stands, or has followed the link that did.
pub(crate) fn is_own_entry() -> bool {
    let state = history().and_then(|history| history.state().ok());
    state.is_some_and(|state| state.as_string().as_deref() == Some(OWN_ENTRY))
}

/// The document's title; empty without a document.
pub(crate) fn title() -> String {
    document().map_or_else(String::new, |document| document.title())
}

/// Sets the document's title.
pub(crate) fn set_title(title: &str) {
    if let Some(document) = document() {
        document.set_title(title);
    }
}

/// The value of a query parameter such as `?backend=cpu`.
pub(crate) fn query(name: &str) -> Option<String> {
    let search = window()?.location().search().ok()?;
    web_sys::UrlSearchParams::new_with_str(&search)
        .ok()?
        .get(name)
}

/// A new style sheet of the document, empty; an element `style` is forbidden by the policy of the released page.
pub(crate) fn style_sheet() -> Option<CssStyleSheet> {
    let (document, sheet) = (document()?, CssStyleSheet::new().ok()?);
    let sheets = js_sys::Array::of1(&sheet);
    document.set_adopted_style_sheets(&sheets);
    Some(sheet)
}

/// Scheme, host and port of the page.
pub(crate) fn origin() -> Option<String> {
    window()?.location().origin().ok()
}

/// An address beside the page, made absolute.
pub(crate) fn beside_page(path: &str) -> String {
    let base = document().and_then(|document| document.base_uri().ok().flatten());
    let url = base.and_then(|base| web_sys::Url::new_with_base(path, &base).ok());
    url.map_or_else(|| path.to_owned(), |url| url.href())
}

/// A file of the page: where it lies, and what its content must be.
pub(crate) struct PageFile {
    /// Absolute address, with the name that the released page gives the file.
    pub(crate) address: String,
    /// Hash of the content, as the attribute `integrity` has it; empty where the page was built and not released.
    pub(crate) integrity: String,
}

/// A file of the page by its name in the build; the released page says in `<meta name="file:…">` what it is called
/// there.
pub(crate) fn page_file(name: &str) -> PageFile {
    let selector = format!("meta[name=\"file:{name}\"]");
    let meta = document().and_then(|document| document.query_selector(&selector).ok().flatten());
    let content = meta.and_then(|meta| meta.get_attribute("content"));
    let content = content.unwrap_or_default();
    let (path, integrity) = content.split_once(' ').unwrap_or((name, ""));
    PageFile {
        address: beside_page(path),
        integrity: integrity.to_owned(),
    }
}

/// A number kept from visit to visit; 0 where there is none or storage is denied.
pub(crate) fn remembered(name: &str) -> u32 {
    let value = storage().and_then(|storage| storage.get_item(name).ok().flatten());
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}

/// Keeps a number for later visits, where storage is granted.
pub(crate) fn remember(name: &str, value: u32) {
    if let Some(storage) = storage() {
        // Without storage the page works; it only forgets.
        storage.set_item(name, &value.to_string()).ok();
    }
}

/// A text kept from visit to visit.
pub(crate) fn remembered_text(name: &str) -> Option<String> {
    storage()?.get_item(name).ok().flatten()
}

/// Keeps a text for later visits, where storage is granted.
pub(crate) fn remember_text(name: &str, text: &str) {
    if let Some(storage) = storage() {
        // Without storage the page works; it only forgets.
        storage.set_item(name, text).ok();
    }
}

/// Whether numbers that should be kept are.
pub(crate) fn remembers() -> bool {
    storage().is_some()
}

/// Asks the browser not to delete what it keeps for this page when its disk is full; some ask the visitor.
pub(crate) fn ask_for_lasting_storage() {
    if let Some(window) = window() {
        // A browser that has none or refuses keeps things as long as it likes.
        window.navigator().storage().persist().ok();
    }
}

/// Milliseconds since the page began.
pub(crate) fn now_millis() -> f64 {
    let clock = window().and_then(|window| window.performance());
    clock.map_or(0.0, |clock| clock.now())
}

/// User agent of the browser.
pub(crate) fn name() -> String {
    let name = window().and_then(|window| window.navigator().user_agent().ok());
    name.unwrap_or_default()
}

/// Whether a service worker answers for the page's server.
pub(crate) fn is_served_offline() -> bool {
    // Undefined on insecure origins, and an exception in sandboxed frames.
    let workers = window().map(|window| property(&window.navigator(), "serviceWorker"));
    let workers = workers.and_then(|workers| workers.dyn_into::<ServiceWorkerContainer>().ok());
    workers.is_some_and(|workers| workers.controller().is_some())
}

/// Whether the visitor told the browser to save data.
pub(crate) fn saves_data() -> bool {
    // Not every browser has it.
    let connection = window().map(|window| property(&window.navigator(), "connection"));
    connection.is_some_and(|connection| property(&connection, "saveData").is_truthy())
}

/// Whether the device has little memory, as far as the document's own script knows, which tells engines the same.
pub(crate) fn lacks_memory() -> bool {
    let told = window().and_then(|window| property(&window, "memoryGigabytes").as_f64());
    told.is_some_and(|gigabytes| gigabytes < SHORT_MEMORY_GIGABYTES)
}

/// Tells the document's own script something that it does not need this program for.
pub(crate) fn announce(name: &str) {
    if let (Some(window), Ok(event)) = (window(), Event::new(name)) {
        // Nobody cancels it.
        window.dispatch_event(&event).ok();
    }
}

/// Calls back at each event of the window with this name, as long as the page lives.
pub(crate) fn listen(name: &str, on_event: impl Fn() + 'static) {
    listen_in_phase(name, false, Box::new(move |_| on_event()));
}

/// Shows the page's elements this event before they act on it, as long as the page lives.
pub(crate) fn intercept(name: &str, on_event: impl Fn(&Event) + 'static) {
    listen_in_phase(name, true, Box::new(move |event| on_event(&event)));
}

/// Compiled once, and not for each listener.
fn listen_in_phase(name: &str, captures: bool, on_event: Box<dyn Fn(Event)>) {
    let on_event = Closure::wrap(on_event);
    let callback = on_event.as_ref().unchecked_ref();
    if let Some(window) = window() {
        // A window refuses no listener.
        window
            .add_event_listener_with_callback_and_bool(name, callback, captures)
            .ok();
    }
    on_event.forget();
}

/// The address of the page with this fragment.
pub(crate) fn address_with(fragment: &str) -> String {
    let location = window().map(|window| window.location());
    let here = location.and_then(|location| location.href().ok());
    let here = here.unwrap_or_default();
    let page = here.split('#').next().unwrap_or_default();
    format!("{page}#{fragment}")
}

/// Gives the visitor a file whose content an address holds.
pub(crate) fn save(name: &str, address: &str) {
    let link = document().and_then(|document| document.create_element("a").ok());
    if let Some(link) = link.and_then(|link| link.dyn_into::<HtmlElement>().ok()) {
        // Both names are XML names.
        link.set_attribute("download", name).ok();
        link.set_attribute("href", address).ok();
        link.click();
    }
}

/// Puts a text on the clipboard; whether the browser lets the page do that.
pub(crate) async fn copy(text: &str) -> bool {
    let clipboard = window().map(|window| window.navigator().clipboard());
    // There is none on insecure origins.
    let Some(clipboard) = clipboard.filter(|clipboard| !clipboard.is_undefined()) else {
        return false;
    };
    JsFuture::from(clipboard.write_text(text)).await.is_ok()
}

/// Opens the browser's dialogue for printing.
pub(crate) fn print() {
    if let Some(window) = window() {
        // A browser that does not print has no dialogue to open.
        window.print().ok();
    }
}

fn history() -> Option<History> {
    window()?.history().ok()
}

fn storage() -> Option<Storage> {
    window()?.local_storage().ok().flatten()
}
