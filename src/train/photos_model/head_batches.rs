//! Batches of captioned pictures for the training of heads.

use anyhow::{Result, ensure};
use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::head_recipe::HeadRecipe;
use super::heads::{CaptionedPictures, captions_of};
use crate::model::clip::normalize;
use crate::train::features::rows::Rows;

/// A batch of pairs, row for row, `[batch, width]` each, and which captions fit which pictures, `[batch, batch]`.
pub(super) struct HeadBatch {
    /// Features of pictures, or maps.
    pub(super) images: Tensor<2>,
    /// Features of mixtures of captions.
    pub(super) captions: Tensor<2>,
    /// Share of each picture's target that a caption has.
    pub(super) targets: Tensor<2>,
}

/// Batches of pictures, each seen in one way and with a mixture of its captions.
pub(super) struct HeadBatches<'a> {
    pub(super) recipe: &'a HeadRecipe,
    train: &'a CaptionedPictures,
    captions_of: Vec<Vec<usize>>,
    /// Mean direction of each picture's captions, `[n_pictures, text width]`.
    meanings: Tensor<2>,
    device: Device,
}

impl<'a> HeadBatches<'a> {
    pub(super) fn new(
        recipe: &'a HeadRecipe,
        train: &'a CaptionedPictures,
        device: &Device,
    ) -> Result<Self> {
        let captions_of = captions_of(train);
        ensure!(!captions_of.is_empty(), "no pictures to train on");
        let cpu = device.clone().inner();
        let unit = Rows::from_device(normalize(train.captions.to_device(&cpu)))?;
        let means = captions_of.iter().map(|captions| {
            let share = 1.0 / captions.len() as f32;
            mixture(&unit, captions.iter().map(|caption| (*caption, share)))
        });
        let means = Rows {
            values: means.flatten().collect(),
            width: unit.width,
        };
        Ok(Self {
            recipe,
            train,
            captions_of,
            meanings: normalize(means.to_device(&cpu)),
            device: device.clone(),
        })
    }

    /// The pictures of a step. Each picture is drawn once in an epoch.
    fn pictures(&self, step: usize) -> Vec<usize> {
        let n = self.captions_of.len();
        let batch = self.recipe.batch.min(n);
        let per_epoch = n / batch;
        let mut rng = ChaCha8Rng::seed_from_u64(self.recipe.seed);
        rng.set_stream((step / per_epoch) as u64);
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut rng);
        order[step % per_epoch * batch..][..batch].to_vec()
    }

    /// One-hot targets, a share of which goes to pictures with like captions, `[batch, batch]`.
    fn targets(&self, pictures: &[usize]) -> Tensor<2> {
        let rows = pictures.iter().map(|picture| *picture as i64).collect();
        let rows = TensorData::new::<i64, _>(rows, [pictures.len()]);
        let device = self.device.clone().inner();
        let meanings = self
            .meanings
            .clone()
            .select(0, Tensor::from_data(rows, &device));
        let cosines = meanings.clone().matmul(meanings.transpose());
        let soft = softmax(cosines / self.recipe.target_temperature, 1) * self.recipe.softness;
        let targets = Tensor::eye(pictures.len(), &device) * (1.0 - self.recipe.softness) + soft;
        targets.autodiff()
    }

    /// The batch of a step, which depends on the step alone.
    pub(super) fn batch(&self, step: usize) -> HeadBatch {
        let mut rng = ChaCha8Rng::seed_from_u64(self.recipe.seed);
        rng.set_stream(u64::MAX - step as u64);
        let pictures = self.pictures(step);
        let (mut images, mut captions) = (Vec::new(), Vec::new());
        for picture in &pictures {
            let view = rng.random_range(0..=self.train.augmented.len());
            let seen = match view.checked_sub(1) {
                None => &self.train.images,
                Some(view) => &self.train.augmented[view],
            };
            images.extend_from_slice(seen.row(*picture));
            let of_one = &self.captions_of[*picture];
            let shares = random_shares(of_one.len(), &mut rng);
            let shares = of_one.iter().copied().zip(shares);
            captions.extend(mixture(&self.train.captions, shares));
        }
        let rows = |values, width| {
            let data = TensorData::new::<f32, _>(values, [pictures.len(), width]);
            Tensor::<2>::from_data(data, &self.device)
        };
        HeadBatch {
            images: rows(images, self.train.images.width),
            captions: rows(captions, self.train.captions.width),
            targets: self.targets(&pictures),
        }
    }
}

/// Positive shares that sum to one, every way to divide as likely as any other.
fn random_shares(n: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let drawn: Vec<f32> = (0..n)
        .map(|_| -rng.random_range(f32::MIN_POSITIVE..1.0).ln())
        .collect();
    let sum: f32 = drawn.iter().sum();
    drawn.into_iter().map(|share| share / sum).collect()
}

/// Sum of rows, each times its share.
fn mixture(rows: &Rows, shares: impl Iterator<Item = (usize, f32)>) -> Vec<f32> {
    let mut mixed = vec![0.0; rows.width];
    for (row, share) in shares {
        for (sum, value) in mixed.iter_mut().zip(rows.row(row)) {
            *sum += share * value;
        }
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_positive_and_sum_to_one() {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for n in 1..6 {
            let shares = random_shares(n, &mut rng);
            let sum: f32 = shares.iter().sum();
            assert!((sum - 1.0).abs() < 1e-6, "{shares:?}");
            assert!(shares.iter().all(|share| *share > 0.0), "{shares:?}");
        }
    }

    #[test]
    fn a_mixture_is_a_sum_of_rows() {
        let rows = Rows {
            values: vec![1.0, 2.0, 3.0, 6.0],
            width: 2,
        };
        let mixed = mixture(&rows, [(0, 0.5), (1, 0.5)].into_iter());
        assert_eq!(mixed, [2.0, 4.0], "half of each");
    }
}
