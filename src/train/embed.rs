//! Pictures and captions → features, in batches, on any device.

use burn::tensor::{Device, Int, Tensor, TensorData};
use rayon::prelude::*;

use super::batch::{TokenBatch, picture};
use crate::error::Result;
use crate::model::clip::{Clip, normalize};
use crate::preprocess::image::ImagePreprocess;
use crate::preprocess::text::{TextPreprocess, Tokens};
use crate::scenes::Scene;

/// Pictures or captions that go through a tower together.
const ROWS_PER_PASS: usize = 256;

/// A frozen encoder with what turns words and scenes into its inputs.
#[derive(Debug)]
pub struct Encoder<'a> {
    /// The towers, without autodiff.
    pub clip: &'a Clip,
    /// Words → token ids.
    pub tokenizer: &'a TextPreprocess,
    /// Pixels → input.
    pub preprocess: &'a ImagePreprocess,
    /// Where the towers live.
    pub device: &'a Device,
}

impl Encoder<'_> {
    /// Unit embeddings of scenes, `[n_scenes, embed_dim]`.
    pub fn scenes(&self, scenes: &[Scene]) -> Tensor<2> {
        let side = self.preprocess.image_size;
        let passes = scenes.chunks(ROWS_PER_PASS).map(|chunk| {
            let pixels: Vec<Vec<f32>> = chunk
                .par_iter()
                .map(|scene| picture(scene, self.preprocess))
                .collect();
            let pixels = TensorData::new(pixels.concat(), [chunk.len(), 3, side, side]);
            normalize(
                self.clip
                    .vision
                    .forward(Tensor::from_data(pixels, self.device)),
            )
        });
        Tensor::cat(passes.collect(), 0)
    }

    /// Features of captions, not normalised, `[n_captions, embed_dim]`.
    ///
    /// # Errors
    ///
    /// A caption that the tokenizer refuses.
    pub fn captions(&self, captions: &[String]) -> Result<Tensor<2>> {
        let tokens: Result<Vec<Tokens>> = captions
            .par_iter()
            .map(|caption| self.tokenizer.encode(caption))
            .collect();
        let tokens = tokens?;
        let passes = tokens.chunks(ROWS_PER_PASS).map(|chunk| {
            let tokens = TokenBatch::new(chunk);
            let ids = TensorData::new(tokens.ids, [chunk.len(), tokens.n_tokens]);
            let ends = TensorData::new(tokens.ends, [chunk.len()]);
            let ids = Tensor::<2, Int>::from_data(ids, self.device);
            self.clip
                .text
                .forward(ids, Tensor::<1, Int>::from_data(ends, self.device))
        });
        Ok(Tensor::cat(passes.collect(), 0))
    }
}

/// The rows of a matrix on the host.
///
/// # Errors
///
/// The device fails.
pub fn to_host(rows: Tensor<2>) -> anyhow::Result<Vec<Vec<f32>>> {
    let [_, width] = rows.dims();
    let values: Vec<f32> = rows.into_data().try_into_vec()?;
    Ok(values.chunks_exact(width).map(<[f32]>::to_vec).collect())
}
