//! What can only be tried inside a browser: the encoding of messages, the worker's bookkeeping, its kernel, its disk, its
//! downloads and what it says of characters.
#![cfg(target_arch = "wasm32")]
#![allow(missing_docs, reason = "an integration test has no users")]

mod gemm;
mod unicode;
mod weights;

use js_sys::{Reflect, Uint8Array};
use kappascope::protocol::{Answer, PairReading, PerFamily, Request, Response};
use kappascope::wire;
use kappascope::worker::{queue::Queue, recent::Recent};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn a_picture_crosses_the_boundary_as_bytes() {
    let request = Request::AddImage {
        image: "a".to_owned(),
        bytes: vec![0, 127, 255],
    };
    let value = wire::to_js(&request).expect("a request has a JavaScript value");
    let content = Reflect::get(&value, &"AddImage".into()).expect("the variant is a property");
    let bytes = Reflect::get(&content, &"bytes".into()).expect("the field is a property");
    assert!(
        bytes.is_instance_of::<Uint8Array>(),
        "not a list of numbers: {bytes:?}"
    );
    assert_eq!(
        wire::from_js::<Request>(value).expect("it comes back"),
        request,
        "there and back"
    );
}

#[wasm_bindgen_test]
fn an_answer_keeps_every_bit() {
    let cosine = PerFamily {
        vmf: 0.1 + 0.2,
        power_spherical: -1.0 / 3.0,
    };
    let pair = PairReading {
        cosine: f64::MIN_POSITIVE,
        mean_direction_cosine: cosine,
    };
    let response = Response::Scored(Answer {
        id: (1 << 53) - 1,
        pairs: vec![pair],
        ..Answer::default()
    });
    let value = wire::to_js(&response).expect("an answer has a JavaScript value");
    assert_eq!(
        wire::from_js::<Response>(value).expect("it comes back"),
        response,
        "there and back"
    );
}

#[wasm_bindgen_test]
fn a_message_from_another_build_is_an_error() {
    let found = wire::from_js::<Request>(JsValue::from_str("Sing"));
    assert!(found.is_err(), "no such request, but found {found:?}");
}

#[wasm_bindgen_test]
async fn only_the_newest_score_is_answered() {
    let queue = Queue::default();
    let remove = Request::RemoveImage {
        image: "a".to_owned(),
    };
    for request in [score(1), remove.clone(), score(2), score(3)] {
        queue.push(request);
    }
    assert_eq!(
        queue.next().await,
        remove,
        "what is no score stays in order"
    );
    assert_eq!(queue.next().await, score(3), "older scores are dropped");
}

#[wasm_bindgen_test]
async fn requests_that_waited_for_something_come_before_all_others() {
    let queue = Queue::default();
    let add = |image: &str| Request::AddImage {
        image: image.to_owned(),
        bytes: Vec::new(),
    };
    queue.push(score(1));
    queue.put_first(vec![add("a"), add("b")]);
    for expected in [add("a"), add("b"), score(1)] {
        assert_eq!(queue.next().await, expected, "in their order");
    }
}

#[wasm_bindgen_test]
async fn a_request_wakes_the_engine_that_waits() {
    let queue = Queue::default();
    let later = queue.clone();
    wasm_bindgen_futures::spawn_local(async move {
        gloo_timers::future::TimeoutFuture::new(10).await;
        later.push(score(1));
    });
    assert_eq!(queue.next().await, score(1), "it arrived while waiting");
}

#[wasm_bindgen_test]
fn the_captions_used_last_are_remembered() {
    let mut recent = Recent::default();
    recent.remember("first".to_owned(), 0);
    for i in 1..Recent::<i32>::CAPACITY {
        recent.remember(format!("caption {i}"), 1);
    }
    assert_eq!(recent.find("first"), Some(0), "there is room for as many");
    recent.remember("one more".to_owned(), 2);
    assert_eq!(recent.find("first"), Some(0), "it was used just now");
    assert_eq!(
        recent.find("caption 1"),
        None,
        "the longest unused one left"
    );
}

fn score(id: u64) -> Request {
    Request::Score {
        id,
        captions: Vec::new(),
        images: Vec::new(),
        relates: false,
    }
}
