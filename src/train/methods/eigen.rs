//! Eigenvalues of symmetric matrices, by Jacobi's rotations.

/// Sweeps after which the off-diagonal of any matrix of some hundred rows has long vanished; ten are usual.
const MAX_SWEEPS: usize = 60;

/// A symmetric matrix as `V·diag(values)·Vᵀ`.
#[derive(Debug, Clone)]
pub(super) struct Eigen {
    /// Eigenvalues, in no order.
    pub(super) values: Vec<f64>,
    /// Column j is the eigenvector of value j; row by row.
    vectors: Vec<f64>,
}

impl Eigen {
    /// Eigenvalues and eigenvectors of a symmetric `n × n` matrix, given row by row.
    pub(super) fn of(mut matrix: Vec<f64>, n: usize) -> Self {
        let one = (0..n * n).map(|i| if i / n == i % n { 1.0 } else { 0.0 });
        let mut vectors: Vec<f64> = one.collect();
        let norm: f64 = matrix.iter().map(|x| x * x).sum();
        for _ in 0..MAX_SWEEPS {
            if off_diagonal(&matrix, n) <= norm * f64::EPSILON * f64::EPSILON {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    rotate(&mut matrix, &mut vectors, n, p, q);
                }
            }
        }
        Self {
            values: (0..n).map(|i| matrix[i * n + i]).collect(),
            vectors,
        }
    }

    /// `V·diag(f(values))·Vᵀ`, row by row.
    pub(super) fn function(&self, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let n = self.values.len();
        let weights: Vec<f64> = self.values.iter().map(|&value| f(value)).collect();
        let entry = |i: usize, j: usize| {
            let (row_i, row_j) = (&self.vectors[i * n..][..n], &self.vectors[j * n..][..n]);
            let products = row_i.iter().zip(row_j).zip(&weights);
            products.map(|((a, b), w)| a * b * w).sum()
        };
        (0..n * n).map(|at| entry(at / n, at % n)).collect()
    }
}

fn off_diagonal(matrix: &[f64], n: usize) -> f64 {
    let off = matrix.iter().enumerate().filter(|(i, _)| i / n != i % n);
    off.map(|(_, x)| x * x).sum()
}

/// Rotates rows and columns p and q so that entry (p, q) becomes 0.
fn rotate(matrix: &mut [f64], vectors: &mut [f64], n: usize, p: usize, q: usize) {
    let pq = matrix[p * n + q];
    if pq == 0.0 {
        return;
    }
    // The smaller of the two angles, whose tangent is t: Golub and Van Loan, section 8.5.
    let theta = (matrix[q * n + q] - matrix[p * n + p]) / (2.0 * pq);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..n {
        let (kp, kq) = (matrix[k * n + p], matrix[k * n + q]);
        matrix[k * n + p] = c * kp - s * kq;
        matrix[k * n + q] = s * kp + c * kq;
    }
    for k in 0..n {
        let (pk, qk) = (matrix[p * n + k], matrix[q * n + k]);
        matrix[p * n + k] = c * pk - s * qk;
        matrix[q * n + k] = s * pk + c * qk;
        let (kp, kq) = (vectors[k * n + p], vectors[k * n + q]);
        vectors[k * n + p] = c * kp - s * kq;
        vectors[k * n + q] = s * kp + c * kq;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: f64 = 1e-12;

    #[test]
    fn the_eigenvalues_of_the_second_difference_are_its_known_cosines() {
        const N: usize = 12;
        let matrix = (0..N * N).map(|at| match (at / N).abs_diff(at % N) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let mut found = Eigen::of(matrix.collect(), N).values;
        found.sort_by(f64::total_cmp);
        for (k, value) in found.iter().enumerate() {
            let angle = std::f64::consts::PI * (k + 1) as f64 / (N + 1) as f64;
            let expected = 2.0 - 2.0 * angle.cos();
            let error = (value - expected).abs();
            assert!(error < TOLERANCE, "value {k}: {value}, expected {expected}");
        }
    }

    #[test]
    fn the_inverse_times_the_matrix_is_one() {
        const N: usize = 5;
        let matrix = (0..N * N).map(|at| {
            1.0 / (1.0 + (at / N + at % N) as f64) + f64::from(u8::from(at / N == at % N))
        });
        let matrix: Vec<f64> = matrix.collect();
        let inverse = Eigen::of(matrix.clone(), N).function(f64::recip);
        for at in 0..N * N {
            let (i, j) = (at / N, at % N);
            let found: f64 = (0..N).map(|k| matrix[i * N + k] * inverse[k * N + j]).sum();
            let expected = if i == j { 1.0 } else { 0.0 };
            let error = (found - expected).abs();
            assert!(error < TOLERANCE, "entry {i}, {j}: {found}");
        }
    }
}
