//! Every measure of a trained model, on pictures and captions that no training has seen.

use std::path::Path;

use anyhow::Result;

use super::{SeedTraining, TrainedModel, manifest_of};
use crate::model::adapter::{Family, PerFamily, concentration};
use crate::model::parameters::Parameters as _;
use crate::report::PhotosEvaluation;
use crate::train::data::Listing;
use crate::train::features::encoder::{self, Encoder};
use crate::train::features::rows::Rows;
use crate::train::pairs::captions::RetrievalCaptions;
use crate::train::pairs::encoded::{Distributions, EncodedPairs};
use crate::train::photos_model::data::{CaptionedListing, PhotosFolders};
use crate::train::photos_model::evaluation::{
    EncodedLadders, EncodedOutsiders, EvaluationInput, LINE_DRAWINGS, evaluate, judged_pairs,
    read_ratings,
};
use crate::train::photos_model::heads::Heads;
use crate::train::photos_model::tower_features::{PictureRows, TowerFeatures};
use crate::weights::manifest::Part;

/// Levels of a ladder of `HierarCaps`.
const N_LEVELS: usize = 4;

impl SeedTraining<'_> {
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
        let outsiders = outsiders.filter(|(kind, _)| kind != LINE_DRAWINGS);
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
            of_pictures: PictureRows::Features,
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
    pub(super) fn test_captions(&self) -> RetrievalCaptions {
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
    pub(super) fn all_levels(&self) -> (RetrievalCaptions, Rows) {
        let test = &self.data.test;
        let mut last = None;
        let is_first = |caption: &usize| {
            let picture = test.picture_of[*caption];
            last.replace(picture) != Some(picture)
        };
        let first: Vec<usize> = (0..test.captions.len()).filter(is_first).collect();
        with_vaguer(test, &first, [&self.test.captions, &self.test.vaguer])
    }

    pub(super) fn images(&self, model: &TrainedModel, images: &Rows) -> Result<Rows> {
        let features = model.heads.tower_features(images, &self.device)?;
        let features = features.to_device(&self.device);
        Rows::from_device(model.heads.image.head.forward(features))
    }

    /// Pictures and captions in the common space, with κ.
    pub(super) fn pairs(
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
pub(super) fn with_vaguer(
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
