//! An engine in its dedicated worker: a request comes in, the session computes, a response goes out.
//!
//! Knows the browser's worker scope and [`crate::inference`]; must not know the page, nor which device it was given.
//! One request is answered at a time. If the engine dies, the page sees the worker's `error` event and starts another.

mod adapter;
mod cache;
mod download;
mod model;
pub mod queue;
pub mod recent;
mod scope;

use std::future::Future;

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen_futures::spawn_local;

pub use adapter::describe_gpu;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::protocol::{Request, Response};
use model::Model;
use queue::Queue;
use scope::post;

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
}

/// Listens to the page for as long as the worker lives.
///
/// An engine that cannot be had refuses every model with the reason.
pub fn start(engine: impl Future<Output = Result<Engine>> + 'static) {
    scope::report_panics();
    let queue = Queue::default();
    scope::listen(queue.clone());
    post(&Response::Started);
    spawn_local(async move { serve(engine.await, &queue).await });
}

async fn serve(engine: Result<Engine>, queue: &Queue) {
    let mut model = None;
    loop {
        // Messages that came while computing are delivered now, so that the queue knows the newest score.
        TimeoutFuture::new(0).await;
        let request = queue.next().await;
        let response = match &engine {
            Ok(engine) => answer(engine, &mut model, request).await,
            Err(error) => Some(Response::Refused {
                message: error.to_string(),
            }),
        };
        response.iter().for_each(post);
    }
}

async fn answer(engine: &Engine, model: &mut Option<Model>, request: Request) -> Option<Response> {
    match request {
        Request::Load { manifest_url } => Some(load(engine, model, &manifest_url).await),
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
    }
}

/// The model loaded before stays unless this one can be used.
async fn load(engine: &Engine, model: &mut Option<Model>, manifest_url: &str) -> Response {
    match Model::load(engine, manifest_url).await {
        Ok((loaded, card)) => {
            *model = Some(loaded);
            Response::Loaded(Box::new(card))
        }
        Err(error) => Response::Refused {
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
        Ok(answer) => Response::Scored(answer),
        Err(error) => Response::Failed {
            id: Some(id),
            message: error.to_string(),
        },
    }
}

fn no_model() -> Error {
    Error::Engine("no model is loaded yet".to_owned())
}
