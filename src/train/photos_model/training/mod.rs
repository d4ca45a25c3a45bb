//! Heads, folds and adapters of one seed: trained once, kept in the run's folder, and measured.

mod picture_sets;
mod unfamiliar;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use burn::tensor::Device;

use super::adapters::{AdapterData, AdapterRecipe, Fold, adapter_config, train_adapter};
use super::data::{CaptionedListing, PhotosData, PhotosFolders};
use super::evaluation::{
    EncodedLadders, EncodedOutsiders, EvaluationInput, evaluate, judged_pairs, read_ratings,
};
use super::head_training::{HeadRecipe, train_heads};
use super::heads::{CaptionedPictures, Heads};
use super::tower_features::{ListingFeatures, PhotosFeatures, TowerFeatures};
use crate::device;
use crate::model::adapter::{Adapter, AdapterConfig, Family, PerFamily, concentration};
use crate::model::encoder::TowersConfig;
use crate::model::parameters::Parameters;
use crate::report::PhotosEvaluation;
use crate::train::data::Listing;
use crate::train::export::bundle::records;
use crate::train::features::encoder::{self, Encoder};
use crate::train::features::rows::Rows;
use crate::train::files;
use crate::train::pairs::captions::RetrievalCaptions;
use crate::train::pairs::encoded::{Distributions, EncodedPairs};
use crate::weights::manifest::{EncoderConfig, Manifest, Part};
use crate::weights::shard::{Precision, read, write};

/// Parts into which the training pictures are cut; the pictures of each are read by heads that have not seen them.
pub(super) const N_FOLDS: usize = 4;
/// Levels of a ladder of `HierarCaps`.
const N_LEVELS: usize = 4;

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
    heads: HeadRecipe,
    adapters: AdapterRecipe,
    device: Device,
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
        (heads, adapters): (HeadRecipe, AdapterRecipe),
    ) -> Result<Self> {
        let EncoderConfig::Towers(imported) = manifest_of(&out.join("towers"))?.encoder else {
            anyhow::bail!("{}: two towers were expected", out.display());
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
            heads,
            adapters,
            device: device::cpu(),
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
        let heads = self.heads(&folder, "heads", seed, &self.train)?;
        let folds = (0..N_FOLDS).map(|fold| self.fold(&folder, fold, seed));
        let data = AdapterData {
            listing: &self.data.train,
            texts: self.texts.clone(),
            images: &self.train.images,
            folds: folds.collect::<Result<_>>()?,
            heads: &heads,
            unseen: &self.dev,
        };
        let adapters = PerFamily {
            vmf: self.adapter(&folder, Family::VonMisesFisher, seed, &data)?,
            power_spherical: self.adapter(&folder, Family::PowerSpherical, seed, &data)?,
        };
        Ok(TrainedModel {
            towers: self.towers.clone(),
            adapter_config: adapter_config(self.towers.embed_dim, &self.adapters),
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
        let path = folder.join("recipe.json");
        let recipes = (self.heads.clone(), self.adapters.clone());
        let Some(there) = files::find_json::<(HeadRecipe, AdapterRecipe)>(&path)? else {
            return files::put_json(&path, &recipes);
        };
        ensure!(
            there == recipes,
            "{} holds a training by another recipe; choose another folder, or delete it",
            folder.display()
        );
        Ok(())
    }

    fn heads(
        &self,
        folder: &Path,
        name: &str,
        seed: u64,
        train: &CaptionedPictures,
    ) -> Result<Heads> {
        let path = folder.join(format!("{name}.safetensors"));
        if path.exists() {
            return restore(Heads::new(&self.towers, &self.device), &path);
        }
        let recipe = HeadRecipe {
            seed,
            ..self.heads.clone()
        };
        let trained = train_heads(&self.towers, &recipe, train, &self.dev, &self.device)?;
        let found = trained.retrieval;
        eprintln!(
            "{name}, seed {seed}: step {}, recall at 1, 5, 10 on development pictures {:.3?} of captions, {:.3?} of pictures",
            trained.step, found.text_to_image, found.image_to_text
        );
        save(&trained.heads, &path)?;
        Ok(trained.heads)
    }

    /// Every [`N_FOLDS`]th picture, and heads that were trained on the others.
    fn fold(&self, folder: &Path, fold: usize, seed: u64) -> Result<Fold> {
        let n_pictures = self.train.images.n_rows();
        let is_held_out = |picture: &usize| picture % N_FOLDS == fold;
        let (pictures, others): (Vec<usize>, Vec<usize>) = (0..n_pictures).partition(is_held_out);
        let name = format!("fold-{fold}");
        let heads = self.heads(folder, &name, seed, &self.train.of_pictures(&others))?;
        Ok(Fold { heads, pictures })
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
            ..self.adapters.clone()
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

    /// Every measure on pictures and captions that no training has seen; none where `HierarCaps` was not given.
    ///
    /// # Errors
    ///
    /// The experts' judgements cannot be read, or the device fails.
    pub fn evaluate(
        &self,
        model: &TrainedModel,
        folders: &PhotosFolders,
        int8: Option<&EncodedPairs>,
    ) -> Result<Option<PhotosEvaluation>> {
        let (Some(listing), Some([pictures, captions])) = (&self.data.hierarcaps, &self.hierarcaps)
        else {
            return Ok(None);
        };
        let test = &self.data.test;
        let items = Listing {
            items: test.items.clone(),
            skipped: Vec::new(),
        };
        let flickr = self.pairs(
            model,
            &self.test.images,
            self.test_captions(),
            self.test.captions.clone(),
        )?;
        let (all, rows) = self.all_levels();
        let all_levels = self.pairs(model, &self.test.images, all, rows)?;
        let ladders = self.pairs(
            model,
            pictures,
            RetrievalCaptions::of(listing),
            captions.clone(),
        )?;
        let judgements = read_ratings(&folders.flickr8k.join("ExpertAnnotations.txt"))?;
        let outsiders = self.outsiders.iter();
        let outsiders = outsiders
            .map(|(kind, rows)| Ok((kind.clone(), self.images(model, rows)?)))
            .collect::<Result<Vec<_>>>()?;
        let references = self.images(model, &self.train.images)?;
        evaluate(&EvaluationInput {
            seed: model.seed,
            flickr: &flickr,
            all_levels: &all_levels,
            hierarcaps: &EncodedLadders::new(ladders, N_LEVELS)?,
            judged: &judged_pairs(&judgements, &items)?,
            outsiders: &EncodedOutsiders::new(outsiders, references)?,
            int8,
        })
        .map(Some)
    }

    /// The test pictures and their captions as an exported model encodes them, whose weights have eight bits.
    ///
    /// # Errors
    ///
    /// The exported folder cannot be read, or the device fails.
    pub fn of_exported(&self, exported: &Path, model: &TrainedModel) -> Result<EncodedPairs> {
        let manifest = manifest_of(exported)?;
        let mut stored = Vec::new();
        let mut heads = Heads::new(&self.towers, &self.device);
        let names = heads.named_shapes();
        for part in [Part::Text, Part::Image] {
            let mut of_heads = encoder::records(&manifest, part, exported)?;
            of_heads.retain(|tensor| names.iter().any(|(name, _)| *name == tensor.name));
            stored.extend(of_heads);
        }
        heads.load(stored)?;
        let features = TowerFeatures {
            encoder: &Encoder::open(exported, &self.device)?,
            folder: self.seed_folder(model.seed).join("features-int8"),
        };
        let test = &self.data.test;
        let captions = features.texts("test-captions", &test.captions)?;
        let images = features.images("test-pictures", &test.items, None)?;
        let stored = TrainedModel {
            towers: model.towers.clone(),
            adapter_config: model.adapter_config.clone(),
            adapters: model.adapters.clone(),
            heads,
            seed: model.seed,
        };
        self.pairs(&stored, &images, self.test_captions(), captions)
    }

    /// The captions that people wrote of the test pictures.
    fn test_captions(&self) -> RetrievalCaptions {
        let test = &self.data.test;
        RetrievalCaptions {
            texts: test.captions.clone(),
            pictures_of: test
                .picture_of
                .iter()
                .map(|picture| vec![*picture])
                .collect(),
        }
    }

    /// The first caption of each test picture and its vaguer truths, each with the picture that it was made from, which
    /// alone counts as right though a vague one fits others.
    fn all_levels(&self) -> (RetrievalCaptions, Rows) {
        let test = &self.data.test;
        let mut last = None;
        let is_first = |caption: &usize| {
            let picture = test.picture_of[*caption];
            last.replace(picture) != Some(picture)
        };
        let first: Vec<usize> = (0..test.captions.len()).filter(is_first).collect();
        with_vaguer(test, &first, [&self.test.captions, &self.test.vaguer])
    }

    fn images(&self, model: &TrainedModel, features: &Rows) -> Result<Rows> {
        let images = features.to_device(&self.device);
        Rows::from_device(model.heads.image.head.forward(images))
    }

    /// Pictures and captions in the common space, with κ.
    fn pairs(
        &self,
        model: &TrainedModel,
        images: &Rows,
        captions: RetrievalCaptions,
        features: Rows,
    ) -> Result<EncodedPairs> {
        let texts = model
            .heads
            .text
            .head
            .forward(features.to_device(&self.device));
        let distributions = |family: Family| {
            let eta = model.adapters.get(family).forward(texts.clone());
            let concentrations = Rows::from_device(concentration(eta))?.values;
            Ok::<_, anyhow::Error>(Distributions {
                concentrations: concentrations.into_iter().map(f64::from).collect(),
                mean_directions: None,
            })
        };
        let distributions = PerFamily {
            vmf: distributions(Family::VonMisesFisher)?,
            power_spherical: distributions(Family::PowerSpherical)?,
        };
        let images = self.images(model, images)?;
        EncodedPairs::new(images, captions, Rows::from_device(texts)?, distributions)
    }
}

/// Captions and their vaguer truths, each with the one picture that it was made from; `features` are those of all
/// captions and of all vaguer truths.
fn with_vaguer(
    listing: &CaptionedListing,
    captions: &[usize],
    features: [&Rows; 2],
) -> (RetrievalCaptions, Rows) {
    let mut list = RetrievalCaptions::default();
    let mut rows = Rows::empty(features[0].width);
    for &caption in captions {
        let truths = listing.vaguer_of[caption].iter();
        let truths = truths.map(|truth| (&listing.vaguer[*truth], features[1].row(*truth)));
        let own = (&listing.captions[caption], features[0].row(caption));
        for (text, row) in std::iter::once(own).chain(truths) {
            list.texts.push(text.clone());
            list.pictures_of.push(vec![listing.picture_of[caption]]);
            rows.values.extend_from_slice(row);
        }
    }
    (list, rows)
}

impl CaptionedPictures {
    /// Some of the pictures with their captions.
    #[must_use]
    pub fn of_pictures(&self, pictures: &[usize]) -> Self {
        let rows = |all: &Rows, rows: &[usize]| Rows {
            values: rows.iter().flat_map(|row| all.row(*row).to_vec()).collect(),
            width: all.width,
        };
        let places: std::collections::HashMap<_, _> =
            pictures.iter().enumerate().map(|(i, p)| (*p, i)).collect();
        let kept = self.picture_of.iter().enumerate();
        let (captions, picture_of): (Vec<usize>, Vec<usize>) = kept
            .filter_map(|(caption, picture)| Some((caption, *places.get(picture)?)))
            .unzip();
        Self {
            images: rows(&self.images, pictures),
            augmented: self
                .augmented
                .iter()
                .map(|seen| rows(seen, pictures))
                .collect(),
            captions: rows(&self.captions, &captions),
            picture_of,
        }
    }
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
