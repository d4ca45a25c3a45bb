//! The density of training features around a feature, as a score of how unfamiliar it is; nothing is trained. What
//! [REPVLM](https://arxiv.org/abs/2601.21662) and [GeoFlowVLM](https://arxiv.org/abs/2605.13352) fit a diffusion or a
//! flow to is estimated here by the nearest neighbours on the sphere.

use anyhow::Result;
use burn::tensor::{Int, Tensor};

use crate::model::clip::normalize;

/// Neighbours whose mean cosine is the density.
const NEIGHBOURS: usize = 10;
/// Training features that are looked through, at most.
const MAX_KNOWN: usize = 8192;
/// Rows that are compared in one pass, which bounds the memory.
const ROWS_PER_PASS: usize = 1024;

/// Training features of one side, normalised.
#[derive(Debug)]
pub struct KnownFeatures {
    rows: Tensor<2>,
}

impl KnownFeatures {
    /// Some of the training features, evenly spread.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n, embed_dim]`, not normalised
    #[must_use]
    pub fn of(features: &Tensor<2>) -> Self {
        let [n, _] = features.dims();
        let every = Tensor::<1, Int>::arange_step(
            0..n as i64,
            n.div_ceil(MAX_KNOWN).max(1),
            &features.device(),
        );
        Self {
            rows: normalize(features.clone().select(0, every)),
        }
    }

    /// Features with the unfamiliarity of each beside them: 1 − mean cosine with the nearest training features, from 0
    /// to 2.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n, embed_dim]`
    /// - output: `[n, embed_dim + 1]`
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn with_unfamiliarity(&self, features: Tensor<2>) -> Result<Tensor<2>> {
        let [n, _] = features.dims();
        let [n_known, _] = self.rows.dims();
        let mut all = Vec::with_capacity(n);
        for start in (0..n).step_by(ROWS_PER_PASS) {
            let rows = features
                .clone()
                .slice(start..(start + ROWS_PER_PASS).min(n));
            let cosines = normalize(rows).matmul(self.rows.clone().transpose());
            let cosines: Vec<f32> = cosines.into_data().try_into_vec()?;
            all.extend(cosines.chunks_exact(n_known).map(unfamiliarity));
        }
        let column = Tensor::<1>::from_floats(all.as_slice(), &features.device());
        Ok(Tensor::cat(vec![features, column.unsqueeze_dim(1)], 1))
    }
}

/// 1 − mean of the greatest cosines.
fn unfamiliarity(cosines: &[f32]) -> f32 {
    let k = NEIGHBOURS.min(cosines.len());
    let mut cosines = cosines.to_vec();
    cosines.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    1.0 - cosines[..k].iter().sum::<f32>() / k as f32
}

#[cfg(test)]
mod tests {
    use super::super::cosine_with_uncertainty::CosineWithUncertainty;
    use super::super::method::{Method as _, Side};
    use super::*;
    use crate::device::cpu;

    #[test]
    fn what_lies_among_the_training_features_is_familiar_and_what_lies_opposite_is_not() {
        let device = cpu();
        let known = KnownFeatures::of(&Tensor::from_floats([[2.0, 0.0], [3.0, 0.0]], &device));
        let features = Tensor::from_floats([[5.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], &device);
        let rows = known.with_unfamiliarity(features).expect("a device");
        let method = CosineWithUncertainty::new(2, Side::Text);
        let texts = method.of_texts(rows);
        let found = method
            .uncertainty(texts.clone(), texts.clone())
            .expect("it has one");
        let found: Vec<f32> = found.into_data().try_into_vec().expect("numbers");
        assert_eq!(found, [0.0, 1.0, 2.0], "one minus the cosine");
        let scores: Vec<f32> = method
            .scores(texts.clone(), texts)
            .into_data()
            .try_into_vec()
            .expect("numbers");
        assert_eq!(scores[..3], [1.0, 0.0, -1.0], "cosines, without the column");
    }
}
