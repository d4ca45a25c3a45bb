//! Cosines of frozen features whose uncertainty was found before: it comes in a column beside the features.

use burn::module::Module;
use burn::tensor::Tensor;

use super::method::{Method, Side, columns, parameters_of};
use crate::model::clip::normalize;

/// Cosines of frozen features, with the uncertainty that stands in a column beside one side's.
#[derive(Module, Debug)]
pub(super) struct CosineWithUncertainty {
    embed_dim: usize,
    #[module(skip)]
    side: Side,
}

impl CosineWithUncertainty {
    /// Cosines of features of this width, with the column of uncertainty beside captions or beside pictures.
    #[must_use]
    pub(super) const fn new(embed_dim: usize, side: Side) -> Self {
        Self { embed_dim, side }
    }

    /// Unit features, with the column beside them where there is one.
    fn normalized(&self, rows: &Tensor<2>) -> Tensor<2> {
        let [_, width] = rows.dims();
        let unit = normalize(columns(rows, 0, self.embed_dim));
        Tensor::cat(vec![unit, columns(rows, self.embed_dim, width)], 1)
    }

    fn column(&self, rows: &Tensor<2>) -> Option<Tensor<2>> {
        let [_, width] = rows.dims();
        (width > self.embed_dim).then(|| columns(rows, self.embed_dim, width))
    }
}

impl Method for CosineWithUncertainty {
    fn of_images(&self, features: Tensor<2>) -> Tensor<2> {
        self.normalized(&features)
    }

    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        self.normalized(&features)
    }

    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        let of = |rows: &Tensor<2>| columns(rows, 0, self.embed_dim);
        of(&images).matmul(of(&texts).transpose())
    }

    fn uncertain_side(&self) -> Side {
        self.side
    }

    fn uncertainty_of_images(&self, features: Tensor<2>) -> Option<Tensor<2>> {
        (self.side == Side::Image).then(|| self.column(&features))?
    }

    /// The column; `None` where there is none, as for pictures of which no views were embedded.
    fn uncertainty(&self, rows: Tensor<2>, _gallery: Tensor<2>) -> Option<Tensor<2>> {
        self.column(&rows)
    }
}

parameters_of!(CosineWithUncertainty: );

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn the_column_is_the_uncertainty_and_no_column_is_none() {
        let (device, method) = (cpu(), CosineWithUncertainty::new(2, Side::Image));
        let images = Tensor::<2>::from_floats([[3.0, 4.0, 0.0], [0.0, 2.0, 0.4]], &device);
        let texts = method.of_texts(Tensor::from_floats([[1.0, 0.0]], &device));
        let by_itself = method.uncertainty_of_images(images.clone());
        assert!(by_itself.is_some(), "whatever the captions are");
        let images = method.of_images(images);
        let scores = method.scores(images.clone(), texts.clone());
        let scores: Vec<f32> = scores.into_data().try_into_vec().expect("numbers");
        assert_eq!(scores, [0.6, 0.0], "cosines, without the column");
        let found = method.uncertainty(images.clone(), texts.clone());
        let found = found.expect("there is a column").into_data();
        let found: Vec<f32> = found.try_into_vec().expect("numbers");
        assert_eq!(found, [0.0, 0.4], "as it was written");
        let none = method.uncertainty(columns(&images, 0, 2), texts);
        assert!(none.is_none(), "no column, no uncertainty");
    }
}
