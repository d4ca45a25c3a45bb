//! A convolution with `TensorFlow`'s padding.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::relu6::relu6_of;
use crate::device::{Epilogue, affine, convolution_relu6, fused_affine};
use crate::model::initial::{normal, zeros};

/// Channels of a picture: red, green, blue.
pub(super) const N_CHANNELS: usize = 3;

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
        let channels = self.channels / self.groups;
        let shape = [self.width, channels, self.kernel_size, self.kernel_size];
        Convolution {
            weight: normal(shape, (2.0 / fan_out).sqrt(), device),
            bias: zeros([self.width], device),
            stride: self.stride,
        }
    }
}

impl Convolution {
    /// Convolution of a feature map with its channels last, clamped to 0–6.
    ///
    /// # Shapes
    ///
    /// - `map`: `[n_images, height, width, channels]`
    /// - output: `[n_images, ⌈height / stride⌉, ⌈width / stride⌉, width]`
    pub(super) fn forward_relu6(&self, map: Tensor<4>) -> Tensor<4> {
        let [_, height, width, _] = map.dims();
        let weight = self.weight.val();
        let [.., kernel_size] = weight.dims();
        let padding = [height, width].map(|side| same_padding(side, kernel_size, self.stride));
        convolution_relu6(map, weight, self.bias.val(), self.stride, padding)
    }

    /// [`forward_relu6`](Self::forward_relu6) of a convolution of single pixels, as a product of rows, which a training
    /// computes in half the time.
    pub(super) fn forward_pixels_relu6(&self, map: Tensor<4>) -> Tensor<4> {
        let fused = self.fused(&map, Epilogue::Apply("relu6"));
        fused.unwrap_or_else(|| relu6_of(self.forward_pixels(map)))
    }

    /// `onto` and what [`forward_pixels_relu6`](Self::forward_pixels_relu6) clamps; that alone where the shapes differ.
    pub(super) fn forward_pixels_onto(&self, onto: Tensor<4>, map: Tensor<4>) -> Tensor<4> {
        let [places @ .., _] = map.dims();
        let [onto_places @ .., channels] = onto.dims();
        if (onto_places, [channels]) != (places, self.bias.dims()) {
            return self.forward_pixels(map);
        }
        let fused = self.fused(&map, Epilogue::Add(&onto));
        fused.unwrap_or_else(|| self.forward_pixels(map) + onto)
    }

    /// Linear map of each pixel.
    ///
    /// # Shapes
    ///
    /// - `map`: `[n_images, height, width, channels]`
    /// - output: `[n_images, height, width, width]`
    fn forward_pixels(&self, map: Tensor<4>) -> Tensor<4> {
        let [n_images, height, width, channels] = map.dims();
        let rows = map.reshape([n_images * height * width, channels]);
        let rows = affine(rows, self.matrix(), Some(self.bias.val()));
        let [_, n_outputs] = rows.dims();
        rows.reshape([n_images, height, width, n_outputs])
    }

    /// [`forward_pixels`](Self::forward_pixels) and what follows in one step, where the device has a kernel for that.
    fn fused(&self, map: &Tensor<4>, epilogue: Epilogue<'_, 4>) -> Option<Tensor<4>> {
        fused_affine(map, &self.matrix(), Some(&self.bias.val()), epilogue)
    }

    /// The weights of single pixels, `[channels, width]`.
    fn matrix(&self) -> Tensor<2> {
        let [width, channels, ..] = self.weight.dims();
        self.weight.val().reshape([width, channels]).transpose()
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
