//! Contrastive losses on a square matrix of logits whose diagonal holds the matching pairs.

use burn::tensor::activation::log_sigmoid;
use burn::tensor::{Int, Tensor};

use super::host_loss;
use crate::device::is_cpu;

/// Symmetric cross-entropy of the diagonal.
///
/// ```text
/// ½·mean(logsumexp over rows − diagonal) + ½·mean(logsumexp over columns − diagonal)
/// ```
///
/// # Shapes
///
/// - `logits`: `[n, n]`
/// - output: `[1]`
///
/// # Panics
///
/// If `logits` is not square.
pub fn info_nce(logits: Tensor<2>) -> Tensor<1> {
    if is_cpu(&logits.device()) {
        return host_loss::info_nce(logits);
    }
    on_any_device::info_nce(logits)
}

/// Symmetric cross-entropy where other pairs match a little, too: targets in place of the diagonal.
///
/// # Shapes
///
/// - `logits`: `[n, n]`
/// - `targets`: `[n, n]`, rows that sum to one; taken for the rows of `logits` and for its columns
/// - output: `[1]`
pub fn soft_info_nce(logits: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
    let [n, _] = logits.dims();
    let both = (targets.clone() + targets.transpose()) * (0.5 / n as f64);
    symmetric_log_sum_exp(logits.clone()) - (logits * both).sum()
}

/// Half of the mean logsumexp over rows and half of that over columns.
fn symmetric_log_sum_exp(logits: Tensor<2>) -> Tensor<1> {
    if is_cpu(&logits.device()) {
        return host_loss::symmetric_log_sum_exp(logits);
    }
    on_any_device::symmetric_log_sum_exp(logits)
}

/// A table times one trained number.
///
/// The number's gradient is a sum over the table. Here it is one down the columns and one along the row; of a product
/// with the number itself Burn makes one sum over both, which on a GPU is one thread's work: 48 of the 52 ms of a step
/// of a fit on an H200.
///
/// # Shapes
///
/// - `table`, output: `[m, n]`
/// - `factor`: `[1]`
pub fn scaled(table: Tensor<2>, factor: Tensor<1>) -> Tensor<2> {
    let factor = in_each_column(factor, &table);
    table * factor
}

/// A table plus one trained number, whose gradient is that of [`scaled`]'s.
///
/// # Shapes
///
/// - `table`, output: `[m, n]`
/// - `bias`: `[1]`
pub fn shifted(table: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    let bias = in_each_column(bias, &table);
    table + bias
}

/// The number as a row as wide as the table, `[1, n]`.
fn in_each_column(number: Tensor<1>, table: &Tensor<2>) -> Tensor<2> {
    let [_, n_columns] = table.dims();
    number.unsqueeze::<2>().expand([1, n_columns])
}

/// Pairwise logistic loss of `SigLIP`, summed over pairs and divided by the number of captions.
///
/// ```text
/// −(1/n)·Σ ln σ(±(logit + bias)),   + on the diagonal, − elsewhere
/// ```
///
/// Additive constants do not cancel here: `logits` must be ratios to uniform.
///
/// Zhai et al. 2023, [Sigmoid Loss for Language Image Pre-Training](https://arxiv.org/abs/2303.15343)
///
/// # Shapes
///
/// - `logits`: `[n, n]`
/// - `bias`: `[1]`
/// - output: `[1]`
///
/// # Panics
///
/// If `logits` is not square.
pub fn sigmoid_loss(logits: Tensor<2>, bias: Tensor<1>) -> Tensor<1> {
    let [n, _] = logits.dims();
    let shifted = shifted(logits, bias);
    // ln σ(−x) = ln σ(x) − x turns the sum over the off-diagonal into one over everything and one over the diagonal.
    let mismatched = log_sigmoid(-shifted.clone()).sum();
    let matched = diagonal(shifted).sum();
    (mismatched + matched) / -(n as f64)
}

/// Diagonal of a square table of logits: those of the matching pairs.
///
/// # Shapes
///
/// - `logits`: `[n, n]`
/// - output: `[n, 1]`
fn diagonal(logits: Tensor<2>) -> Tensor<2> {
    let [n_rows, n_columns] = logits.dims();
    assert_eq!(n_rows, n_columns, "contrastive logits are square");
    let indices = Tensor::<1, Int>::arange(0..n_rows as i64, &logits.device());
    logits.gather(1, indices.reshape([n_rows, 1]))
}

/// The losses as chains of tensors.
///
/// The gradient of a logsumexp is a softmax, of which the forward pass has all but the division. It is registered in
/// closed form, so that autodiff does not go back through exponentials and sums of the whole table.
mod on_any_device {
    use super::{Tensor, diagonal};

    pub(super) fn info_nce(logits: Tensor<2>) -> Tensor<1> {
        symmetric_log_sum_exp(logits.clone()) - diagonal(logits).mean()
    }

    pub(super) fn symmetric_log_sum_exp(logits: Tensor<2>) -> Tensor<1> {
        let [n, _] = logits.dims();
        let at = logits.clone().detach();
        let (rows, of_rows) = log_sum_exp(at.clone(), 1);
        let (columns, of_columns) = log_sum_exp(at.clone(), 0);
        let value = (rows.mean() + columns.mean()) * 0.5;
        let slope = (of_rows + of_columns) * (0.5 / n as f64);
        // Its value is zero and its gradient is `slope`.
        let moved = ((logits - at) * slope).sum();
        value + moved
    }

    /// Log-sum-exp along a dimension, and its slope, the softmax.
    ///
    /// # Shapes
    ///
    /// - `logits`: `[n, n]`
    /// - output: `[n, n]` with dimension `dim` reduced to one; `[n, n]`
    fn log_sum_exp(logits: Tensor<2>, dim: usize) -> (Tensor<2>, Tensor<2>) {
        let greatest = logits.clone().max_dim(dim);
        let weights = (logits - greatest.clone()).exp();
        let sum = weights.clone().sum_dim(dim);
        (sum.clone().log() + greatest, weights / sum)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Distribution;

    use super::*;
    use crate::device::cpu;
    use crate::device::host_values;
    use crate::model::adapter::{Family, log_likelihood_ratio};

    /// Rounding of a handful of f32 operations on numbers of size one.
    const TOLERANCE: f32 = 2e-6;

    /// The toy batch of `method.md` section 13 (d = 4), whose numbers come from mpmath.
    fn toy_loss(family: Family) -> f32 {
        let device = cpu();
        let natural_parameter =
            Tensor::<2>::from_floats([[1.0, 2.0, -0.5, 0.3], [-0.7, 0.1, 0.9, 2.0]], &device);
        let images = Tensor::from_floats([[0.5, 0.5, 0.5, 0.5], [0.8, 0.0, -0.6, 0.0]], &device);
        let logits = log_likelihood_ratio(family, natural_parameter, images) * 1.7;
        info_nce(logits).into_scalar()
    }

    fn assert_close(found: f32, expected: f32) {
        assert!(
            (found - expected).abs() <= TOLERANCE * expected.abs(),
            "found {found}, expected {expected}"
        );
    }

    #[cfg(feature = "train")]
    #[test]
    fn a_factor_and_a_bias_of_a_table_have_the_gradients_of_plain_numbers() {
        let device = cpu().autodiff();
        let table = Tensor::<2>::from_floats([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]], &device);
        let weights = Tensor::<2>::from_floats([[0.5, 1.0, -1.0], [2.0, 4.0, 1.5]], &device);
        let number = |value: f32| Tensor::<1>::from_floats([value], &device).require_grad();
        let (factor, bias) = (number(1.7), number(0.3));
        let output = shifted(scaled(table, factor.clone()), bias.clone());
        let gradients = (output * weights).sum().backward();
        // Σ weight · value, and Σ weight.
        for (number, expected) in [(factor, 3.5), (bias, 8.0)] {
            let found = number.grad(&gradients).expect("a gradient");
            assert_close(found.into_scalar(), expected);
        }
    }

    #[test]
    fn info_nce_of_the_toy_batch_is_the_reference_value_for_von_mises_fisher() {
        assert_close(toy_loss(Family::VonMisesFisher), 2.145_044_8);
    }

    #[test]
    fn info_nce_of_the_toy_batch_is_the_reference_value_for_power_spherical() {
        assert_close(toy_loss(Family::PowerSpherical), 2.334_105);
    }

    #[test]
    fn info_nce_of_equal_logits_is_the_logarithm_of_the_batch() {
        assert_close(
            info_nce(Tensor::zeros([4, 4], &cpu())).into_scalar(),
            4_f32.ln(),
        );
    }

    #[test]
    fn targets_on_the_diagonal_are_info_nce_and_others_are_the_cross_entropy_written_out() {
        let values = [[1.0_f32, -2.0], [0.5, 3.0]];
        let logits = Tensor::<2>::from_floats(values, &cpu());
        let diagonal = soft_info_nce(logits.clone(), Tensor::eye(2, &cpu()));
        let hard: f32 = info_nce(logits.clone()).into_scalar();
        assert_close(diagonal.into_scalar(), hard);
        let targets = [[0.8_f32, 0.2], [0.4, 0.6]];
        let entropy = |of: [[f32; 2]; 2]| -> f32 {
            let row = |i: usize| {
                let sum = of[i][0].exp() + of[i][1].exp();
                -(targets[i][0] * (of[i][0] - sum.ln()) + targets[i][1] * (of[i][1] - sum.ln()))
            };
            (row(0) + row(1)) / 2.0
        };
        let columns = [[values[0][0], values[1][0]], [values[0][1], values[1][1]]];
        let soft = soft_info_nce(logits, Tensor::from_floats(targets, &cpu()));
        assert_close(
            soft.into_scalar(),
            (entropy(values) + entropy(columns)) / 2.0,
        );
    }

    #[test]
    fn info_nce_does_not_see_constants_and_survives_large_logits() {
        let logits = Tensor::<2>::from_floats([[1.0, -2.0], [0.5, 3.0]], &cpu());
        let plain: f32 = info_nce(logits.clone()).into_scalar();
        let shifted: f32 = info_nce(logits + 4096.0).into_scalar();
        assert!(
            (plain - shifted).abs() < 1e-3,
            "plain {plain}, shifted {shifted}"
        );
    }

    #[test]
    fn sigmoid_loss_is_the_sum_over_pairs_written_out() {
        let logits = [[1.0_f32, -2.0], [0.5, 3.0]];
        let bias = -0.7_f32;
        let ln_sigmoid = |x: f32| -(-x).exp().ln_1p();
        let pairs = ln_sigmoid(1.0 + bias)
            + ln_sigmoid(2.0 - bias)
            + ln_sigmoid(-0.5 - bias)
            + ln_sigmoid(3.0 + bias);
        let device = cpu();
        let found = sigmoid_loss(
            Tensor::from_floats(logits, &device),
            Tensor::from_floats([bias], &device),
        );
        assert_close(found.into_scalar(), -pairs / 2.0);
    }

    type LossFunction = fn(Tensor<2>) -> Tensor<1>;

    fn value_and_gradient(loss: LossFunction, logits: &Tensor<2>) -> (f32, Vec<f32>) {
        let logits = logits.clone().autodiff().require_grad();
        let value = loss(logits.clone());
        let gradients = value.backward();
        let gradient = logits.grad(&gradients).expect("the loss depends on it");
        (value.into_scalar(), host_values(gradient))
    }

    #[test]
    fn on_the_cpu_value_and_gradient_are_those_of_the_chain_of_tensors() {
        let pairs: [[LossFunction; 2]; 2] = [
            [info_nce, on_any_device::info_nce],
            [symmetric_log_sum_exp, on_any_device::symmetric_log_sum_exp],
        ];
        let device = cpu();
        device.seed(0);
        // One task and several, whole sums and a rest; logits that a shared maximum would bring to nothing.
        for (n, scale) in [(1, 1.0), (7, 5.0), (150, 1.0), (150, 400.0)] {
            let spread = Distribution::Normal(0.0, scale);
            let logits = Tensor::<2>::random([n, n], spread, &device);
            for [host, tensors] in pairs {
                let (found, gradient) = value_and_gradient(host, &logits);
                let (expected, exact) = value_and_gradient(tensors, &logits);
                let tolerance = 2e-6 * (1.0 + scale);
                assert!(
                    f64::from((found - expected).abs()) <= tolerance,
                    "{n}: {found}, {expected}"
                );
                for (found, expected) in gradient.iter().zip(&exact) {
                    let error = (found - expected).abs();
                    assert!(
                        error <= 2e-6 / n as f32,
                        "{n} × {scale}: {found}, {expected}"
                    );
                }
            }
        }
    }
}
