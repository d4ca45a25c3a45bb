//! The nonlinearity of a transformer's MLP, of tensors and of numbers on the host.

use burn::tensor::activation::{gelu, gelu_approximate, sigmoid};
use burn::tensor::{Tensor, TensorData};

use super::vector::{exp, polynomial};
use crate::device::{VALUES_PER_TASK, change_values, host_values, is_cpu, is_on_host};
use crate::host::lanes::{Real, replace};

/// Slope of the sigmoid in [`Activation::QuickGelu`].
const QUICK_GELU_SLOPE: f32 = 1.702;

/// Factors in [`Activation::GeluTanh`]: √(2/π), and the weight of `x³` beside `x`.
const TANH_SLOPE: f32 = 0.797_884_6;
const TANH_CUBE: f32 = 0.044_715;

/// The nonlinearity of a block's MLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x·σ(1.702x)`, with which `OpenAI`'s released weights were trained.
    QuickGelu,
    /// `x·Φ(x)` with the exact normal distribution function Φ.
    Gelu,
    /// `x·Φ(x)` with the approximation of Φ by a hyperbolic tangent (`gelu_pytorch_tanh`).
    GeluTanh,
}

impl Activation {
    /// The name that configurations of transformers give it, and kernels of the browser's GPU, too.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::QuickGelu => "quick_gelu",
            Self::Gelu => "gelu",
            Self::GeluTanh => "gelu_pytorch_tanh",
        }
    }

    /// The activation of each value of a tensor, of any shape.
    pub(crate) fn forward<const D: usize>(self, values: Tensor<D>) -> Tensor<D> {
        match self {
            Self::QuickGelu if values.is_autodiff() && is_cpu(&values.device()) => {
                quick_gelu_with_slope(values)
            }
            _ if is_on_host(&values) => {
                change_values(values, VALUES_PER_TASK, |values| self.apply(values))
            }
            Self::QuickGelu => values.clone() * sigmoid(values.mul_scalar(QUICK_GELU_SLOPE)),
            Self::Gelu => gelu(values),
            Self::GeluTanh => gelu_approximate(values),
        }
    }

    /// The activation of each value of a list, in one pass that takes several at once.
    #[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
    pub(crate) fn apply(self, values: &mut [f32]) {
        match self {
            Self::QuickGelu => replace(values, quick_gelu_of, quick_gelu_of),
            Self::Gelu => replace(values, gelu_of, gelu_of),
            Self::GeluTanh => replace(values, gelu_tanh_of, gelu_tanh_of),
        }
    }
}

/// [`Activation::QuickGelu`] in a training on the CPU: value and slope in one pass that takes several numbers at once,
/// where the chain of tensors and its way back are eleven passes, one of which calls the exponential of each number.
fn quick_gelu_with_slope<const D: usize>(values: Tensor<D>) -> Tensor<D> {
    let (shape, device) = (values.dims(), values.device());
    let mut slope = host_values(values.clone().detach());
    let mut rest = vec![0.0; slope.len()];
    for (x, rest) in slope.iter_mut().zip(&mut rest) {
        let share = logistic(QUICK_GELU_SLOPE * *x);
        let bend = QUICK_GELU_SLOPE * *x * share * (1.0 - share);
        *rest = -*x * bend;
        *x = share + bend;
    }
    let table = |values| Tensor::from_data(TensorData::new(values, shape), &device);
    // x·slope + rest is x·σ(1.702x), whose gradient by x is the slope.
    values * table(slope) + table(rest)
}

#[inline(always)]
fn quick_gelu_of<N: Real>(x: N) -> N {
    x * logistic(x * N::of(QUICK_GELU_SLOPE))
}

#[inline(always)]
fn gelu_of<N: Real>(x: N) -> N {
    x * normal_cdf(x)
}

#[inline(always)]
fn gelu_tanh_of<N: Real>(x: N) -> N {
    // (1 + tanh u) / 2 = σ(2u)
    x * logistic(N::of(2.0 * TANH_SLOPE) * (x + N::of(TANH_CUBE) * x * x * x))
}

#[inline(always)]
fn logistic<N: Real>(x: N) -> N {
    N::of(1.0) / (N::of(1.0) + exp(N::of(0.0) - x))
}

/// The normal distribution function, to 1e-7: Abramowitz & Stegun 1964, 7.1.26.
#[inline(always)]
fn normal_cdf<N: Real>(x: N) -> N {
    const SLOPE: f32 = 0.327_591_1;
    const FACTORS: [f32; 6] = [
        0.0,
        0.254_829_6,
        -0.284_496_72,
        1.421_413_8,
        -1.453_152,
        1.061_405_4,
    ];
    let size = x.magnitude() * N::of(std::f32::consts::FRAC_1_SQRT_2);
    let t = N::of(1.0) / (N::of(1.0) + N::of(SLOPE) * size);
    let polynomial = polynomial(FACTORS, t);
    let tail = N::of(0.5) * polynomial * exp(N::of(0.0) - size * size);
    x.choose_if_negative(tail, N::of(1.0) - tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn lists_have_the_values_of_tensors() {
        let values: Vec<f32> = (-4_000..4_000).map(|i| i as f32 / 100.0).collect();
        for activation in [
            Activation::QuickGelu,
            Activation::Gelu,
            Activation::GeluTanh,
        ] {
            let data = TensorData::new(values.clone(), [values.len()]);
            let expected = host_values(activation.forward(Tensor::<1>::from_data(data, &cpu())));
            let mut found = values.clone();
            activation.apply(&mut found);
            for ((x, found), expected) in values.iter().zip(found).zip(expected) {
                assert!(
                    (found - expected).abs() <= 5e-7 * (1.0 + x.abs()),
                    "{activation:?} of {x}: {found} for {expected}"
                );
            }
        }
    }

    #[test]
    fn a_training_has_the_values_and_slopes_of_the_chain_of_tensors() {
        let values: Vec<f32> = (-4_000..4_000).map(|i| i as f32 / 100.0).collect();
        let device = cpu().autodiff();
        let leaf = || {
            let data = TensorData::new(values.clone(), [values.len()]);
            Tensor::<1>::from_data(data, &device).require_grad()
        };
        let found_by = |forward: fn(Tensor<1>) -> Tensor<1>| {
            let leaf = leaf();
            let output = forward(leaf.clone());
            let gradients = output.clone().sum().backward();
            let slope = leaf.grad(&gradients).expect("a gradient");
            [output.inner(), slope].map(host_values)
        };
        let found = found_by(|x| Activation::QuickGelu.forward(x));
        let expected = found_by(|x| x.clone() * sigmoid(x.mul_scalar(QUICK_GELU_SLOPE)));
        for (found, expected) in found.iter().zip(&expected) {
            for ((x, found), expected) in values.iter().zip(found).zip(expected) {
                assert!(
                    (found - expected).abs() <= 5e-7 * (1.0 + x.abs()),
                    "of {x}: {found} for {expected}"
                );
            }
        }
    }

    #[test]
    fn powers_of_e_are_right_to_single_precision() {
        for i in -8_700..8_800 {
            let x = i as f32 / 100.0;
            let (found, expected) = (f64::from(exp(x)), f64::from(x).exp());
            assert!(
                (found / expected - 1.0).abs() < 2.5e-7,
                "{x}: {found} for {expected}"
            );
        }
        assert!(exp(-1e30) < 1e-37, "no less than zero");
        assert!(exp(1e30) > 1e38, "no number that is none");
    }
}
