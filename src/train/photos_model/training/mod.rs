//! Heads, folds and adapters of one seed: trained once, kept in the run's folder, and measured.

mod heads;
mod measures;
mod picture_sets;
mod unfamiliar;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::adapters::{AdapterData, AdapterRecipe, Fold, adapter_config, train_adapter};
use super::data::{CaptionedListing, PhotosData};
use super::head_recipe::HeadRecipe;
use super::heads::{CaptionedPictures, Heads};
use super::tower_features::{ListingFeatures, PhotosFeatures};
use crate::model::adapter::{Adapter, AdapterConfig, Family, PerFamily};
use crate::model::efficientnet::LastStage;
use crate::model::encoder::TowersConfig;
use crate::model::parameters::Parameters;
use crate::train::export::bundle::records;
use crate::train::features::encoder;
use crate::train::features::rows::Rows;
use crate::train::files;
use crate::weights::manifest::{EncoderConfig, Manifest, Part};
use crate::weights::shard::{Precision, read, write};

/// Parts into which the training pictures are cut; the pictures of each are read by heads that have not seen them.
pub(super) const N_FOLDS: usize = 4;
/// Name of the file of the recipes in a seed's folder.
const RECIPES: &str = "recipe.json";

/// Everything that trainings of several seeds share.
#[derive(Debug)]
pub struct SeedTraining<'a> {
    data: &'a PhotosData,
    towers: TowersConfig,
    train: CaptionedPictures,
    dev: CaptionedPictures,
    /// Captions, vaguer truths and bare forms.
    texts: Rows,
    dev_vaguer: Rows,
    test: ListingFeatures,
    hierarcaps: Option<[Rows; 2]>,
    outsiders: Vec<(String, Rows)>,
    outsider_texts: Vec<(String, Rows)>,
    out: PathBuf,
    recipes: Recipes,
    /// The imported tower's last stage, where it is tuned: pictures are maps then.
    stage: Option<LastStage>,
    /// Training and development pictures as the imported tower gives their features.
    features: OnceCell<[CaptionedPictures; 2]>,
    device: Device,
}

/// Recipes of a model's trainings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipes {
    /// Recipe of the heads.
    pub heads: HeadRecipe,
    /// Recipe of the adapters.
    pub adapters: AdapterRecipe,
    /// Steps in which the image tower's last stage is tuned; 0 to leave the tower as it is.
    #[serde(default)]
    pub tuning_steps: usize,
}

/// A trained model without its towers.
#[derive(Debug)]
pub struct TrainedModel {
    /// The towers' sizes and those of the heads.
    pub towers: TowersConfig,
    /// Heads of both towers, trained on all training pictures.
    pub heads: Heads,
    /// Sizes of the adapter, the same for each family.
    pub adapter_config: AdapterConfig,
    /// Trained adapter of each family.
    pub adapters: PerFamily<Adapter>,
    /// Seed of heads and adapters, also the N in the name of their folder `seed-N`.
    pub seed: u64,
}

impl<'a> SeedTraining<'a> {
    /// Sorts the features into those to train on, to choose by and to measure on.
    ///
    /// # Errors
    ///
    /// The imported towers cannot be read.
    pub fn new(
        data: &'a PhotosData,
        embedded: PhotosFeatures,
        out: &Path,
        recipes: Recipes,
        device: Device,
    ) -> Result<Self> {
        let folder = out.join("towers");
        let manifest = manifest_of(&folder)?;
        let EncoderConfig::Towers(imported) = manifest.encoder.clone() else {
            anyhow::bail!("{}: two towers were expected", out.display());
        };
        let stage = match recipes.tuning_steps {
            0 => None,
            _ => Some(imported_stage(&manifest, &imported, &folder, &device)?),
        };
        let pairs =
            |listing: &CaptionedListing, rows: &ListingFeatures, augmented| CaptionedPictures {
                images: rows.images.clone(),
                augmented,
                captions: rows.captions.clone(),
                picture_of: listing.picture_of.clone(),
            };
        let mut texts = embedded.train.captions.clone();
        texts.append(embedded.train.vaguer.clone());
        texts.append(embedded.bare);
        Ok(Self {
            train: pairs(&data.train, &embedded.train, embedded.crops),
            dev: pairs(&data.dev, &embedded.dev, Vec::new()),
            towers: TowersConfig::of(imported.text, imported.image),
            texts,
            dev_vaguer: embedded.dev.vaguer,
            test: embedded.test,
            hierarcaps: embedded.hierarcaps,
            outsiders: embedded.outsiders,
            outsider_texts: embedded.outsider_texts,
            out: out.to_owned(),
            recipes,
            stage,
            features: OnceCell::new(),
            device,
            data,
        })
    }

    /// Trains what the folder of the seed lacks.
    ///
    /// # Errors
    ///
    /// The folder cannot be read or written, or a training diverged.
    pub fn train(&self, seed: u64) -> Result<TrainedModel> {
        let folder = self.seed_folder(seed);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("creating {}", folder.display()))?;
        self.claim(&folder)?;
        let all: Vec<usize> = (0..self.train.images.n_rows()).collect();
        let heads = self.heads(&folder, "heads", seed, &all)?;
        let folds = (0..N_FOLDS).map(|fold| self.fold(&folder, fold, seed));
        let folds = folds.collect::<Result<Vec<Fold>>>()?;
        let dev = CaptionedPictures {
            images: heads.tower_features(&self.dev.images, &self.device)?,
            ..self.dev.clone()
        };
        let data = AdapterData {
            listing: &self.data.train,
            texts: self.texts.clone(),
            images: &self.unseen_by(&folds)?,
            folds,
            heads: &heads,
            unseen: &dev,
        };
        let adapters = PerFamily {
            vmf: self.adapter(&folder, Family::VonMisesFisher, seed, &data)?,
            power_spherical: self.adapter(&folder, Family::PowerSpherical, seed, &data)?,
        };
        Ok(TrainedModel {
            towers: self.towers.clone(),
            adapter_config: adapter_config(self.towers.embed_dim, &self.recipes.adapters),
            adapters,
            heads,
            seed,
        })
    }

    fn seed_folder(&self, seed: u64) -> PathBuf {
        self.out.join(format!("seed-{seed}"))
    }

    /// Writes the recipes down, or checks that the ones there are the same.
    fn claim(&self, folder: &Path) -> Result<()> {
        let path = folder.join(RECIPES);
        let Some(there) = files::find_json::<Recipes>(&path)? else {
            return files::put_json(&path, &self.recipes);
        };
        ensure!(
            there == self.recipes,
            "{} holds a training by another recipe; choose another folder, or delete it",
            folder.display()
        );
        Ok(())
    }

    fn adapter(
        &self,
        folder: &Path,
        family: Family,
        seed: u64,
        data: &AdapterData<'_>,
    ) -> Result<Adapter> {
        let recipe = AdapterRecipe {
            seed,
            ..self.recipes.adapters.clone()
        };
        let config = adapter_config(self.towers.embed_dim, &recipe);
        let name = match family {
            Family::VonMisesFisher => "adapter_vmf",
            Family::PowerSpherical => "adapter_power_spherical",
        };
        let path = folder.join(format!("{name}.safetensors"));
        if path.exists() {
            return restore(config.init(&self.device), &path);
        }
        let adapter = train_adapter(family, &config, &recipe, data, &self.device)?;
        save(&adapter, &path)?;
        Ok(adapter)
    }
}

impl CaptionedPictures {
    /// Some of the pictures with their captions.
    #[must_use]
    pub fn of_pictures(&self, pictures: &[usize]) -> Self {
        let places: std::collections::HashMap<_, _> =
            pictures.iter().enumerate().map(|(i, p)| (*p, i)).collect();
        let kept = self.picture_of.iter().enumerate();
        let (captions, picture_of): (Vec<usize>, Vec<usize>) = kept
            .filter_map(|(caption, picture)| Some((caption, *places.get(picture)?)))
            .unzip();
        Self {
            images: self.images.of(pictures),
            augmented: self
                .augmented
                .iter()
                .map(|seen| seen.of(pictures))
                .collect(),
            captions: self.captions.of(&captions),
            picture_of,
        }
    }
}

/// The recipes of a seed's folder.
pub(super) fn recipes_of(folder: &Path) -> Result<Recipes> {
    let path = folder.join(RECIPES);
    let recipes = files::find_json(&path)?;
    recipes.with_context(|| format!("{}: a finished `train photos` was expected", path.display()))
}

/// Heads of the kind that these recipes train, with random weights.
pub(super) fn fresh_heads(recipes: &Recipes, towers: &TowersConfig, device: &Device) -> Heads {
    match recipes.tuning_steps {
        0 => Heads::new(towers, device),
        _ => Heads::with_stage(towers, device),
    }
}

/// Last stage of the imported image tower.
fn imported_stage(
    manifest: &Manifest,
    towers: &TowersConfig,
    folder: &Path,
    device: &Device,
) -> Result<LastStage> {
    let mut stage = towers.image.init_last_stage(device);
    let names = stage.named_shapes();
    let mut own = encoder::records(manifest, Part::Image, folder)?;
    own.retain(|tensor| names.iter().any(|(name, _)| *name == tensor.name));
    stage.load(own)?;
    Ok(stage)
}

pub(super) fn manifest_of(folder: &Path) -> Result<Manifest> {
    let path = folder.join("manifest.json");
    let json = std::fs::read(&path).with_context(|| path.display().to_string())?;
    Ok(Manifest::from_json(&json)?)
}

fn save(module: &impl Parameters, path: &Path) -> Result<()> {
    files::put(path, write(&records(module)?, Precision::F32)?)
}

pub(super) fn restore<M: Parameters>(mut module: M, path: &Path) -> Result<M> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let records = read(&bytes).with_context(|| path.display().to_string())?;
    module
        .load(records)
        .with_context(|| path.display().to_string())?;
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_pictures_keeps_their_captions() {
        let rows = |values: &[f32]| Rows {
            values: values.to_vec(),
            width: 1,
        };
        let all = CaptionedPictures {
            images: rows(&[0.0, 1.0, 2.0]),
            augmented: vec![rows(&[5.0, 6.0, 7.0])],
            captions: rows(&[0.0, 0.1, 1.0, 2.0, 2.1]),
            picture_of: vec![0, 0, 1, 2, 2],
        };
        let part = all.of_pictures(&[0, 2]);
        assert_eq!(part.images, rows(&[0.0, 2.0]), "two pictures");
        assert_eq!(part.augmented, [rows(&[5.0, 7.0])], "seen otherwise, too");
        assert_eq!(part.captions, rows(&[0.0, 0.1, 2.0, 2.1]), "their captions");
        assert_eq!(part.picture_of, [0, 0, 1, 1], "counted anew");
    }
}
