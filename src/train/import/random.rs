//! A checkpoint of random values: for tests and benchmarks, where only shapes and rough sizes matter.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use rand_distr::StandardNormal;

use super::tensor_file::TensorFile;
use crate::error::{Result, refuse};
use crate::weights::original::{Entry, TensorDtype, n_values};

/// Standard deviation of biases and class embeddings, and of a norm's weight around 1.
const VECTOR_STD: f32 = 0.1;

/// ln 100, the released models' logit scale.
const LOG_LOGIT_SCALE: f32 = 4.605_17;

/// Values that depend on the seed and the tensor's name alone.
#[derive(Debug)]
pub(super) struct RandomCheckpoint {
    seed: u64,
    entries: BTreeMap<String, Entry>,
}

impl RandomCheckpoint {
    pub(super) fn new(shapes: Vec<(String, Vec<usize>)>, seed: u64) -> Self {
        let entries = shapes.into_iter().map(|(name, shape)| {
            let dtype = TensorDtype::F32;
            (name, Entry { dtype, shape })
        });
        Self {
            seed,
            entries: entries.collect(),
        }
    }
}

impl TensorFile for RandomCheckpoint {
    fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.entries
    }

    fn read(&mut self, name: &str) -> Result<Vec<f32>> {
        let Some(Entry { shape, .. }) = self.entries.get(name) else {
            refuse!("{name}: missing");
        };
        let n_values = n_values(name, shape)?;
        let is_scale = name.contains("norm") && name.ends_with("weight");
        let (mean, std) = match &shape[..] {
            [] => (LOG_LOGIT_SCALE, 0.0),
            [_] if is_scale => (1.0, VECTOR_STD),
            [_] => (0.0, VECTOR_STD),
            // Keeps the variance of what a layer passes on.
            [_, rest @ ..] => (0.0, (rest.iter().product::<usize>() as f32).powf(-0.5)),
        };
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed ^ fnv1a(name));
        let normal = |_| mean + std * rng.sample::<f32, _>(StandardNormal);
        Ok((0..n_values).map(normal).collect())
    }
}

/// Fowler, Noll and Vo's hash, which unlike the standard library's stays the same for ever.
fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(seed: u64) -> RandomCheckpoint {
        let shapes = [("a.weight", vec![50, 200]), ("b.norm.weight", vec![999])];
        RandomCheckpoint::new(
            shapes.map(|(n, shape)| (n.to_owned(), shape)).to_vec(),
            seed,
        )
    }

    #[test]
    fn values_depend_on_the_seed_and_the_name() {
        let read = |seed, name| checkpoint(seed).read(name).expect("a tensor");
        assert_eq!(read(1, "a.weight"), read(1, "a.weight"), "the same again");
        assert_ne!(read(1, "a.weight"), read(2, "a.weight"), "another seed");
    }

    #[test]
    fn matrices_keep_the_variance_of_what_they_pass_on() {
        let values = checkpoint(1).read("a.weight").expect("a tensor");
        let n = values.len() as f32;
        let mean = values.iter().sum::<f32>() / n;
        let variance = values.iter().map(|value| value * value).sum::<f32>() / n;
        // Four standard errors of ten thousand normals of variance 1/200.
        assert!(mean.abs() < 4.0 * (0.005 / n).sqrt(), "mean {mean}");
        let error = (variance * 200.0 - 1.0).abs();
        assert!(error < 4.0 * (2.0 / n).sqrt(), "variance {variance}");
    }
}
