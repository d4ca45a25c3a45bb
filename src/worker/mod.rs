//! An engine in its dedicated worker: a request comes in, the session computes, a response goes out.
//!
//! Knows the browser's worker scope and [`crate::inference`]; must not know the page, nor which device it was given.
//! One request is answered at a time; those that need an image encoder which is being loaded are queued apart, so that
//! captions are described meanwhile. An engine that panics or loses its GPU reports it, and the page starts another.

mod adapter;
mod card;
pub mod control;
mod device_timings;
mod download;
mod engine;
mod file_bytes;
pub mod files;
pub mod gemm_kernel;
mod hub_file;
mod model;
mod original;
mod probes;
pub mod queue;
pub mod recent;
mod self_test;
pub mod store;
pub mod transfer;
mod weight_store;
mod worker_scope;

use std::future::Future;
use std::rc::Rc;

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen_futures::spawn_local;

pub use adapter::describe_gpu;
pub use engine::Engine;
pub use gemm_kernel::kernel;
pub use worker_scope::{report_lost_gpu, run_constructors};

use crate::error::{Error, Result};
use crate::protocol::{Hub, HubFailure, HubFault, Request, Response, Stored};
use control::Control;
use download::Download;
use engine::LoadInputs;
use model::Model;
use queue::Queue;
use store::{Store, read, whole};
use worker_scope::post;

/// Milliseconds after a first failure within which a browser reports a lost GPU.
const LOSS_MILLIS: u32 = 1_000;
/// Milliseconds after the first answer in which the page builds what it shows; a pass would take longer beside that.
const SETTLED_MILLIS: u32 = 1_000;

/// Listens to the page for as long as the worker lives.
///
/// An engine that cannot be had refuses every model with the reason.
pub fn start(engine: impl Future<Output = Result<Engine>> + 'static) {
    worker_scope::report_panics();
    let (queue, inputs) = (Queue::default(), LoadInputs::default());
    worker_scope::listen(queue.clone(), inputs.control.clone(), inputs.picked.clone());
    post(&Response::Started);
    spawn_local(async move { serve(engine.await, &queue, &inputs).await });
}

async fn serve(engine: Result<Engine>, queue: &Queue, inputs: &LoadInputs) {
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
            Ok(engine) => answer(engine, &mut model, request, inputs).await,
            Err(error) => Some(Response::Refused {
                message: error.to_string(),
            }),
        };
        if engine.as_ref().is_ok_and(|engine| !engine.is_reference)
            && response.as_ref().is_some_and(is_failure)
        {
            // Requests that fail because the GPU is lost are repeated on another engine: the page must get the loss
            // first.
            TimeoutFuture::new(LOSS_MILLIS).await;
        }
        response.iter().for_each(post);
        let is_answer = matches!(response, Some(Response::Scored(_) | Response::Compared(_)));
        let untimed = model.as_ref().filter(|model| !model.is_timed.get());
        if let Some(model) = untimed.filter(|_| is_answer) {
            spawn_local(time_later(Rc::clone(model)));
        }
    }
}

/// Times a pass once the page has built what it shows.
async fn time_later(model: Rc<Model>) {
    TimeoutFuture::new(SETTLED_MILLIS).await;
    // An engine without a time is not compared with another.
    model.time_pass().await.ok();
}

fn is_failure(response: &Response) -> bool {
    matches!(
        response,
        Response::Failed { .. } | Response::ImageRefused { .. } | Response::AdapterRefused { .. }
    )
}

async fn answer(
    engine: &Engine,
    model: &mut Option<Rc<Model>>,
    request: Request,
    inputs: &LoadInputs,
) -> Option<Response> {
    let loaded = match request {
        Request::Load {
            manifest_url,
            integrity,
        } => Model::beside(engine, &manifest_url, &integrity, inputs).await,
        Request::LoadFiles { .. } => Model::picked(engine, inputs).await,
        Request::LoadHub(hub) => Model::at_hub(engine, &hub, inputs).await,
        request => return answer_at_once(engine, model.as_ref(), request, inputs).await,
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
    inputs: &LoadInputs,
) -> Option<Response> {
    match request {
        Request::QueryDownloadSize(hub) => answer_beside(download_size(hub)),
        Request::ListStored => answer_beside(stored()),
        Request::StoreModels(manifests) => {
            answer_beside(async move { store_models(&manifests).await })
        }
        Request::DeleteStored => Some(delete_stored().await),
        Request::Adapt { bytes } => Some(adapt(engine, model, &bytes).await),
        Request::ForgetAdapters => {
            let file = model?.adapters_file();
            Store::open().await.remove(&file).await;
            None
        }
        Request::Expect(probes) => {
            *inputs.expected.borrow_mut() = Some(probes);
            None
        }
        Request::ProbePicture => Some(probe_picture(model).await),
        Request::MeasureDevice => Some(device_timings(model).await),
        Request::AddImage { image, bytes } => Some(add_image(model, image, &bytes).await),
        Request::AddRecorded(pictures) => {
            model?.add_recorded(pictures);
            None
        }
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
        | Request::Cancel
        | Request::FetchNothing
        | Request::FetchMissing => None,
    }
}

/// Answers while captions are answered, since the network or the disk may be slow.
fn answer_beside(response: impl Future<Output = Response> + 'static) -> Option<Response> {
    spawn_local(async move { post(&response.await) });
    None
}

/// Deletes everything that the browser keeps.
async fn delete_stored() -> Response {
    let store = Store::open().await;
    for file in store.list().await {
        store.remove(&file.name).await;
    }
    stored().await
}

/// Queries the hub for sizes, with a control of its own: a load that is paused or was cancelled stays so.
async fn download_size(hub: Hub) -> Response {
    let size = original::query_download_size(hub, &Control::default()).await;
    Response::DownloadSize(size.map_err(|error| hub_failure(&error)))
}

fn hub_failure(error: &Error) -> HubFailure {
    let fault = match error {
        Error::Absent { .. } => HubFault::Absent,
        Error::Unreachable { .. } => HubFault::Unreachable,
        _ => HubFault::Other,
    };
    HubFailure {
        fault,
        message: error.to_string(),
    }
}

/// Gives the model adapters; those that fit are kept for the next visit, by the reference engine, with which every
/// visit begins.
async fn adapt(engine: &Engine, model: Option<&Rc<Model>>, bytes: &[u8]) -> Response {
    let adapted = match model {
        Some(model) => model.adapt(bytes).await,
        None => Err(no_model()),
    };
    if let (Some(model), Ok(_), true) = (model, &adapted, engine.is_reference) {
        // Adapters that could not be kept are given again by the visitor.
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

/// Sends the page the adapters that the visitor gave this model before, after the model was loaded without them.
async fn offer_kept(file: String) {
    let Some(blob) = Store::open().await.find(&file).await else {
        return;
    };
    if let Ok(bytes) = read(&blob, 0..whole(blob.size())).await {
        post(&Response::KeptAdapters { bytes });
    }
}

/// Stores models, and posts after each file how many bytes are kept.
async fn store_models(manifests: &[(String, String)]) -> Response {
    for (manifest_url, integrity) in manifests {
        let kept = Download::keep(manifest_url, integrity, async || post(&stored().await));
        if let Err(error) = kept.await {
            return Response::ModelsStored(Err(error.to_string()));
        }
    }
    Response::ModelsStored(Ok(()))
}

async fn stored() -> Response {
    let store = Store::open().await;
    let files = store.list().await;
    Response::Stored(Stored {
        is_allowed: store.is_allowed(),
        bytes: files.iter().map(|file| file.bytes).sum(),
        room_bytes: store.room().await,
        hashes: hub_file::lines_of_hashes(&store).await,
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

async fn device_timings(model: Option<&Rc<Model>>) -> Response {
    let timings = match model {
        Some(model) => model.device_timings().await,
        None => Err(no_model()),
    };
    Response::DeviceMeasured(timings.map_err(|error| error.to_string()))
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
