//! Training: the optimisers, the loop, and the checkpoint from which an interrupted training resumes. What is trained,
//! and on which loss, the callers say.

mod checkpoint;
mod optimizer;
mod training_loop;

pub use checkpoint::Checkpoint;
pub use optimizer::{Optimizer, cosine};
pub use training_loop::{Diverged, Loss, Objective, Trainer};
