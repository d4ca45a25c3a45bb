//! The test split's photographs and captions otherwise: corrupted, misspelt, and pictures in augmented views. What is
//! made of them lies in a folder of the run, and is not made again.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::frozen_encoder::FrozenEncoder;
use crate::corruption::{Corruption, ImageCorruption, Misspelling};
use crate::train::data::Listing;
use crate::train::data::corruption::Corruptions;
use crate::train::experiments::corrupted::{
    CorruptedSplit, CorruptionName, FOLDER, Severities, add_corruptions,
};
use crate::train::features::cache::{Cache, CacheConfig, Split};
use crate::train::features::encoder::pictures_per_pass;
use crate::train::features::rows::{Embedded, Rows};
use crate::train::features::views::separated;
use crate::train::files;
use crate::train::progress::{Interrupt, Meter};
use crate::weights::shard::Precision;

/// File of the spread of views.
const VIEWS: &str = "views.json";
/// Severity of both corruptions where both sides are corrupted, as with drawn scenes.
const BOTH_SEVERITY: u8 = 5;

/// Corruptions and views of a test split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantPlan {
    /// Severities of the corruptions.
    pub severities: Severities,
    /// Augmented views of each picture.
    pub n_views: usize,
}

/// A test split and the encoder that reads it.
pub(super) struct TestVariants<'a> {
    /// Towers and heads that embed the split.
    pub(super) encoder: &'a FrozenEncoder,
    /// Pictures and captions of the split.
    pub(super) test: &'a Listing,
    /// Folder of the `train photos`, in which the variants are kept.
    pub(super) folder: &'a Path,
}

/// Spread of each picture's augmented views.
#[derive(Debug, Serialize, Deserialize)]
struct ViewSpread {
    /// SHA-256 of the encoder's files.
    weights: Vec<String>,
    n_views: usize,
    spread: Vec<f32>,
}

impl TestVariants<'_> {
    /// Embeds what is missing of a plan.
    ///
    /// # Errors
    ///
    /// A picture cannot be read, the folder holds what another encoder made, or the user interrupted.
    pub(super) fn add(&self, plan: &VariantPlan, clean: &Cache) -> Result<()> {
        add_corruptions(
            |corruption| self.pictures(corruption),
            |misspelling| self.captions(misspelling),
            &plan.severities,
            Precision::F32,
            (clean, self.folder),
        )?;
        let there = self.read_views()?;
        if there.is_none_or(|there| there.n_views != plan.n_views) {
            let seen = self.seen("views of photographs", Corruptions::default(), plan.n_views)?;
            let views = ViewSpread {
                weights: self.encoder.weights()?,
                n_views: plan.n_views,
                spread: seen.view_spread.values,
            };
            files::put_json(&self.views_path(), &views)?;
        }
        Ok(())
    }

    /// Number of augmented views, and their spread of each picture, `[n_pictures, 1]`; none and no rows where none were
    /// embedded.
    ///
    /// # Errors
    ///
    /// The file is broken, or of another encoder or other pictures.
    pub(super) fn view_spread(&self) -> Result<(usize, Rows)> {
        let Some(views) = self.read_views()? else {
            return Ok((0, Rows::empty(1)));
        };
        let rows = Rows {
            values: views.spread,
            width: 1,
        };
        Ok((views.n_views, rows))
    }

    /// The split with both sides corrupted, where both are; `None` elsewhere.
    ///
    /// # Errors
    ///
    /// A caption that the tokenizer refuses.
    pub(super) fn both_corrupted(
        &self,
        clean: &Cache,
        corrupted: &[CorruptedSplit],
    ) -> Result<Option<Cache>> {
        let (picture, misspelling) = (
            Corruption::new(ImageCorruption::Shot, BOTH_SEVERITY),
            Corruption::new(Misspelling::Keyboard, BOTH_SEVERITY),
        );
        let both = Corruptions {
            pictures: Some(picture),
            captions: Some(misspelling),
        };
        let rows = |name: CorruptionName| {
            let split = corrupted.iter().find(|split| split.corruption == name)?;
            Some(split.rows.clone())
        };
        let (Some(images), Some(texts)) = (rows(picture.into()), rows(misspelling.into())) else {
            return Ok(None);
        };
        let (mut ids, said) = (clean.test.ids.clone(), self.misspelt(misspelling));
        let tokens = self.encoder.encoder.tokens(&said)?;
        for ((row, text), tokens) in ids.captions.iter_mut().zip(said).zip(tokens) {
            (row.text, row.n_tokens) = (text, tokens.n_tokens);
        }
        let config = CacheConfig {
            noise: both.to_string(),
            views: 0,
            ..clean.config.clone()
        };
        Ok(Some(Cache {
            train: Split::empty(),
            test: Split { ids, texts, images },
            tasks: Vec::new(),
            probes: None,
            config,
        }))
    }

    fn pictures(&self, corruption: Corruption<ImageCorruption>) -> Result<Embedded> {
        let noise = Corruptions {
            pictures: Some(corruption),
            captions: None,
        };
        self.seen("corrupted photographs", noise, 0)
    }

    fn captions(&self, misspelling: Corruption<Misspelling>) -> Result<Embedded> {
        let features = self.encoder.texts(&self.misspelt(misspelling))?;
        Ok(Embedded::new(features, Rows::empty(0)))
    }

    fn misspelt(&self, misspelling: Corruption<Misspelling>) -> Vec<String> {
        let items = self.test.items.iter();
        let said = items.flat_map(|item| item.captions.iter().map(move |caption| (caption, item)));
        said.map(|(caption, item)| misspelling.apply(&caption.text, &item.id))
            .collect()
    }

    /// Features of the pictures, corrupted, with the spread of so many augmented views.
    fn seen(&self, name: &'static str, noise: Corruptions, n_views: usize) -> Result<Embedded> {
        let (items, interrupt) = (&self.test.items, Interrupt::install());
        let (mut meter, mut all) = (Meter::new(name, 0, items.len()), Embedded::empty(0, 0));
        for items in items.chunks(pictures_per_pass(n_views)) {
            ensure!(
                !interrupt.is_set(),
                "interrupted while embedding {name}; the same command begins these again"
            );
            let seen = items.par_iter().map(|item| {
                let rgb = item.picture.read().with_context(|| item.id.clone())?;
                Ok(self.encoder.encoder.seen(&rgb, &item.id, noise, n_views))
            });
            let pixels = seen.collect::<Result<Vec<_>>>()?.concat();
            let features = self.encoder.images(&pixels)?;
            all.append(separated(Embedded::new(features, Rows::empty(0)), n_views));
            meter.update(all.features.n_rows(), &[]);
        }
        meter.finish();
        Ok(all)
    }

    fn views_path(&self) -> PathBuf {
        self.folder.join(FOLDER).join(VIEWS)
    }

    fn read_views(&self) -> Result<Option<ViewSpread>> {
        let path = self.views_path();
        let Some(views) = files::find_json::<ViewSpread>(&path)? else {
            return Ok(None);
        };
        let n_pictures = self.test.items.len();
        ensure!(
            views.weights == self.encoder.weights()? && views.spread.len() == n_pictures,
            "{} is of another encoder or of other pictures; remove it",
            path.display()
        );
        Ok(Some(views))
    }
}
