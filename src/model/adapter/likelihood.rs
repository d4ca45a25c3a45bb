//! Log-likelihoods of pictures under captions' distributions, in forms that stay exact to f32's last digits.
//!
//! Values are *ratios to the uniform density*: zero means "no better than knowing nothing". The dropped constant is
//! the same for every caption, so a softmax over captions or over pictures is what it would be with it.

use burn::tensor::Tensor;

use super::{Family, scaled};
use crate::device::product;
use crate::model::clip::l2_norm;

/// Keeps `ln(1 + cosine)` finite at the antipode; cosines of rounded unit vectors can fall below −1.
const MIN_COSINE: f64 = -1.0 + 1e-6;

/// Log-likelihood ratio to uniform of each picture under each caption.
///
/// ```text
/// von Mises–Fisher   ηᵀz + G(κ)
/// power spherical    κ·ln(1 + μᵀz) + G(κ)         κ = ‖η‖, μ = η/κ
/// ```
///
/// # Shapes
///
/// - `natural_parameter`: η, `[n_texts, embed_dim]`
/// - `images`: unit vectors z, `[n_images, embed_dim]`
/// - output: `[n_images, n_texts]`
pub fn log_likelihood_ratio(
    family: Family,
    natural_parameter: Tensor<2>,
    images: Tensor<2>,
) -> Tensor<2> {
    let [_, embed_dim] = natural_parameter.dims();
    let concentration = concentration(natural_parameter.clone()); // [n_texts, 1]
    match family {
        Family::VonMisesFisher => {
            let log_normalizer = vmf_log_normalizer_ratio(concentration, embed_dim);
            product(images, natural_parameter.transpose()) + log_normalizer.transpose()
        }
        Family::PowerSpherical => {
            let mean_direction = natural_parameter / concentration.clone();
            let cosine = product(images, mean_direction.transpose()).clamp(MIN_COSINE, 1.0);
            let log_normalizer =
                power_spherical_log_normalizer_ratio(concentration.clone(), embed_dim);
            (cosine + 1.0).log() * concentration.transpose() + log_normalizer.transpose()
        }
    }
}

/// [`log_likelihood_ratio`] times one trained number.
///
/// For von Mises–Fisher the number scales η and G(κ), of which there are fewer than pairs in a batch.
///
/// # Shapes
///
/// - `natural_parameter`: η, `[n_texts, embed_dim]`
/// - `images`: unit vectors z, `[n_images, embed_dim]`
/// - `factor`: `[1]`
/// - output: `[n_images, n_texts]`
pub fn scaled_log_likelihood_ratio(
    family: Family,
    natural_parameter: Tensor<2>,
    images: Tensor<2>,
    factor: Tensor<1>,
) -> Tensor<2> {
    let [_, embed_dim] = natural_parameter.dims();
    match family {
        Family::VonMisesFisher => {
            let concentration = concentration(natural_parameter.clone());
            let log_normalizer = vmf_log_normalizer_ratio(concentration, embed_dim);
            let log_normalizer = scaled(log_normalizer, factor.clone()).transpose();
            let rows = scaled(natural_parameter, factor);
            product(images, rows.transpose()) + log_normalizer
        }
        Family::PowerSpherical => scaled(
            log_likelihood_ratio(family, natural_parameter, images),
            factor,
        ),
    }
}

/// Concentration κ = ‖η‖ of each caption, at least 1e-12 so that η/κ exists.
///
/// # Shapes
///
/// - `natural_parameter`: `[n_texts, embed_dim]`
/// - output: `[n_texts, 1]`
pub fn concentration(natural_parameter: Tensor<2>) -> Tensor<2> {
    l2_norm(natural_parameter)
}

/// G(κ) = F(κ) − F(0), where F is the paper's closed approximation of the von Mises–Fisher distribution's ln C(κ).
///
/// ```text
/// δ₁ = κ²/(√(a²+κ²)+a)    δ₂ = κ²/(√(b²+κ²)+b)    a = (d−1)/2    b = (d+1)/2
/// G  = (a/2)·[ln1p(δ₁/(2a)) + ln1p(δ₂/d)] − (δ₁+δ₂)/2
/// ```
///
/// F itself is about 1338 at d = 512, of which f32 loses the digits that matter; in this form the relative error
/// is 1.5e-7. It needs a true `ln1p`: WGSL has none and Burn writes `ln(1 + x)` there, which costs up to 12 %, so
/// on WebGPU this runs on the host in f64 instead.
///
/// # Shapes
///
/// - `concentration`: `[n_texts, 1]`
/// - output: `[n_texts, 1]`
fn vmf_log_normalizer_ratio(concentration: Tensor<2>, embed_dim: usize) -> Tensor<2> {
    let d = embed_dim as f64;
    let (a, b) = ((d - 1.0) / 2.0, (d + 1.0) / 2.0);
    let squared = concentration.clone() * concentration;
    let excess = |c: f64| squared.clone() / ((squared.clone() + c * c).sqrt() + c);
    let (delta_a, delta_b) = (excess(a), excess(b));
    let logarithms = (delta_a.clone() / (2.0 * a)).log1p() + (delta_b.clone() / d).log1p();
    logarithms * (a / 2.0) - (delta_a + delta_b) / 2.0
}

/// G(κ) = ln C(κ) − ln C(0) of the power-spherical distribution, by Stirling's series for the difference of two ln Γ.
///
/// ```text
/// (a+κ−½)·ln1p(−κ/(2(a+κ))) + a·ln1p(κ/(2a)) + (1/12)·[1/(2a+κ) − 1/(2a) − 1/(a+κ) + 1/a]    a = (d−1)/2
/// ```
///
/// Off by less than 1e-10 at d = 512, before f32's rounding.
///
/// # Shapes
///
/// - `concentration`: `[n_texts, 1]`
/// - output: `[n_texts, 1]`
fn power_spherical_log_normalizer_ratio(concentration: Tensor<2>, embed_dim: usize) -> Tensor<2> {
    let a = (embed_dim as f64 - 1.0) / 2.0;
    let kappa = concentration;
    let half = (kappa.clone() / (kappa.clone() + a) * -0.5).log1p();
    let leading = (kappa.clone() + (a - 0.5)) * half + (kappa.clone() / (2.0 * a)).log1p() * a;
    let series = (kappa.clone() + 2.0 * a).recip() - (kappa + a).recip() + 0.5 / a;
    leading + series / 12.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;
    use crate::numerics::{PowerSpherical, VonMisesFisher};

    const DIMENSIONS: [usize; 2] = [512, 768];
    const CONCENTRATIONS: [f32; 9] = [0.5, 1.0, 2.0, 5.0, 8.0, 20.0, 60.0, 200.0, 1000.0];

    /// Texts and pictures of the toy kernel in `method.md` section 13.
    const TEXTS: [[f32; 4]; 2] = [[1.0, 2.0, -0.5, 0.3], [-0.7, 0.1, 0.9, 2.0]];
    const IMAGES: [[f32; 4]; 2] = [[0.5, 0.5, 0.5, 0.5], [0.8, 0.0, -0.6, 0.0]];

    fn column(concentration: f32) -> Tensor<2> {
        Tensor::from_floats([[concentration]], &cpu())
    }

    #[test]
    fn the_von_mises_fisher_normaliser_keeps_f32s_digits() {
        for d in DIMENSIONS {
            for kappa in CONCENTRATIONS {
                let found: f32 = vmf_log_normalizer_ratio(column(kappa), d).into_scalar();
                let expected = VonMisesFisher::new(d, f64::from(kappa));
                let expected = expected.approximate_log_normalizer_ratio();
                assert!(
                    (f64::from(found) - expected).abs() <= 5e-7 * expected.abs(),
                    "d {d}, κ {kappa}: found {found}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn the_power_spherical_normaliser_keeps_f32s_digits() {
        for d in DIMENSIONS {
            for kappa in CONCENTRATIONS {
                let found: f32 =
                    power_spherical_log_normalizer_ratio(column(kappa), d).into_scalar();
                let expected = PowerSpherical::new(d, f64::from(kappa)).log_normalizer_ratio();
                // Two terms of size κ/2 cancel, so the error is one of f32 at that size.
                let tolerance = 1e-6 * f64::from(kappa);
                assert!(
                    (f64::from(found) - expected).abs() <= tolerance,
                    "d {d}, κ {kappa}: found {found}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn the_toy_kernel_of_von_mises_fisher_is_the_reference() {
        // With F₄(0) taken off, which the reference leaves in.
        let expected = [[0.598_969, 0.352_263], [0.298_969, -1.897_737]]
            .map(|row| row.map(|value: f32| value + 0.136_320));
        assert_toy(Family::VonMisesFisher, expected, 3e-6);
    }

    #[test]
    fn the_toy_kernel_of_power_spherical_is_the_reference() {
        let expected = [[0.776_189, 0.616_636], [0.581_386, -1.811_446]];
        // At d = 4 Stirling's series, meant for hundreds, is off by 6.1e-4.
        assert_toy(Family::PowerSpherical, expected, 7e-4);
    }

    fn assert_toy(family: Family, expected: [[f32; 2]; 2], tolerance: f32) {
        let device = cpu();
        let found = log_likelihood_ratio(
            family,
            Tensor::from_floats(TEXTS, &device),
            Tensor::from_floats(IMAGES, &device),
        );
        let error = (found.clone() - Tensor::from_floats(expected, &device))
            .abs()
            .max();
        let error: f32 = error.into_scalar();
        assert!(error < tolerance, "found {found}, expected {expected:?}");
    }

    #[test]
    fn a_picture_at_the_antipode_has_a_finite_likelihood_under_power_spherical() {
        let device = cpu();
        let eta = Tensor::from_floats([[3.0, 0.0, 0.0]], &device);
        let image = Tensor::from_floats([[-1.0, 0.0, 0.0]], &device);
        let nats: f32 = log_likelihood_ratio(Family::PowerSpherical, eta, image).into_scalar();
        assert!(nats.is_finite(), "found {nats}");
    }

    #[cfg(feature = "train")]
    #[test]
    fn a_factor_has_the_values_and_gradients_of_a_product_with_the_table() {
        let weights = Tensor::<2>::from_floats([[0.5, -1.0], [2.0, 1.5]], &cpu()).autodiff();
        for family in Family::ALL {
            let device = cpu().autodiff();
            let sum_and_gradients = |is_scaled: bool| {
                let texts = Tensor::<2>::from_floats(TEXTS, &device).require_grad();
                let factor = Tensor::<1>::from_floats([1.7], &device).require_grad();
                let images = Tensor::from_floats(IMAGES, &device);
                let table = if is_scaled {
                    scaled_log_likelihood_ratio(family, texts.clone(), images, factor.clone())
                } else {
                    let table = log_likelihood_ratio(family, texts.clone(), images);
                    table * factor.clone().unsqueeze()
                };
                let sum = (table * weights.clone()).sum();
                let gradients = sum.backward();
                let of_texts = texts.grad(&gradients).expect("a gradient").reshape([8]);
                let of_factor = factor.grad(&gradients).expect("a gradient");
                Tensor::cat(vec![sum.inner(), of_factor, of_texts], 0)
            };
            let [found, expected] = [true, false].map(sum_and_gradients);
            let error: f32 = (found - expected).abs().max().into_scalar();
            assert!(error < 3e-6, "{family:?}: off by {error}");
        }
    }

    #[cfg(feature = "train")]
    #[test]
    fn gradients_are_those_of_central_differences_for_both_families() {
        const STEP: f32 = 1e-2;
        let loss = |family, texts: Tensor<2>| {
            let images = Tensor::from_floats(IMAGES, &texts.device());
            super::super::info_nce(log_likelihood_ratio(family, texts, images) * 1.7)
        };
        for family in Family::ALL {
            let device = cpu().autodiff();
            let texts = Tensor::<2>::from_floats(TEXTS, &device).require_grad();
            let gradients = loss(family, texts.clone()).backward();
            let gradient = texts.grad(&gradients).expect("a gradient").into_data();
            for (index, gradient) in gradient.as_slice::<f32>().expect("f32").iter().enumerate() {
                let at = |step: f32| -> f32 {
                    let mut moved = TEXTS;
                    moved[index / 4][index % 4] += step;
                    loss(family, Tensor::from_floats(moved, &cpu())).into_scalar()
                };
                let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
                assert!(
                    (gradient - difference).abs() <= 1e-3,
                    "{family:?}, component {index}: gradient {gradient}, central difference {difference}"
                );
            }
        }
    }
}
