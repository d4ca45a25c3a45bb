//! A linear layer whose matrix may be held in eight bits.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::module::linear;
use burn::tensor::quantization::{QuantScheme, QuantStore, QuantValue, ScaleDtype};
use burn::tensor::{Device, Tensor, TensorData};

/// Greatest multiple of a row's scale; −128 stays unused, so that the code is symmetric.
const INT8_MAX: f32 = 127.0;

/// `x W + b`, as [`Linear`]; in eight bits `(x Q)·s + b`, with whole numbers `Q` and a factor for each output.
#[derive(Module, Debug)]
pub struct Dense {
    pub(crate) weight: Param<Tensor<2>>,
    pub(crate) bias: Option<Param<Tensor<1>>>,
    scale: Option<Param<Tensor<1>>>,
}

impl From<Linear> for Dense {
    fn from(Linear { weight, bias }: Linear) -> Self {
        Self {
            weight,
            bias,
            scale: None,
        }
    }
}

impl Dense {
    /// # Shapes
    ///
    /// - input: `[..., d_in]`
    /// - output: `[..., d_out]`
    pub(crate) fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let (weight, bias) = (self.weight.val(), self.bias.as_ref().map(Param::val));
        let Some(scale) = &self.scale else {
            return linear(input, weight, bias);
        };
        let output = linear(input, weight, None) * scale.val().unsqueeze();
        match bias {
            Some(bias) => output + bias.unsqueeze(),
            None => output,
        }
    }

    /// Takes a matrix `[d_out, d_in]`, row by row, and holds it in eight bits.
    pub(crate) fn hold_in_int8(&mut self, rows: &[f32]) {
        let [d_in, d_out] = self.weight.lazy_shape().dims();
        let device = self.weight.lazy_device();
        let (multiples, scales) = int8_rows(rows, d_in);
        let columns = transpose(&multiples, d_in, d_out);
        self.weight = Param::from_tensor(whole_numbers(columns, [d_in, d_out], &device));
        self.scale = Some(Param::from_data(TensorData::new(scales, [d_out]), &device));
    }
}

/// A matrix of whole numbers that takes a byte each.
fn whole_numbers(values: Vec<i8>, shape: [usize; 2], device: &Device) -> Tensor<2> {
    let scheme = QuantScheme::default()
        .with_value(QuantValue::Q8S)
        .with_store(QuantStore::Native)
        .per_tensor(ScaleDtype::F32);
    let data = TensorData::quantized(values, shape, scheme, &[1.0], None);
    Tensor::from_data(data, device)
}

/// Rows as multiples of a factor each, which makes the greatest of a row 127, and those factors.
pub fn int8_rows(values: &[f32], row_width: usize) -> (Vec<i8>, Vec<f32>) {
    let (mut multiples, mut scales) = (Vec::with_capacity(values.len()), Vec::new());
    for row in values.chunks(row_width.max(1)) {
        let sizes = row.iter().map(|value| value.abs());
        let scale = sizes.fold(0.0, f32::max) / INT8_MAX;
        scales.push(scale);
        multiples.extend(row.iter().map(|value| int8(*value, scale)));
    }
    (multiples, scales)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to what an i8 holds; zero over zero becomes zero"
)]
fn int8(value: f32, scale: f32) -> i8 {
    (value / scale).round().clamp(-INT8_MAX, INT8_MAX) as i8
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
    use burn::nn::LinearConfig;

    use super::*;
    use crate::device::cpu;

    #[test]
    fn what_is_held_in_eight_bits_gives_what_its_floats_give() {
        let device = cpu();
        let rows: Vec<f32> = (0..5 * 7)
            .map(|i| ((i * 37 % 19) as f32 - 9.0) / 50.0)
            .collect();
        let (multiples, scales) = int8_rows(&rows, 7);
        let rounded: Vec<f32> = multiples
            .chunks(7)
            .zip(&scales)
            .flat_map(|(row, scale)| row.iter().map(move |multiple| f32::from(*multiple) * scale))
            .collect();
        let mut dense = Dense::from(LinearConfig::new(7, 5).init(&device));
        let floats = TensorData::new(transpose(&rounded, 7, 5), [7, 5]);
        let input = Tensor::<3>::from_data(
            TensorData::new(
                (0..42).map(|i| (i as f32).sin()).collect::<Vec<_>>(),
                [2, 3, 7],
            ),
            &device,
        );
        dense.weight = Param::from_data(floats, &device);
        let expected = dense.forward(input.clone()).into_data().try_to_vec::<f32>();
        dense.hold_in_int8(&rounded);
        let found = dense.forward(input).into_data().try_to_vec::<f32>();
        let pairs = found
            .expect("floats")
            .into_iter()
            .zip(expected.expect("floats"));
        for (found, expected) in pairs {
            assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
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

    #[test]
    fn a_row_of_zeros_stays_one() {
        let (multiples, scales) = int8_rows(&[0.0, 0.0, 1.0, -2.0], 2);
        assert_eq!(multiples, [0, 0, 64, -127], "multiples");
        assert_eq!(scales[0], 0.0, "nothing to scale");
    }
}
