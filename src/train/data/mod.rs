//! Public data sets in the formats they are published in, one a file.
//!
//! Every format becomes the same lists: pictures that stay where they lie, their captions, and the entries that were
//! left out, with the reason. Nothing here knows models or tensors; `features` embeds the listed pictures and captions.

pub mod augment;
pub mod captions_csv;
pub mod cifar;
pub mod coco;
pub mod conceptual;
pub mod corruption;
pub mod dataset;
pub mod flickr;
pub mod hierarcaps;
pub mod image_folder;
pub mod karpathy;
pub mod stl10;
pub mod webdataset;

mod holdout;
mod listing;
mod picture;
mod place;

pub use holdout::{hold_out, take};
pub use listing::{Item, ItemCaption, Labelled, Listing, Skipped, Splits};
pub use picture::{Picture, PlaneOrder};
pub use place::first_of;
