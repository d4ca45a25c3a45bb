//! A linear layer whose matrix may be packed for one kernel.

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Tensor, TensorData};

use super::activation::Activation;
use crate::device::{Epilogue, affine, fused_affine, host_values};
use crate::host::gemm::{Kernel, PackedMatrix, Panels};

/// `x W + b`, as [`Linear`].
#[derive(Module, Debug)]
pub struct Dense {
    /// Matrix `[d_in, d_out]`; in a packed layer a placeholder that only has the shape.
    pub(crate) weight: Param<Tensor<2>>,
    pub(crate) bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    packed: Option<Arc<PackedMatrix>>,
}

impl From<Linear> for Dense {
    fn from(Linear { weight, bias }: Linear) -> Self {
        Self {
            weight,
            bias,
            packed: None,
        }
    }
}

impl Dense {
    /// Linear map of the last dimension, with the bias where there is one.
    ///
    /// # Shapes
    ///
    /// - input: `[..., d_in]`
    /// - output: `[..., d_out]`
    pub(crate) fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let bias = self.bias.as_ref().map(Param::val);
        match &self.packed {
            Some(packed) => multiply(packed, input, bias, |_| ()),
            None => affine(input, self.weight.val(), bias),
        }
    }

    /// [`forward`](Self::forward) with an activation of each output.
    pub(crate) fn forward_activated<const D: usize>(
        &self,
        input: Tensor<D>,
        activation: Activation,
    ) -> Tensor<D> {
        let bias = self.bias.as_ref().map(Param::val);
        match &self.packed {
            Some(packed) => multiply(packed, input, bias, |output| activation.apply(output)),
            None => self
                .fused(&input, Epilogue::Apply(activation.name()))
                .unwrap_or_else(|| activation.forward(self.forward(input))),
        }
    }

    /// `onto` and [`forward`](Self::forward) of the input.
    ///
    /// # Shapes
    ///
    /// - input: `[..., d_in]`
    /// - `onto`, output: `[..., d_out]`
    pub(crate) fn forward_onto<const D: usize>(
        &self,
        onto: Tensor<D>,
        input: Tensor<D>,
    ) -> Tensor<D> {
        self.fused(&input, Epilogue::Add(&onto))
            .unwrap_or_else(|| onto + self.forward(input))
    }

    /// [`forward`](Self::forward) and what follows it in one step, where the layer's device has a kernel for that.
    fn fused<const D: usize>(
        &self,
        input: &Tensor<D>,
        epilogue: Epilogue<'_, D>,
    ) -> Option<Tensor<D>> {
        if self.packed.is_some() {
            return None;
        }
        let bias = self.bias.as_ref().map(Param::val);
        fused_affine(input, &self.weight.val(), bias.as_ref(), epilogue)
    }

    /// Takes a matrix `[d_out, d_in]`, and packs it; the layer is on the CPU.
    pub(crate) fn pack(&mut self, rows: &[f32], is_int8: bool, kernel: Kernel) {
        let [d_in, d_out] = self.weight.lazy_shape().dims();
        let panels = if is_int8 {
            Panels::pack_int8(rows, d_in)
        } else {
            Panels::pack(rows, d_in)
        };
        self.packed = Some(Arc::new(PackedMatrix::new(panels, d_out, kernel)));
    }
}

/// Product of the rows and the packed matrix plus the bias, with `finish` applied to all values.
///
/// # Shapes
///
/// - `input`: `[..., d_in]`, on the CPU
/// - `bias`: `[d_out]`
/// - output: `[..., d_out]`, after `finish`
fn multiply<const D: usize>(
    packed: &PackedMatrix,
    input: Tensor<D>,
    bias: Option<Tensor<1>>,
    finish: impl FnOnce(&mut [f32]),
) -> Tensor<D> {
    let (mut shape, device) = (input.dims(), input.device());
    let mut bias = bias.map(host_values).unwrap_or_default();
    bias.resize(packed.panels.n_columns(), 0.0);
    let mut output = packed.multiply_rows(&host_values(input), &bias);
    finish(&mut output);
    shape[D - 1] = packed.d_out;
    Tensor::from_data(TensorData::new(output, shape), &device)
}

/// Burn's layer `x W + b`, by the device's own kernel where it has one.
///
/// # Shapes
///
/// - input: `[..., d_in]`
/// - output: `[..., d_out]`
pub(super) fn forward_linear<const D: usize>(layer: &Linear, input: Tensor<D>) -> Tensor<D> {
    affine(
        input,
        layer.weight.val(),
        layer.bias.as_ref().map(Param::val),
    )
}

/// `[d_out, d_in]` row-major → `[d_in, d_out]` row-major.
pub(super) fn transpose<T: Copy + Default>(values: &[T], d_in: usize, d_out: usize) -> Vec<T> {
    /// Side of the squares that are taken one after the other, so that what is read and written stays at hand.
    const SIDE: usize = 32;
    let mut transposed = vec![T::default(); values.len()];
    for from_out in (0..d_out).step_by(SIDE) {
        let rows = from_out..d_out.min(from_out + SIDE);
        for from_in in (0..d_in).step_by(SIDE) {
            for i_in in from_in..d_in.min(from_in + SIDE) {
                let written = &mut transposed[i_in * d_out..][rows.clone()];
                for (value, i_out) in written.iter_mut().zip(rows.clone()) {
                    *value = values[i_out * d_in + i_in];
                }
            }
        }
    }
    transposed
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;

    use super::*;
    use crate::device::cpu;
    use crate::host::gemm::{int8_rows, portable};
    use crate::model::initial::linear;

    #[test]
    fn a_packed_layer_gives_what_its_floats_give() {
        let rows: Vec<f32> = (0..5 * 7)
            .map(|i| ((i * 37 % 19) as f32 - 9.0) / 50.0)
            .collect();
        let (multiples, scales) = int8_rows(&rows, 7);
        let rounded: Vec<f32> = multiples
            .chunks(7)
            .zip(&scales)
            .flat_map(|(row, scale)| row.iter().map(move |multiple| f32::from(*multiple) * scale))
            .collect();
        let mut dense = Dense::from(linear([7, 5], &cpu()));
        let floats = TensorData::new(transpose(&rounded, 7, 5), [7, 5]);
        dense.weight = Param::from_data(floats, &cpu());
        let input = Tensor::<1>::from_floats(
            std::array::from_fn::<_, 42, _>(|i| (i as f32).sin()),
            &cpu(),
        );
        let input: Tensor<3> = input.reshape([2, 3, 7]);
        let expected = dense.forward(input.clone());
        for is_int8 in [false, true] {
            dense.pack(&rounded, is_int8, portable);
            let error = (dense.forward(input.clone()) - expected.clone())
                .abs()
                .max();
            assert!(
                error.into_scalar::<f32>() < 1e-6,
                "in eight bits: {is_int8}"
            );
        }
    }

    #[test]
    fn a_transposed_matrix_has_each_value_in_its_place() {
        let [d_in, d_out] = [70, 33];
        let values: Vec<usize> = (0..d_in * d_out).collect();
        let transposed = transpose(&values, d_in, d_out);
        for (at, value) in transposed.into_iter().enumerate() {
            let [i_in, i_out] = [at / d_out, at % d_out];
            assert_eq!(value, i_out * d_in + i_in, "of row {i_out}, column {i_in}");
        }
    }
}
