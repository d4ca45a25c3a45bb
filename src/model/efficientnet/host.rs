//! The tower on the CPU of an engine: maps with their channels last, so that a convolution by one pixel is a product
//! with a packed matrix, and one of each channel runs over neighbouring numbers.

use burn::tensor::{Tensor, TensorData};

use super::convolution::{Convolution, N_CHANNELS, same_padding};
use super::depthwise::Depthwise;
use super::map_means::MapMeans;
use super::relu6::relu6_in_place;
use crate::device::host_values;
use crate::host::gemm::{Kernel, PANEL_COLUMNS, PackedMatrix, Panels};
use crate::host::lanes::add;

/// Convolutions of a block: the one that widens its input, if there is one, the depthwise one, and the one that narrows
/// it.
pub(super) type BlockConvolutions<'a> = (Option<&'a Convolution>, &'a Convolution, &'a Convolution);

/// The tower's convolutions, those of all channels packed for one kernel.
#[derive(Debug)]
pub(super) struct HostTower {
    stem: MatrixConvolution,
    stem_size: usize,
    stem_stride: usize,
    blocks: Vec<HostBlock>,
    head: MatrixConvolution,
}

/// One picture's map, `[height, width, channels]`.
struct Map {
    height: usize,
    width: usize,
    channels: usize,
    values: Vec<f32>,
}

/// Every output of every channel, at each place of a map.
#[derive(Debug)]
struct MatrixConvolution {
    matrix: PackedMatrix,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct HostBlock {
    expand: Option<MatrixConvolution>,
    depthwise: Depthwise,
    project: MatrixConvolution,
}

impl HostTower {
    /// None where the channels do not fill whole vectors.
    pub(super) fn pack<'a>(
        stem: &Convolution,
        blocks: impl Iterator<Item = BlockConvolutions<'a>>,
        head: &Convolution,
        kernel: Kernel,
    ) -> Option<Self> {
        let [_, _, stem_size, _] = stem.weight.lazy_shape().dims::<4>();
        let blocks = blocks.map(|block| HostBlock::pack(block, kernel));
        Some(Self {
            stem: MatrixConvolution::pack(stem, kernel)?,
            stem_size,
            stem_stride: stem.stride,
            blocks: blocks.collect::<Option<_>>()?,
            head: MatrixConvolution::pack(head, kernel)?,
        })
    }

    /// Means of two maps of pictures `[n_images, 3, height, width]`.
    pub(super) fn forward(&self, images: Tensor<4>) -> MapMeans {
        let ([n_images, _, height, width], device) = (images.dims(), images.device());
        let pixels = host_values(images);
        let images = pixels.chunks(N_CHANNELS * height * width);
        let (mut features, mut before_last_block) = (Vec::new(), Vec::new());
        for image in images {
            let (last, before) = self.last_maps(image, [height, width]);
            features.extend(last.mean_over_places());
            before_last_block.extend(before.mean_over_places());
        }
        let rows = |values: Vec<f32>| {
            let shape = [n_images, values.len() / n_images.max(1)];
            Tensor::from_data(TensorData::new(values, shape), &device)
        };
        MapMeans {
            features: rows(features),
            before_last_block: rows(before_last_block),
        }
    }

    /// The last map of one picture `[3, height, width]`, and the one that the last block reads.
    fn last_maps(&self, image: &[f32], sides: [usize; 2]) -> (Map, Map) {
        let n_before = self.blocks.len().saturating_sub(1);
        let (before, last) = self.blocks.split_at(n_before);
        let stem = self.stem(image, sides);
        let before = before.iter().fold(stem, |map, block| block.forward(&map));
        let last = last.first().map(|block| block.forward(&before));
        let last = self.head.forward_relu6(last.as_ref().unwrap_or(&before));
        (last, before)
    }

    /// The first convolution, as a product with the values under the kernel at each place of the output.
    fn stem(&self, image: &[f32], [height, width]: [usize; 2]) -> Map {
        let (size, stride) = (self.stem_size, self.stem_stride);
        let (rows, columns) = (height.div_ceil(stride), width.div_ceil(stride));
        let (top, left) = (
            same_padding(height, size, stride).0,
            same_padding(width, size, stride).0,
        );
        let mut seen = vec![0.0; rows * columns * N_CHANNELS * size * size];
        let places = seen.chunks_mut(N_CHANNELS * size * size);
        for (place, i_place) in places.zip(0..) {
            let (y, x) = (i_place / columns * stride, i_place % columns * stride);
            let ys = (0..size).filter(|dy| (top..height + top).contains(&(y + dy)));
            for dy in ys {
                let xs = (0..size).filter(|dx| (left..width + left).contains(&(x + dx)));
                for dx in xs {
                    for channel in 0..N_CHANNELS {
                        place[(channel * size + dy) * size + dx] =
                            image[(channel * height + y + dy - top) * width + x + dx - left];
                    }
                }
            }
        }
        let patches = Map {
            height: rows,
            width: columns,
            channels: N_CHANNELS * size * size,
            values: seen,
        };
        self.stem.forward_relu6(&patches)
    }
}

impl Map {
    /// Mean of each channel.
    fn mean_over_places(&self) -> Vec<f32> {
        let mut sums = vec![0.0; self.channels];
        for place in self.values.chunks(self.channels) {
            for (sum, value) in sums.iter_mut().zip(place) {
                *sum += value;
            }
        }
        let n_places = (self.height * self.width) as f32;
        sums.into_iter().map(|sum| sum / n_places).collect()
    }
}

impl MatrixConvolution {
    fn pack(convolution: &Convolution, kernel: Kernel) -> Option<Self> {
        let [width, channels, size, _] = convolution.weight.lazy_shape().dims::<4>();
        let panels = Panels::pack(
            &host_values(convolution.weight.val()),
            channels * size * size,
        );
        width.is_multiple_of(PANEL_COLUMNS).then(|| Self {
            matrix: PackedMatrix::new(panels, width, kernel),
            bias: host_values(convolution.bias.val()),
        })
    }

    fn forward(&self, map: &Map) -> Map {
        Map {
            height: map.height,
            width: map.width,
            channels: self.bias.len(),
            values: self.matrix.multiply_rows(&map.values, &self.bias),
        }
    }

    fn forward_relu6(&self, map: &Map) -> Map {
        let mut map = self.forward(map);
        relu6_in_place(&mut map.values);
        map
    }
}

impl HostBlock {
    fn pack((expand, depthwise, project): BlockConvolutions<'_>, kernel: Kernel) -> Option<Self> {
        let expand = match expand {
            Some(expand) => Some(MatrixConvolution::pack(expand, kernel)?),
            None => None,
        };
        Some(Self {
            expand,
            depthwise: Depthwise::pack(depthwise),
            project: MatrixConvolution::pack(project, kernel)?,
        })
    }

    #[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
    fn forward(&self, map: &Map) -> Map {
        let inner = match &self.expand {
            Some(expand) => self.filter(&expand.forward_relu6(map)),
            None => self.filter(map),
        };
        let mut output = self.project.forward(&inner);
        let sizes = |map: &Map| [map.height, map.width, map.channels];
        if sizes(&output) == sizes(map) {
            add(&mut output.values, &map.values);
        }
        output
    }
    fn filter(&self, map: &Map) -> Map {
        let sides = [map.height, map.width];
        let [height, width] = self.depthwise.output_sides(sides);
        let mut values = vec![0.0; height * width * map.channels];
        self.depthwise
            .forward_relu6(&map.values, sides, &mut values);
        Map {
            height,
            width,
            channels: map.channels,
            values,
        }
    }
}
