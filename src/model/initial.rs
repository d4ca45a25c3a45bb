//! Parameters with initial values, which are drawn when a parameter is first read.
//!
//! Burn's `Initializer` chooses its values while it runs. One of them is orthogonal matrices, which no model here has,
//! and would bring a decomposition into both engines and all of Burn's products into the GPU's.

use burn::module::{Param, ParamId};
use burn::nn::Linear;
use burn::tensor::{Device, Distribution, Tensor};

/// A parameter of this shape whose values are all 0.
pub(super) fn zeros<const D: usize>(shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    parameter(shape, device, move |device| Tensor::zeros(shape, device))
}

/// A parameter of this shape whose values are all 1.
pub(super) fn ones<const D: usize>(shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    parameter(shape, device, move |device| Tensor::ones(shape, device))
}

/// A parameter of this shape with normal values of mean 0 and this standard deviation.
pub(super) fn normal<const D: usize>(
    shape: [usize; D],
    std: f64,
    device: &Device,
) -> Param<Tensor<D>> {
    random(shape, Distribution::Normal(0.0, std), device)
}

/// A linear layer with `PyTorch`'s default values: uniform within 1/√`d_in`, also the bias.
pub(super) fn linear([d_in, d_out]: [usize; 2], device: &Device) -> Linear {
    let bound = 1.0 / (d_in as f64).sqrt();
    let within = Distribution::Uniform(-bound, bound);
    Linear {
        weight: random([d_in, d_out], within, device),
        bias: Some(random([d_out], within, device)),
    }
}

/// A linear layer of normal values of this standard deviation, `[d_in, d_out]`, and a bias of zeros, `[d_out]`.
pub(super) fn normal_linear([d_in, d_out]: [usize; 2], std: f64, device: &Device) -> Linear {
    Linear {
        bias: Some(zeros([d_out], device)),
        ..normal_projection([d_in, d_out], std, device)
    }
}

/// A linear layer of normal values of this standard deviation, `[d_in, d_out]`, without a bias.
pub(super) fn normal_projection(shape: [usize; 2], std: f64, device: &Device) -> Linear {
    Linear {
        weight: normal(shape, std, device),
        bias: None,
    }
}

fn random<const D: usize>(
    shape: [usize; D],
    distribution: Distribution,
    device: &Device,
) -> Param<Tensor<D>> {
    parameter(shape, device, move |device| {
        Tensor::random(shape, distribution, device)
    })
}

/// A parameter of this shape, whose values are made when it is first read.
fn parameter<const D: usize>(
    shape: [usize; D],
    device: &Device,
    values: impl Fn(&Device) -> Tensor<D> + Send + Sync + 'static,
) -> Param<Tensor<D>> {
    let init = move |device: &Device, is_trained: bool| {
        let values = values(device);
        if is_trained {
            values.require_grad()
        } else {
            values
        }
    };
    Param::uninitialized(ParamId::new(), init, device.clone(), true, shape.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{cpu, host_values};

    #[test]
    fn a_linear_layer_is_uniform_within_its_bound() {
        let Linear { weight, bias } = linear([16, 1000], &cpu());
        for values in [
            host_values(weight.val()),
            host_values(bias.expect("a bias").val()),
        ] {
            let largest = values.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            assert!(
                (0.245..=0.25).contains(&largest),
                "{largest} of at most 1/√16"
            );
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            assert!(mean.abs() < 0.02, "{mean} of either sign");
        }
    }

    #[test]
    fn normal_values_have_their_deviation() {
        let values = host_values(normal([100, 100], 0.02, &cpu()).val());
        let mean_square = values.iter().map(|x| x * x).sum::<f32>() / 1e4;
        assert!(
            (mean_square.sqrt() - 0.02).abs() < 1e-3,
            "{mean_square} of 4e-4"
        );
    }

    #[test]
    fn a_parameter_is_trained_where_gradients_are() {
        let device = cpu().autodiff();
        assert!(zeros([2], &device).val().is_require_grad(), "it is trained");
    }
}
