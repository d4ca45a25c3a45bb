//! Interface of every method, and functions on the rows that methods score.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use crate::error::Result;
use crate::model::adapter::{Perceptron, info_nce, scaled};
use crate::model::clip::normalize;
use crate::model::parameters::{Layout, ParameterVisitor, Parameters};

/// Matching pictures and captions, row by row.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// Features of pictures, not normalised, `[n, width]`.
    pub images: Tensor<2>,
    /// Features of captions, not normalised, `[n, width]`.
    pub texts: Tensor<2>,
}

/// Side whose uncertainty sorts the queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The caption's: the query's own from text to image, the retrieved one's from image to text.
    Text,
    /// The picture's, the other way round.
    Image,
}

impl Side {
    /// The one of two that is of this side.
    pub(super) fn of<T>(self, image: T, text: T) -> T {
        match self {
            Self::Image => image,
            Self::Text => text,
        }
    }
}

/// A way to score captions against pictures, with the loss that trains it, if it is trained.
pub trait Method: Module + Parameters + Sync + 'static {
    /// The loss of a batch in an epoch, counted from 1.
    ///
    /// # Shapes
    ///
    /// - output: `[1]`
    fn loss(&self, pairs: Pairs, epoch: usize) -> Tensor<1> {
        let images = self.training_rows(Side::Image, pairs.images);
        self.loss_of_rows(images, self.training_rows(Side::Text, pairs.texts), epoch)
    }

    /// What the loss needs of a batch's pictures or captions, a row of each feature alone: the rows that are scored
    /// unless a method's loss needs more.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n, width]`, not normalised
    /// - output: `[n, anything]`
    fn training_rows(&self, side: Side, features: Tensor<2>) -> Tensor<2> {
        match side {
            Side::Image => self.of_images(features),
            Side::Text => self.of_texts(features),
        }
    }

    /// The loss of a batch in an epoch, counted from 1: `InfoNCE` of [`logits`](Self::logits) unless a method has
    /// another one.
    ///
    /// # Shapes
    ///
    /// - `images`, `texts`: output of [`training_rows`](Self::training_rows), `[n, anything]`
    /// - output: `[1]`
    fn loss_of_rows(&self, images: Tensor<2>, texts: Tensor<2>, _epoch: usize) -> Tensor<1> {
        info_nce(self.logits(images, texts))
    }

    /// [Scores](Self::scores) of all pairs of a batch, times the trained factor if there is one.
    ///
    /// # Shapes
    ///
    /// - `images`: output of [`of_images`](Self::of_images), `[n, anything]`
    /// - `texts`: output of [`of_texts`](Self::of_texts), `[n, anything]`
    /// - output: `[n, n]`
    fn logits(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        let scores = self.scores(images, texts);
        match self.logit_scale() {
            None => scores,
            Some(scale) => scaled(scores, scale),
        }
    }

    /// Rows of pictures for [`scores`](Self::scores): unit embeddings unless a method needs more.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n_images, width]`, not normalised
    /// - output: `[n_images, anything]`
    fn of_images(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(features)
    }

    /// Rows of captions for [`scores`](Self::scores).
    ///
    /// # Shapes
    ///
    /// - `features`: `[n_texts, width]`, not normalised
    /// - output: `[n_texts, anything]`
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2>;

    /// Scores by which pairs are ranked, greater being better: cosines unless a method has others. A caption's row may
    /// go on after its embedding.
    ///
    /// # Shapes
    ///
    /// - `images`: output of [`of_images`](Self::of_images), `[n_images, anything]`
    /// - `texts`: output of [`of_texts`](Self::of_texts), `[n_texts, anything]`
    /// - output: `[n_images, n_texts]`
    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        let [_, embed_dim] = images.dims();
        images.matmul(columns(&texts, 0, embed_dim).transpose())
    }

    /// Side that has an uncertainty, if [`uncertainty`](Self::uncertainty) gives one.
    fn uncertain_side(&self) -> Side {
        Side::Text
    }

    /// Concentration κ of each row of the uncertain side; `None` for a method that has none.
    ///
    /// # Shapes
    ///
    /// - `rows`: output of `of_texts` or `of_images`, `[n, anything]`
    /// - output: `[n, 1]`
    fn concentration(&self, _rows: Tensor<2>) -> Option<Tensor<2>> {
        None
    }

    /// Uncertainty of each row of the uncertain side: 1/κ unless a method has another one; `None` for a method that has
    /// none.
    ///
    /// # Shapes
    ///
    /// - `rows`: output of `of_texts` or `of_images`, `[n, anything]`
    /// - `gallery`: rows of the other side, for a method whose uncertainty depends on the candidates
    /// - output: `[n, 1]`
    fn uncertainty(&self, rows: Tensor<2>, _gallery: Tensor<2>) -> Option<Tensor<2>> {
        Some(self.concentration(rows)?.recip())
    }

    /// Means and variances of one side, each row a Gaussian with a variance for each dimension; `None` for a method in
    /// which not both sides are such.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n, width]`, not normalised
    /// - output: `[n, embed_dim]` each
    fn gaussians(&self, _side: Side, _features: Tensor<2>) -> Option<[Tensor<2>; 2]> {
        None
    }

    /// Uncertainty of pictures by themselves, whichever side sorts the queries; `None` for a method in which a picture
    /// has none, or none without captions to compete with. The mean variance of [`gaussians`](Self::gaussians) unless
    /// a method has another one.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n_images, width]`, not normalised
    /// - output: `[n_images, 1]`
    fn uncertainty_of_images(&self, features: Tensor<2>) -> Option<Tensor<2>> {
        let [_, variances] = self.gaussians(Side::Image, features)?;
        Some(variances.mean_dim(1))
    }

    /// The factor on the logits, `None` where there is none.
    fn logit_scale(&self) -> Option<Tensor<1>> {
        None
    }
}

/// A part of a method whose parameters are visited under its name.
pub(super) trait NamedPart {
    fn visit_as<V: ParameterVisitor>(&mut self, name: &str, visitor: &mut V) -> Result<()>;
}

impl NamedPart for Param<Tensor<1>> {
    fn visit_as<V: ParameterVisitor>(&mut self, name: &str, visitor: &mut V) -> Result<()> {
        visitor.visit(name, Layout::Scalar, self)
    }
}

impl NamedPart for Perceptron {
    fn visit_as<V: ParameterVisitor>(&mut self, name: &str, visitor: &mut V) -> Result<()> {
        Self::visit_as(self, name, visitor)
    }
}

impl<P: NamedPart> NamedPart for Option<P> {
    fn visit_as<V: ParameterVisitor>(&mut self, name: &str, visitor: &mut V) -> Result<()> {
        self.as_mut()
            .map_or(Ok(()), |part| part.visit_as(name, visitor))
    }
}

/// Makes a method's parameters those of its parts, under the names of their fields.
macro_rules! parameters_of {
    ($method:ty: $($part:ident),*) => {
        impl crate::model::parameters::Parameters for $method {
            fn visit_parameters<V: crate::model::parameters::ParameterVisitor>(
                &mut self,
                _visitor: &mut V,
            ) -> crate::error::Result<()> {
                $(super::method::NamedPart::visit_as(&mut self.$part, stringify!($part), _visitor)?;)*
                Ok(())
            }
        }
    };
}

pub(super) use parameters_of;

/// Columns `from..to` of rows.
///
/// # Shapes
///
/// - `rows`: `[n, width]`
/// - output: `[n, to − from]`
pub(super) fn columns(rows: &Tensor<2>, from: usize, to: usize) -> Tensor<2> {
    let [n, _] = rows.dims();
    rows.clone().slice([0..n, from..to])
}

/// The two halves of the columns of rows.
pub(super) fn halves(rows: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let [_, width] = rows.dims();
    (columns(rows, 0, width / 2), columns(rows, width / 2, width))
}

/// The last column of rows, `[n, 1]`.
pub(super) fn last_column(rows: &Tensor<2>) -> Tensor<2> {
    let [_, width] = rows.dims();
    columns(rows, width - 1, width)
}

/// Unit embeddings, and a variance for each dimension around them, of which a perceptron gives the logarithm.
///
/// # Shapes
///
/// - `features`: `[n, embed_dim]`, not normalised
/// - output: `[n, embed_dim]` each
pub(super) fn unit_gaussians(log_variance: &Perceptron, features: Tensor<2>) -> [Tensor<2>; 2] {
    let unit = normalize(features);
    let variances = log_variance.forward(unit.clone()).exp();
    [unit, variances]
}

pub(super) fn scalar(value: f32, device: &Device) -> Param<Tensor<1>> {
    Param::from_tensor(Tensor::from_floats([value], device))
}
