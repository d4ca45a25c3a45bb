//! Training: the optimisers, the loop, batches in parts on all cores, and the checkpoint from which an interrupted
//! training resumes. Modules and losses are the callers'.

mod checkpoint;
mod optimizer;
mod parts;
mod training_loop;

pub use checkpoint::Checkpoint;
pub use optimizer::{Optimizer, cosine, warm_cosine};
pub use parts::{BatchPart, each};
pub use training_loop::{Diverged, Loss, Objective, Trainer};
