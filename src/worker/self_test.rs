//! Self-test of an engine: how it holds weights, and whether its error is small enough.

use super::engine::Engine;
use super::weight_store::WeightStore;
use super::worker_scope::is_short_of_memory;
use crate::error::{Error, Result};
use crate::inference::{SelfTest, WeightPrecision};
use crate::weights::manifest::Manifest;

/// How an engine is to hold these weights. One that is held against another engine must have the same numbers.
pub(super) fn held(engine: &Engine, manifest: &Manifest, weights: &WeightStore) -> WeightPrecision {
    let tensors = || manifest.shards.iter().flat_map(|shard| &shard.tensors);
    let is_int8 = || tensors().any(|tensor| tensor.dtype == "I8");
    let is_original = matches!(weights, WeightStore::Original(_));
    if engine.is_reference && (is_int8() || (is_original && is_short_of_memory())) {
        WeightPrecision::Int8
    } else {
        WeightPrecision::Float
    }
}

/// An engine's self-test, if it was passed.
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
