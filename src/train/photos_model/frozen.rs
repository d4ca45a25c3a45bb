//! The encoder of photographs, frozen, for every method of the papers: towers and heads of a finished `train photos`.
//!
//! Heads memorise the pairs they were trained on, and no uncertainty can be learnt of those. So each training
//! picture is read by the heads of a fold that has not seen it, turned into the space of the shipped heads by the
//! rotation that fits best on development captions and pictures: within a fold a rotation changes no cosine. What is
//! measured on is read by the shipped heads.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use burn::tensor::{Device, Tensor};

use super::data::read_hierarcaps;
use super::heads::Heads;
use super::pipeline::features_folder;
use super::tower_features::{PictureRows, TowerFeatures};
use super::training::{N_FOLDS, Recipes, fresh_heads, manifest_of, recipes_of, restore};
use crate::device;
use crate::model::clip::normalize;
use crate::model::encoder::TowersConfig;
use crate::preprocess::Tokens;
use crate::train::data::{ItemCaption, Listing, flickr};
use crate::train::experiments::EvaluationData;
use crate::train::features::cache::{Cache, CacheConfig, CaptionRow, IdMap, Split};
use crate::train::features::encoder::Encoder;
use crate::train::features::rows::{Embedded, Rows};
use crate::train::files;
use crate::train::methods::rotation;
use crate::weights::manifest::EncoderConfig;

/// The name of this world on the command line and in results.
pub const PHOTOS: &str = "photos";
/// The seed whose heads are the encoder: that of the shipped model.
const SEED_FOLDER: &str = "seed-0";

/// Folders of towers, heads and data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrozenPhotos {
    /// The folder that `train photos` wrote.
    pub run: PathBuf,
    /// Flickr8k: its captions, lists and pictures.
    pub flickr8k: PathBuf,
    /// `HierarCaps`, to measure on too.
    pub hierarcaps: Option<PathBuf>,
}

/// Tower features of pictures and captions.
struct TowerRows {
    images: Rows,
    texts: Rows,
}

/// Towers and heads, opened.
struct FrozenEncoder {
    encoder: Encoder,
    towers: TowersConfig,
    heads: Heads,
    recipes: Recipes,
    features: PathBuf,
    of_pictures: PictureRows,
    /// The `train photos` that made towers and heads, as the towers' manifest has it.
    command: String,
    device: Device,
}

impl FrozenPhotos {
    /// Features of Flickr8k's training and test pictures, and of `HierarCaps`.
    ///
    /// # Errors
    ///
    /// The folder is not that of a finished `train photos`, or a list cannot be read.
    pub fn data(&self) -> Result<EvaluationData> {
        let frozen = self.open()?;
        let [train, dev, test] = flickr::official_splits(&self.flickr8k)?;
        let dev = frozen.rows(&dev, ["dev-pictures", "dev-captions"])?;
        let own = Cache {
            train: self.unseen(&frozen, &train, &dev)?,
            test: frozen.split(&test, ["test-pictures", "test-captions"])?,
            tasks: Vec::new(),
            probes: None,
            config: self.config(&frozen, PHOTOS)?,
        };
        let hierarcaps = self.hierarcaps.as_deref().map(|root| {
            let listing = read_hierarcaps(root)?;
            Ok::<_, anyhow::Error>(Cache {
                train: empty(),
                test: frozen.split(&listing, ["hierarcaps-pictures", "hierarcaps-captions"])?,
                tasks: Vec::new(),
                probes: None,
                config: self.config(&frozen, "hierarcaps")?,
            })
        });
        let hashes = self.hashes()?;
        let data = EvaluationData::new(own, hierarcaps.transpose()?.into_iter().collect())?;
        Ok(data.with_hashes(hashes))
    }

    fn open(&self) -> Result<FrozenEncoder> {
        let (folder, device) = (self.run.join("towers"), device::cpu());
        let manifest = manifest_of(&folder)?;
        let EncoderConfig::Towers(imported) = manifest.encoder else {
            anyhow::bail!("{}: two towers were expected", folder.display());
        };
        let towers = TowersConfig::of(imported.text, imported.image);
        let recipes = recipes_of(&self.seed_folder())?;
        let is_tuned = recipes.tuning_steps > 0;
        Ok(FrozenEncoder {
            heads: self.heads(&recipes, &towers, "heads", &device)?,
            encoder: Encoder::open(&folder, &device)?,
            features: self.run.join(features_folder(is_tuned)),
            of_pictures: PictureRows::of(is_tuned),
            recipes,
            command: manifest.provenance.command,
            towers,
            device,
        })
    }

    fn heads(
        &self,
        recipes: &Recipes,
        towers: &TowersConfig,
        name: &str,
        device: &Device,
    ) -> Result<Heads> {
        let path = self.seed_folder().join(format!("{name}.safetensors"));
        restore(fresh_heads(recipes, towers, device), &path)
    }

    fn seed_folder(&self) -> PathBuf {
        self.run.join(SEED_FOLDER)
    }

    /// Training pictures with their captions, each read by heads that have not seen it.
    fn unseen(&self, frozen: &FrozenEncoder, train: &Listing, dev: &TowerRows) -> Result<Split> {
        let rows = frozen.rows(train, ["train-pictures", "train-captions"])?;
        let ids = frozen.ids(train)?;
        let mut split = [&rows.texts, &rows.images].map(|rows| vec![Vec::new(); rows.n_rows()]);
        for fold in 0..N_FOLDS {
            let name = format!("fold-{fold}");
            let heads = self.heads(&frozen.recipes, &frozen.towers, &name, &frozen.device)?;
            let turn = frozen.rotation_from(&heads, dev, fold)?;
            let is_unseen = |picture: usize| picture % N_FOLDS == fold;
            let texts =
                (0..rows.texts.n_rows()).filter(|text| is_unseen(ids.captions[*text].image));
            let images = (0..rows.images.n_rows()).filter(|image| is_unseen(*image));
            let of_text = |rows| heads.text.head.forward(rows);
            let of_image = |rows| heads.image.head.forward(rows);
            let texts: Vec<usize> = texts.collect();
            put(&mut split[0], &rows.texts.of(&texts), texts, |rows| {
                of_text(rows).matmul(turn.clone())
            })?;
            let images: Vec<usize> = images.collect();
            let seen = heads.tower_features(&rows.images.of(&images), &frozen.device)?;
            put(&mut split[1], &seen, images, |rows| {
                of_image(rows).matmul(turn.clone())
            })?;
        }
        let [texts, images] = split.map(|rows| bare(rows, frozen.towers.embed_dim));
        Ok(Split { ids, texts, images })
    }

    fn config(&self, frozen: &FrozenEncoder, dataset: &str) -> Result<CacheConfig> {
        let heads = std::fs::read(self.seed_folder().join("heads.safetensors"))?;
        let mut weights = frozen.encoder.weights().to_vec();
        weights.push(files::sha256(&heads));
        Ok(CacheConfig {
            dataset: dataset.to_owned(),
            model: "photos, training pictures by heads of folds that have not seen them".to_owned(),
            weights,
            embed_dim: frozen.towers.embed_dim,
            squared_text_norm: 0.0,
            squared_image_norm: 0.0,
            logits: None,
            views: 0,
            noise: String::new(),
            seed: 0,
            command: frozen.command.clone(),
        })
    }

    /// SHA-256 of the pieces of features that are read, and of all heads, by file.
    fn hashes(&self) -> Result<BTreeMap<String, String>> {
        let used = [
            "train-pictures",
            "train-captions",
            "dev-",
            "test-",
            "hierarcaps-",
            "heads",
            "fold-",
        ];
        let is_tuned = recipes_of(&self.seed_folder())?.tuning_steps > 0;
        let all = [features_folder(is_tuned), SEED_FOLDER].map(|folder| {
            let hashes = files::hashes(&self.run.join(folder))?;
            Ok::<_, anyhow::Error>((folder, hashes))
        });
        let mut found = BTreeMap::new();
        for folder in all {
            let (folder, hashes) = folder?;
            let is_used =
                |(file, _): &(String, String)| used.iter().any(|name| file.starts_with(name));
            let hashes = hashes.into_iter().filter(is_used);
            found.extend(hashes.map(|(file, hash)| (format!("{folder}/{file}"), hash)));
        }
        Ok(found)
    }
}

impl FrozenEncoder {
    /// Tower features of pictures and captions, which `train photos` kept.
    fn rows(
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

    fn ids(&self, listing: &Listing) -> Result<IdMap> {
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
    fn split(&self, listing: &Listing, names: [&'static str; 2]) -> Result<Split> {
        let rows = self.rows(listing, names)?;
        let images = self.heads.tower_features(&rows.images, &self.device)?;
        let of = |features: Tensor<2>| -> Result<Embedded> {
            let features = Rows::from_device(features)?;
            Ok(Embedded::new(features, Rows::empty(0)))
        };
        Ok(Split {
            ids: self.ids(listing)?,
            texts: of(self
                .heads
                .text
                .head
                .forward(rows.texts.to_device(&self.device)))?,
            images: of(self
                .heads
                .image
                .head
                .forward(images.to_device(&self.device)))?,
        })
    }

    /// The rotation of a fold's space into that of the shipped heads.
    fn rotation_from(&self, fold: &Heads, dev: &TowerRows, number: usize) -> Result<Tensor<2>> {
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

/// Puts what is made of rows in their places.
fn put(
    places: &mut [Vec<f32>],
    rows: &Rows,
    chosen: Vec<usize>,
    make: impl Fn(Tensor<2>) -> Tensor<2>,
) -> Result<()> {
    let made = Rows::from_device(make(rows.to_device(&device::cpu())))?;
    for (i, row) in chosen.into_iter().enumerate() {
        places[row] = made.row(i).to_vec();
    }
    Ok(())
}

fn bare(rows: Vec<Vec<f32>>, width: usize) -> Embedded {
    let values = rows.into_iter().flatten().collect();
    Embedded::new(Rows { values, width }, Rows::empty(0))
}

fn empty() -> Split {
    Split {
        ids: IdMap::default(),
        texts: Embedded::empty(0, 0),
        images: Embedded::empty(0, 0),
    }
}
