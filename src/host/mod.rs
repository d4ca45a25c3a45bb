//! Lists of floats on the host: eight numbers at once, and products with packed matrices.

pub mod gemm;
pub(crate) mod lanes;
