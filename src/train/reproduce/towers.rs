//! A frozen encoder at work: pictures and captions in, features out, with what the projections were fed.

use std::path::Path;

use anyhow::{Context as _, Result};
use burn::tensor::{Device, Int, Tensor, TensorData};
use rayon::prelude::*;

use super::cache::{CacheConfig, Rows};
use crate::model::encoder::{ImageEncoder, TextEncoder};
use crate::model::parameters::{Parameters as _, TensorRecord};
use crate::preprocess::{ImagePreprocess, RgbPixels, TextPreprocess, Tokens};
use crate::train::batch::TokenBatch;
use crate::train::data::corruption::Corruptions;
use crate::weights::manifest::{Manifest, Part};
use crate::weights::shard::{join, read, verify};

/// Pictures or captions that go through a tower together.
pub(super) const ROWS_PER_PASS: usize = 256;

/// A frozen encoder with what turns words and pixels into its inputs.
pub(super) struct Towers {
    text: TextEncoder,
    vision: ImageEncoder,
    tokenizer: TextPreprocess,
    preprocess: ImagePreprocess,
    context_length: usize,
    device: Device,
    manifest: Manifest,
}

/// Features, and what the projection was fed to make them.
#[derive(Debug, Clone)]
pub(in crate::train) struct Embedded {
    pub(in crate::train) features: Rows,
    pub(in crate::train) activations: Rows,
}

impl Embedded {
    /// No rows yet.
    pub(super) fn empty(embed_dim: usize, tower_width: usize) -> Self {
        let rows = |width| Rows {
            values: Vec::new(),
            width,
        };
        Self {
            features: rows(embed_dim),
            activations: rows(tower_width),
        }
    }

    pub(super) fn append(&mut self, more: Self) {
        self.features.values.extend(more.features.values);
        self.activations.values.extend(more.activations.values);
    }
}

impl Towers {
    /// Opens a model folder.
    ///
    /// # Errors
    ///
    /// Files are missing or differ from the manifest.
    pub(super) fn open(folder: &Path, device: &Device) -> Result<Self> {
        let path = folder.join("manifest.json");
        let json = std::fs::read(&path)
            .with_context(|| format!("{}: a model folder was expected", path.display()))?;
        let manifest = Manifest::from_json(&json)?;
        let mut text = manifest.encoder.init_text(device);
        text.load(records(&manifest, Part::Text, folder)?)?;
        let mut vision = manifest.encoder.init_vision(device);
        vision.load(records(&manifest, Part::Image, folder)?)?;
        let path = folder.join(&manifest.tokenizer.file);
        let tokenizer = std::fs::read(&path).with_context(|| path.display().to_string())?;
        verify(&tokenizer, &manifest.tokenizer)?;
        let context_length = manifest.encoder.context_length();
        Ok(Self {
            text,
            vision,
            tokenizer: TextPreprocess::from_tokenizer_json(&tokenizer, context_length)?,
            preprocess: manifest.preprocess.clone(),
            context_length,
            device: device.clone(),
            manifest,
        })
    }

    /// What a cache of this encoder's features says of them.
    pub(super) fn config(
        &self,
        dataset: &str,
        noise: String,
        seed: u64,
        command: String,
    ) -> CacheConfig {
        let squared_norm = |weights: Tensor<2>| {
            let weights = weights.without_autodiff();
            f64::from((weights.clone() * weights).sum().into_scalar::<f32>())
        };
        let of_texts = self.text.projection_weights().map(squared_norm);
        let of_images = self.vision.projection_weights().map(squared_norm);
        let shards = self.manifest.shards.iter();
        CacheConfig {
            dataset: dataset.to_owned(),
            model: self.manifest.name.clone(),
            weights: shards
                .filter(|shard| matches!(shard.part, Part::Text | Part::Image))
                .map(|shard| shard.entry.sha256.clone())
                .collect(),
            embed_dim: self.manifest.encoder.embed_dim(),
            squared_text_norm: of_texts.unwrap_or_default(),
            squared_image_norm: of_images.unwrap_or_default(),
            noise,
            seed,
            command,
        }
    }

    /// No captions yet.
    pub(super) fn no_texts(&self) -> Embedded {
        Embedded::empty(
            self.manifest.encoder.embed_dim(),
            self.manifest.encoder.pooled_widths().0,
        )
    }

    /// No pictures yet.
    pub(super) fn no_images(&self) -> Embedded {
        Embedded::empty(
            self.manifest.encoder.embed_dim(),
            self.manifest.encoder.pooled_widths().1,
        )
    }

    /// Token ids of captions.
    ///
    /// # Errors
    ///
    /// A caption that the tokenizer refuses.
    pub(super) fn tokens<S: AsRef<str> + Sync>(&self, captions: &[S]) -> Result<Vec<Tokens>> {
        let captions = captions.par_iter();
        let tokens: crate::error::Result<Vec<Tokens>> = captions
            .map(|caption| self.tokenizer.encode(caption.as_ref()))
            .collect();
        Ok(tokens?)
    }

    /// A picture as the vision tower reads it, corrupted if that is asked for.
    pub(super) fn pixels(&self, rgb: &RgbPixels, id: &str, noise: Corruptions) -> Vec<f32> {
        let square = self.preprocess.resize(rgb);
        self.preprocess.normalise(&noise.picture(square, id))
    }

    /// Preprocessed pictures through the vision tower, in one pass.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub(super) fn images(&self, pixels: &[Vec<f32>]) -> Result<Embedded> {
        let side = self.preprocess.image_size;
        let pixels = TensorData::new(pixels.concat(), [pixels.len(), 3, side, side]);
        let pooled = self.vision.pool(Tensor::from_data(pixels, &self.device));
        Ok(Embedded {
            features: Rows::from_device(self.vision.project(pooled.clone()))?,
            activations: Rows::from_device(pooled)?,
        })
    }

    /// Captions through the text tower, in one pass.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub(super) fn texts(&self, tokens: &[Tokens]) -> Result<Embedded> {
        let batch = TokenBatch::within(tokens, self.context_length);
        let ids = TensorData::new(batch.ids, [tokens.len(), batch.n_tokens]);
        let ends = TensorData::new(batch.ends, [tokens.len()]);
        let ids = Tensor::<2, Int>::from_data(ids, &self.device);
        let ends = Tensor::<1, Int>::from_data(ends, &self.device);
        let pooled = self.text.pool(ids, ends);
        Ok(Embedded {
            features: Rows::from_device(self.text.project(pooled.clone()))?,
            activations: Rows::from_device(pooled)?,
        })
    }

    /// Any number of captions.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub(super) fn all_texts(
        &self,
        tokens: &[Tokens],
        mut progress: impl FnMut(usize),
    ) -> Result<Embedded> {
        // Captions of similar length go together: what is padded is computed for nothing.
        let mut order: Vec<usize> = (0..tokens.len()).collect();
        order.sort_by_key(|&row| tokens[row].ids.len());
        let mut embedded = self.no_texts();
        let mut n_done = 0;
        for rows in order.chunks(ROWS_PER_PASS) {
            let chunk: Vec<Tokens> = rows.iter().map(|&row| tokens[row].clone()).collect();
            embedded.append(self.texts(&chunk)?);
            n_done += chunk.len();
            progress(n_done);
        }
        embedded.features.put_back(&order);
        embedded.activations.put_back(&order);
        Ok(embedded)
    }
}

fn records(manifest: &Manifest, part: Part, folder: &Path) -> Result<Vec<TensorRecord>> {
    let mut records = Vec::new();
    for shard in manifest.shards(part) {
        let path = folder.join(&shard.entry.file);
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        verify(&bytes, &shard.entry)?;
        records.extend(read(&bytes)?);
    }
    Ok(join(records)?)
}
