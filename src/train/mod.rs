//! The native side: makes data, trains, evaluates, scores and exports.
//!
//! Only this module touches files, clocks and the terminal. Knows nothing of the browser.
//!
//! `data`, `optimize` and `gallery` use no other folder of this module; `methods` trains by `optimize`; `features`
//! embeds `data` for `methods`; `pairs` scores embedded captions and pictures for `export` and `photos_model`;
//! `scenes_model` and `experiments` train on features; `export` and `import` write model folders; `adapt` puts these
//! stages together for an imported encoder; `cli` calls them all and is used by none.

pub mod adapt;
pub mod cli;
pub mod data;
pub mod exit;
pub mod experiments;
pub mod export;
pub mod features;
pub mod files;
pub mod gallery;
pub mod import;
pub mod memory;
pub mod methods;
pub mod optimize;
pub mod pairs;
pub mod photos_model;
pub mod progress;
pub mod provenance;
pub mod run_lock;
pub mod scenes_model;
