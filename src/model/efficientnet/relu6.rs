//! The nonlinearity after every convolution but the last of a block: numbers are cut to 0–6.

use burn::tensor::Tensor;

use crate::device::{RELU6_MAX, VALUES_PER_TASK, change_values, is_on_host};
use crate::host::lanes::{Real, replace};

/// A number cut to 0–6.
#[inline(always)]
pub(super) fn relu6<N: Real>(value: N) -> N {
    value.clamp_to(0.0, RELU6_MAX)
}

/// Cuts all values to 0–6.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub(super) fn relu6_in_place(values: &mut [f32]) {
    replace(values, relu6, relu6);
}

/// Values cut to 0–6; on a CPU in place and on all cores, unless a training needs to know where.
pub(super) fn relu6_of<const D: usize>(values: Tensor<D>) -> Tensor<D> {
    if !is_on_host(&values) {
        return values.clamp(0.0, RELU6_MAX);
    }
    change_values(values, VALUES_PER_TASK, |values| {
        relu6_in_place(values);
    })
}
