//! The rotation that brings one set of vectors nearest to another, row by row: Procrustes' problem.

use anyhow::Result;
use burn::tensor::{Tensor, TensorData};

use super::eigen::Eigen;

/// Least eigenvalue of `MᵀM` over the greatest, below which a direction is of rounding alone.
const LEAST: f64 = 1e-12;

/// The orthogonal R with the least ‖A·R − B‖.
///
/// ```text
/// R = M·(MᵀM)^(−½)    M = AᵀB
/// ```
///
/// # Shapes
///
/// - `from`: A, `[n, d]`
/// - `to`: B, `[n, d]`
/// - output: `[d, d]`
///
/// # Errors
///
/// The device fails.
pub fn rotation(from: &Tensor<2>, to: &Tensor<2>) -> Result<Tensor<2>> {
    let [_, d] = from.dims();
    let product = from.clone().transpose().matmul(to.clone());
    let square = product.clone().transpose().matmul(product.clone());
    let square: Vec<f32> = square.into_data().try_into_vec()?;
    let eigen = Eigen::of(square.into_iter().map(f64::from).collect(), d);
    let greatest = eigen.values.iter().copied().fold(0.0, f64::max);
    let inverse_root = eigen.function(|value| 1.0 / value.max(LEAST * greatest).sqrt());
    let inverse_root: Vec<f64> = inverse_root;
    let data = TensorData::new(inverse_root, [d, d]).convert::<f32>();
    Ok(product.matmul(Tensor::from_data(data, &from.device())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn a_rotation_is_found_again() {
        let (sin, cos) = 0.7_f32.sin_cos();
        let turn =
            Tensor::<2>::from_floats([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]], &cpu());
        let rows = [
            [1.0, 0.2, 0.0],
            [0.3, -1.0, 0.5],
            [0.1, 0.4, 1.0],
            [-0.6, 0.2, 0.9],
        ];
        let rows = Tensor::<2>::from_floats(rows, &cpu());
        let found = rotation(&rows, &rows.clone().matmul(turn.clone())).expect("a device");
        let error: f32 = (found - turn).abs().max().into_scalar();
        assert!(error < 1e-4, "they differ by {error}");
    }
}
