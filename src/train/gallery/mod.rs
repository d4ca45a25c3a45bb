//! The pictures that the page shows at the start, and a model's recorded answers to them.

pub mod photographs;
pub mod pictures;
pub mod png;
pub mod recorded;
pub mod wall;
