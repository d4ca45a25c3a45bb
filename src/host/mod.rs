//! Lists of floats on the host: eight numbers at once, products with packed matrices, and values as files hold them.

pub mod gemm;
pub(crate) mod lanes;
pub mod stored;
