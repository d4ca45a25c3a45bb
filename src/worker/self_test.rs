//! Format of an engine's weights, and the check that its error is small enough.

use super::engine::Engine;
use super::weight_store::WeightStore;
use super::worker_scope::is_short_of_memory;
use crate::error::{Error, Result};
use crate::inference::{SelfTest, WeightFormat};
use crate::weights::manifest::Manifest;

/// Weights that come in eight bits and are no more bytes than this are held as floats, which are four times the memory
/// and need not be widened for each answer.
const WIDENED_BYTES: u64 = 64_000_000;

/// Format in which an engine holds these weights. An engine that is compared with another must have the same numbers.
pub(super) fn weight_format(
    engine: &Engine,
    manifest: &Manifest,
    weights: &WeightStore,
) -> WeightFormat {
    let Some(kernel) = engine.kernel else {
        return WeightFormat::Tensor;
    };
    let tensors = || manifest.shards.iter().flat_map(|shard| &shard.tensors);
    let is_int8 = || tensors().any(|tensor| tensor.dtype == "I8");
    let is_large_int8 = || manifest.weights_bytes() > WIDENED_BYTES && is_int8();
    let can_be_narrow = || matches!(weights, WeightStore::Original(_)) || is_int8();
    if is_large_int8() || (is_short_of_memory() && can_be_narrow()) {
        WeightFormat::PackedInt8(kernel)
    } else {
        WeightFormat::Packed(kernel)
    }
}

/// The self-test, if it was passed; else an error that names its error and tolerance.
pub(super) fn trusted(self_test: SelfTest) -> Result<SelfTest> {
    if self_test.passed() {
        return Ok(self_test);
    }
    let SelfTest {
        max_relative_error,
        tolerance,
    } = self_test;
    Err(Error::Engine(format!(
        "this engine's numbers are wrong on this device: relative error {max_relative_error:.1e} on the model's golden \
         values, at most {tolerance:.0e} is allowed"
    )))
}
