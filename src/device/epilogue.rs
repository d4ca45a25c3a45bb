//! What a kernel of a product does with its output before it is written.

use burn::tensor::Tensor;

/// What follows a linear map in the same step.
#[derive(Debug, Clone, Copy)]
pub enum Epilogue<'a, const D: usize> {
    /// The output is written as it is.
    Nothing,
    /// A tensor of the output's shape is added.
    Add(&'a Tensor<D>),
    /// Each value goes through the activation of this name.
    Apply(&'static str),
}
