//! A convolution with `TensorFlow`'s padding.

use burn::module::{Module, Param};
use burn::nn::Initializer;
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor};

/// Channels of a picture: red, green, blue.
pub(super) const N_CHANNELS: usize = 3;

/// Greatest value that `ReLU6` lets through.
pub(super) const RELU6_MAX: f32 = 6.0;

/// Sizes of a [`Convolution`].
#[derive(Debug, Clone, Copy)]
pub(super) struct ConvolutionConfig {
    channels: usize,
    width: usize,
    kernel_size: usize,
    stride: usize,
    groups: usize,
}

/// Square kernels and a bias for each output, which holds the batch norm.
#[derive(Module, Debug)]
pub(super) struct Convolution {
    /// `[width, channels / groups, kernel_size, kernel_size]`
    pub(super) weight: Param<Tensor<4>>,
    /// One bias for each output channel, `[width]`.
    pub(super) bias: Param<Tensor<1>>,
    pub(super) stride: usize,
    groups: usize,
}

impl ConvolutionConfig {
    /// A convolution whose outputs each depend on all channels, with stride 1.
    pub(super) fn new(channels: usize, width: usize, kernel_size: usize) -> Self {
        Self {
            channels,
            width,
            kernel_size,
            stride: 1,
            groups: 1,
        }
    }

    pub(super) fn with_stride(self, stride: usize) -> Self {
        Self { stride, ..self }
    }

    /// This convolution with outputs that each depend on their own channel alone.
    pub(super) fn depthwise(self) -> Self {
        Self {
            groups: self.channels,
            ..self
        }
    }

    pub(super) fn init(self, device: &Device) -> Convolution {
        let area = self.kernel_size * self.kernel_size;
        let fan_out = (area * self.width / self.groups) as f64;
        let kernels = Initializer::Normal {
            mean: 0.0,
            std: (2.0 / fan_out).sqrt(),
        };
        let channels = self.channels / self.groups;
        Convolution {
            weight: kernels.init(
                [self.width, channels, self.kernel_size, self.kernel_size],
                device,
            ),
            bias: Initializer::Zeros.init([self.width], device),
            stride: self.stride,
            groups: self.groups,
        }
    }
}

impl Convolution {
    /// Convolution of a feature map, with its bias.
    ///
    /// # Shapes
    ///
    /// - `map`: `[n_images, channels, height, width]`
    /// - output: `[n_images, width, ⌈height / stride⌉, ⌈width / stride⌉]`
    pub(super) fn forward(&self, map: Tensor<4>) -> Tensor<4> {
        let [_, _, height, width] = map.dims();
        let [_, _, kernel_size, _] = self.weight.dims();
        let padding = [height, width].map(|side| same_padding(side, kernel_size, self.stride));
        let options = ConvOptions::new_with_padding([self.stride; 2], padding, [1, 1], self.groups);
        conv2d(map, self.weight.val(), Some(self.bias.val()), options)
    }

    /// [`forward`](Self::forward) of a convolution of single pixels, as a product.
    ///
    /// # Shapes
    ///
    /// - `pixels`: `[n, channels]`
    /// - output: `[n, width]`
    pub(super) fn forward_rows(&self, pixels: Tensor<2>) -> Tensor<2> {
        let [width, channels, ..] = self.weight.dims();
        let matrix = self.weight.val().reshape([width, channels]).transpose();
        pixels.matmul(matrix) + self.bias.val().unsqueeze::<2>()
    }

    /// [`forward`](Self::forward) clamped to 0–6.
    pub(super) fn forward_relu6(&self, map: Tensor<4>) -> Tensor<4> {
        self.forward(map).clamp(0.0, RELU6_MAX)
    }
}

/// Zeros before and after a side, so that it gives `⌈side / stride⌉` outputs; an odd one goes after
/// (`TensorFlow`'s `SAME`).
pub(super) fn same_padding(side: usize, kernel_size: usize, stride: usize) -> (usize, usize) {
    let last_start = (side.div_ceil(stride) - 1) * stride;
    let padding = (last_start + kernel_size).saturating_sub(side);
    (padding / 2, padding - padding / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_zero_goes_after_the_picture() {
        assert_eq!(same_padding(224, 3, 2), (0, 1), "even side, stride 2");
        assert_eq!(same_padding(7, 3, 2), (1, 1), "odd side");
        assert_eq!(same_padding(28, 5, 2), (1, 2), "kernel of 5");
        assert_eq!(same_padding(14, 5, 1), (2, 2), "stride 1");
        assert_eq!(same_padding(7, 1, 1), (0, 0), "pointwise");
    }
}
