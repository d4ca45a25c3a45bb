//! Features of a batch in parts, on all cores: forward part by part, and backward from the slope of a loss by them.
//!
//! Between matrix products lie many passes over memory, each of one thread. Parts keep all cores busy, and what they
//! pass over stays near the core. Each part has a copy of its module with a graph of its own, since a graph is walked
//! by one thread at a time; the gradients of all copies are added in the order of the parts, so that a training does
//! not depend on the number of cores.

use std::fmt;
use std::sync::Mutex;

use burn::module::Module;
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::{Device, Gradients, Tensor};

use super::Loss;
use crate::device::is_cpu;

/// Features of a part of a batch, on a graph of their own that ends in a copy of a module.
pub struct BatchPart {
    features: Tensor<2>,
    leaf: Tensor<2>,
    gradients_of: Box<dyn FnOnce(Gradients) -> GradientsParams + Send>,
}

impl fmt::Debug for BatchPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BatchPart").field(&self.features).finish()
    }
}

impl BatchPart {
    /// Features that a copy of a module gives, `[n, width]`, on this device.
    pub fn new<M: Module + 'static>(
        module: &M,
        device: &Device,
        forward: impl FnOnce(&M) -> Tensor<2>,
    ) -> Self {
        let module = module.clone().fork(device);
        let features = forward(&module);
        Self {
            leaf: features.clone().detach().require_grad(),
            features,
            gradients_of: Box::new(move |gradients| {
                GradientsParams::from_grads(gradients, &module)
            }),
        }
    }

    /// The features without their graph, as the beginning of another.
    pub fn leaf(&self) -> Tensor<2> {
        self.leaf.clone()
    }

    /// Gradients of the module's parameters, from the slope of a loss by the features.
    fn backward(self, slope: Tensor<2>) -> GradientsParams {
        let along = (self.features * slope).sum();
        // Burn refuses to go back from what depends on no parameter, as the captions of some methods do.
        let zero = Tensor::zeros([1], &along.device()).require_grad();
        (self.gradients_of)((along + zero).backward())
    }
}

impl Loss {
    /// With the gradients of all parameters of a module that the parts are copies of, or of what it holds: of a loss by
    /// the [leaves](BatchPart::leaf) of all parts, and by the module itself.
    ///
    /// # Panics
    ///
    /// If a part has no share in the loss.
    pub fn with_gradients_in_parts<M: Module>(
        self,
        module: &M,
        parts: Vec<BatchPart>,
        device: &Device,
    ) -> (Self, GradientsParams) {
        let mut gradients = self.total.backward();
        let with_slope = |part: BatchPart| {
            let slope = part.leaf.grad_remove(&mut gradients);
            let slope = slope.expect("every feature takes part in the loss");
            (part, Tensor::from_inner(slope))
        };
        let parts: Vec<_> = parts.into_iter().map(with_slope).collect();
        let mut sum = GradientsAccumulator::new();
        sum.accumulate(module, GradientsParams::from_grads(gradients, module));
        for gradients in each(parts, device, |(part, slope)| part.backward(slope)) {
            sum.accumulate(module, gradients);
        }
        (self, sum.grads())
    }
}

/// What a task gives for each item, in their order: side by side on the CPU by Flex, one after the other on devices
/// that keep themselves busy.
pub fn each<T: Send, R: Send>(
    items: Vec<T>,
    device: &Device,
    task: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    match is_cpu(device) {
        true => side_by_side(items, task),
        false => items.into_iter().map(task).collect(),
    }
}

/// What a task gives for each item, in their order, with as many threads as there are cores.
///
/// Each thread is a pool of its own, in which a task's products stay: where two threads share one, a product of one
/// waits for the other's, and a thread that waits would take up another part, whose graph may be locked.
fn side_by_side<T: Send, R: Send>(items: Vec<T>, task: impl Fn(T) -> R + Sync) -> Vec<R> {
    let n_threads = rayon::current_num_threads().min(items.len());
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().ok()?.next();
    let work = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
        // Without it, products take all cores and the rest one, as they would without parts.
        let _pool = pool.use_current_thread().build().ok();
        let taken = std::iter::from_fn(next);
        taken.map(|(i, item)| (i, task(item))).collect::<Vec<_>>()
    };
    let mut found: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        let found = threads.into_iter().map(|thread| match thread.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        found.flatten().collect()
    });
    found.sort_by_key(|(i, _)| *i);
    found.into_iter().map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tasks_give_stands_in_the_order_of_the_items() {
        let squares = side_by_side((0..50).collect(), |i: u64| {
            std::thread::sleep(std::time::Duration::from_micros(i * 7 % 40));
            i * i
        });
        let expected: Vec<u64> = (0..50).map(|i| i * i).collect();
        assert_eq!(squares, expected);
        assert_eq!(side_by_side(Vec::new(), |i: u64| i), [0; 0], "of nothing");
    }
}
