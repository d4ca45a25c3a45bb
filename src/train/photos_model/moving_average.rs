//! An exponential moving average of a module's parameters, on the host.

use anyhow::Result;

use crate::model::parameters::{Parameters, TensorRecord};
use crate::train::export::bundle::records;

/// The average of all states that it was shown, the latest weighing most.
#[derive(Debug)]
pub(super) struct MovingAverage {
    decay: f32,
    average: Vec<TensorRecord>,
}

impl MovingAverage {
    /// Nothing yet; `decay` is the share of the average that is kept when a state is added.
    pub(super) const fn new(decay: f32) -> Self {
        Self {
            decay,
            average: Vec::new(),
        }
    }

    /// Adds a state; the first one is the average.
    pub(super) fn update(&mut self, module: &impl Parameters) -> Result<()> {
        let state = records(module)?;
        if self.average.is_empty() {
            self.average = state;
            return Ok(());
        }
        for (average, state) in self.average.iter_mut().zip(state) {
            for (average, value) in average.values.iter_mut().zip(state.values) {
                *average = self.decay * *average + (1.0 - self.decay) * value;
            }
        }
        Ok(())
    }

    /// Records of the average's tensors; none before the first update.
    pub(super) fn records(&self) -> Vec<TensorRecord> {
        self.average.clone()
    }
}
