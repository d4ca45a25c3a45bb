//! Weights on the browser's disk and over the network; `blob:` addresses stand for a server that serves parts of files.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, Object, Reflect, Uint8Array};
use kappascope::error::Error;
use kappascope::protocol::Request;
use kappascope::weights::f16_stream::{F16Stream, StoragePrecision};
use kappascope::weights::plan::Plan;
use kappascope::wire;
use kappascope::worker::control::{Control, LoadCommand};
use kappascope::worker::files::{FILES, Picked};
use kappascope::worker::store::{Store, read};
use kappascope::worker::transfer::{Fetched, Transfer};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Blob, File, Url};

/// Longer than one chunk of any browser's streams.
const N_BYTES: u32 = 300_000;

fn content() -> Vec<u8> {
    (0..N_BYTES).map(|i| (i * 31 % 251) as u8).collect()
}

fn blob(bytes: &[u8]) -> Blob {
    let parts = Array::of1(&Uint8Array::from(bytes));
    Blob::new_with_u8_array_sequence(&parts).expect("a blob")
}

fn address(bytes: &[u8]) -> String {
    Url::create_object_url_with_blob(&blob(bytes)).expect("an address")
}

/// A store without this file.
async fn store_without(name: &str) -> Store {
    let store = Store::open().await;
    assert!(store.is_allowed(), "this browser has a disk");
    store.remove(name).await;
    store
}

async fn bytes_of(blob: &Blob) -> Vec<u8> {
    let buffer = JsFuture::from(blob.array_buffer()).await;
    Uint8Array::new(&buffer.expect("its bytes")).to_vec()
}

async fn fetch(
    address: &str,
    name: &str,
    plan: &Plan,
    store: &Store,
) -> Result<(Fetched, Vec<u64>), Error> {
    fetch_and_keep(StoragePrecision::AsSent, address, name, plan, store).await
}

async fn fetch_and_keep(
    kept: StoragePrecision,
    address: &str,
    name: &str,
    plan: &Plan,
    store: &Store,
) -> Result<(Fetched, Vec<u64>), Error> {
    let mut seen = Vec::new();
    let transfer = Transfer {
        address,
        name,
        plan,
        kept,
        store,
        control: &Control::default(),
    };
    let fetched = transfer.run(|n_bytes| seen.push(n_bytes)).await?;
    Ok((fetched, seen))
}

#[wasm_bindgen_test]
async fn what_is_appended_is_there_later_and_can_be_deleted() {
    let store = store_without("appended").await;
    for part in [&content()[..1000], &content()[1000..]] {
        let mut writer = store.append("appended").await.expect("a file");
        writer.write(&part.into()).expect("room");
        let second = store.append("appended").await;
        assert!(second.is_none(), "one writer at a time");
    }
    let again = Store::open().await;
    let found = again.find("appended").await.expect("it is there");
    assert_eq!(bytes_of(&found).await, content(), "both parts in order");
    let slice = read(&found, 998..1003).await.expect("a slice");
    assert_eq!(slice, content()[998..1003], "over the seam");
    assert!(read(&found, 0..400_000).await.is_err(), "beyond its end");
    let listed = again.list().await;
    let listed = listed.iter().find(|file| file.name == "appended");
    assert_eq!(listed.map(|file| file.bytes), Some(300_000), "listed");
    again.remove("appended").await;
    assert!(again.find("appended").await.is_none(), "deleted");
}

#[wasm_bindgen_test]
async fn a_file_is_fetched_once() {
    let store = store_without("once").await;
    let (address, plan) = (address(&content()), Plan::whole(u64::from(N_BYTES)));
    let (fetched, seen) = fetch(&address, "once", &plan, &store).await.expect("it");
    assert_eq!(bytes_of(&fetched.blob).await, content(), "every byte");
    assert_eq!(fetched.stored_bytes, 0, "nothing was there");
    assert!(seen.is_sorted(), "never back: {seen:?}");
    assert_eq!(seen.last(), Some(&u64::from(N_BYTES)), "all of it");

    Url::revoke_object_url(&address).expect("an address");
    let (fetched, _) = fetch(&address, "once", &plan, &store)
        .await
        .expect("stored");
    assert_eq!(bytes_of(&fetched.blob).await, content(), "without a server");
    assert_eq!(fetched.stored_bytes, u64::from(N_BYTES), "all was there");
    store.remove("once").await;
}

#[wasm_bindgen_test]
async fn a_download_goes_on_where_another_visit_stopped() {
    let store = store_without("resumed").await;
    // Bytes that no server sends show which ones were kept.
    let kept = vec![255; 1000];
    let mut writer = store.append("resumed").await.expect("a file");
    writer.write(&kept[..].into()).expect("room");
    drop(writer);
    let (address, plan) = (address(&content()), Plan::whole(u64::from(N_BYTES)));
    let (fetched, seen) = fetch(&address, "resumed", &plan, &store).await.expect("it");
    let expected = [&kept[..], &content()[1000..]].concat();
    assert_eq!(
        bytes_of(&fetched.blob).await,
        expected,
        "the rest was added"
    );
    assert_eq!(fetched.stored_bytes, 1000, "were there");
    assert_eq!(seen.first(), Some(&1000), "progress begins there");
    store.remove("resumed").await;
}

#[wasm_bindgen_test]
async fn floats_are_kept_in_two_bytes_also_behind_one_that_was_cut() {
    let (store, refused) = (store_without("halved").await, Store::refused());
    // Three floats and half of the fourth, which no server sends.
    let kept = [255; 7];
    let mut writer = store.append("halved").await.expect("a file");
    writer.write(&kept[..].into()).expect("room");
    drop(writer);
    let (address, plan) = (address(&content()), Plan::whole(u64::from(N_BYTES)));
    let halves = F16Stream::default().put(&content());
    let rest = [&kept[..6], &halves[6..]].concat();
    for (store, n_stored, expected) in [(&store, 12, rest), (&refused, 0, halves)] {
        let (fetched, seen) =
            fetch_and_keep(StoragePrecision::F16, &address, "halved", &plan, store)
                .await
                .expect("it");
        assert_eq!(bytes_of(&fetched.blob).await, expected, "in two bytes each");
        assert_eq!(fetched.stored_bytes, n_stored, "whole floats were there");
        assert_eq!(seen.first(), Some(&n_stored), "progress begins there");
        assert_eq!(seen.last(), Some(&u64::from(N_BYTES)), "all that is sent");
    }
    store.remove("halved").await;
}

#[wasm_bindgen_test]
async fn only_the_parts_that_are_needed_are_fetched() {
    let store = store_without("parts").await;
    let (address, plan) = (address(&content()), Plan::of([200_000..200_100, 10..40]));
    let (fetched, _) = fetch(&address, "parts", &plan, &store).await.expect("them");
    let content = content();
    let expected = [&content[10..40], &content[200_000..200_100]].concat();
    assert_eq!(
        bytes_of(&fetched.blob).await,
        expected,
        "in the file's order"
    );
    store.remove("parts").await;
}

#[wasm_bindgen_test]
async fn without_a_disk_it_works_and_nothing_is_kept() {
    let (address, plan) = (address(&content()), Plan::whole(u64::from(N_BYTES)));
    let store = Store::refused();
    let (fetched, _) = fetch(&address, "refused", &plan, &store).await.expect("it");
    assert_eq!(bytes_of(&fetched.blob).await, content(), "every byte");
    assert!(store.find("refused").await.is_none(), "not kept");
    let disk = Store::open().await;
    assert!(disk.find("refused").await.is_none(), "nor on the disk");
}

#[wasm_bindgen_test]
async fn what_is_locked_by_another_engine_is_fetched_into_memory() {
    let store = store_without("locked").await;
    let writer = store.append("locked").await.expect("a file");
    let (address, plan) = (address(&content()), Plan::whole(u64::from(N_BYTES)));
    let (fetched, _) = fetch(&address, "locked", &plan, &store).await.expect("it");
    assert_eq!(bytes_of(&fetched.blob).await, content(), "every byte");
    drop(writer);
    store.remove("locked").await;
}

#[wasm_bindgen_test]
async fn a_load_can_be_paused_and_goes_on() {
    let store = Rc::new(store_without("paused").await);
    let control = Control::default();
    control.set(LoadCommand::Pause);
    let outcome = Rc::new(RefCell::new(None));
    let (there, held, inner) = (Rc::clone(&outcome), Rc::clone(&store), control.clone());
    spawn_local(async move {
        let (address, plan) = (address(&content()), Plan::whole(u64::from(N_BYTES)));
        let transfer = Transfer {
            address: &address,
            name: "paused",
            plan: &plan,
            kept: StoragePrecision::AsSent,
            store: &held,
            control: &inner,
        };
        *there.borrow_mut() = Some(transfer.run(|_| {}).await.map(|fetched| fetched.blob));
    });
    TimeoutFuture::new(100).await;
    assert!(outcome.borrow().is_none(), "it waits");
    control.set(LoadCommand::Run);
    for _ in 0..50 {
        if outcome.borrow().is_some() {
            break;
        }
        TimeoutFuture::new(20).await;
    }
    let fetched = outcome.borrow_mut().take().expect("it went on");
    let found = bytes_of(&fetched.expect("it arrived")).await;
    assert_eq!(found, content(), "every byte");
    store.remove("paused").await;
}

#[wasm_bindgen_test]
async fn a_load_can_be_cancelled() {
    let store = store_without("cancelled").await;
    let control = Control::default();
    control.set(LoadCommand::Cancel);
    let (address, plan) = (address(&content()), Plan::whole(u64::from(N_BYTES)));
    let transfer = Transfer {
        address: &address,
        name: "cancelled",
        plan: &plan,
        kept: StoragePrecision::AsSent,
        store: &store,
        control: &control,
    };
    let error = transfer.run(|_| {}).await.expect_err("nobody wants it");
    assert_eq!(error, Error::Cancelled, "said as what it is");
    store.remove("cancelled").await;
}

#[wasm_bindgen_test]
async fn a_load_that_may_fetch_nothing_takes_what_is_kept_and_asks_for_no_more() {
    let store = store_without("kept").await;
    let (address, plan) = (address(&content()), Plan::whole(u64::from(N_BYTES)));
    let control = Control::default();
    let transfer = Transfer {
        address: &address,
        name: "kept",
        plan: &plan,
        kept: StoragePrecision::AsSent,
        store: &store,
        control: &control,
    };
    control.set_fetches_nothing(true);
    let error = transfer.run(|_| {}).await.expect_err("nothing is kept");
    assert!(error.to_string().contains("without a click"), "{error}");
    control.set_fetches_nothing(false);
    transfer.run(|_| {}).await.expect("it arrives");
    control.set_fetches_nothing(true);
    let fetched = transfer.run(|_| {}).await.expect("all of it is kept");
    assert_eq!(bytes_of(&fetched.blob).await, content(), "every byte");
    store.remove("kept").await;
}

#[wasm_bindgen_test]
async fn a_file_that_is_not_there_is_said_to_be() {
    let store = store_without("missing").await;
    let origin = js_sys::global();
    let location = Reflect::get(&origin, &"location".into()).expect("a worker's place");
    let origin = Reflect::get(&location, &"origin".into()).expect("its origin");
    let address = format!("{}/no-such-file", origin.as_string().expect("text"));
    let error = fetch(&address, "missing", &Plan::whole(9), &store).await;
    let error = error.expect_err("no such file").to_string();
    assert!(error.ends_with("the server answered 404"), "{error}");
    store.remove("missing").await;
}

#[wasm_bindgen_test]
async fn a_web_page_in_place_of_a_file_is_refused_and_not_kept() {
    let store = store_without("screened").await;
    let (content, kind) = (blob(&content()), "text/html; charset=utf-8");
    let page = content.slice_with_f64_and_f64_and_content_type(0.0, f64::from(N_BYTES), kind);
    let page = page.expect("a blob");
    let address = Url::create_object_url_with_blob(&page).expect("an address");
    let error = fetch(&address, "screened", &Plan::whole(9), &store).await;
    let error = error.expect_err("a page").to_string();
    assert!(
        error.ends_with("a web page in place of the file"),
        "{error}"
    );
    let kept = store.find("screened").await;
    assert!(kept.is_none_or(|blob| blob.size() < 1.0), "no byte of it");
    store.remove("screened").await;
}

#[wasm_bindgen_test]
async fn picked_files_come_beside_their_message() {
    let request = Request::LoadFiles {
        names: vec!["a.safetensors".to_owned()],
    };
    let message = wire::to_js(&request).expect("a message");
    let parts = Array::of1(&Uint8Array::from(&content()[..]));
    let file = File::new_with_u8_array_sequence(&parts, "a.safetensors").expect("a file");
    let object = Object::from(message.clone());
    Reflect::set(&object, &FILES.into(), &Array::of1(&file)).expect("an object");
    let picked = Picked::default();
    let message = picked.take_from(message);
    let found: Request = wire::from_js(message).expect("the message without them");
    assert_eq!(found, request, "unchanged");
    let files = picked.files();
    let slice = read(&files["a.safetensors"], 5..9).await.expect("a slice");
    assert_eq!(slice, content()[5..9], "its bytes");
}
