//! EfficientNet-Lite: inverted bottlenecks of convolutions, averaged over the last feature map.
//!
//! Tan & Le 2019, [EfficientNet](https://arxiv.org/abs/1905.11946); Lite leaves out squeeze-and-excitation and has
//! `ReLU6` throughout. Each convolution carries its folded batch norm. Knows nothing of pictures' files or of where
//! weights come from.

mod checkpoint;
mod convolution;
mod depthwise;
mod host;
mod last_stage;
mod map_means;
mod relu6;

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use convolution::{Convolution, ConvolutionConfig, N_CHANNELS};
use depthwise::filter_relu6;
use host::HostTower;
pub use last_stage::LastStage;
pub use map_means::MapMeans;

/// Sizes of the tower.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EfficientNetConfig {
    /// Side of the square picture in pixels.
    pub image_size: usize,
    /// Channels after the first convolution, which halves the picture's side.
    pub stem_width: usize,
    /// Runs of blocks of one width.
    pub stages: Vec<StageConfig>,
    /// Channels of the last convolution, and width of the features.
    pub width: usize,
}

/// Blocks of one width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageConfig {
    /// Side of the depthwise kernels.
    pub kernel_size: usize,
    /// Stride of the first block; the others have 1.
    pub stride: usize,
    /// Factor by which a block widens its input; without one (1) a block has no first convolution.
    pub expansion: usize,
    /// Channels that each block gives.
    pub width: usize,
    /// Number of blocks in the stage.
    pub layers: usize,
}

/// Convolutional tower: pictures → features, the mean of the last feature map, `[n_images, width]`.
#[derive(Module, Debug)]
pub struct EfficientNet {
    stem: Convolution,
    stages: Vec<Vec<InvertedResidual>>,
    head: Convolution,
    /// The blocks with packed weights, for a CPU engine.
    #[module(skip)]
    host: Option<Arc<HostTower>>,
}

/// Widen, filter each channel, narrow; added to the input where the shapes allow.
#[derive(Module, Debug)]
struct InvertedResidual {
    expand: Option<Convolution>,
    depthwise: Convolution,
    project: Convolution,
}

impl EfficientNetConfig {
    /// Sizes of EfficientNet-Lite0, for pictures of 224 × 224 pixels.
    #[must_use]
    pub fn lite0() -> Self {
        let stage = |kernel_size, stride, expansion, width, layers| StageConfig {
            kernel_size,
            stride,
            expansion,
            width,
            layers,
        };
        Self {
            image_size: 224,
            stem_width: 32,
            stages: vec![
                stage(3, 1, 1, 16, 1),
                stage(3, 2, 6, 24, 2),
                stage(5, 2, 6, 40, 2),
                stage(3, 2, 6, 80, 3),
                stage(5, 1, 6, 112, 3),
                stage(5, 2, 6, 192, 4),
                stage(3, 1, 6, 320, 1),
            ],
            width: 1280,
        }
    }

    /// A tower with random initial weights.
    #[must_use]
    pub fn init(&self, device: &Device) -> EfficientNet {
        let stem = ConvolutionConfig::new(N_CHANNELS, self.stem_width, 3).with_stride(2);
        let mut width = self.stem_width;
        let stages = self.stages.iter().map(|stage| {
            let blocks = (0..stage.layers).map(|i_block| {
                let stride = if i_block == 0 { stage.stride } else { 1 };
                let block = stage.init_block(width, stride, device);
                width = stage.width;
                block
            });
            blocks.collect()
        });
        EfficientNet {
            stem: stem.init(device),
            stages: stages.collect(),
            head: self.init_head(device),
            host: None,
        }
    }

    fn init_head(&self, device: &Device) -> Convolution {
        let last_width = self.stages.last().map_or(self.stem_width, |s| s.width);
        ConvolutionConfig::new(last_width, self.width, 1).init(device)
    }
}

impl StageConfig {
    fn init_block(&self, width: usize, stride: usize, device: &Device) -> InvertedResidual {
        let inner = width * self.expansion;
        let expand = (self.expansion > 1).then(|| ConvolutionConfig::new(width, inner, 1));
        InvertedResidual {
            expand: expand.map(|expand| expand.init(device)),
            depthwise: ConvolutionConfig::new(inner, inner, self.kernel_size)
                .with_stride(stride)
                .depthwise()
                .init(device),
            project: ConvolutionConfig::new(inner, self.width, 1).init(device),
        }
    }
}

impl EfficientNet {
    /// Means of two feature maps over the picture, not normalised.
    ///
    /// # Shapes
    ///
    /// - `images`: `[n_images, 3, image_size, image_size]`, `(value − 127) / 128`
    pub fn forward(&self, images: Tensor<4>) -> MapMeans {
        if let Some(host) = &self.host {
            return host.forward(images);
        }
        let map = self.map_before_last_block(images);
        let before_last_block = mean_over_places(map.clone());
        let map = match self.stages.iter().flatten().next_back() {
            Some(block) => block.forward(map),
            None => map,
        };
        MapMeans {
            features: mean_over_places(self.head.forward_pixels_relu6(map)),
            before_last_block,
        }
    }

    /// The maps that the last block reads, for a [`LastStage`].
    ///
    /// # Shapes
    ///
    /// - `images`: as of [`forward`](Self::forward)
    /// - output: `[n_images, height * width * channels]`, channels last
    pub fn last_map(&self, images: Tensor<4>) -> Tensor<2> {
        let map = self.map_before_last_block(images);
        let [n_images, height, width, channels] = map.dims();
        map.reshape([n_images, height * width * channels])
    }

    /// `[n_images, height, width, channels]`
    fn map_before_last_block(&self, images: Tensor<4>) -> Tensor<4> {
        let n_before = self.stages.iter().flatten().count().saturating_sub(1);
        let blocks = self.stages.iter().flatten().take(n_before);
        let stem = self.stem.forward_relu6(images.permute([0, 2, 3, 1]));
        blocks.fold(stem, |map, block| block.forward(map))
    }
}

/// `[n_images, height, width, channels]` → `[n_images, channels]`
fn mean_over_places(map: Tensor<4>) -> Tensor<2> {
    let [n_images, height, width, channels] = map.dims();
    map.reshape([n_images, height * width, channels])
        .mean_dim(1)
        .reshape([n_images, channels])
}

impl InvertedResidual {
    /// Feature map after expansion, depthwise convolution and projection, added to the input where the shapes agree.
    ///
    /// # Shapes
    ///
    /// - `map`: `[n_images, height, width, channels]`
    /// - output: `[n_images, height / stride, width / stride, stage width]`
    fn forward(&self, map: Tensor<4>) -> Tensor<4> {
        let inner = match &self.expand {
            Some(expand) => expand.forward_pixels_relu6(map.clone()),
            None => map.clone(),
        };
        let inner = filter_relu6(&self.depthwise, inner);
        self.project.forward_pixels_onto(map, inner)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Distribution;

    use super::*;
    use crate::device::cpu;
    use crate::host::gemm::portable;
    use crate::model::parameters::Parameters as _;
    use crate::model::parameters::count::n_parameters;

    #[test]
    fn lite0_has_the_published_number_of_parameters() {
        let tower = EfficientNetConfig::lite0().init(&cpu());
        // timm's `tf_efficientnet_lite0` has 4,652,008: less the classifier, and one of two numbers a channel of each
        // batch norm, since the running statistics are not parameters and folding leaves only a bias.
        let channels: usize = tower
            .named_shapes()
            .iter()
            .filter(|(name, _)| name.ends_with(".bias"))
            .map(|(_, shape)| shape[0])
            .sum();
        assert_eq!(
            n_parameters(&tower),
            4_652_008 - 1_281_000 - channels,
            "parameters"
        );
    }

    #[test]
    fn the_packed_tower_gives_what_its_tensors_give() {
        let device = cpu();
        let stage = |kernel_size, stride, expansion, width| StageConfig {
            kernel_size,
            stride,
            expansion,
            width,
            layers: 2,
        };
        for image_size in [21, 32] {
            let mut tower = EfficientNetConfig {
                image_size,
                stem_width: 16,
                stages: vec![stage(3, 1, 1, 8), stage(5, 2, 6, 24), stage(3, 2, 2, 16)],
                width: 40,
            }
            .init(&device);
            let images = Tensor::random(
                [2, 3, image_size, image_size],
                Distribution::Default,
                &device,
            );
            let expected = tower.forward(images.clone());
            tower.pack(portable);
            assert!(tower.host.is_some(), "it is packed");
            let found = tower.forward(images);
            for (found, expected) in [
                (found.features, expected.features),
                (found.before_last_block, expected.before_last_block),
            ] {
                assert_eq!(found.dims(), expected.dims(), "{image_size} pixels");
                let error = (found - expected.clone()).abs().max().into_scalar::<f32>();
                let size = expected.abs().max().into_scalar::<f32>();
                assert!(
                    error <= 1e-5 * size,
                    "{image_size} pixels: {error} of {size}"
                );
            }
        }
    }

    #[test]
    fn the_config_survives_json() {
        let json = serde_json::to_string(&EfficientNetConfig::lite0()).expect("plain numbers");
        let back: EfficientNetConfig = serde_json::from_str(&json).expect("just written");
        assert_eq!(back, EfficientNetConfig::lite0(), "{json}");
    }
}
