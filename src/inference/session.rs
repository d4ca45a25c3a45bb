//! A model that is loaded and answers.

use std::sync::{Arc, OnceLock};

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::loader::Loader;
use super::reading::unit;
use super::{CaptionDistribution, ImageEncoding, Source, TextEncoding};
use crate::device::is_cpu;
use crate::error::{Error, Result, refuse_if};
use crate::model::adapter::{Adapter, AdapterConfig, PerFamily};
use crate::model::encoder::{ImageEncoder, TextEncoder};
use crate::model::parameters::{Filling, TensorRecord, WeightFormat};
use crate::preprocess::{RgbPixels, TextPreprocess, Tokens};
use crate::protocol::{Familiarity, Stage, too_long};
use crate::weights::adapter_file::AdapterFile;
use crate::weights::manifest::{Manifest, Part, UnfamiliarDetector};

/// Captions that share one pass; bounds the memory of attention, which grows with captions × tokens².
pub const CAPTIONS_PER_PASS: usize = 32;

/// Pictures that share one pass.
const IMAGES_PER_PASS: usize = 16;

/// A loaded model; clones share its weights.
#[derive(Debug, Clone)]
pub struct Session {
    manifest: Manifest,
    device: Device,
    text_preprocess: TextPreprocess,
    format: WeightFormat,
    text: TextEncoder,
    /// Image encoder, which large models load when it is first needed; captions can be described meanwhile.
    vision: Arc<OnceLock<ImageEncoder>>,
    adapters: Option<PerFamily<Adapter>>,
    logit_scale: Option<PerFamily<f64>>,
}

impl Session {
    /// Reads, verifies and loads everything that the manifest names, the text encoder first.
    ///
    /// `on_progress` is told the stage, the bytes that have arrived and the bytes in all.
    ///
    /// # Errors
    ///
    /// A manifest that contradicts itself, a file that cannot be read or is not the one the manifest means, or
    /// weights that do not fit the model.
    pub async fn open<S: Source>(
        manifest: Manifest,
        source: &S,
        device: &Device,
        mut on_progress: impl FnMut(Stage, u64, u64),
    ) -> Result<Self> {
        let format = WeightFormat::Tensor;
        let session = Self::open_text(manifest, source, device, format, &mut on_progress);
        let session = session.await?;
        session.load_vision(source, on_progress).await?;
        Ok(session)
    }

    /// Opens a model without its image encoder: captions can be described, but not compared with pictures. Both
    /// encoders hold their weights in the given format.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn open_text<S: Source>(
        manifest: Manifest,
        source: &S,
        device: &Device,
        format: WeightFormat,
        on_progress: impl FnMut(Stage, u64, u64),
    ) -> Result<Self> {
        manifest.validate()?;
        let mut loader = Loader {
            format,
            manifest: &manifest,
            source,
            loaded_bytes: 0,
            on_progress,
        };

        let tokenizer = loader.file(Stage::TextEncoder, &manifest.tokenizer).await?;
        let context_length = manifest.encoder.context_length();
        let text_preprocess = TextPreprocess::from_tokenizer_json(&tokenizer, context_length)?;
        check_vocabulary(&text_preprocess, &manifest)?;
        let text = manifest.encoder.init_text(device);
        let text = loader.fill(Stage::TextEncoder, Part::Text, text).await?;
        let adapters = loader.adapters(device).await?;

        let logit_scale = match &adapters {
            Some(adapters) => Some(logit_scale(adapters).await?),
            None => None,
        };
        Ok(Self {
            device: device.clone(),
            format,
            text_preprocess,
            text,
            vision: Arc::default(),
            adapters,
            logit_scale,
            manifest,
        })
    }

    /// Reads, verifies and loads the image encoder.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn load_vision<S: Source>(
        &self,
        source: &S,
        on_progress: impl FnMut(Stage, u64, u64),
    ) -> Result<()> {
        let image_bytes = self
            .manifest
            .shards(Part::Image)
            .map(|shard| shard.entry.bytes);
        let mut loader = Loader {
            format: self.format,
            loaded_bytes: self.manifest.weights_bytes() - image_bytes.sum::<u64>(),
            manifest: &self.manifest,
            source,
            on_progress,
        };
        let vision = self.manifest.encoder.init_vision(&self.device);
        let vision = loader
            .fill(Stage::ImageEncoder, Part::Image, vision)
            .await?;
        // If another load was faster, it has set the same weights.
        self.vision.set(vision).ok();
        Ok(())
    }

    /// Whether the image encoder is loaded.
    #[must_use]
    pub fn has_vision(&self) -> bool {
        self.vision.get().is_some()
    }

    /// Session of the same model without its image encoder, which can be loaded again.
    #[must_use]
    pub fn without_vision(&self) -> Self {
        Self {
            vision: Arc::default(),
            ..self.clone()
        }
    }

    /// Session of the same encoder with a file's adapters in place of its own.
    ///
    /// # Errors
    ///
    /// Adapters of another dimension, or weights that do not fit their own description.
    pub async fn with_adapters(&self, file: AdapterFile) -> Result<Self> {
        let AdapterFile { about, records } = file;
        let embed_dim = self.manifest.encoder.embed_dim();
        for sizes in [&about.adapters.vmf, &about.adapters.power_spherical] {
            refuse_if!(
                sizes.embed_dim != embed_dim,
                "adapters for {} dimensions, this encoder has {embed_dim}",
                sizes.embed_dim
            );
        }
        let fill = |sizes: &AdapterConfig, records: Vec<TensorRecord>| {
            let mut filling = Filling::new(sizes.init(&self.device), WeightFormat::Tensor);
            records
                .into_iter()
                .try_for_each(|record| filling.put(record))?;
            filling.finish()
        };
        let adapters = PerFamily {
            vmf: fill(&about.adapters.vmf, records.vmf)?,
            power_spherical: fill(&about.adapters.power_spherical, records.power_spherical)?,
        };
        let mut adapted = self.clone();
        adapted.logit_scale = Some(logit_scale(&adapters).await?);
        adapted.adapters = Some(adapters);
        if let Some(golden) = &mut adapted.manifest.golden {
            // These golden values belong to the adapters that are replaced.
            (golden.concentration, golden.nats) = (None, None);
        }
        // So do the picture sets.
        adapted.manifest.picture_sets = None;
        adapted.manifest.title = about.title;
        adapted.manifest.adapters = Some(about.adapters);
        adapted.manifest.reference_uncertainty = Some(about.reference_uncertainty);
        adapted.manifest.provenance.command = about.provenance.command;
        adapted.manifest.provenance.seed = about.provenance.seed;
        Ok(adapted)
    }

    /// Manifest of the model, with the adapters that were given to it later.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Format in which the encoders hold their weights.
    #[must_use]
    pub fn format(&self) -> WeightFormat {
        self.format
    }

    /// The factor τ of each adapter.
    #[must_use]
    pub fn logit_scale(&self) -> Option<PerFamily<f64>> {
        self.logit_scale
    }

    /// Embeddings of captions, in their order, with their distributions where the model has adapters.
    ///
    /// # Errors
    ///
    /// A caption that is too long or that the tokenizer cannot take, or an engine that fails.
    pub async fn encode_text(&self, captions: &[String]) -> Result<Vec<TextEncoding>> {
        if let Some(problem) = captions.iter().find_map(|caption| too_long(caption)) {
            return Err(Error::Text(problem));
        }
        let mut encodings = Vec::with_capacity(captions.len());
        for chunk in captions.chunks(CAPTIONS_PER_PASS) {
            let tokens = chunk
                .iter()
                .map(|caption| self.text_preprocess.encode(caption));
            let tokens = tokens.collect::<Result<Vec<_>>>()?;
            let rows = self.text_pass(&tokens).await?;
            let row_width = rows.len() / tokens.len();
            let pairs = tokens.into_iter().zip(rows.chunks_exact(row_width));
            encodings.extend(pairs.map(|(tokens, row)| text_encoding(tokens, row, &self.manifest)));
        }
        Ok(encodings)
    }

    /// Embedding of one picture, with its familiarity where the model has a detector.
    ///
    /// # Errors
    ///
    /// The device fails, or the image encoder is not loaded.
    pub async fn encode_image(&self, image: &RgbPixels) -> Result<ImageEncoding> {
        let mut encodings = self.encode_images(std::slice::from_ref(image)).await?;
        let none = || Error::Engine("the engine gave no answer for a picture".to_owned());
        encodings.pop().ok_or_else(none)
    }

    /// Embeddings of pictures, in their order, with their familiarity where the model has a detector.
    ///
    /// # Errors
    ///
    /// The device fails, or the image encoder is not loaded.
    pub async fn encode_images(&self, images: &[RgbPixels]) -> Result<Vec<ImageEncoding>> {
        let Some(vision) = self.vision.get() else {
            return Err(Error::Engine("the image encoder is not loaded".to_owned()));
        };
        let preprocess = &self.manifest.preprocess;
        let size = preprocess.image_size;
        let mut encodings = Vec::with_capacity(images.len());
        for chunk in images.chunks(IMAGES_PER_PASS) {
            let values: Vec<f32> = chunk.iter().flat_map(|rgb| preprocess.apply(rgb)).collect();
            let pixels = TensorData::new(values, [chunk.len(), 3, size, size]);
            let pooled = vision.pool(Tensor::<4>::from_data(pixels, &self.device));
            let mut columns = vec![vision.project(pooled.features.clone())];
            columns.extend(vision.familiarity(pooled));
            let rows = values_of(Tensor::cat(columns, 1)).await?;
            let row_width = rows.len() / chunk.len();
            let rows = rows.chunks_exact(row_width);
            encodings.extend(rows.map(|row| image_encoding(row, &self.manifest)));
        }
        Ok(encodings)
    }

    /// Share of a picture that has the colour of one of the world's grounds.
    ///
    /// Below the manifest's threshold the picture is out of distribution. `None` where the model does not know
    /// its world.
    #[must_use]
    pub fn ground_share(&self, picture: &RgbPixels) -> Option<f64> {
        let grounds = self.manifest.out_of_distribution.as_ref()?;
        Some(picture.plain_share(&grounds.grounds, grounds.tolerance))
    }

    /// Features and natural parameters of captions in one pass and one read-back.
    ///
    /// Each row holds the features, with adapters η of von Mises–Fisher and of power spherical, and how familiar the
    /// caption is if the model can tell.
    async fn text_pass(&self, tokens: &[Tokens]) -> Result<Vec<f32>> {
        let pooled = self.pool(tokens);
        let features = self.text.project(pooled.clone());
        let mut columns = vec![features.clone()];
        if let Some(adapters) = &self.adapters {
            columns.push(adapters.vmf.forward(features.clone()));
            columns.push(adapters.power_spherical.forward(features));
        }
        columns.extend(self.text.familiarity(pooled));
        values_of(Tensor::cat(columns, 1)).await
    }

    /// Pooled features of captions before the last projection of the text encoder, `[n_texts, width]`.
    ///
    /// On a GPU rows are always filled: there the number of dispatches counts more than that of tokens, and each number
    /// of tokens would be a shape more to compile and tune for.
    fn pool(&self, tokens: &[Tokens]) -> Tensor<2> {
        let end_position = |ids: &[u32]| self.manifest.encoder.end_position(ids, ids.len());
        let captions = tokens
            .iter()
            .map(|Tokens { ids, .. }| &ids[..=end_position(ids)]);
        let compact = is_cpu(&self.device)
            .then(|| self.text.pool_compact(captions))
            .flatten();
        compact.unwrap_or_else(|| {
            let (token_ids, end_positions) = self.token_batch(tokens);
            self.text.pool(token_ids, &end_positions)
        })
    }

    /// Token ids padded to the longest caption or to what the tower expects, and where each is pooled.
    fn token_batch(&self, tokens: &[Tokens]) -> (Tensor<2, Int>, Vec<usize>) {
        let n_texts = tokens.len();
        let encoder = &self.manifest.encoder;
        let filler = i64::from(encoder.end_token_id());
        let longest = tokens.iter().map(|tokens| tokens.ids.len()).max();
        let n_tokens = encoder.row_length(longest.unwrap_or_default());
        let mut token_ids = Vec::with_capacity(n_texts * n_tokens);
        let mut end_positions = Vec::with_capacity(n_texts);
        for Tokens { ids, .. } in tokens {
            end_positions.push(encoder.end_position(ids, n_tokens));
            token_ids.extend(ids.iter().map(|id| i64::from(*id)));
            token_ids.resize(end_positions.len() * n_tokens, filler);
        }
        let token_ids = TensorData::new(token_ids, [n_texts, n_tokens]);
        let token_ids = Tensor::from_data(token_ids, &self.device);
        (token_ids, end_positions)
    }
}

/// An id beyond the token table would be undefined on a GPU.
fn check_vocabulary(text_preprocess: &TextPreprocess, manifest: &Manifest) -> Result<()> {
    let (found, table) = (text_preprocess.vocab_size(), manifest.encoder.vocab_size());
    let file = &manifest.tokenizer.file;
    refuse_if!(
        found > table,
        "{file}: {found} tokens, the token table has {table}"
    );
    Ok(())
}

fn text_encoding(tokens: Tokens, row: &[f32], manifest: &Manifest) -> TextEncoding {
    let embed_dim = manifest.encoder.embed_dim();
    let (features, rest) = row.split_at(embed_dim);
    let (embedding, features_norm) = unit(features);
    let (natural_parameters, familiarity) = rest.split_at(rest.len() / embed_dim * embed_dim);
    let distributions = (!natural_parameters.is_empty()).then(|| {
        let (vmf, power_spherical) = natural_parameters.split_at(embed_dim);
        PerFamily {
            vmf: CaptionDistribution::from_natural_parameter(vmf),
            power_spherical: CaptionDistribution::from_natural_parameter(power_spherical),
        }
    });
    let detectors = manifest.unfamiliar.as_ref();
    TextEncoding {
        tokens,
        embedding,
        features_norm,
        distributions,
        familiarity: familiarity_of(familiarity, detectors.map(|both| &both.text)),
    }
}

fn image_encoding(row: &[f32], manifest: &Manifest) -> ImageEncoding {
    let (features, familiarity) = row.split_at(manifest.encoder.embed_dim());
    let detectors = manifest.unfamiliar.as_ref();
    ImageEncoding {
        embedding: unit(features).0,
        familiarity: familiarity_of(familiarity, detectors.map(|both| &both.image)),
    }
}

/// Familiarity by the mean cosine that stands behind a row's features, if the encoder has exemplars.
fn familiarity_of(given: &[f32], detector: Option<&UnfamiliarDetector>) -> Option<Familiarity> {
    let score = given.first().copied()?;
    Some(Familiarity::new(f64::from(score), detector?.threshold))
}

async fn logit_scale(adapters: &PerFamily<Adapter>) -> Result<PerFamily<f64>> {
    Ok(PerFamily {
        vmf: scalar(&adapters.vmf.logit_scale.val()).await?,
        power_spherical: scalar(&adapters.power_spherical.logit_scale.val()).await?,
    })
}

async fn scalar(tensor: &Tensor<1>) -> Result<f64> {
    let values = values_of(tensor.clone()).await?;
    let none = || Error::Engine("the engine gave no answer for a logit scale".to_owned());
    values
        .first()
        .map(|value| f64::from(*value))
        .ok_or_else(none)
}

/// Values of a tensor, read back from the device row by row; an error if the device fails.
async fn values_of<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>> {
    let failed = |reason: String| Error::Engine(format!("the engine failed: {reason}"));
    let data = tensor.into_data_async().await;
    let data = data.map_err(|error| failed(error.to_string()))?;
    let values = data.as_slice::<f32>().map(<[f32]>::to_vec);
    values.map_err(|error| failed(format!("{error:?}")))
}
