//! Tensors on the CPU as lists of floats: their values, products and convolutions.
//!
//! The engine in a browser multiplies so where matrices do not stay; Burn's products, for every type of number, would
//! be a twentieth of its program.

use burn::tensor::{Int, Tensor, TensorData};

use crate::host::gemm::{PackedMatrix, Panels, portable};

/// Greatest value that `ReLU6` lets through.
pub const RELU6_MAX: f32 = 6.0;

/// Values of a tensor that lives on the CPU, read without blocking; a copy where others hold the tensor, too, and where
/// Burn aligned its memory for any type of number.
///
/// # Panics
///
/// A tensor that lives elsewhere in a browser, which cannot block.
pub fn host_values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    let values = tensor.into_data().try_into_vec();
    values.expect("floats of four bytes")
}

/// Ids of a tensor that lives on the CPU, read without blocking.
///
/// # Panics
///
/// As [`host_values`], and an id below zero.
pub fn host_ids<const D: usize>(ids: Tensor<D, Int>) -> Vec<usize> {
    let ids = ids.into_data();
    let ids = ids.iter::<i64>().map(usize::try_from);
    let ids: Result<Vec<usize>, _> = ids.collect();
    ids.expect("no id is below zero")
}

/// Product of matrices.
///
/// # Shapes
///
/// - `lhs`: `[..., n, d]`
/// - `rhs`: `[..., d, m]`, with the same sizes before them
/// - output: `[..., n, m]`
pub fn product<const D: usize>(lhs: Tensor<D>, rhs: Tensor<D>) -> Tensor<D> {
    let (mut shape, device) = (lhs.dims(), lhs.device());
    let [n_rows, d_in, d_out] = [shape[D - 2], shape[D - 1], rhs.dims()[D - 1]];
    let (rows, columns) = (host_values(lhs), host_values(rhs.transpose()));
    let rows = rows.chunks((n_rows * d_in).max(1));
    let pairs = rows.zip(columns.chunks((d_in * d_out).max(1)));
    let products = pairs.flat_map(|(rows, columns)| {
        let panels = Panels::pack(columns, d_in);
        let bias = vec![0.0; panels.n_columns()];
        PackedMatrix::new(panels, d_out, portable).multiply_rows(rows, &bias)
    });
    shape[D - 1] = d_out;
    Tensor::from_data(TensorData::new(products.collect(), shape), &device)
}

/// Convolution of maps whose channels come last, with a bias for each output, clamped from 0 to 6.
///
/// # Shapes
///
/// As of [`convolution_relu6`](super::convolution_relu6).
pub fn convolution_relu6(
    map: Tensor<4>,
    weight: Tensor<4>,
    bias: Tensor<1>,
    stride: usize,
    padding: [(usize, usize); 2],
) -> Tensor<4> {
    let ([n, height, width, channels], device) = (map.dims(), map.device());
    let [n_outputs, of_group, size, _] = weight.dims();
    let outputs_of_group = n_outputs * of_group / channels;
    let n_places = |side: usize, (before, after)| (before + side + after - size) / stride + 1;
    let shape = [
        n,
        n_places(height, padding[0]),
        n_places(width, padding[1]),
        n_outputs,
    ];
    let (map, weight, bias) = (host_values(map), host_values(weight), host_values(bias));
    let value = |at: usize| {
        let (place, output) = (at / n_outputs, at % n_outputs);
        let (row, column) = (place / shape[2], place % shape[2]);
        let (i_image, row) = (row / shape[1], row % shape[1]);
        let mut sum = bias[output];
        for tap in 0..size * size {
            let y = (row * stride + tap / size).wrapping_sub(padding[0].0);
            let x = (column * stride + tap % size).wrapping_sub(padding[1].0);
            if y < height && x < width {
                let pixel = ((i_image * height + y) * width + x) * channels;
                let inputs = &map[pixel + output / outputs_of_group * of_group..][..of_group];
                let weights = weight[output * of_group * size * size + tap..].iter();
                let terms = inputs.iter().zip(weights.step_by(size * size));
                sum += terms.map(|(input, weight)| input * weight).sum::<f32>();
            }
        }
        sum.clamp(0.0, RELU6_MAX)
    };
    let values = (0..shape.iter().product()).map(value).collect();
    Tensor::from_data(TensorData::new(values, shape), &device)
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Distribution, Tolerance};

    use super::*;
    use crate::device::cpu;

    fn random<const D: usize>(shape: [usize; D]) -> Tensor<D> {
        Tensor::random(shape, Distribution::Uniform(-1.0, 1.0), &cpu())
    }

    fn assert_near<const D: usize>(ours: Tensor<D>, burns: Tensor<D>) {
        assert_eq!(ours.dims(), burns.dims(), "the shape");
        ours.into_data()
            .assert_approx_eq(&burns.into_data(), Tolerance::<f32>::absolute(1e-5));
    }

    #[test]
    fn products_are_those_of_burn() {
        for [batch, n, d, m] in [
            [1, 1, 1, 1],
            [2, 5, 7, 3],
            [3, 4, 8, 16],
            [1, 9, 33, 17],
            [2, 0, 3, 4],
        ] {
            let (lhs, rhs) = (random([batch, n, d]), random([batch, d, m]));
            assert_near(product(lhs.clone(), rhs.clone()), lhs.matmul(rhs));
        }
        let (lhs, rhs) = (random([6, 5]), random([4, 5]));
        let ours = product(lhs.clone(), rhs.clone().transpose());
        assert_near(ours, lhs.matmul(rhs.transpose()));
    }

    #[test]
    fn convolutions_are_those_of_burn() {
        // Of all channels, of groups, of each channel; odd and even sizes; zeros on one side only.
        for ([channels, n_outputs, groups], size, stride, padding) in [
            ([3, 5, 1], 3, 2, [(0, 1), (1, 1)]),
            ([4, 6, 2], 3, 1, [(1, 1), (0, 2)]),
            ([5, 5, 5], 5, 2, [(2, 2), (1, 2)]),
            ([3, 4, 1], 1, 1, [(0, 0), (0, 0)]),
        ] {
            let map = random([2, 7, 6, channels]);
            let weight = random([n_outputs, channels / groups, size, size]);
            let bias = random([n_outputs]);
            let ours =
                convolution_relu6(map.clone(), weight.clone(), bias.clone(), stride, padding);
            let burns = crate::device::convolution_relu6(map, weight, bias, stride, padding);
            assert_near(ours, burns);
        }
    }
}
