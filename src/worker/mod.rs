//! An engine in its dedicated worker: a request comes in, the session computes, a response goes out.
//!
//! Knows the browser's worker scope and [`crate::inference`]; must not know the page, nor which device it was given.
//! One request is answered at a time; those that need an image encoder which is still on its way wait aside, so that
//! captions are described meanwhile. If the engine dies, the page sees the worker's `error` event and starts another.

mod adapter;
pub mod control;
mod download;
pub mod files;
mod model;
mod origin;
mod original;
pub mod queue;
pub mod recent;
mod scope;
pub mod store;
pub mod transfer;
mod trust;

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen_futures::spawn_local;

pub use adapter::describe_gpu;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::protocol::{Hub, Probes, Request, Response, Stored};
use control::Control;
use files::Picked;
use model::Model;
use queue::Queue;
use scope::post;
use store::{Store, read, whole};

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
    /// What another engine makes of the probes.
    expected: Rc<RefCell<Option<Probes>>>,
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
    let mut model = None::<Rc<Model>>;
    loop {
        // Messages that came while computing are delivered now, so that the queue knows the newest score.
        TimeoutFuture::new(0).await;
        let request = queue.next().await;
        if let Some(model) = model.as_ref().filter(|model| model.must_wait(&request)) {
            model.wait(request, queue);
            continue;
        }
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
    model: &mut Option<Rc<Model>>,
    request: Request,
    given: &Given,
) -> Option<Response> {
    let loaded = match request {
        Request::Load { manifest_url } => Model::beside(engine, &manifest_url, given).await,
        Request::LoadFiles { .. } => Model::picked(engine, given).await,
        Request::LoadHub(hub) => Model::at_hub(engine, &hub, given).await,
        request => return answer_at_once(engine, model.as_ref(), request, given).await,
    };
    Some(match loaded {
        // The model loaded before stays unless this one can be used.
        Ok((loaded, response)) => {
            if engine.is_reference && matches!(response, Response::LoadedBare(_)) {
                spawn_local(offer_kept(loaded.adapters_file()));
            }
            *model = Some(Rc::new(loaded));
            response
        }
        Err(error) => refused(&error),
    })
}

async fn answer_at_once(
    engine: &Engine,
    model: Option<&Rc<Model>>,
    request: Request,
    given: &Given,
) -> Option<Response> {
    match request {
        Request::WeighHub(hub) => Some(weigh(hub).await),
        Request::ListStored => Some(stored().await),
        Request::DeleteStored => {
            let store = Store::open().await;
            for file in store.list().await {
                store.remove(&file.name).await;
            }
            Some(stored().await)
        }
        Request::Adapt { bytes } => Some(adapt(engine, model, &bytes).await),
        Request::Expect(probes) => {
            *given.expected.borrow_mut() = Some(probes);
            None
        }
        Request::ProbePicture => Some(probe_picture(model).await),
        Request::AddImage { image, bytes } => Some(add_image(model, image, &bytes).await),
        Request::RemoveImage { image } => {
            model?.remove_image(&image);
            None
        }
        Request::Score {
            id,
            captions,
            images,
            relates,
        } => Some(score(model, id, captions, images, relates).await),
        // Loads are answered by the caller, and the others never wait in the queue.
        Request::Load { .. }
        | Request::LoadFiles { .. }
        | Request::LoadHub(_)
        | Request::Pause
        | Request::Resume
        | Request::Cancel => None,
    }
}

/// Asks the hub aside: a load that waits or was given up is not touched.
async fn weigh(hub: Hub) -> Response {
    match original::weigh(hub, &Control::default()).await {
        Ok(weighed) => Response::Weighed(weighed),
        Err(error) => Response::NotWeighed {
            message: error.to_string(),
        },
    }
}

/// Adapters that fit are kept for the next visit, by the one engine that every visit begins with.
async fn adapt(engine: &Engine, model: Option<&Rc<Model>>, bytes: &[u8]) -> Response {
    let adapted = match model {
        Some(model) => model.adapt(bytes).await,
        None => Err(no_model()),
    };
    if let (Some(model), Ok(_), true) = (model, &adapted, engine.is_reference) {
        // What is not kept is given again at the next visit.
        Store::open()
            .await
            .put(&model.adapters_file(), bytes)
            .await
            .ok();
    }
    adapted.unwrap_or_else(|error| Response::AdapterRefused {
        message: error.to_string(),
    })
}

/// Tells the page of adapters that were given before, after the model that lacks them.
async fn offer_kept(file: String) {
    let Some(blob) = Store::open().await.find(&file).await else {
        return;
    };
    if let Ok(bytes) = read(&blob, 0..whole(blob.size())).await {
        post(&Response::KeptAdapters { bytes });
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

async fn probe_picture(model: Option<&Rc<Model>>) -> Response {
    let probed = match model {
        Some(model) => model.probe_picture().await,
        None => Err(no_model()),
    };
    match probed {
        Ok(embedding) => Response::PictureProbed { embedding },
        Err(error) => Response::Failed {
            id: None,
            message: error.to_string(),
        },
    }
}

async fn add_image(model: Option<&Rc<Model>>, image: String, bytes: &[u8]) -> Response {
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
    model: Option<&Rc<Model>>,
    id: u64,
    captions: Vec<String>,
    images: Vec<String>,
    relates: bool,
) -> Response {
    let scored = match model {
        Some(model) => model.score(id, captions, images, relates).await,
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
