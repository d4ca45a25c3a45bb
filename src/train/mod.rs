//! The native side: makes data, trains, evaluates, scores and exports.
//!
//! Only this module touches files, clocks and the terminal. Knows nothing of the browser.

pub mod attributes;
pub mod batch;
pub mod bundle;
pub mod cli;
pub mod clip;
pub mod data;
pub mod dtypes;
pub mod embed;
pub mod exit;
pub mod experiments;
pub mod export;
pub mod export_fits;
pub mod files;
pub mod fit;
pub mod gallery;
pub mod import;
pub mod inspect;
pub mod methods;
pub mod npy;
pub mod outside;
pub mod photos_model;
pub mod progress;
pub mod record;
pub mod reproduce;
pub mod scenes;
pub mod score;
