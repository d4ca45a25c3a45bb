//! `BayesVLM`: a Laplace approximation over the last projection of each tower; nothing is trained.
//!
//! Baumann et al. 2024, [Post-hoc Probabilistic Vision-Language Models](https://arxiv.org/abs/2412.06014). The
//! curvature is estimated on the training cache, because none is published for these encoders.

use anyhow::{Result, ensure};
use burn::module::Module;
use burn::tensor::activation::softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};

use super::eigen::Eigen;
use super::method::{Method, columns, parameters_of};
use crate::model::clip::normalize;

/// Rows whose curvature is summed in one pass, which bounds the memory.
const ROWS_PER_PASS: usize = 1024;
/// Candidates in the softmax that the curvature is of, at most.
const MAX_CLASSES: usize = 2048;
/// Where the logarithm of the prior's precision is looked for.
const LOG_PRECISION: (f64, f64) = (-30.0, 40.0);

/// What the last projection of a tower is fed, beside what it gives.
#[derive(Debug, Clone)]
pub struct Activations {
    /// Pooled features before the projection, `[n, tower_width]`.
    pub rows: Tensor<2>,
    /// Squared Frobenius norm of the projection.
    pub squared_weight_norm: f64,
}

/// The posterior of a projection's weights.
///
/// ```text
/// A = (1/√n)·Σ φφᵀ    B = (1/√n)·Σ H    A' = A + √λ·I    B' = B + √λ·I    σ² = (φᵀA'⁻¹φ)·diag(B'⁻¹)
/// H = s²·J·[Σ p ẑẑᵀ − (Σ p ẑ)(Σ p ẑ)ᵀ]·J    J = (I − êêᵀ)/‖e‖    p = softmax(s·êᵀẑ)
/// ```
#[derive(Debug)]
pub struct Laplace {
    inverse_input: Tensor<2>,
    output_variance: Tensor<2>,
    /// The prior's precision λ, which makes the evidence greatest.
    pub prior_precision: f64,
}

impl Laplace {
    /// The posterior of one tower's projection.
    ///
    /// - `features`: `[n, embed_dim]`, not normalised
    /// - `candidates`: features of the other side, `[m, embed_dim]`
    ///
    /// # Errors
    ///
    /// The device fails, or the curvature is not finite.
    pub fn estimate(
        features: &Tensor<2>,
        activations: &Activations,
        candidates: &Tensor<2>,
        logit_scale: f64,
    ) -> Result<Self> {
        let [n, embed_dim] = features.dims();
        let [_, tower_width] = activations.rows.dims();
        let device = features.device();
        let input = activations.rows.clone();
        let input = input.clone().transpose().matmul(input) / (n as f64).sqrt();
        let output = curvature(features, candidates, logit_scale) / (n as f64).sqrt();
        let a = Eigen::of(on_host(input)?, tower_width);
        let b = Eigen::of(on_host(output)?, embed_dim);
        let prior_precision = best_precision(&a.values, &b.values, activations.squared_weight_norm);
        let root = prior_precision.sqrt();
        let inverse = |eigen: &Eigen| eigen.function(|value| 1.0 / (value.max(0.0) + root));
        let diagonal: Vec<f64> = inverse(&b).into_iter().step_by(embed_dim + 1).collect();
        Ok(Self {
            inverse_input: matrix(&inverse(&a), [tower_width, tower_width], &device),
            output_variance: matrix(&diagonal, [1, embed_dim], &device),
            prior_precision,
        })
    }

    /// Features with the variance of each beside them.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n, embed_dim]`
    /// - `activations`: `[n, tower_width]`
    /// - output: `[n, 2·embed_dim]`
    #[must_use]
    pub fn with_variance(&self, features: Tensor<2>, activations: Tensor<2>) -> Tensor<2> {
        let spread = activations.clone().matmul(self.inverse_input.clone()) * activations;
        let variance = spread.sum_dim(1) * self.output_variance.clone();
        Tensor::cat(vec![features, variance], 1)
    }
}

/// Σ H over all rows, `[embed_dim, embed_dim]`, without a matrix for each.
///
/// With t = êᵀẑ, J·ẑ = (ẑ − ê·t)/‖e‖, so each sum over candidates and rows is a product of matrices.
fn curvature(features: &Tensor<2>, candidates: &Tensor<2>, logit_scale: f64) -> Tensor<2> {
    let [n, embed_dim] = features.dims();
    let [n_candidates, _] = candidates.dims();
    let step = n_candidates.div_ceil(MAX_CLASSES);
    let every = Tensor::<1, Int>::arange_step(0..n_candidates as i64, step, &features.device());
    let others = normalize(candidates.clone().select(0, every));
    let mut sum = Tensor::zeros([embed_dim, embed_dim], &features.device());
    for start in (0..n).step_by(ROWS_PER_PASS) {
        let rows = features
            .clone()
            .slice(start..(start + ROWS_PER_PASS).min(n));
        sum = sum + curvature_of(rows, &others, logit_scale);
    }
    sum * (logit_scale * logit_scale)
}

fn curvature_of(rows: Tensor<2>, others: &Tensor<2>, logit_scale: f64) -> Tensor<2> {
    let unit = normalize(rows.clone());
    let inverse_norm = (unit.clone() * rows).sum_dim(1).recip(); // [n, 1]
    let cosine = unit.clone().matmul(others.clone().transpose()); // [n, n_others]
    let share = softmax(cosine.clone() * logit_scale, 1);
    let weight = share.clone() * (inverse_norm.clone() * inverse_norm.clone());
    let weighted_cosine = weight.clone() * cosine.clone();

    // Σ p (ẑ − êt)(ẑ − êt)ᵀ / ‖e‖²
    let of_candidate = weight.sum_dim(0).transpose(); // [n_others, 1]
    let weighted = others.clone() * of_candidate;
    let squares = weighted.transpose().matmul(others.clone());
    let along = weighted_cosine.clone().matmul(others.clone()); // [n, embed_dim]
    let mixed = along.transpose().matmul(unit.clone());
    let of_row = (weighted_cosine * cosine.clone()).sum_dim(1); // [n, 1]
    let radial = (unit.clone() * of_row).transpose().matmul(unit.clone());

    // J·Σ p ẑ
    let mean = share.clone().matmul(others.clone());
    let mean_cosine = (share * cosine).sum_dim(1);
    let tangent = (mean - unit * mean_cosine) * inverse_norm;
    squares - mixed.clone() - mixed.transpose() + radial
        - tangent.clone().transpose().matmul(tangent)
}

/// The λ at which −½λ‖W‖² + ½P·ln λ − (p·ln det A' + q·ln det B') is greatest.
///
/// It is concave in ln λ, so the zero of its derivative is found by halving; the released code takes 300 steps of
/// Adam towards it.
fn best_precision(a: &[f64], b: &[f64], squared_weight_norm: f64) -> f64 {
    let (p, q) = (a.len() as f64, b.len() as f64);
    let slope = |log_precision: f64| {
        let precision = log_precision.exp();
        let root = precision.sqrt();
        let share = |value: &f64| root / (value.max(0.0) + root);
        let shares = |values: &[f64]| values.iter().map(share).sum::<f64>();
        p * q - precision * squared_weight_norm - p * shares(a) - q * shares(b)
    };
    let (mut low, mut high) = LOG_PRECISION;
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if slope(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (0.5 * (low + high)).exp()
}

fn on_host(tensor: Tensor<2>) -> Result<Vec<f64>> {
    let values: Vec<f32> = tensor.into_data().try_into_vec()?;
    ensure!(
        values.iter().all(|value| value.is_finite()),
        "the curvature of a projection is not finite; are there features of length zero?"
    );
    Ok(values.into_iter().map(f64::from).collect())
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "f32 is what the device computes in"
)]
fn matrix(values: &[f64], shape: [usize; 2], device: &Device) -> Tensor<2> {
    let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Scores by the expected cosine of features that carry their variance, as [`Laplace::with_variance`] makes them.
#[derive(Module, Debug)]
pub struct BayesVlm {
    embed_dim: usize,
}

impl BayesVlm {
    /// For features of this width.
    #[must_use]
    pub const fn new(embed_dim: usize) -> Self {
        Self { embed_dim }
    }

    /// Features over the root of their expected squared length, and the relative variance in the last column.
    fn scaled(&self, rows: &Tensor<2>) -> Tensor<2> {
        let features = columns(rows, 0, self.embed_dim);
        let variance = columns(rows, self.embed_dim, 2 * self.embed_dim).sum_dim(1);
        let squared = (features.clone() * features.clone()).sum_dim(1);
        let length = (squared.clone() + variance.clone()).sqrt();
        Tensor::cat(vec![features / length, variance / squared], 1)
    }
}

impl Method for BayesVlm {
    fn of_images(&self, features: Tensor<2>) -> Tensor<2> {
        self.scaled(&features)
    }

    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        self.scaled(&features)
    }

    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        let of = |rows: &Tensor<2>| columns(rows, 0, self.embed_dim);
        of(&images).matmul(of(&texts).transpose())
    }

    /// Trace of the covariance over the squared length.
    fn uncertainty(&self, rows: Tensor<2>, _gallery: Tensor<2>) -> Option<Tensor<2>> {
        Some(columns(&rows, self.embed_dim, self.embed_dim + 1))
    }
}

parameters_of!(BayesVlm: );

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn the_curvature_is_the_sum_of_one_matrix_a_row() {
        let device = cpu();
        let rows = Tensor::<2>::from_floats([[1.0, 2.0, -0.5], [-0.7, 0.1, 0.9]], &device);
        let others = [
            [0.5, 0.5, 0.5],
            [0.8, 0.0, -0.6],
            [0.0, -1.0, 2.0],
            [1.0, 1.0, 0.0],
        ];
        let others = Tensor::<2>::from_floats(others, &device);
        let scale = 3.0;
        let found = curvature(&rows, &others, scale);
        let unit_others = normalize(others);
        let mut expected = Tensor::<2>::zeros([3, 3], &device);
        for i in 0..2 {
            let row = rows.clone().slice(i..i + 1);
            let norm = (row.clone() * row.clone()).sum().sqrt().reshape([1, 1]);
            let unit = normalize(row);
            let jacobian =
                (Tensor::eye(3, &device) - unit.clone().transpose().matmul(unit.clone())) / norm;
            let p = softmax(unit.matmul(unit_others.clone().transpose()) * scale, 1); // [1, 4]
            let mean = p.clone().matmul(unit_others.clone());
            let weighted = unit_others.clone() * p.transpose();
            let second = weighted.transpose().matmul(unit_others.clone());
            let inner = second - mean.clone().transpose().matmul(mean);
            expected = expected + jacobian.clone().matmul(inner).matmul(jacobian) * (scale * scale);
        }
        let error: f32 = (found - expected).abs().max().into_scalar();
        assert!(error < 1e-4, "they differ by {error}");
    }

    #[test]
    fn the_prior_is_where_the_evidence_is_greatest() {
        let (a, b, norm) = ([3.0, 0.5, 10.0], [0.2, 7.0], 4.0);
        let evidence = |precision: f64| {
            let ln_det = |values: &[f64]| -> f64 {
                values.iter().map(|v| (v + precision.sqrt()).ln()).sum()
            };
            -0.5 * precision * norm + 3.0 * precision.ln() - 3.0 * ln_det(&a) - 2.0 * ln_det(&b)
        };
        let best = best_precision(&a, &b, norm);
        for other in [best * 0.99, best * 1.01] {
            let (at_best, at_other) = (evidence(best), evidence(other));
            assert!(
                at_best > at_other,
                "λ {best}: {at_best}, λ {other}: {at_other}"
            );
        }
    }
}
