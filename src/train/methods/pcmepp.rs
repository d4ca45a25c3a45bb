//! PCME++*: a variance for each feature, trained with a logistic loss on expected squared distances; means stay frozen.
//!
//! Chun 2024, [Improved Probabilistic Image-Text Representations](https://arxiv.org/abs/2305.18171), as the code of
//! `AsymVLM` adapts it: no information bottleneck, no pseudo-positives, no mixed data.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::method::{Method, Side, columns, last_column, parameters_of, scalar, unit_gaussians};
use crate::model::adapter::{
    AdapterConfig, Perceptron, expected_squared_distance, scaled, sigmoid_loss,
};

/// Initial value of factor and bias, as released.
const START: f32 = 5.0;

/// A perceptron of ln σ² for each side, and the factor and the bias of the logistic loss.
#[derive(Module, Debug)]
pub struct Pcmepp {
    image: Perceptron,
    text: Perceptron,
    factor: Param<Tensor<1>>,
    bias: Param<Tensor<1>>,
}

impl Pcmepp {
    /// Untrained, with the published start of factor and bias.
    #[must_use]
    pub fn new(config: &AdapterConfig, device: &Device) -> Self {
        Self {
            image: Perceptron::new(config, device),
            text: Perceptron::new(config, device),
            factor: scalar(START, device),
            bias: scalar(START, device),
        }
    }
}

/// Unit embeddings of features, and the total variance in the last column.
fn with_total_variance(log_variance: &Perceptron, features: Tensor<2>) -> Tensor<2> {
    let [unit, variances] = unit_gaussians(log_variance, features);
    Tensor::cat(vec![unit, variances.sum_dim(1)], 1)
}

impl Method for Pcmepp {
    /// Twice the binary cross-entropy, averaged over all pairs.
    fn training_rows(&self, side: Side, features: Tensor<2>) -> Tensor<2> {
        with_total_variance(side.of(&self.image, &self.text), features)
    }

    fn loss_of_rows(&self, images: Tensor<2>, texts: Tensor<2>, _epoch: usize) -> Tensor<1> {
        let [n, width] = images.dims();
        let unit = |rows| columns(rows, 0, width - 1);
        let distance = expected_squared_distance(
            unit(&images),
            last_column(&images),
            unit(&texts),
            last_column(&texts),
        );
        let logits = scaled(distance.neg(), self.factor.val());
        sigmoid_loss(logits, self.bias.val()) * (2.0 / n as f64)
    }

    /// Unit embeddings, and the total variance in the last column.
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        with_total_variance(&self.text, features)
    }

    fn uncertainty(&self, rows: Tensor<2>, _gallery: Tensor<2>) -> Option<Tensor<2>> {
        let [_, width] = rows.dims();
        Some(last_column(&rows) / (width - 1) as f64)
    }

    fn gaussians(&self, side: Side, features: Tensor<2>) -> Option<[Tensor<2>; 2]> {
        Some(unit_gaussians(side.of(&self.image, &self.text), features))
    }

    fn logit_scale(&self) -> Option<Tensor<1>> {
        Some(self.factor.val())
    }
}

parameters_of!(Pcmepp: image, text, factor, bias);
