//! The last block and the last convolution on their own: what a training may tune while the rest of the tower stays as
//! it is and need not be computed again.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::convolution::Convolution;
use super::{EfficientNetConfig, InvertedResidual, mean_over_places};

/// The tower from the map that its last block reads on.
#[derive(Module, Debug)]
pub struct LastStage {
    pub(super) block: InvertedResidual,
    pub(super) head: Convolution,
    /// Numbers of the block's stage and of the block in it, by which its tensors are named.
    #[module(skip)]
    pub(super) place: [usize; 2],
    /// Height, width and channels of the map.
    #[module(skip)]
    map: [usize; 3],
}

impl EfficientNetConfig {
    /// Height, width and channels of the map that the last block reads.
    #[must_use]
    pub fn last_map(&self) -> [usize; 3] {
        let mut side = self.image_size.div_ceil(2);
        let mut width = self.stem_width;
        let blocks = self.stages.iter().flat_map(|stage| {
            let strides = std::iter::once(stage.stride).chain(std::iter::repeat(1));
            strides
                .take(stage.layers)
                .map(|stride| (stride, stage.width))
        });
        let blocks: Vec<_> = blocks.collect();
        let n_before = blocks.len().saturating_sub(1);
        for (stride, stage_width) in blocks.into_iter().take(n_before) {
            (side, width) = (side.div_ceil(stride), stage_width);
        }
        [side, side, width]
    }

    /// The last stage with random initial weights.
    ///
    /// # Panics
    ///
    /// In a tower without blocks.
    #[must_use]
    pub fn init_last_stage(&self, device: &Device) -> LastStage {
        let map = self.last_map();
        let i_stage = self.stages.len() - 1;
        let stage = &self.stages[i_stage];
        let stride = if stage.layers == 1 { stage.stride } else { 1 };
        LastStage {
            block: stage.init_block(map[2], stride, device),
            head: self.init_head(device),
            place: [i_stage, stage.layers - 1],
            map,
        }
    }
}

impl LastStage {
    /// Leaves the depthwise kernels as they are in a training: few weights, whose gradients would be most of its time.
    pub fn hold_kernels(&mut self) {
        let kernels = self.block.depthwise.weight.clone();
        self.block.depthwise.weight = kernels.set_require_grad(false);
    }

    /// Means of maps over the picture, as [`MapMeans::before_last_block`](super::MapMeans::before_last_block).
    ///
    /// # Shapes
    ///
    /// - `maps`: `[n_images, height * width * channels]`, channels last
    /// - output: `[n_images, channels]`
    #[must_use]
    pub fn map_means(&self, maps: Tensor<2>) -> Tensor<2> {
        mean_over_places(self.map_of_each(maps))
    }

    /// Features of pictures, of the maps before the last block.
    ///
    /// # Shapes
    ///
    /// - `maps`: `[n_images, height * width * channels]`, channels last
    /// - output: `[n_images, width]`, not normalised
    #[must_use]
    pub fn forward(&self, maps: Tensor<2>) -> Tensor<2> {
        let last = self.block.forward(self.map_of_each(maps));
        mean_over_places(self.head.forward_pixels_relu6(last))
    }

    /// `[n_images, height, width, channels]`
    fn map_of_each(&self, maps: Tensor<2>) -> Tensor<4> {
        let ([n_images, _], [height, width, channels]) = (maps.dims(), self.map);
        maps.reshape([n_images, height, width, channels])
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Distribution;

    use super::super::StageConfig;
    use super::*;
    use crate::device::cpu;
    use crate::model::parameters::{Parameters as _, TensorRecord};

    #[test]
    fn the_last_stage_goes_on_where_the_tower_was_left() {
        let device = cpu();
        let stage = |stride, width, layers| StageConfig {
            kernel_size: 3,
            stride,
            expansion: 2,
            width,
            layers,
        };
        // A last block that widens, one that is added to its input, and one that halves the map.
        for last in [stage(1, 24, 1), stage(1, 16, 2), stage(2, 24, 1)] {
            let config = EfficientNetConfig {
                image_size: 22,
                stem_width: 8,
                stages: vec![stage(2, 16, 2), last],
                width: 40,
            };
            let tower = config.init(&device);
            let images = Tensor::random([3, 3, 22, 22], Distribution::Default, &device);
            let maps = tower.last_map(images.clone());
            let [height, width, channels] = config.last_map();
            assert_eq!(maps.dims(), [3, height * width * channels], "{last:?}");
            let mut stage = config.init_last_stage(&device);
            let names = stage.named_shapes();
            let of_tower = tower.named_tensors().into_iter();
            let own = of_tower.filter(|tensor| names.iter().any(|(name, _)| *name == tensor.name));
            let records: Vec<TensorRecord> = own
                .map(|tensor| TensorRecord {
                    name: tensor.name,
                    shape: tensor.shape,
                    values: tensor.values.into_data().try_into_vec().expect("floats"),
                })
                .collect();
            stage.load(records).expect("the tower's own tensors");
            let expected = tower.forward(images);
            for (found, expected) in [
                (stage.map_means(maps.clone()), expected.before_last_block),
                (stage.forward(maps), expected.features),
            ] {
                let error = (found - expected.clone()).abs().max();
                let (error, size) = (error.into_scalar::<f32>(), expected.abs().max());
                let size = size.into_scalar::<f32>();
                assert!(error <= 1e-5 * size, "{last:?}: {error} of {size}");
            }
        }
    }
}
