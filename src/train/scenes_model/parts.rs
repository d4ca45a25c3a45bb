//! Features of a batch in parts, on all cores: forward part by part, and backward from the slope of a loss by them.
//!
//! Between its matrix products, a block of a small tower is many passes over memory, each of one thread. Parts keep all
//! cores busy, and what they pass over stays near the core. Each part has a copy of its tower with a graph of its own,
//! since a graph is walked by one thread at a time; the gradients of all copies are added in the order of the parts, so
//! that a training does not depend on the number of cores.

use std::sync::Mutex;

use burn::module::Module;
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::{Device, Int, Tensor};

use crate::device::cpu;
use crate::model::clip::{Clip, TextTower, VisionTower};

/// What one part of a batch is made of.
#[derive(Debug)]
pub(super) enum PartInput {
    /// Normalised pixels, `[n_images, 3, side, side]`.
    Images(Tensor<4>),
    /// Token ids, `[n_texts, n_tokens]`, and the end position of each text.
    Texts(Tensor<2, Int>, Vec<usize>),
}

/// Features of one part, `[n, embed_dim]`, on a graph of their own that ends in a copy of the tower.
#[derive(Debug)]
pub(super) struct BatchPart {
    tower: BatchTower,
    features: Tensor<2>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a batch has a few dozen")]
enum BatchTower {
    Vision(VisionTower),
    Text(TextTower),
}

impl BatchPart {
    fn forward(clip: &Clip, input: PartInput, device: &Device) -> Self {
        match input {
            PartInput::Images(pixels) => {
                let tower = clip.vision.clone().fork(device);
                let features = tower.forward(pixels);
                let tower = BatchTower::Vision(tower);
                Self { tower, features }
            }
            PartInput::Texts(ids, ends) => {
                let tower = clip.text.clone().fork(device);
                let features = tower.forward(ids, &ends);
                let tower = BatchTower::Text(tower);
                Self { tower, features }
            }
        }
    }

    /// The features without their graph, as the beginning of another.
    pub(super) fn leaf(&self) -> Tensor<2> {
        self.features.clone().detach().require_grad()
    }

    /// Gradients of the tower's parameters, from the slope of a loss by the features.
    fn backward(self, slope: Tensor<2>) -> GradientsParams {
        let gradients = (self.features * slope).sum().backward();
        match &self.tower {
            BatchTower::Vision(tower) => GradientsParams::from_grads(gradients, tower),
            BatchTower::Text(tower) => GradientsParams::from_grads(gradients, tower),
        }
    }
}

/// Features of all parts, in their order.
pub(super) fn forward(clip: &Clip, inputs: Vec<PartInput>, device: &Device) -> Vec<BatchPart> {
    each(inputs, device, |input| {
        BatchPart::forward(clip, input, device)
    })
}

/// Gradients of all parameters of a module that holds the towers: theirs, from the slope of a loss by the features of
/// each part, and `others`.
pub(super) fn backward<M: Module>(
    module: &M,
    parts: Vec<BatchPart>,
    slopes: Vec<Tensor<2>>,
    others: GradientsParams,
    device: &Device,
) -> GradientsParams {
    let parts: Vec<(BatchPart, Tensor<2>)> = parts.into_iter().zip(slopes).collect();
    let mut sum = GradientsAccumulator::new();
    sum.accumulate(module, others);
    for gradients in each(parts, device, |(part, slope)| part.backward(slope)) {
        sum.accumulate(module, gradients);
    }
    sum.grads()
}

/// What a task gives for each item, in their order: side by side on the CPU by Flex, one after the other on devices
/// that keep themselves busy.
fn each<T: Send, R: Send>(items: Vec<T>, device: &Device, task: impl Fn(T) -> R + Sync) -> Vec<R> {
    match *device == cpu() {
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
