//! The training loop: a loss, its gradients, a step of the optimiser; checkpoints now and then and when interrupted.

use std::time::Instant;

use anyhow::{Result, ensure};
use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::Tensor;

use super::Checkpoint;
use crate::train::progress::{Interrupt, Meter};

/// Steps between two readings of the loss.
const STEPS_PER_READING: usize = 25;

/// What a module is trained on. Everything depends on the step alone, so that a resumed training sees what it would have
/// seen.
pub trait Objective<M> {
    /// The loss of the batch of a step, counted from 0.
    ///
    /// # Errors
    ///
    /// There is no batch.
    fn loss(&mut self, module: &M, step: usize) -> Result<Loss>;

    /// The learning rate of a step.
    fn learning_rate(&self, step: usize) -> f64;

    /// Looks at the module before each step and after the last; what it sees changes nothing. An objective that watches
    /// nothing leaves it as it is.
    ///
    /// # Errors
    ///
    /// What was seen cannot be written down.
    fn observe(&mut self, _module: &M, _n_steps: usize) -> Result<()> {
        Ok(())
    }
}

/// The loss of a batch.
#[derive(Debug)]
pub struct Loss {
    /// What is minimised, `[1]`.
    pub total: Tensor<1>,
    /// What the progress bar shows, by name, `[1]` each.
    pub shown: Vec<(&'static str, Tensor<1>)>,
}

/// A training whose loss became infinite or no number.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the training diverged: the loss is {loss} at step {step}; a smaller learning rate may help"
)]
pub struct Diverged {
    /// Infinite, or no number.
    pub loss: f32,
    /// Steps that were taken before it.
    pub step: usize,
}

/// A module with its optimiser and objective.
#[expect(missing_debug_implementations, reason = "Burn's optimiser has none")]
pub struct Trainer<M, O> {
    /// What is trained, on an autodiff device.
    pub module: M,
    optimizer: ModuleOptimizer,
    objective: O,
}

impl<M: Module, O: Objective<M>> Trainer<M, O> {
    /// Before the first step.
    pub const fn new(module: M, optimizer: ModuleOptimizer, objective: O) -> Self {
        Self {
            module,
            optimizer,
            objective,
        }
    }

    /// Takes a step and returns the loss before it.
    ///
    /// # Errors
    ///
    /// There is no batch.
    pub fn step(&mut self, step: usize) -> Result<Loss> {
        let loss = self.objective.loss(&self.module, step)?;
        let gradients = GradientsParams::from_grads(loss.total.backward(), &self.module);
        let rate = self.objective.learning_rate(step);
        self.module = self.optimizer.step(rate, self.module.clone(), gradients);
        Ok(loss)
    }

    /// Saves module and optimiser after `n_steps` steps.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn save(&self, n_steps: usize, checkpoint: &Checkpoint) -> Result<()> {
        checkpoint.save(n_steps, self.module.clone(), &self.optimizer)
    }

    /// Loads a checkpoint if there is one; returns the number of steps that were taken.
    ///
    /// # Errors
    ///
    /// The checkpoint is broken, or of another training.
    pub fn resume(&mut self, checkpoint: &Checkpoint) -> Result<usize> {
        let n_steps = checkpoint.n_steps()?;
        if n_steps > 0 {
            self.module = checkpoint.module(self.module.clone())?;
            self.optimizer = checkpoint.optimizer(self.optimizer.clone())?;
        }
        Ok(n_steps)
    }

    /// Takes all `n_steps` steps, or those that are left after the checkpoint, and saves the last; returns the module.
    ///
    /// # Errors
    ///
    /// The user interrupted, the training diverged, or the checkpoint cannot be read or written.
    pub fn run(
        mut self,
        name: &'static str,
        n_steps: usize,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<M> {
        let start = checkpoint.map_or(Ok(0), |checkpoint| self.resume(checkpoint))?;
        let (mut meter, interrupt) = (Meter::new(name, start, n_steps), Interrupt::install());
        let mut saved = Instant::now();
        for step in start..n_steps {
            self.objective.observe(&self.module, step)?;
            let loss = self.step(step)?;
            let is_last = step + 1 == n_steps;
            if step.is_multiple_of(STEPS_PER_READING) || is_last {
                show(&mut meter, step, loss)?;
            }
            let stops = interrupt.is_set() && !is_last;
            let is_due = |checkpoint: &&Checkpoint| {
                is_last || stops || saved.elapsed() >= checkpoint.interval
            };
            if let Some(checkpoint) = checkpoint.filter(is_due) {
                self.save(step + 1, checkpoint)?;
                saved = Instant::now();
            }
            let resumes = checkpoint.map_or("", |_| "; the same command resumes from there");
            ensure!(
                !stops,
                "interrupted after step {} of {name}{resumes}",
                step + 1
            );
        }
        self.objective.observe(&self.module, n_steps)?;
        meter.finish();
        Ok(self.module)
    }
}

/// Shows the losses of a step, and stops a training that diverged.
fn show(meter: &mut Meter, step: usize, loss: Loss) -> Result<()> {
    let total = loss.total.into_scalar::<f32>();
    if !total.is_finite() {
        return Err(Diverged { loss: total, step }.into());
    }
    let shown = loss.shown.into_iter();
    let shown = shown.map(|(name, value)| (name, value.into_scalar::<f32>()));
    let shown: Vec<(&str, f32)> = shown.collect();
    meter.update(step + 1, &shown);
    Ok(())
}
