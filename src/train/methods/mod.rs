//! The ways to score captions against pictures on frozen features, one a file: the paper's method, its ablations and
//! the baselines.
//!
//! Each says how features become what it compares, how it scores pairs, how uncertain it is, and the loss and the
//! optimiser it is trained with. The loop is `fit`'s; files are `fit`'s and `reproduce`'s.

mod asymvlm;
mod bayesvlm;
mod clip;
mod deterministic;
mod eigen;
mod elip;
mod gaussian;
mod image_side;
mod name;
mod pcmepp;
mod pfe;
mod probvlm;
mod prolip;
mod symmetric;

use burn::module::Module;
use burn::tensor::Tensor;

use crate::model::parameters::Parameters;

pub use asymvlm::{AsymVlm, Objective};
pub use bayesvlm::{Activations, BayesVlm, Laplace};
pub use clip::Clip;
pub use deterministic::Deterministic;
pub use elip::{Elip, Evidence};
pub use gaussian::{DiagonalGaussian, IsotropicGaussian};
pub use image_side::ImageSide;
pub use name::{Follow, Job, MethodName, Options};
pub use pcmepp::Pcmepp;
pub use pfe::Pfe;
pub use probvlm::{ProbVlm, UncertaintyOf};
pub use prolip::ProLip;
pub use symmetric::{EvaluatedAt, Symmetric};

/// Matching pictures and captions, row by row.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// Features of pictures, not normalised, `[n, width]`.
    pub images: Tensor<2>,
    /// Features of captions, not normalised, `[n, width]`.
    pub texts: Tensor<2>,
}

/// Which side's uncertainty sorts the queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The caption's: the query's own from text to image, the retrieved one's from image to text.
    Text,
    /// The picture's, the other way round.
    Image,
}

/// A way to score captions against pictures, with what training it takes.
pub trait Method: Module + Parameters {
    /// The loss of a batch in an epoch, counted from 1.
    ///
    /// # Shapes
    ///
    /// - output: `[1]`
    fn loss(&self, pairs: Pairs, epoch: usize) -> Tensor<1>;

    /// What [`scores`](Self::scores) needs of pictures.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n_images, width]`, not normalised
    /// - output: `[n_images, anything]`
    fn of_images(&self, features: Tensor<2>) -> Tensor<2>;

    /// What [`scores`](Self::scores) needs of captions.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n_texts, width]`, not normalised
    /// - output: `[n_texts, anything]`
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2>;

    /// What pairs are ranked by; greater is better.
    ///
    /// # Shapes
    ///
    /// - `images`: what [`of_images`](Self::of_images) gave
    /// - `texts`: what [`of_texts`](Self::of_texts) gave
    /// - output: `[n_images, n_texts]`
    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2>;

    /// Which side has an uncertainty, if any has.
    fn uncertain_side(&self) -> Option<Side> {
        Some(Side::Text)
    }

    /// Uncertainty of each row of the uncertain side; `None` for a method that has none.
    ///
    /// # Shapes
    ///
    /// - `rows`: what `of_texts` or `of_images` gave, `[n, anything]`
    /// - `gallery`: the other side's, for a method whose uncertainty depends on what there is to choose from
    /// - output: `[n, 1]`
    fn uncertainty(&self, rows: Tensor<2>, gallery: Tensor<2>) -> Option<Tensor<2>>;

    /// The factor on the logits, for the progress bar; `None` where none is trained.
    fn logit_scale(&self) -> Option<Tensor<1>> {
        None
    }
}

/// Columns `from..to` of rows.
///
/// # Shapes
///
/// - `rows`: `[n, width]`
/// - output: `[n, to − from]`
fn columns(rows: &Tensor<2>, from: usize, to: usize) -> Tensor<2> {
    let [n, _] = rows.dims();
    rows.clone().slice([0..n, from..to])
}

/// Cosines of unit embeddings, where each caption's row goes on after its embedding.
///
/// # Shapes
///
/// - `images`: `[n_images, embed_dim]`
/// - `texts`: `[n_texts, more than embed_dim]`
/// - output: `[n_images, n_texts]`
fn cosines(images: Tensor<2>, texts: &Tensor<2>) -> Tensor<2> {
    let [_, embed_dim] = images.dims();
    images.matmul(columns(texts, 0, embed_dim).transpose())
}

/// The last column of rows, `[n, 1]`.
fn last_column(rows: &Tensor<2>) -> Tensor<2> {
    let [_, width] = rows.dims();
    columns(rows, width - 1, width)
}

/// A trainable scalar.
fn scalar(value: f32, device: &burn::tensor::Device) -> burn::module::Param<Tensor<1>> {
    burn::module::Param::from_tensor(Tensor::from_floats([value], device))
}
