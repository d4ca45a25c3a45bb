//! A frozen encoder: pictures and captions → features, and the activations before the last projection of each tower.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;

use super::cache::CacheConfig;
use super::probes::ProbeSentences;
use super::rows::{Embedded, Rows};
use super::tokens::TokenBatch;
use super::views::separated;
use crate::device::cpu;
use crate::model::clip::{Clip, ClipConfig};
use crate::model::encoder::{EncoderConfig, ImageEncoder, TextEncoder};
use crate::model::parameters::{Parameters as _, TensorRecord};
use crate::preprocess::{ImagePreprocess, RgbPixels, TextPreprocess, Tokens};
use crate::train::data::augment::Augmentation;
use crate::train::data::corruption::Corruptions;
use crate::train::files::read_manifest;
use crate::weights::manifest::{Logits, Manifest, Part};
use crate::weights::shard::{join, read, verify};

/// Pictures or captions that go through a tower together.
pub const ROWS_PER_PASS: usize = 256;

/// Pictures that go through the vision tower together, each with so many views.
#[must_use]
pub const fn pictures_per_pass(n_views: usize) -> usize {
    let pictures = ROWS_PER_PASS / (1 + n_views);
    if pictures == 0 { 1 } else { pictures }
}

/// Rows of a pass that a core of the CPU takes at a time.
const ROWS_PER_CORE: usize = 32;

/// A frozen encoder with the preprocessing of its captions and pictures.
#[derive(Debug)]
pub struct Encoder {
    text: TextEncoder,
    vision: ImageEncoder,
    config: EncoderConfig,
    tokenizer: TextPreprocess,
    preprocess: ImagePreprocess,
    device: Device,
    name: String,
    logits: Option<Logits>,
    /// SHA-256 of the towers' files; none for towers that were just trained.
    weights: Vec<String>,
}

impl Encoder {
    /// Opens the encoder of a model folder, without its adapters.
    ///
    /// # Errors
    ///
    /// Files are missing or differ from the manifest.
    pub fn open(folder: &Path, device: &Device) -> Result<Self> {
        let manifest = read_manifest(folder)?;
        let mut text = manifest.encoder.init_text(device);
        text.load(records(&manifest, Part::Text, folder)?)?;
        let mut vision = manifest.encoder.init_vision(device);
        vision.load(records(&manifest, Part::Image, folder)?)?;
        let path = folder.join(&manifest.tokenizer.file);
        let tokenizer = std::fs::read(&path).with_context(|| path.display().to_string())?;
        verify(&tokenizer, &manifest.tokenizer)?;
        let context_length = manifest.encoder.context_length();
        let shards = manifest.shards.iter();
        Ok(Self {
            text,
            vision,
            tokenizer: TextPreprocess::from_tokenizer_json(&tokenizer, context_length)?,
            preprocess: manifest.preprocess.clone(),
            device: device.clone(),
            weights: shards
                .filter(|shard| matches!(shard.part, Part::Text | Part::Image))
                .map(|shard| shard.entry.sha256.clone())
                .collect(),
            name: manifest.name,
            logits: manifest.logits,
            config: manifest.encoder,
        })
    }

    /// Towers that were just trained, without autodiff.
    #[must_use]
    pub fn of_trained(
        clip: &Clip,
        config: &ClipConfig,
        tokenizer: TextPreprocess,
        preprocess: ImagePreprocess,
        device: &Device,
    ) -> Self {
        Self {
            text: TextEncoder::Clip(clip.text.clone()),
            vision: ImageEncoder::Clip(clip.vision.clone()),
            config: EncoderConfig::Clip(config.clone()),
            tokenizer,
            preprocess,
            device: device.clone(),
            name: String::new(),
            logits: None,
            weights: Vec::new(),
        }
    }

    /// The device of the towers.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// SHA-256 of the towers' files.
    #[must_use]
    pub fn weights(&self) -> &[String] {
        &self.weights
    }

    /// The configuration of a cache of this encoder's features.
    #[must_use]
    pub fn cache_config(
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
        CacheConfig {
            dataset: dataset.to_owned(),
            model: self.name.clone(),
            weights: self.weights.clone(),
            embed_dim: self.config.embed_dim(),
            squared_text_norm: of_texts.unwrap_or_default(),
            squared_image_norm: of_images.unwrap_or_default(),
            logits: self.logits,
            views: 0,
            noise,
            seed,
            command,
        }
    }

    /// An empty set of embedded captions, as wide as the text tower's features.
    #[must_use]
    pub fn no_texts(&self) -> Embedded {
        Embedded::empty(self.config.embed_dim(), self.config.pooled_widths().0)
    }

    /// An empty set of embedded pictures, as wide as the image tower's features.
    #[must_use]
    pub fn no_images(&self) -> Embedded {
        Embedded::empty(self.config.embed_dim(), self.config.pooled_widths().1)
    }

    /// Token ids of captions.
    ///
    /// # Errors
    ///
    /// A caption that the tokenizer refuses.
    pub fn tokens<S: AsRef<str> + Sync>(&self, captions: &[S]) -> Result<Vec<Tokens>> {
        let encode = |caption: &S| self.tokenizer.encode(caption.as_ref());
        let tokens: crate::error::Result<Vec<Tokens>> = captions.par_iter().map(encode).collect();
        Ok(tokens?)
    }

    /// A picture as the vision tower reads it, corrupted if that is asked for.
    #[must_use]
    pub fn pixels(&self, rgb: &RgbPixels, id: &str, noise: Corruptions) -> Vec<f32> {
        let square = self.preprocess.resize(rgb);
        self.preprocess.normalise(&noise.picture(square, id))
    }

    /// A picture and, behind it, augmented views of it, as the vision tower reads them. A view is of the same name the
    /// same picture again.
    #[must_use]
    pub fn seen(
        &self,
        rgb: &RgbPixels,
        id: &str,
        noise: Corruptions,
        n_views: usize,
    ) -> Vec<Vec<f32>> {
        let seeds = 0..n_views as u64;
        let views = seeds.map(|seed| Augmentation { seed }.apply(rgb, id));
        let views = views.map(|view| self.pixels(&view, id, noise));
        std::iter::once(self.pixels(rgb, id, noise))
            .chain(views)
            .collect()
    }

    /// Pictures, each with `n_views` views behind it as [`seen`](Self::seen) makes them, through the vision tower,
    /// together.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn seen_images(&self, seen: Vec<Vec<Vec<f32>>>, n_views: usize) -> Result<Embedded> {
        let pixels: Vec<Vec<f32>> = seen.into_iter().flatten().collect();
        Ok(separated(self.images(&pixels)?, n_views))
    }

    /// Preprocessed pictures through the vision tower, together.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn images(&self, pixels: &[Vec<f32>]) -> Result<Embedded> {
        self.in_passes(pixels, self.no_images(), |pixels| self.image_pass(pixels))
    }

    /// The maps that the last stage of a locked image tower reads, of preprocessed pictures, row by row.
    ///
    /// # Errors
    ///
    /// An encoder of another kind, or a device that fails.
    pub fn image_maps(&self, pixels: &[Vec<f32>]) -> Result<Rows> {
        let ImageEncoder::Tower(vision) = &self.vision else {
            bail!("{}: a locked image tower was expected", self.name);
        };
        let maps = self.in_passes(pixels, Embedded::empty(0, 0), |pixels| {
            let maps = vision.tower.last_map(self.pixels_on_device(pixels));
            Ok(Embedded::new(Rows::empty(0), Rows::from_device(maps)?))
        })?;
        Ok(maps.activations)
    }

    fn image_pass(&self, pixels: &[Vec<f32>]) -> Result<Embedded> {
        let pooled = self.vision.pool(self.pixels_on_device(pixels)).features;
        Embedded::from_device(self.vision.project(pooled.clone()), pooled)
    }

    fn pixels_on_device(&self, pixels: &[Vec<f32>]) -> Tensor<4> {
        let side = self.preprocess.image_size;
        let pixels = TensorData::new(pixels.concat(), [pixels.len(), 3, side, side]);
        Tensor::from_data(pixels, &self.device)
    }

    /// Captions through the text tower, together.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn texts(&self, tokens: &[Tokens]) -> Result<Embedded> {
        self.in_passes(tokens, self.no_texts(), |tokens| self.text_pass(tokens))
    }

    fn text_pass(&self, tokens: &[Tokens]) -> Result<Embedded> {
        let captions = tokens.iter().map(|tokens| tokens.ids.as_slice());
        let compact = self.is_cpu().then(|| self.text.pool_compact(captions));
        let pooled = compact.flatten().unwrap_or_else(|| {
            let context_length = self.config.context_length();
            let batch = TokenBatch::new(tokens, context_length);
            self.text.pool(batch.ids_on(&self.device), &batch.ends)
        });
        Embedded::from_device(self.text.project(pooled.clone()), pooled)
    }

    /// Rows through a tower: on the CPU in small passes, one for each core at a time, since all but its products run on
    /// one.
    fn in_passes<T: Sync>(
        &self,
        rows: &[T],
        none: Embedded,
        pass: impl Fn(&[T]) -> Result<Embedded> + Send + Sync,
    ) -> Result<Embedded> {
        if !self.is_cpu() {
            return pass(rows);
        }
        let passes: Result<Vec<Embedded>> = rows.par_chunks(ROWS_PER_CORE).map(pass).collect();
        Ok(passes?.into_iter().fold(none, |mut all, more| {
            all.append(more);
            all
        }))
    }

    /// Features of sentences whose κ fits report while they are under way.
    ///
    /// # Errors
    ///
    /// The tokenizer refuses a sentence, or the device fails.
    pub fn probes(&self, sentences: &[&str]) -> Result<ProbeSentences> {
        let texts = self.all_texts(&self.tokens(sentences)?, |_| {})?;
        Ok(ProbeSentences {
            sentences: sentences.iter().map(|&said| said.to_owned()).collect(),
            features: texts.features,
        })
    }

    fn is_cpu(&self) -> bool {
        self.device == cpu()
    }

    /// Features of any number of captions, in their order.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn all_texts(
        &self,
        tokens: &[Tokens],
        mut progress: impl FnMut(usize),
    ) -> Result<Embedded> {
        // Captions of similar length go together, since padding is computed for nothing; among those, captions that
        // begin alike, since they may share their beginning.
        let mut order: Vec<usize> = (0..tokens.len()).collect();
        order.sort_by_key(|&row| (tokens[row].ids.len(), &tokens[row].ids));
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

/// The tensors of one part of a model folder.
///
/// # Errors
///
/// Files are missing or differ from the manifest.
pub(in crate::train) fn records(
    manifest: &Manifest,
    part: Part,
    folder: &Path,
) -> Result<Vec<TensorRecord>> {
    let mut records = Vec::new();
    for shard in manifest.shards(part) {
        let path = folder.join(&shard.entry.file);
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        verify(&bytes, &shard.entry)?;
        records.extend(read(&bytes)?);
    }
    Ok(join(records)?)
}
