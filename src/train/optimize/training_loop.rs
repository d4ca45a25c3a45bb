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

/// Objective of a training: the loss and the learning rate of each step. Both depend on the step alone, so that a
/// resumed training sees the same data.
pub trait Objective<M> {
    /// The loss of the batch of a step, counted from 0, and the gradients of the module's parameters.
    ///
    /// # Errors
    ///
    /// The batch of the step cannot be made or moved to the device.
    fn loss(&mut self, module: &M, step: usize) -> Result<(Loss, GradientsParams)>;

    /// The learning rate of a step.
    fn learning_rate(&self, step: usize) -> f64;

    /// Observes the module before each step and after the last, without changing the training; does nothing unless an
    /// objective overrides it.
    ///
    /// # Errors
    ///
    /// The observation cannot be written.
    fn observe(&mut self, _module: &M, _n_steps: usize) -> Result<()> {
        Ok(())
    }
}

impl<M, O: Objective<M>> Objective<M> for &mut O {
    fn loss(&mut self, module: &M, step: usize) -> Result<(Loss, GradientsParams)> {
        (**self).loss(module, step)
    }

    fn learning_rate(&self, step: usize) -> f64 {
        (**self).learning_rate(step)
    }

    fn observe(&mut self, module: &M, n_steps: usize) -> Result<()> {
        (**self).observe(module, n_steps)
    }
}

/// Losses of a batch.
#[derive(Debug)]
pub struct Loss {
    /// Loss that is minimised, `[1]`.
    pub total: Tensor<1>,
    /// Losses that the progress bar shows, by name, `[1]` each.
    pub shown: Vec<(&'static str, Tensor<1>)>,
}

impl Loss {
    /// With the gradients of a module's parameters, in which the loss's graph ends.
    pub fn with_gradients<M: Module>(self, module: &M) -> (Self, GradientsParams) {
        let gradients = GradientsParams::from_grads(self.total.backward(), module);
        (self, gradients)
    }
}

/// A training whose loss became infinite or no number.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the training diverged: the loss is {loss} at step {step}; a smaller learning rate may help"
)]
pub struct Diverged {
    /// Loss of the step: infinite, or no number.
    pub loss: f32,
    /// Steps that were taken before it.
    pub step: usize,
}

/// A module with its optimiser and objective.
#[expect(missing_debug_implementations, reason = "Burn's optimiser has none")]
pub struct Trainer<M, O> {
    /// Module that is trained, on an autodiff device.
    pub module: M,
    optimizer: ModuleOptimizer,
    objective: O,
}

impl<M: Module, O: Objective<M>> Trainer<M, O> {
    /// A trainer before its first step.
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
    /// The batch of the step cannot be made or moved to the device.
    pub fn step(&mut self, step: usize) -> Result<Loss> {
        let (loss, gradients) = self.objective.loss(&self.module, step)?;
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
            let stops = interrupt.is_set() && !is_last;
            let is_due = |checkpoint: &&Checkpoint| {
                is_last || stops || saved.elapsed() >= checkpoint.interval
            };
            let due = checkpoint.filter(is_due);
            // The loss is read before saving: a checkpoint of a diverged training would only diverge again.
            if step.is_multiple_of(STEPS_PER_READING) || is_last || due.is_some() {
                show(&mut meter, step, loss)?;
            }
            if let Some(checkpoint) = due {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use burn::nn::{Linear, LinearConfig};
    use burn::optim::AdamWConfig;

    use super::*;
    use crate::device::cpu;

    /// A loss that is NaN from this step on.
    struct NoNumberFrom(usize);

    impl Objective<Linear> for NoNumberFrom {
        fn loss(&mut self, module: &Linear, step: usize) -> Result<(Loss, GradientsParams)> {
            let x = Tensor::<2>::ones([1, 2], &cpu().autodiff());
            let scale = if step < self.0 { 1.0 } else { f32::NAN };
            let total = module.forward(x).sum() * scale;
            let shown = Vec::new();
            Ok(Loss { total, shown }.with_gradients(module))
        }

        fn learning_rate(&self, _step: usize) -> f64 {
            1e-3
        }
    }

    #[test]
    fn a_training_that_diverges_leaves_the_checkpoint_of_the_step_before() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let mut checkpoint = Checkpoint::new(folder.path(), &"a test").expect("plain data");
        checkpoint.interval = Duration::ZERO;
        let module = LinearConfig::new(2, 1).init(&cpu().autodiff());
        let trainer = Trainer::new(module, AdamWConfig::new().init(), NoNumberFrom(7));
        let error = trainer.run("a test", 20, Some(&checkpoint));
        let error = error.expect_err("the loss is no number");
        let diverged = error.downcast_ref::<Diverged>().map(|error| error.step);
        assert_eq!(diverged, Some(7), "{error}");
        let n_steps = checkpoint.n_steps().expect("a whole checkpoint");
        assert_eq!(n_steps, 7, "of the last step whose loss is a number");
    }
}
