//! Log-likelihoods of pictures under captions' distributions, in forms that stay exact to f32's last digits.
//!
//! Values are *ratios to the uniform density*: zero means "no better than knowing nothing". The dropped constant is
//! the same for every caption, so a softmax over captions or over pictures is what it would be with it.

use burn::tensor::Tensor;

use super::Family;
use crate::model::clip::l2_norm;

/// Keeps `ln(1 + cosine)` finite at the antipode; cosines of rounded unit vectors can fall below −1.
const MIN_COSINE: f64 = -1.0 + 1e-6;

/// Log-likelihood ratio to uniform of each picture under each caption.
///
/// ```text
/// von Mises–Fisher   ηᵀz + G_d(κ)
/// power spherical    κ·ln(1 + μᵀz) + G_PS(κ)         κ = ‖η‖, μ = η/κ
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
            images.matmul(natural_parameter.transpose()) + log_normalizer.transpose()
        }
        Family::PowerSpherical => {
            let mean_direction = natural_parameter / concentration.clone();
            let cosine = images
                .matmul(mean_direction.transpose())
                .clamp(MIN_COSINE, 1.0);
            let log_normalizer =
                power_spherical_log_normalizer_ratio(concentration.clone(), embed_dim);
            (cosine + 1.0).log() * concentration.transpose() + log_normalizer.transpose()
        }
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

/// G_d(κ) = F_d(κ) − F_d(0), the paper's closed approximation of ln C_d(κ) − ln C_d(0).
///
/// ```text
/// δ₁ = κ²/(√(a²+κ²)+a)    δ₂ = κ²/(√(b²+κ²)+b)    a = (d−1)/2    b = (d+1)/2
/// G  = (a/2)·[ln1p(δ₁/(2a)) + ln1p(δ₂/d)] − (δ₁+δ₂)/2
/// ```
///
/// F_d itself is about 1338 at d = 512, of which f32 loses the digits that matter; in this form the relative error
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

/// G_PS(κ) = ln C_PS(κ) − ln C_PS(0), by Stirling's series for the difference of two ln Γ.
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
