//! Output of the tower.

use burn::tensor::Tensor;

/// What the tower gives of pictures.
#[derive(Debug, Clone)]
pub struct MapMeans {
    /// The features: means of the last map over the picture, `[n_images, width]`.
    pub features: Tensor<2>,
    /// Means of the map that the last block reads, `[n_images, channels]`. They tell pictures of another kind from
    /// photographs where the features, which are made for things in photographs, no longer do.
    pub before_last_block: Tensor<2>,
}
