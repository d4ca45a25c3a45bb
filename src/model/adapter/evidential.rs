//! ELIP's evidential loss: similarities are the evidence of a Dirichlet distribution over the candidates of each query.
//!
//! Sensoy et al. 2018, [Evidential Deep Learning](https://arxiv.org/abs/1806.01768); the released code of ELIP.

use burn::tensor::Tensor;

use super::gamma::{digamma, ln_gamma, ln_gamma_without_slope};

/// Bounds of the logarithm of the evidence, as released.
const LOG_EVIDENCE: (f64, f64) = (-10.0, 10.0);

/// Expected cross-entropy of the matching candidate, and a divergence that takes evidence from the others.
///
/// ```text
/// mean over rows of  ψ(S) − ψ(α_y) + λ·KL(Dir(α̃) ‖ Dir(1))      α = e^clamp(ρ) + 1,  α̃ = α with α̃_y = 1
/// ```
///
/// # Shapes
///
/// - `log_evidence`: ρ, `[n, n]`, whose diagonal holds the matching pairs
/// - output: `[1]`
pub fn evidential_loss(log_evidence: Tensor<2>, divergence_weight: f64) -> Tensor<1> {
    let [n, _] = log_evidence.dims();
    let eye = Tensor::<2>::eye(n, &log_evidence.device());
    let alpha = concentration_parameters(log_evidence);
    let of_label = (alpha.clone() * eye.clone()).sum_dim(1); // [n, 1]
    let entropy = digamma(alpha.clone().sum_dim(1)) - digamma(of_label);
    // One on the diagonal, unchanged elsewhere.
    let misleading = (alpha - 1.0) * (eye.neg() + 1.0) + 1.0;
    (entropy + divergence_from_uniform(misleading) * divergence_weight).mean()
}

/// α of each query's Dirichlet distribution.
///
/// # Shapes
///
/// - `log_evidence`: `[n_queries, n_candidates]`
/// - output: `[n_queries, n_candidates]`
pub fn concentration_parameters(log_evidence: Tensor<2>) -> Tensor<2> {
    log_evidence.clamp(LOG_EVIDENCE.0, LOG_EVIDENCE.1).exp() + 1.0
}

/// KL(Dir(α) ‖ Dir(1)) of each row.
///
/// ```text
/// ln Γ(S) − ln Γ(M) − Σ ln Γ(α) + Σ (α − 1)·(ψ(α) − ψ(S)) = h(S) + (M − 1)·ψ(S) − Σ h(α) − ln Γ(M)
/// ```
///
/// with S = Σ α over M candidates and h(x) = ln Γ(x) − (x − 1)·ψ(x) + x. Evidence goes up to e¹⁰: the left form loses
/// three digits of f32 there.
///
/// # Shapes
///
/// - `alpha`: `[n, n_candidates]`
/// - output: `[n, 1]`
fn divergence_from_uniform(alpha: Tensor<2>) -> Tensor<2> {
    let [_, n_candidates] = alpha.dims();
    let sum = alpha.clone().sum_dim(1);
    let ones = sum.ones_like() * n_candidates as f64;
    let of_candidates = ln_gamma_without_slope(alpha).sum_dim(1);
    let of_sum = ln_gamma_without_slope(sum.clone()) + digamma(sum) * (n_candidates as f64 - 1.0);
    of_sum - of_candidates - ln_gamma(ones)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn the_divergence_is_the_reference_value() {
        // `method.md` section 13: α = (3.2, 1, 1.7, 8).
        let alpha = Tensor::from_floats([[3.2, 1.0, 1.7, 8.0]], &cpu());
        let found: f32 = divergence_from_uniform(alpha).into_scalar();
        assert!(
            (found - 1.943_328).abs() < 2e-5,
            "found {found}, expected 1.943328"
        );
    }

    #[test]
    fn no_evidence_diverges_not_at_all() {
        let alpha = Tensor::ones([2, 5], &cpu());
        let found: f32 = divergence_from_uniform(alpha).abs().max().into_scalar();
        assert!(found < 1e-5, "found {found}");
    }
}
