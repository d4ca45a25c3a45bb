//! The frozen encoder of a finished `train photos`: its towers, and the heads and last stage of one seed.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use burn::tensor::{Device, Tensor};

use super::heads::Heads;
use super::pipeline::features_folder;
use super::tower_features::{PictureRows, TowerFeatures};
use super::training::{Recipes, fresh_heads, manifest_of, recipes_of, restore};
use crate::device;
use crate::model::clip::normalize;
use crate::model::encoder::TowersConfig;
use crate::preprocess::Tokens;
use crate::train::data::{ItemCaption, Listing};
use crate::train::features::cache::{CaptionRow, IdMap, Split};
use crate::train::features::encoder::Encoder;
use crate::train::features::probes::{PHOTOGRAPH_SENTENCES, ProbeSentences};
use crate::train::features::rows::{Embedded, Rows};
use crate::train::files;
use crate::train::methods::rotation;
use crate::weights::manifest::EncoderConfig;

/// The seed whose heads are the encoder: that of the shipped model.
const SEED_FOLDER: &str = "seed-0";

/// Tower features of pictures and captions.
pub(super) struct TowerRows {
    /// Features of the pictures, or the maps that the last stage reads.
    pub(super) images: Rows,
    /// Features of the captions.
    pub(super) texts: Rows,
}

/// Towers and heads, opened.
pub(super) struct FrozenEncoder {
    /// The towers, with the preprocessing of captions and pictures.
    pub(super) encoder: Encoder,
    /// Sizes of towers and heads.
    pub(super) towers: TowersConfig,
    heads: Heads,
    recipes: Recipes,
    /// Folder of the seed whose heads these are.
    pub(super) seed_folder: PathBuf,
    /// Folder of the tower features that `train photos` kept.
    pub(super) features: PathBuf,
    of_pictures: PictureRows,
    /// The `train photos` that made towers and heads, as the towers' manifest has it.
    pub(super) command: String,
    /// Device of towers and heads.
    pub(super) device: Device,
}

impl FrozenEncoder {
    /// Towers and heads in the folder of a finished `train photos`.
    ///
    /// # Errors
    ///
    /// A file is missing or broken, or the folder is of another kind of encoder.
    pub(super) fn open(run: &Path) -> Result<Self> {
        let (folder, device) = (run.join("towers"), device::cpu());
        let manifest = manifest_of(&folder)?;
        let EncoderConfig::Towers(imported) = manifest.encoder else {
            anyhow::bail!("{}: two towers were expected", folder.display());
        };
        let towers = TowersConfig::of(imported.text, imported.image);
        let seed_folder = run.join(SEED_FOLDER);
        let recipes = recipes_of(&seed_folder)?;
        let is_tuned = recipes.tuning_steps > 0;
        let heads = fresh_heads(&recipes, &towers, &device);
        Ok(Self {
            heads: restore(heads, &seed_folder.join("heads.safetensors"))?,
            encoder: Encoder::open(&folder, &device)?,
            features: run.join(features_folder(is_tuned)),
            of_pictures: PictureRows::of(is_tuned),
            command: manifest.provenance.command,
            recipes,
            seed_folder,
            towers,
            device,
        })
    }

    /// The heads of a fold, which have not seen its pictures.
    ///
    /// # Errors
    ///
    /// They are missing or broken.
    pub(super) fn heads_of_fold(&self, fold: usize) -> Result<Heads> {
        let path = self.seed_folder.join(format!("fold-{fold}.safetensors"));
        let heads = fresh_heads(&self.recipes, &self.towers, &self.device);
        restore(heads, &path)
    }

    /// SHA-256 of the towers' files and of the heads.
    ///
    /// # Errors
    ///
    /// The heads cannot be read.
    pub(super) fn weights(&self) -> Result<Vec<String>> {
        let heads = std::fs::read(self.seed_folder.join("heads.safetensors"))?;
        let mut weights = self.encoder.weights().to_vec();
        weights.push(files::sha256(&heads));
        Ok(weights)
    }

    /// Tower features of pictures and captions, which `train photos` kept.
    ///
    /// # Errors
    ///
    /// They were not kept, or are of other towers, pictures or texts.
    pub(super) fn rows(
        &self,
        listing: &Listing,
        [pictures, captions]: [&'static str; 2],
    ) -> Result<TowerRows> {
        let features = TowerFeatures {
            encoder: &self.encoder,
            folder: self.features.clone(),
            of_pictures: self.of_pictures,
        };
        ensure!(
            self.features.join(format!("{captions}.json")).exists(),
            "{}: no {captions}; a finished `train photos` was expected",
            self.features.display()
        );
        Ok(TowerRows {
            images: features.images(pictures, &listing.items, None)?,
            texts: features.texts(captions, &texts(listing))?,
        })
    }

    /// Names of pictures and captions, with the captions' lengths.
    ///
    /// # Errors
    ///
    /// A caption that the tokenizer refuses.
    pub(super) fn ids(&self, listing: &Listing) -> Result<IdMap> {
        let said = texts(listing);
        let tokens = self.encoder.tokens(&said)?;
        let items = listing.items.iter().enumerate();
        let of_items =
            items.flat_map(|(image, item)| item.captions.iter().map(move |c| (image, c)));
        let row = |((image, caption), tokens): ((usize, &ItemCaption), &Tokens)| CaptionRow {
            text: caption.text.clone(),
            image,
            // Without start and end.
            n_tokens: tokens.n_tokens,
            level: caption.level,
            bits: None,
        };
        Ok(IdMap {
            images: listing.items.iter().map(|item| item.id.clone()).collect(),
            captions: of_items.zip(&tokens).map(row).collect(),
            truths: None,
        })
    }

    /// Pictures and captions that no heads have seen, by the shipped ones.
    ///
    /// # Errors
    ///
    /// As [`rows`](Self::rows), or the device fails.
    pub(super) fn split(&self, listing: &Listing, names: [&'static str; 2]) -> Result<Split> {
        let rows = self.rows(listing, names)?;
        Ok(Split {
            ids: self.ids(listing)?,
            texts: Embedded::new(self.texts_of_rows(&rows.texts)?, Rows::empty(0)),
            images: Embedded::new(self.images_of_rows(&rows.images)?, Rows::empty(0)),
        })
    }

    /// Features of preprocessed pictures, `[n, embed_dim]`, not normalised.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub(super) fn images(&self, pixels: &[Vec<f32>]) -> Result<Rows> {
        self.images_of_rows(&self.of_pictures.of_pixels(&self.encoder, pixels)?)
    }

    /// Features of captions, `[n, embed_dim]`, not normalised.
    ///
    /// # Errors
    ///
    /// A caption that the tokenizer refuses, or a device that fails.
    pub(super) fn texts(&self, captions: &[String]) -> Result<Rows> {
        let tokens = self.encoder.tokens(captions)?;
        self.texts_of_rows(&self.encoder.all_texts(&tokens, |_| {})?.activations)
    }

    /// Sentences whose κ fits report while they are under way, among them the one without words.
    ///
    /// # Errors
    ///
    /// As [`texts`](Self::texts).
    pub(super) fn probes(&self) -> Result<ProbeSentences> {
        let sentences: Vec<String> = PHOTOGRAPH_SENTENCES.map(str::to_owned).into();
        Ok(ProbeSentences {
            features: self.texts(&sentences)?,
            sentences,
        })
    }

    fn images_of_rows(&self, rows: &Rows) -> Result<Rows> {
        let features = self.heads.tower_features(rows, &self.device)?;
        let features = features.to_device(&self.device);
        Rows::from_device(self.heads.image.head.forward(features))
    }

    fn texts_of_rows(&self, rows: &Rows) -> Result<Rows> {
        Rows::from_device(self.heads.text.head.forward(rows.to_device(&self.device)))
    }

    /// The rotation of a fold's space into that of the shipped heads.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub(super) fn rotation_from(
        &self,
        fold: &Heads,
        dev: &TowerRows,
        number: usize,
    ) -> Result<Tensor<2>> {
        let of = |heads: &Heads| {
            let texts = heads.texts(dev.texts.to_device(&self.device));
            let images = heads.tower_features(&dev.images, &self.device)?;
            let images = heads.images(images.to_device(&self.device));
            Ok::<_, anyhow::Error>(Tensor::cat(vec![texts, images], 0))
        };
        let (from, to) = (of(fold)?, of(&self.heads)?);
        let turn = rotation(&from, &to)?;
        let cosine = (normalize(from.matmul(turn.clone())) * to)
            .sum_dim(1)
            .mean();
        let cosine: f32 = cosine.try_into_scalar()?;
        eprintln!(
            "fold {number}: turned into the shipped space, cosine {cosine:.3} on development data"
        );
        Ok(turn)
    }
}

fn texts(listing: &Listing) -> Vec<&str> {
    let captions = listing.items.iter().flat_map(|item| &item.captions);
    captions.map(|caption| caption.text.as_str()).collect()
}
