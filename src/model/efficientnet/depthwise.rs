//! Convolutions each of whose outputs is of its own channel, over maps with their channels last: on a CPU without
//! tensors, eight channels at once.

use burn::tensor::{Tensor, TensorData};

use super::convolution::{Convolution, same_padding};
use super::relu6::relu6;
use crate::device::{each_chunk_of_two, host_values, is_on_host};
use crate::host::lanes::{Lanes, N_LANES, replace};

/// Neighbouring channels that are computed with at once.
type Vector = [f32; N_LANES];

/// A convolution whose factors lie as its map does.
#[derive(Debug)]
pub(super) struct Depthwise {
    kernel_size: usize,
    stride: usize,
    /// Factor of each place of the kernel for each channel, `[kernel_size, kernel_size, channels]`.
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Depthwise {
    pub(super) fn pack(convolution: &Convolution) -> Self {
        let [channels, _, kernel_size, _] = convolution.weight.lazy_shape().dims::<4>();
        let area = kernel_size * kernel_size;
        let weight = host_values(convolution.weight.val()); // [channels, area]
        let places =
            (0..area).flat_map(|place| (0..channels).map(move |channel| channel * area + place));
        Self {
            kernel_size,
            stride: convolution.stride,
            weight: places.map(|place| weight[place]).collect(),
            bias: host_values(convolution.bias.val()),
        }
    }

    /// Sides of the output of a map with these.
    pub(super) fn output_sides(&self, sides: [usize; 2]) -> [usize; 2] {
        sides.map(|side| side.div_ceil(self.stride))
    }

    /// Filters each channel of one map and cuts to 0–6.
    ///
    /// # Shapes
    ///
    /// - `map`: `[height, width, channels]`; `sides` are the first two
    /// - `output`: `[⌈height / stride⌉, ⌈width / stride⌉, channels]`
    #[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
    pub(super) fn forward_relu6(&self, map: &[f32], sides: [usize; 2], output: &mut [f32]) {
        let [_, width] = self.output_sides(sides);
        let (map, _) = map.as_chunks();
        let (places, _) = output.as_chunks_mut();
        let places = places.chunks_mut(self.bias.len() / N_LANES);
        for (i_place, place) in places.enumerate() {
            self.place(map, sides, [i_place / width, i_place % width], place);
        }
    }

    /// All channels of one place of the output.
    #[inline(always)]
    fn place(&self, map: &[Vector], sides: [usize; 2], [y, x]: [usize; 2], output: &mut [Vector]) {
        let ([height, width], n_vectors) = (sides, output.len());
        let (weight, _) = self.weight.as_chunks();
        let (bias, _) = self.bias.as_chunks();
        let (first_y, ys) = self.seen(y, height);
        let (first_x, xs) = self.seen(x, width);
        let length = xs.len() * n_vectors;
        output.copy_from_slice(bias);
        for (iy, dy) in (first_y..).zip(ys) {
            let seen = &map[(iy * width + first_x) * n_vectors..][..length];
            let factors = &weight[(dy * self.kernel_size + xs.start) * n_vectors..][..length];
            let factors = factors.chunks(3 * n_vectors);
            for (seen, factors) in seen.chunks(3 * n_vectors).zip(factors) {
                add_products(output, seen, factors);
            }
        }
        replace(output.as_flattened_mut(), relu6, relu6);
    }

    /// First index along a side of the map under the kernel of an output, and the range of the kernel that lies on the
    /// map.
    fn seen(&self, output: usize, side: usize) -> (usize, std::ops::Range<usize>) {
        let (before, _) = same_padding(side, self.kernel_size, self.stride);
        let start = output * self.stride;
        let first = before.saturating_sub(start);
        let end = self.kernel_size.min(side + before - start);
        (start + first - before, first..end)
    }
}

/// A convolution of each channel, clamped to 0–6; on a CPU without tensors, natively on all cores, unless a training
/// needs its slope.
///
/// # Shapes
///
/// - `map`: `[n_images, height, width, channels]`
/// - output: `[n_images, ⌈height / stride⌉, ⌈width / stride⌉, channels]`
pub(super) fn filter_relu6(convolution: &Convolution, map: Tensor<4>) -> Tensor<4> {
    let ([n_images, height, width, channels], device) = (map.dims(), map.device());
    if !is_on_host(&map) || !channels.is_multiple_of(N_LANES) {
        return convolution.forward_relu6(map);
    }
    let depthwise = Depthwise::pack(convolution);
    let sides = [height, width];
    let [n_rows, n_columns] = depthwise.output_sides(sides);
    let size = n_rows * n_columns * channels;
    let mut output = vec![0.0; n_images * size];
    let map = host_values(map);
    each_chunk_of_two(
        &mut output,
        &map,
        [size, height * width * channels],
        |output, map| {
            depthwise.forward_relu6(map, sides, output);
        },
    );
    Tensor::from_data(
        TensorData::new(output, [n_images, n_rows, n_columns, channels]),
        &device,
    )
}

/// Adds the products at one, two or three neighbouring places; three in one pass over the sums.
#[inline(always)]
fn add_products(sums: &mut [Vector], seen: &[Vector], factors: &[Vector]) {
    let n = sums.len();
    if seen.len() == 3 * n {
        let ((a, rest), (of_a, of_rest)) = (seen.split_at(n), factors.split_at(n));
        let ((b, c), (of_b, of_c)) = (rest.split_at(n), of_rest.split_at(n));
        let (a, b, c) = (a.iter().zip(of_a), b.iter().zip(of_b), c.iter().zip(of_c));
        for (((sums, a), b), c) in sums.iter_mut().zip(a).zip(b).zip(c) {
            *sums = (Lanes::from(*sums) + product(a) + product(b) + product(c)).into();
        }
        return;
    }
    for (seen, factors) in seen.chunks(n).zip(factors.chunks(n)) {
        for (sums, place) in sums.iter_mut().zip(seen.iter().zip(factors)) {
            *sums = (Lanes::from(*sums) + product(place)).into();
        }
    }
}

#[inline(always)]
fn product((value, factor): (&Vector, &Vector)) -> Lanes {
    Lanes::from(*value) * Lanes::from(*factor)
}
