//! Kappascope shows how vague a caption is.
//!
//! A caption becomes a distribution on the unit sphere, von Mises–Fisher or power spherical, whose concentration κ says
//! how much the words leave open. A picture stays a point. The page shows κ, 1/κ and the likelihood of each picture
//! under each caption; the program `train` makes the models and measures them.
//!
//! # Map
//!
//! In dependency order: a module uses only modules above it.
//!
//! | module | what | feature |
//! |---|---|---|
//! | `error` | the one error type | |
//! | `family` | the two distributions on the sphere by name, and a value for each | |
//! | `numerics` | the two distributions on the sphere and their special functions, f64 → f64 | |
//! | `metrics` | slices → numbers: recall, rank correlation, quantiles | |
//! | `protocol` | what the page and its engines say to each other, as plain data | |
//! | `scenes` | the generated world: scene, drawing, grammar, which captions fit, information | |
//! | `report` | what `train` writes down of experiments and galleries and the page reads | |
//! | `corruption` | pictures and captions made worse, at the published severities | |
//! | `unicode` | categories of characters and normal forms of texts, by libraries or the browser | `engine` |
//! | `preprocess` | pictures and captions → arrays on the host | `engine` |
//! | `host` | lists of floats: eight at once, products with packed matrices, values as files hold them | `engine` |
//! | `device` | where tensors live; work on all cores; kernels for the browser's GPU | `engine` |
//! | `model` | Burn modules: towers (`clip`, `bert`, `efficientnet`), the encoder of any two, adapter, losses | `engine` |
//! | `weights` | a model as a folder: manifest and shards, read and verified; other programs' checkpoints | `engine` |
//! | `inference` | captions and pictures in, plain numbers out | `engine` |
//! | `answer` | what inference found, as messages of the protocol | `engine` |
//! | `explorer` | the page's logic as plain data: state, link, readings, `views`, and the `supervisor` of the engines | |
//! | `wire` | protocol messages as JavaScript values and back; the browser's GPU adapter | `page` |
//! | `worker` | an engine in its web worker: request → session → response | `worker` |
//! | `ui` | the page: a component a view, the document, and workers that do what the supervisor decides | `page` |
//! | `train` | the native program: make data, train, evaluate, score, export | `train` |
//! | `xtask` | the developer's commands: set up, build, check, release | `xtask` |
//!
//! `numerics → model → inference → worker ⇄ protocol ⇄ ui`, with `train` beside `inference`. The page and the workers
//! are separate programs; neither calls the other but by messages.
//!
//! # Invariants
//!
//! * Numerics cannot fail: every function is total on its stated domain.
//! * The model waits for no tensor to be read back; what computes with lists of floats, such as packed products,
//!   attention and norms, asks whether it is on the CPU, where there is nothing to wait for.
//! * Only `device` names a backend.
//! * Only `ui`, `worker`, `wire`, `unicode` and the programs that start them know the browser.
//! * Only `train`, `xtask` and their programs touch files, the system's clock and the terminal.
//! * Features are switched here and in `device` only.
//! * A control that only changes how a result is read never crosses the worker boundary.
//! * An engine that does not reproduce a model's golden values answers nothing.
//! * The page and `train score` give the same numbers, within the tolerance that `inference` states for each device.
//!
//! `tests/architecture.rs` checks the directions and what can be read from the source; `tests/e2e` holds the built page
//! to the native numbers.

#[cfg(feature = "engine")]
pub mod answer;
pub mod corruption;
#[cfg(feature = "engine")]
pub mod device;
pub mod error;
pub mod explorer;
pub mod family;
#[cfg(feature = "engine")]
pub mod host;
#[cfg(feature = "engine")]
pub mod inference;
pub mod metrics;
#[cfg(feature = "engine")]
pub mod model;
pub mod numerics;
#[cfg(feature = "engine")]
pub mod preprocess;
pub mod protocol;
pub mod report;
pub mod scenes;
#[cfg(feature = "train")]
pub mod train;
#[cfg(feature = "page")]
pub mod ui;
#[cfg(feature = "engine")]
pub mod unicode;
#[cfg(feature = "engine")]
pub mod weights;
#[cfg(feature = "page")]
pub mod wire;
#[cfg(feature = "worker")]
pub mod worker;
#[cfg(feature = "xtask")]
pub mod xtask;
