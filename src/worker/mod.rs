//! An engine in its dedicated worker: a request comes in, the session computes, a response goes out.
//!
//! Knows the browser's worker scope and [`crate::inference`]; must not know the page, nor which device it was given.
//! One request is answered at a time. If the engine dies, the page sees the worker's `error` event and starts another.

mod adapter;
pub mod control;
mod download;
pub mod files;
mod model;
mod original;
pub mod queue;
pub mod recent;
mod scope;
pub mod store;
pub mod transfer;

use std::future::Future;

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen_futures::spawn_local;

pub use adapter::describe_gpu;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::protocol::{Hub, Request, Response, Stored};
use control::Control;
use files::Picked;
use model::Model;
use queue::Queue;
use scope::post;
use store::Store;

/// What an engine is.
#[derive(Debug, Clone)]
pub struct Engine {
    /// `cpu` or `gpu`.
    pub name: &'static str,
    /// Greatest relative error that the self-test allows it.
    pub tolerance: f64,
    /// Where its tensors live.
    pub device: Device,
    /// The device in words.
    pub device_words: String,
    /// Whether it is trusted with weights of which no golden values are known.
    pub is_reference: bool,
}

/// What the visitor's side has given a worker beside the queue.
#[derive(Debug, Clone, Default)]
struct Given {
    control: Control,
    picked: Picked,
}

/// Listens to the page for as long as the worker lives.
///
/// An engine that cannot be had refuses every model with the reason.
pub fn start(engine: impl Future<Output = Result<Engine>> + 'static) {
    scope::report_panics();
    let (queue, given) = (Queue::default(), Given::default());
    scope::listen(queue.clone(), given.control.clone(), given.picked.clone());
    post(&Response::Started);
    spawn_local(async move { serve(engine.await, &queue, &given).await });
}

async fn serve(engine: Result<Engine>, queue: &Queue, given: &Given) {
    let mut model = None;
    loop {
        // Messages that came while computing are delivered now, so that the queue knows the newest score.
        TimeoutFuture::new(0).await;
        let request = queue.next().await;
        let response = match &engine {
            Ok(engine) => answer(engine, &mut model, request, given).await,
            Err(error) => Some(Response::Refused {
                message: error.to_string(),
            }),
        };
        response.iter().for_each(post);
    }
}

async fn answer(
    engine: &Engine,
    model: &mut Option<Model>,
    request: Request,
    given: &Given,
) -> Option<Response> {
    let loaded = match request {
        Request::Load { manifest_url } => {
            Model::beside(engine, &manifest_url, &given.control).await
        }
        Request::LoadFiles { .. } => Model::picked(engine, &given.picked).await,
        Request::LoadHub(hub) => Model::at_hub(engine, &hub, &given.control).await,
        request => return answer_at_once(model, request, given).await,
    };
    Some(match loaded {
        // The model loaded before stays unless this one can be used.
        Ok((loaded, response)) => {
            *model = Some(loaded);
            response
        }
        Err(error) => refused(&error),
    })
}

async fn answer_at_once(
    model: &mut Option<Model>,
    request: Request,
    given: &Given,
) -> Option<Response> {
    match request {
        Request::WeighHub(hub) => Some(weigh(hub, given).await),
        Request::ListStored => Some(stored().await),
        Request::DeleteStored => {
            let store = Store::open().await;
            for file in store.list().await {
                store.remove(&file.name).await;
            }
            Some(stored().await)
        }
        Request::AddImage { image, bytes } => Some(add_image(model, image, &bytes).await),
        Request::RemoveImage { image } => {
            model.as_mut()?.remove_image(&image);
            None
        }
        Request::Score {
            id,
            captions,
            images,
        } => Some(score(model, id, captions, images).await),
        // Loads are answered by the caller, and the others never wait in the queue.
        Request::Load { .. }
        | Request::LoadFiles { .. }
        | Request::LoadHub(_)
        | Request::Pause
        | Request::Resume
        | Request::Cancel => None,
    }
}

async fn weigh(hub: Hub, given: &Given) -> Response {
    match original::weigh(hub, &given.control).await {
        Ok(weighed) => Response::Weighed(weighed),
        Err(error) => refused(&error),
    }
}

async fn stored() -> Response {
    let store = Store::open().await;
    let files = store.list().await;
    Response::Stored(Stored {
        is_allowed: store.is_allowed(),
        bytes: files.iter().map(|file| file.bytes).sum(),
        room_bytes: store.room().await,
    })
}

fn refused(error: &Error) -> Response {
    match error {
        Error::Cancelled => Response::Cancelled,
        error => Response::Refused {
            message: error.to_string(),
        },
    }
}

async fn add_image(model: &mut Option<Model>, image: String, bytes: &[u8]) -> Response {
    let added = match model {
        Some(model) => model.add_image(&image, bytes).await,
        None => Err(no_model()),
    };
    match added {
        Ok(reading) => Response::ImageAdded(reading),
        Err(error) => Response::ImageRefused {
            image,
            message: error.to_string(),
        },
    }
}

async fn score(
    model: &mut Option<Model>,
    id: u64,
    captions: Vec<String>,
    images: Vec<String>,
) -> Response {
    let scored = match model {
        Some(model) => model.score(id, captions, images).await,
        None => Err(no_model()),
    };
    match scored {
        Ok(response) => response,
        Err(error) => Response::Failed {
            id: Some(id),
            message: error.to_string(),
        },
    }
}

fn no_model() -> Error {
    Error::Engine("no model is loaded yet".to_owned())
}
