//! `BayesVLM`: a Laplace approximation over the last projection of each tower; nothing is trained.
//!
//! Baumann et al. 2024, [Post-hoc Probabilistic Vision-Language Models](https://arxiv.org/abs/2412.06014). The
//! curvature is estimated on the training cache, because none is published for these encoders; it is that of the loss
//! that the encoder was trained by, at the encoder's own logit scale.

use anyhow::{Result, ensure};
use burn::module::Module;
use burn::tensor::activation::{sigmoid, softmax};
use burn::tensor::{Device, Int, Tensor, TensorData};

use super::eigen::Eigen;
use super::method::{Method, columns, parameters_of};
use crate::model::clip::normalize;
use crate::weights::manifest::Logits;

/// Rows whose curvature is summed in one pass, which bounds the memory.
const ROWS_PER_PASS: usize = 1024;
/// Candidates that the curvature is of, at most.
const MAX_CLASSES: usize = 2048;
/// Interval in which the logarithm of the prior's precision is searched.
const LOG_PRECISION: (f64, f64) = (-30.0, 40.0);

/// Inputs of a tower's last projection, and the size of its weights.
#[derive(Debug, Clone)]
pub struct Activations {
    /// Pooled features before the projection, `[n, tower_width]`.
    pub rows: Tensor<2>,
    /// Squared Frobenius norm of the projection, its bias included.
    pub squared_weight_norm: f64,
}

/// The posterior of a projection's weights.
///
/// ```text
/// A = (1/√n)·Σ φφᵀ    B = (1/√n)·Σ H    A' = A + √λ·I    B' = B + √λ·I    σ² = (φᵀA'⁻¹φ)·diag(B'⁻¹)
/// H = s²·J·[Σ p ẑẑᵀ − (Σ p ẑ)(Σ p ẑ)ᵀ]·J    J = (I − êêᵀ)/‖e‖    p = softmax(s·êᵀẑ)
/// ```
///
/// For a sigmoid loss, with l = s·êᵀẑ + b, and φ with a one behind it, which the projection's bias is fed:
///
/// ```text
/// H = s²·J·[Σ σ(l)(1 − σ(l)) ẑẑᵀ]·J
/// ```
#[derive(Debug)]
pub struct Laplace {
    inverse_input: Tensor<2>,
    output_variance: Tensor<2>,
    /// Whether the projection has a bias.
    has_bias: bool,
    /// The prior's precision λ, which makes the evidence greatest.
    pub prior_precision: f64,
}

impl Laplace {
    /// The posterior of one tower's projection.
    ///
    /// - `features`: `[n, embed_dim]`, not normalised
    /// - `candidates`: features of the other side, `[m, embed_dim]`
    /// - `logits`: of the encoder's own loss; with a bias it is a sigmoid loss, whose towers project with one, too
    ///
    /// # Errors
    ///
    /// The device fails, or the curvature is not finite.
    pub fn estimate(
        features: &Tensor<2>,
        activations: &Activations,
        candidates: &Tensor<2>,
        logits: Logits,
    ) -> Result<Self> {
        let [n, embed_dim] = features.dims();
        let device = features.device();
        let has_bias = logits.bias.is_some();
        let input = fed(activations.rows.clone(), has_bias);
        let [_, tower_width] = input.dims();
        let input = input.clone().transpose().matmul(input) / (n as f64).sqrt();
        let output = curvature(features, candidates, logits) / (n as f64).sqrt();
        let a = Eigen::of(on_host(input)?, tower_width);
        let b = Eigen::of(on_host(output)?, embed_dim);
        let prior_precision = best_precision(&a.values, &b.values, activations.squared_weight_norm);
        let root = prior_precision.sqrt();
        let inverse = |eigen: &Eigen| eigen.function(|value| 1.0 / (value.max(0.0) + root));
        let diagonal: Vec<f64> = inverse(&b).into_iter().step_by(embed_dim + 1).collect();
        Ok(Self {
            inverse_input: matrix(&inverse(&a), [tower_width, tower_width], &device),
            output_variance: matrix(&diagonal, [1, embed_dim], &device),
            has_bias,
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
        let activations = fed(activations, self.has_bias);
        let spread = activations.clone().matmul(self.inverse_input.clone()) * activations;
        let variance = spread.sum_dim(1) * self.output_variance.clone();
        Tensor::cat(vec![features, variance], 1)
    }

    /// Features of a tower that ends in no projection, with no variance beside them.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n, embed_dim]`
    /// - output: `[n, 2·embed_dim]`
    #[must_use]
    pub fn without_variance(features: Tensor<2>) -> Tensor<2> {
        let none = features.zeros_like();
        Tensor::cat(vec![features, none], 1)
    }
}

/// Inputs of a projection, `[n, tower_width]`, with a column of ones behind them if it has a bias.
fn fed(activations: Tensor<2>, has_bias: bool) -> Tensor<2> {
    if !has_bias {
        return activations;
    }
    let [n, _] = activations.dims();
    let one = Tensor::ones([n, 1], &activations.device());
    Tensor::cat(vec![activations, one], 1)
}

/// Σ H over all rows, `[embed_dim, embed_dim]`, without a matrix for each.
///
/// With t = êᵀẑ, J·ẑ = (ẑ − ê·t)/‖e‖, so each sum over candidates and rows is a product of matrices.
fn curvature(features: &Tensor<2>, candidates: &Tensor<2>, logits: Logits) -> Tensor<2> {
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
        sum = sum + curvature_of(rows, &others, logits);
    }
    sum * (logits.scale * logits.scale)
}

fn curvature_of(rows: Tensor<2>, others: &Tensor<2>, logits: Logits) -> Tensor<2> {
    let unit = normalize(rows.clone());
    let inverse_norm = (unit.clone() * rows).sum_dim(1).recip(); // [n, 1]
    let cosine = unit.clone().matmul(others.clone().transpose()); // [n, n_others]
    let share = match logits.bias {
        None => softmax(cosine.clone() * logits.scale, 1),
        Some(bias) => {
            let logit = cosine.clone() * logits.scale + bias;
            sigmoid(logit.clone()) * sigmoid(-logit)
        }
    };
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
    let of_each = squares - mixed.clone() - mixed.transpose() + radial;
    if logits.bias.is_some() {
        return of_each;
    }

    // J·Σ p ẑ
    let mean = share.clone().matmul(others.clone());
    let mean_cosine = (share * cosine).sum_dim(1);
    let tangent = (mean - unit * mean_cosine) * inverse_norm;
    of_each - tangent.clone().transpose().matmul(tangent)
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

/// The scalar that `BayesVLM`, which has none of its own, is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BayesUncertainty {
    /// Trace of the caption's covariance over its squared length.
    RelativeTrace,
    /// Variance of the cosine of the caption with the picture that it retrieves.
    OfCosine,
}

/// Scores by the expected cosine of features that carry their variance, as [`Laplace::with_variance`] makes them.
///
/// ```text
/// N = Σ(e² + σ²)    E[cos] = e_I·e_T / √(N_I·N_T)    Var[cos] = Σ[(e_I² + σ_I²)·σ_T² + σ_I²·e_T²] / (N_I·N_T)
/// ```
#[derive(Module, Debug)]
pub struct BayesVlm {
    embed_dim: usize,
    #[module(skip)]
    uncertainty: BayesUncertainty,
}

impl BayesVlm {
    /// A `BayesVlm` for features of this width, whose rows hold the variances behind them, `[n, 2·embed_dim]`.
    #[must_use]
    pub const fn new(embed_dim: usize, uncertainty: BayesUncertainty) -> Self {
        Self {
            embed_dim,
            uncertainty,
        }
    }

    /// e/√N and σ²/N of each row.
    fn scaled(&self, rows: &Tensor<2>) -> Tensor<2> {
        let [features, variance] = self.parts(rows);
        let squared = features.clone() * features.clone() + variance.clone();
        let length = squared.sum_dim(1); // [n, 1]
        Tensor::cat(vec![features / length.clone().sqrt(), variance / length], 1)
    }

    /// Means and variances, `[n, embed_dim]` each.
    fn parts(&self, rows: &Tensor<2>) -> [Tensor<2>; 2] {
        let d = self.embed_dim;
        [columns(rows, 0, d), columns(rows, d, 2 * d)]
    }

    fn relative_trace(&self, rows: &Tensor<2>) -> Tensor<2> {
        let [mean, variance] = self.parts(rows);
        variance.sum_dim(1) / (mean.clone() * mean).sum_dim(1)
    }

    /// Var[cos] of each caption with the picture that scores best, `[n_texts, 1]`.
    fn variance_of_cosine(&self, texts: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
        let [n_texts, _] = texts.dims();
        let best = self.scores(images.clone(), texts.clone()).argmax(0); // [1, n_texts]
        let [image, image_variance] = self.parts(&images.select(0, best.reshape([n_texts])));
        let [text, text_variance] = self.parts(&texts);
        let of_text = (image.clone() * image + image_variance.clone()) * text_variance;
        (of_text + image_variance * text.clone() * text).sum_dim(1)
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
        let [images, _] = self.parts(&images);
        let [texts, _] = self.parts(&texts);
        images.matmul(texts.transpose())
    }

    fn uncertainty(&self, rows: Tensor<2>, gallery: Tensor<2>) -> Option<Tensor<2>> {
        Some(match self.uncertainty {
            BayesUncertainty::RelativeTrace => self.relative_trace(&rows),
            BayesUncertainty::OfCosine => self.variance_of_cosine(rows, gallery),
        })
    }

    fn uncertainty_of_images(&self, features: Tensor<2>) -> Option<Tensor<2>> {
        let has_one = self.uncertainty == BayesUncertainty::RelativeTrace;
        has_one.then(|| self.relative_trace(&features))
    }
}

parameters_of!(BayesVlm: );

#[cfg(test)]
mod tests {
    use rand::{SeedableRng as _, rngs::ChaCha8Rng};

    use super::*;
    use crate::device::cpu;

    /// Σ H with a matrix for each row.
    fn one_matrix_a_row(rows: &Tensor<2>, others: &Tensor<2>, logits: Logits) -> Tensor<2> {
        let (device, [n, d]) = (rows.device(), rows.dims());
        let others = normalize(others.clone());
        let mut sum = Tensor::<2>::zeros([d, d], &device);
        for i in 0..n {
            let row = rows.clone().slice(i..i + 1);
            let norm = (row.clone() * row.clone()).sum().sqrt().reshape([1, 1]);
            let unit = normalize(row);
            let jacobian =
                (Tensor::eye(d, &device) - unit.clone().transpose().matmul(unit.clone())) / norm;
            let scaled = unit.matmul(others.clone().transpose()) * logits.scale; // [1, m]
            let (weights, mean) = match logits.bias {
                None => {
                    let p = softmax(scaled, 1);
                    (p.clone(), p.matmul(others.clone()))
                }
                Some(bias) => {
                    let s = sigmoid(scaled + bias);
                    let weights = s.clone() * (s.neg() + 1.0);
                    (weights, Tensor::zeros([1, d], &device))
                }
            };
            let weighted = others.clone() * weights.transpose();
            let second = weighted.transpose().matmul(others.clone());
            let inner = second - mean.clone().transpose().matmul(mean);
            let scale = logits.scale * logits.scale;
            sum = sum + jacobian.clone().matmul(inner).matmul(jacobian) * scale;
        }
        sum
    }

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
        for bias in [None, Some(-1.5)] {
            let logits = Logits { scale: 3.0, bias };
            let found = curvature(&rows, &others, logits);
            let expected = one_matrix_a_row(&rows, &others, logits);
            let size: f32 = expected.clone().abs().max().into_scalar();
            let error: f32 = (found - expected).abs().max().into_scalar();
            assert!(
                size > 0.1 && error < 1e-4,
                "bias {bias:?}: they differ by {error} of {size}"
            );
        }
    }

    #[test]
    fn a_bias_is_fed_a_one() {
        let device = cpu();
        let features = Tensor::<2>::from_floats([[1.0, 2.0], [-0.7, 0.1], [0.3, 1.0]], &device);
        let rows = Tensor::<2>::from_floats([[0.4], [-0.2], [0.9]], &device);
        let with_one = Tensor::cat(vec![rows.clone(), Tensor::ones([3, 1], &device)], 1);
        let activations = Activations {
            rows: rows.clone(),
            squared_weight_norm: 2.0,
        };
        let logits = Logits {
            scale: 3.0,
            bias: Some(-1.0),
        };
        let laplace = Laplace::estimate(&features, &activations, &features, logits);
        let laplace = laplace.expect("finite features");
        assert!(laplace.has_bias, "a sigmoid loss has one");
        let implicit = laplace.with_variance(features.clone(), rows);
        let explicit = Laplace {
            has_bias: false,
            ..laplace
        };
        let explicit = explicit.with_variance(features, with_one);
        let error: f32 = (implicit - explicit).abs().max().into_scalar();
        assert_eq!(error, 0.0, "the same matrix");
    }

    #[test]
    fn the_variance_of_the_cosine_is_that_of_draws_with_the_retrieved_picture() {
        const DRAWS: usize = 200_000;
        let device = cpu();
        // Means, then variances, of two pictures and a caption, which retrieves the first.
        let images = [
            [1.0, 0.5, -0.3, 0.2, 0.1, 0.05],
            [-1.0, 0.2, 0.4, 3.0, 3.0, 3.0],
        ];
        let text = [0.8, 0.6, 0.1, 0.05, 0.3, 0.15];
        let method = BayesVlm::new(3, BayesUncertainty::OfCosine);
        let of = |rows| method.scaled(&rows);
        let gallery = of(Tensor::<2>::from_floats(images, &device));
        let texts = of(Tensor::<2>::from_floats([text], &device));
        let found = method.uncertainty(texts, gallery).expect("it has one");
        let found = f64::from(found.into_scalar::<f32>());

        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut normal = || crate::numerics::standard_normal(&mut rng);
        let expected_length =
            |row: [f64; 6]| (0..3).map(|k| row[k].powi(2) + row[k + 3]).sum::<f64>();
        let image = images[0];
        let scale = (expected_length(image) * expected_length(text)).sqrt();
        let cosines: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let mut draw = |row: [f64; 6], k: usize| row[k] + row[k + 3].sqrt() * normal();
                (0..3).map(|k| draw(image, k) * draw(text, k)).sum::<f64>() / scale
            })
            .collect();
        let expected = crate::metrics::population_sd(&cosines).powi(2);
        // Four standard errors of a variance of as many draws of nearly normal cosines.
        let tolerance = 4.0 * expected * (2.0 / DRAWS as f64).sqrt();
        assert!(
            (found - expected).abs() < 2.0 * tolerance,
            "{found}, of draws {expected} within {tolerance}"
        );
    }

    #[test]
    fn a_feature_without_variance_has_none_of_its_cosine_but_the_other_sides() {
        let device = cpu();
        let method = BayesVlm::new(2, BayesUncertainty::OfCosine);
        let features = Tensor::<2>::from_floats([[3.0, 4.0]], &device);
        let point = method.scaled(&Laplace::without_variance(features));
        let found = method
            .uncertainty(point.clone(), point)
            .expect("it has one");
        assert_eq!(found.into_scalar::<f32>(), 0.0, "two points");
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
