//! `ProbVLM`'s generalised Gaussians on features, as its released code computes them.
//!
//! Upadhyay et al. 2023, [ProbVLM](https://arxiv.org/abs/2307.00398)

use burn::tensor::Tensor;

use super::gamma::ln_gamma;

/// Added to 1/α and β in the loss, as released.
const LOSS_FLOOR: f64 = 1e-4;
/// Bounds of the residual term, as released.
const RESIDUAL: (f64, f64) = (1e-4, 1e3);
/// Added to 1/α in the variance, and to β, as released.
const SCALE_FLOOR: f64 = 1e-5;
const SHAPE_FLOOR: f64 = 0.1;
/// Bounds of α and of β in the variance.
const SCALE: (f64, f64) = (1e-4, 5.0);
const SHAPE: (f64, f64) = (0.1, 5.0);
/// Weight of the likelihood beside the distance of means.
const LIKELIHOOD_WEIGHT: f64 = 0.05;

/// A generalised Gaussian for each number of a feature.
#[derive(Debug, Clone)]
pub struct GeneralizedGaussian {
    /// Mean μ̂, `[n, embed_dim]`.
    pub mean: Tensor<2>,
    /// 1/α, positive, `[n, embed_dim]`.
    pub inverse_scale: Tensor<2>,
    /// Shape β, positive, `[n, embed_dim]`.
    pub shape: Tensor<2>,
}

impl GeneralizedGaussian {
    /// The loss of observed features.
    ///
    /// ```text
    /// mean|μ̂ − x| + 0.05·mean( clamp(|μ̂ − x|·a·b, 1e-4, 1e3) − ln a + ln Γ(1/b) − ln b )
    /// ```
    ///
    /// with a = 1/α + 1e-4 and b = β + 1e-4. The density has (|μ̂ − x|·a)^b where this has a product: so has the
    /// released code.
    ///
    /// # Shapes
    ///
    /// - `observed`: x, `[n, embed_dim]`
    /// - output: `[1]`
    pub fn loss(&self, observed: Tensor<2>) -> Tensor<1> {
        let distance = (self.mean.clone() - observed).abs();
        let a = self.inverse_scale.clone() + LOSS_FLOOR;
        let b = self.shape.clone() + LOSS_FLOOR;
        let residual = (distance.clone() * a.clone() * b.clone()).clamp(RESIDUAL.0, RESIDUAL.1);
        let likelihood = residual - a.log() + ln_gamma(b.clone().recip()) - b.log();
        distance.mean() + likelihood.mean() * LIKELIHOOD_WEIGHT
    }

    /// Variance of each number, α²·Γ(3/β)/Γ(1/β), within the bounds of the released code.
    ///
    /// # Shapes
    ///
    /// - output: `[n, embed_dim]`
    pub fn variance(&self) -> Tensor<2> {
        let scale = (self.inverse_scale.clone() + SCALE_FLOOR).recip();
        let scale = scale.clamp(SCALE.0, SCALE.1);
        let shape = (self.shape.clone() + SHAPE_FLOOR).clamp(SHAPE.0, SHAPE.1);
        let ratio = ln_gamma(shape.clone().recip() * 3.0) - ln_gamma(shape.recip());
        scale.clone() * scale * ratio.exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn the_variance_is_that_of_a_gaussian_where_the_shape_is_two() {
        let of = |value: f32| Tensor::from_floats([[value]], &cpu());
        let distribution = GeneralizedGaussian {
            mean: of(0.0),
            inverse_scale: of(2.0),
            shape: of(1.9),
        };
        let found: f32 = distribution.variance().into_scalar();
        // α²/2 with α = 1/(2 + 1e-5).
        assert!((found - 0.125).abs() < 1e-5, "found {found}, expected α²/2");
    }
}
