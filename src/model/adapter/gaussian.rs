//! Diagonal Gaussians on features: kernels of the ablation, and the losses of baselines that give each feature a
//! variance.

use burn::tensor::Tensor;

use super::concentration;
use crate::device::product;

/// Log-density of each picture under each caption's isotropic Gaussian of precision κ, up to a constant of the
/// dimension alone: the ablation as the paper describes it.
///
/// ```text
/// −(κ/2)·‖z − μ‖² + (d/2)·ln κ = κ·(μᵀz − 1) + (d/2)·ln κ        κ = ‖η‖, μ = η/κ
/// ```
///
/// Its normaliser's slope d/(2κ) is hundreds where κ starts, so κ grows by orders of magnitude before captions differ.
///
/// # Shapes
///
/// As of [`isotropic_log_density`].
pub fn precision_log_density(natural_parameter: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
    let [_, embed_dim] = natural_parameter.dims();
    let concentration = concentration(natural_parameter.clone()); // [n_texts, 1]
    let of_text = concentration.clone().log() * (embed_dim as f64 / 2.0) - concentration;
    product(images, natural_parameter.transpose()) + of_text.transpose()
}

/// Our own parametrisation of the ablation, not the paper's: log-density per dimension of each picture under each
/// caption's isotropic Gaussian, up to a constant of the dimension alone. Its precision is d·κ, for a unit vector has a
/// variance of 1/d along each axis.
///
/// ```text
/// (1/d)·[−(dκ/2)·‖z − μ‖² + (d/2)·ln(dκ)] = κ·(μᵀz − 1) + ½·ln κ + const        κ = ‖η‖, μ = η/κ
/// ```
///
/// The family is that of [`precision_log_density`] with τ over d; only where training starts, and in which steps it
/// goes, is another: with κ itself as the precision the factor on the logits can fall to zero within a few steps.
///
/// # Shapes
///
/// - `natural_parameter`: η, `[n_texts, embed_dim]`
/// - `images`: unit vectors z, `[n_images, embed_dim]`
/// - output: `[n_images, n_texts]`
pub fn isotropic_log_density(natural_parameter: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
    let concentration = concentration(natural_parameter.clone()); // [n_texts, 1]
    let log_normalizer = concentration.clone().log() * 0.5 - concentration;
    product(images, natural_parameter.transpose()) + log_normalizer.transpose()
}

/// Log-density of each picture under each caption's diagonal Gaussian, up to a constant of the dimension alone.
///
/// ```text
/// −½·Σ [(z − μ)²/σ² + ln σ²]
/// ```
///
/// # Shapes
///
/// - `mean`: μ, `[n_texts, embed_dim]`
/// - `log_variance`: ln σ², `[n_texts, embed_dim]`
/// - `images`: z, `[n_images, embed_dim]`
/// - output: `[n_images, n_texts]`
pub fn diagonal_log_density(
    mean: Tensor<2>,
    log_variance: Tensor<2>,
    images: Tensor<2>,
) -> Tensor<2> {
    let precision = log_variance.clone().neg().exp();
    let scaled_mean = mean.clone() * precision.clone();
    let of_text = (mean * scaled_mean.clone() + log_variance).sum_dim(1); // [n_texts, 1]
    // (z − μ)²/σ² without a table of pictures × captions × dimensions.
    let squares = product(images.clone() * images.clone(), precision.transpose());
    let products = product(images, scaled_mean.transpose());
    products - (squares + of_text.transpose()) * 0.5
}

/// Minus the mutual likelihood score of matching pairs, as the post-hoc variant of PFE uses it (no ½, no constant).
///
/// ```text
/// mean over pairs of Σ [ (e_I − e_T)²/(σ²_I + σ²_T) + ln(σ²_I + σ²_T) ]
/// ```
///
/// Shi and Jain 2019, [Probabilistic Face Embeddings](https://arxiv.org/abs/1904.09658)
///
/// # Shapes
///
/// - `difference`: `e_I − e_T` of each pair, `[n, embed_dim]`
/// - `variance`: `σ²_I + σ²_T`, `[n, embed_dim]`
/// - output: `[1]`
pub fn mutual_likelihood_loss(difference: Tensor<2>, variance: Tensor<2>) -> Tensor<1> {
    let terms = difference.clone() * difference / variance.clone() + variance.log();
    terms.sum_dim(1).mean()
}

/// Closed-form sampled distance of `PCME++`: the expected squared distance of draws from two diagonal Gaussians.
///
/// ```text
/// ‖μ_I − μ_T‖² + Σ (σ²_I + σ²_T)
/// ```
///
/// Chun 2024, [Improved Probabilistic Image-Text Representations](https://arxiv.org/abs/2305.18171)
///
/// # Shapes
///
/// - `images`, `texts`: unit vectors, `[n_images, embed_dim]` and `[n_texts, embed_dim]`
/// - `image_variance`, `text_variance`: total variance of each, `[n_images, 1]` and `[n_texts, 1]`
/// - output: `[n_images, n_texts]`
pub fn expected_squared_distance(
    images: Tensor<2>,
    image_variance: Tensor<2>,
    texts: Tensor<2>,
    text_variance: Tensor<2>,
) -> Tensor<2> {
    let cosine = product(images, texts.transpose());
    cosine * -2.0 + 2.0 + image_variance + text_variance.transpose()
}

/// The adapter of `ProLIP`'s regulariser, as released: a Kullback–Leibler divergence in which the log-variance is
/// halved, averaged over everything. The true one has ln σ² where this has ½·ln σ².
///
/// ```text
/// −½·mean(1 + v/2 − x² − e^(v/2)),   0 where it exceeds 1e4
/// ```
///
/// # Shapes
///
/// - `mean`: x, `[n, embed_dim]`
/// - `log_variance`: v, `[n, embed_dim]`
/// - output: `[1]`
pub fn halved_information_bottleneck(mean: Tensor<2>, log_variance: Tensor<2>) -> Tensor<1> {
    /// Greatest mean divergence that the released code keeps; a greater one counts as numerical failure and becomes 0.
    const GREATEST: f64 = 1e4;
    let half = log_variance * 0.5;
    let divergence = (half.clone() + 1.0 - mean.clone() * mean - half.exp()).mean() * -0.5;
    let is_unsound = divergence.clone().greater_elem(GREATEST);
    divergence.mask_fill(is_unsound, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;
    use crate::model::clip::normalize;

    const TOLERANCE: f32 = 1e-5;

    fn rows(values: [[f32; 3]; 2]) -> Tensor<2> {
        Tensor::from_floats(values, &cpu())
    }

    #[test]
    fn a_diagonal_gaussian_with_equal_variances_is_the_isotropic_one() {
        let eta = rows([[1.0, 2.0, -0.5], [-0.7, 0.1, 0.9]]);
        let images = normalize(rows([[0.2, 0.3, -0.4], [0.5, -1.0, 0.1]]));
        let kappa = concentration(eta.clone());
        let isotropic = isotropic_log_density(eta.clone(), images.clone());
        let log_variance = (kappa.clone() * 3.0).log().neg().expand([2, 3]);
        let diagonal = diagonal_log_density(eta / kappa, log_variance, images);
        // The constant that is left out is ½·ln d.
        let error = isotropic - diagonal / 3.0 + 3.0_f64.ln() / 2.0;
        let error: f32 = error.abs().max().into_scalar();
        assert!(error < TOLERANCE, "they differ by {error}");
    }

    #[test]
    fn both_parametrisations_are_one_family() {
        let eta = rows([[1.0, 2.0, -0.5], [-0.7, 0.1, 0.9]]);
        let images = normalize(rows([[0.2, 0.3, -0.4], [0.5, -1.0, 0.1]]));
        let own = isotropic_log_density(eta.clone(), images.clone());
        // The precision of ours is d·κ, its density per dimension and without ½·ln d.
        let papers = precision_log_density(eta * 3.0, images) / 3.0 - 3.0_f64.ln() / 2.0;
        let error: f32 = (own - papers).abs().max().into_scalar();
        assert!(error < TOLERANCE, "they differ by {error}");
    }

    #[test]
    fn a_divergence_beyond_all_numbers_is_taken_out_and_pulls_at_nothing() {
        let mean = rows([[1.0, 0.0, 0.0]; 2]);
        let of = |log_variance: f32| {
            let variance = rows([[log_variance; 3]; 2]);
            let divergence: f32 =
                halved_information_bottleneck(mean.clone(), variance).into_scalar();
            divergence
        };
        assert!(
            (of(0.0) - 1.0 / 6.0).abs() < TOLERANCE,
            "{}: of a unit Gaussian its mean alone",
            of(0.0)
        );
        assert_eq!(of(1e3), 0.0, "e to the power of 500 is infinite");
    }

    #[test]
    fn the_expected_distance_of_points_is_their_distance() {
        let (x, y) = (
            normalize(rows([[1.0, 2.0, -0.5], [-0.7, 0.1, 0.9]])),
            normalize(rows([[0.3, 0.1, 0.2], [1.0, 0.0, 0.0]])),
        );
        let none = Tensor::zeros([2, 1], &cpu());
        let found = expected_squared_distance(x.clone(), none.clone(), y.clone(), none);
        let difference = x.slice(0..1) - y.slice(1..2);
        let expected: f32 = (difference.clone() * difference).sum().into_scalar();
        let found: f32 = found.slice([0..1, 1..2]).into_scalar();
        assert!(
            (found - expected).abs() < TOLERANCE,
            "found {found}, expected {expected}"
        );
    }
}
