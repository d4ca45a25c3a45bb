//! The encoder of photographs, frozen, for every method of the papers: towers and heads of a finished `train photos`.
//!
//! Heads memorise the pairs they were trained on, and no uncertainty can be learnt of those. So each training
//! picture is read by the heads of a fold that has not seen it, turned into the space of the shipped heads by the
//! rotation that fits best on development captions and pictures: within a fold a rotation changes no cosine. What is
//! measured on is read by the shipped heads.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use burn::tensor::Tensor;

use super::data::read_hierarcaps;
use super::frozen_encoder::{FrozenEncoder, TowerRows};
use super::test_variants::{TestVariants, VariantPlan};
use super::training::N_FOLDS;
use crate::device;
use crate::train::data::{Listing, flickr};
use crate::train::experiments::EvaluationData;
use crate::train::experiments::corrupted::{CorruptedSplit, FOLDER};
use crate::train::features::cache::{Cache, CacheConfig, Split};
use crate::train::features::rows::{Embedded, Rows};
use crate::train::files;

/// The name of this world on the command line and in results.
pub const PHOTOS: &str = "photos";

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

impl FrozenPhotos {
    /// Features of Flickr8k's training and test pictures, and of `HierarCaps`. Test pictures and captions that lie in
    /// the run's folder otherwise, corrupted and in augmented views, are measured on, too; those of `variants` are
    /// embedded first where they are missing.
    ///
    /// # Errors
    ///
    /// The folder is not that of a finished `train photos`, a list or a picture cannot be read, or the user
    /// interrupted.
    pub fn data(&self, variants: Option<&VariantPlan>) -> Result<EvaluationData> {
        let frozen = FrozenEncoder::open(&self.run)?;
        let [train, dev, test] = flickr::official_splits(&self.flickr8k)?;
        let dev = frozen.rows(&dev, ["dev-pictures", "dev-captions"])?;
        let mut own = Cache {
            train: unseen(&frozen, &train, &dev)?,
            test: frozen.split(&test, ["test-pictures", "test-captions"])?,
            tasks: Vec::new(),
            probes: Some(frozen.probes()?),
            config: config(&frozen, PHOTOS)?,
        };
        let test = TestVariants {
            encoder: &frozen,
            test: &test,
            folder: &self.run,
        };
        if let Some(plan) = variants {
            test.add(plan, &own)?;
        }
        (own.config.views, own.test.images.view_spread) = test.view_spread()?;
        let corrupted = CorruptedSplit::read_all(&own, &self.run)?;
        let others = [
            self.hierarcaps(&frozen)?,
            test.both_corrupted(&own, &corrupted)?,
        ];
        let data = EvaluationData::new(own, others.into_iter().flatten().collect())?;
        let data = data.with_corrupted(corrupted);
        Ok(data.with_hashes(self.hashes(&frozen)?))
    }

    fn hierarcaps(&self, frozen: &FrozenEncoder) -> Result<Option<Cache>> {
        let Some(root) = &self.hierarcaps else {
            return Ok(None);
        };
        let names = ["hierarcaps-pictures", "hierarcaps-captions"];
        Ok(Some(Cache {
            train: Split::empty(),
            test: frozen.split(&read_hierarcaps(root)?, names)?,
            tasks: Vec::new(),
            probes: Some(frozen.probes()?),
            config: config(frozen, "hierarcaps")?,
        }))
    }

    /// SHA-256 of the pieces of features that are read, and of all heads, by file.
    fn hashes(&self, frozen: &FrozenEncoder) -> Result<BTreeMap<String, String>> {
        const USED: [&str; 7] = [
            "train-pictures",
            "train-captions",
            "dev-",
            "test-",
            "hierarcaps-",
            "heads",
            "fold-",
        ];
        let variants = self.run.join(FOLDER);
        let folders = [&frozen.features, &frozen.seed_folder, &variants];
        let mut found = BTreeMap::new();
        for folder in folders.into_iter().filter(|folder| folder.exists()) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let is_used =
                |file: &str| *folder == variants || USED.iter().any(|used| file.starts_with(used));
            let hashes = files::hashes(folder)?.into_iter();
            let hashes = hashes.filter(|(file, _)| is_used(file));
            found.extend(hashes.map(|(file, hash)| (format!("{name}/{file}"), hash)));
        }
        Ok(found)
    }
}

/// Training pictures with their captions, each read by heads that have not seen it.
fn unseen(frozen: &FrozenEncoder, train: &Listing, dev: &TowerRows) -> Result<Split> {
    let rows = frozen.rows(train, ["train-pictures", "train-captions"])?;
    let ids = frozen.ids(train)?;
    let mut split = [&rows.texts, &rows.images].map(|rows| vec![Vec::new(); rows.n_rows()]);
    for fold in 0..N_FOLDS {
        let heads = frozen.heads_of_fold(fold)?;
        let turn = frozen.rotation_from(&heads, dev, fold)?;
        let is_unseen = |picture: usize| picture % N_FOLDS == fold;
        let texts = (0..rows.texts.n_rows()).filter(|text| is_unseen(ids.captions[*text].image));
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

fn config(frozen: &FrozenEncoder, dataset: &str) -> Result<CacheConfig> {
    Ok(CacheConfig {
        dataset: dataset.to_owned(),
        model: "photos, training pictures by heads of folds that have not seen them".to_owned(),
        weights: frozen.weights()?,
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
