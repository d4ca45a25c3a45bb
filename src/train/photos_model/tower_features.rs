//! Features that locked towers give of pictures and texts, and the maps that an image tower's last stage reads:
//! computed once and kept in a folder, piece by piece.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::preprocess::RgbPixels;
use crate::train::data::augment::Augmentation;
use crate::train::data::{Item, corruption::Corruptions};
use crate::train::features::encoder::Encoder;
use crate::train::features::rows::Rows;
use crate::train::files;
use crate::train::progress::{Interrupt, Meter};
use crate::weights::shard::{Precision, read, write};

/// Pictures or texts in a piece, after which an interrupted run resumes.
const ROWS_PER_PIECE: usize = 512;
/// Pictures that are decoded and seen together.
const PICTURES_PER_PASS: usize = 32;

/// A folder of features.
#[derive(Debug)]
pub struct TowerFeatures<'a> {
    /// Encoder whose towers compute the features.
    pub encoder: &'a Encoder,
    /// Folder of the pieces.
    pub folder: PathBuf,
    /// What is computed of pictures.
    pub of_pictures: PictureRows,
}

/// What an image tower gives of each picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureRows {
    /// Features that the whole tower gives, `width` numbers.
    Features,
    /// The map that its last stage reads, where a training tunes that: `height · width · channels` numbers.
    Maps,
}

impl PictureRows {
    /// What a training reads that tunes the last stage, or leaves the tower as it is.
    #[must_use]
    pub const fn of(tunes_last_stage: bool) -> Self {
        if tunes_last_stage {
            Self::Maps
        } else {
            Self::Features
        }
    }

    /// Rows of preprocessed pictures.
    ///
    /// # Errors
    ///
    /// The device fails, or maps are asked for of an encoder that has none.
    pub(super) fn of_pixels(self, encoder: &Encoder, pixels: &[Vec<f32>]) -> Result<Rows> {
        match self {
            Self::Features => Ok(encoder.images(pixels)?.activations),
            Self::Maps => encoder.image_maps(pixels),
        }
    }

    /// Precision in which rows are kept: maps are many, and what a training makes of them is not so exact.
    const fn precision(self) -> Precision {
        match self {
            Self::Features => Precision::F32,
            Self::Maps => Precision::F16,
        }
    }
}

/// Provenance of a list of features: hashes of towers and rows, and the augmentation.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct FeatureProvenance {
    /// SHA-256 of the towers' files.
    weights: Vec<String>,
    /// SHA-256 of all names or texts.
    rows: String,
    augmentation: Option<Augmentation>,
}

/// Features of captioned pictures.
#[derive(Debug)]
pub struct ListingFeatures {
    /// Features or maps of the pictures, `[n_pictures, width]`.
    pub images: Rows,
    /// Features of the captions, `[n_captions, width]`.
    pub captions: Rows,
    /// Features of the vaguer truths, `[n_truths, width]`.
    pub vaguer: Rows,
}

/// Tower features of all data.
#[derive(Debug)]
pub struct PhotosFeatures {
    /// Features of the split to train on.
    pub train: ListingFeatures,
    /// Features of augmented crops of the pictures to train on, one matrix for each seed of the crops.
    pub crops: Vec<Rows>,
    /// Bare forms of the training captions and their vaguer truths.
    pub bare: Rows,
    /// Pictures that are not photographs, by kind.
    pub outsiders: Vec<(String, Rows)>,
    /// Texts that are not captions, by kind.
    pub outsider_texts: Vec<(String, Rows)>,
    /// Features of the split by which heads, the scale of κ and thresholds are chosen.
    pub dev: ListingFeatures,
    /// Features of the split to measure on.
    pub test: ListingFeatures,
    /// Pictures and captions of all levels, if they are to be measured on.
    pub hierarcaps: Option<[Rows; 2]>,
}

impl TowerFeatures<'_> {
    /// The text tower's features of each text.
    ///
    /// # Errors
    ///
    /// The folder holds features of other texts under this name, the device fails, or the user interrupted.
    pub fn texts<S: AsRef<str> + Sync>(&self, name: &'static str, texts: &[S]) -> Result<Rows> {
        self.claim(name, texts.iter().map(AsRef::as_ref), None)?;
        self.rows(name, texts, Precision::F32, |piece| {
            let tokens = self.encoder.tokens(piece)?;
            Ok(self.encoder.all_texts(&tokens, |_| {})?.activations)
        })
    }

    /// The image tower's features or maps of each picture as it is, or augmented.
    ///
    /// # Errors
    ///
    /// A picture cannot be read, and as [`texts`](Self::texts).
    pub fn images(
        &self,
        name: &'static str,
        items: &[Item],
        augmentation: Option<Augmentation>,
    ) -> Result<Rows> {
        self.claim(
            name,
            items.iter().map(|item| item.id.as_str()),
            augmentation,
        )?;
        let picture = |item: &Item| -> Result<RgbPixels> {
            let rgb = item.picture.read().with_context(|| item.id.clone())?;
            Ok(augmentation.map_or_else(|| rgb.clone(), |view| view.apply(&rgb, &item.id)))
        };
        self.rows(name, items, self.of_pictures.precision(), |piece| {
            let mut rows = Rows::empty(0);
            for items in piece.chunks(PICTURES_PER_PASS) {
                let pictures = items.par_iter().map(picture);
                rows.append(self.pictures(&pictures.collect::<Result<Vec<_>>>()?)?);
            }
            Ok(rows)
        })
    }

    /// Features of texts that were made, which are not kept.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn of_texts(&self, texts: &[String]) -> Result<Rows> {
        let tokens = self.encoder.tokens(texts)?;
        Ok(self.encoder.all_texts(&tokens, |_| {})?.activations)
    }

    /// Features or maps of pictures that were made, which are not kept.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn of_pixels(&self, pictures: &[RgbPixels]) -> Result<Rows> {
        let mut rows = Rows::empty(0);
        for pictures in pictures.chunks(PICTURES_PER_PASS) {
            rows.append(self.pictures(pictures)?);
        }
        Ok(rows)
    }

    fn pictures(&self, pictures: &[RgbPixels]) -> Result<Rows> {
        let pixels = pictures.par_iter();
        let pixels = pixels.map(|rgb| self.encoder.pixels(rgb, "", Corruptions::default()));
        let pixels: Vec<_> = pixels.collect();
        self.of_pictures.of_pixels(self.encoder, &pixels)
    }

    fn claim<'t>(
        &self,
        name: &str,
        rows: impl Iterator<Item = &'t str>,
        augmentation: Option<Augmentation>,
    ) -> Result<()> {
        std::fs::create_dir_all(&self.folder)
            .with_context(|| format!("creating {}", self.folder.display()))?;
        let mut hash = Sha256::new();
        rows.for_each(|row| hash.update([row.as_bytes(), &[0]].concat()));
        let claim = FeatureProvenance {
            weights: self.encoder.weights().to_vec(),
            rows: hash.finalize().iter().map(|b| format!("{b:02x}")).collect(),
            augmentation,
        };
        let path = self.folder.join(format!("{name}.json"));
        let Some(there) = files::find_json::<FeatureProvenance>(&path)? else {
            return files::put(&path, serde_json::to_vec(&claim)?);
        };
        ensure!(
            there == claim,
            "{} is of other towers, pictures or texts; choose another folder, or delete it",
            path.display()
        );
        Ok(())
    }

    /// All pieces, those that are there already read and the others computed.
    fn rows<T>(
        &self,
        name: &'static str,
        items: &[T],
        precision: Precision,
        embed: impl Fn(&[T]) -> Result<Rows>,
    ) -> Result<Rows> {
        let (mut meter, interrupt) = (Meter::new(name, 0, items.len()), Interrupt::install());
        let mut all = Rows::empty(0);
        for (i, piece) in items.chunks(ROWS_PER_PIECE).enumerate() {
            let path = self.folder.join(format!("{name}-{i:05}.safetensors"));
            if !path.exists() {
                ensure!(
                    !interrupt.is_set(),
                    "interrupted while embedding {name}; the same command resumes from there"
                );
                let rows = embed(piece)?;
                files::put(&path, write(&[rows.record("features")], precision)?)?;
            }
            // Also what was just computed is used as it is kept, so that a resumed run has the same numbers.
            let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
            let records = read(&bytes).with_context(|| path.display().to_string())?;
            let rows = Rows::from_record(records.into_iter().next().context("an empty piece")?)?;
            ensure!(
                rows.n_rows() == piece.len(),
                "{} has {} rows, expected {}",
                path.display(),
                rows.n_rows(),
                piece.len()
            );
            all.append(rows);
            meter.update((i * ROWS_PER_PIECE + piece.len()).min(items.len()), &[]);
        }
        meter.finish();
        Ok(all)
    }
}
