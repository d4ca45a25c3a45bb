//! The stages one after the other, each read from the run's folder where it was done before.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use burn::tensor::Device;
use serde_json::{Value, json};

use super::evaluation::report;
use crate::device;
use crate::family::{Family, PerFamily};
use crate::report::AdaptedReport;
use crate::train::data::corruption::Corruptions;
use crate::train::data::dataset::DatasetChoice;
use crate::train::data::{Splits, take};
use crate::train::experiments::{EvaluationData, Evaluator, FitPlan, FitRecord, FitRequest};
use crate::train::export::bundle;
use crate::train::export::fits::{ExportFits, export_fits};
use crate::train::features::cache::Cache;
use crate::train::features::embed::embed_pieces;
use crate::train::features::merge::merge;
use crate::train::features::part_of::PartOf;
use crate::train::features::pieces::Sources;
use crate::train::files::{self, refuse_to_overwrite};
use crate::train::import::{CheckpointSource, Import, import};
use crate::train::methods::MethodName;
use crate::weights::shard::Precision;

/// An encoder, the data that it is adapted to, and how.
#[derive(Debug, Clone)]
pub struct AdaptRun {
    /// A model folder, or a checkpoint or an id at the model hub that is imported first.
    pub model: String,
    /// Branch, tag or commit at the hub; the pinned one if there is one and nothing else is said.
    pub revision: Option<String>,
    /// The data; its limit holds for the pictures of each split, its seed is that of the adapters too.
    pub data: DatasetChoice,
    /// Plan by which adapters are fitted.
    pub plan: FitPlan,
    /// Folder of the run.
    pub out: PathBuf,
    /// Model folder to make; the encoder's own gets the adapters if not given.
    pub export: Option<PathBuf>,
    /// Whether adapters or a model that are there already may be replaced.
    pub replace: bool,
    /// Device that computes features and fits adapters.
    pub device: Device,
}

/// Folder of the encoder's model, which is there or is to be made.
struct EncoderFolder {
    path: PathBuf,
    /// The checkpoint that it is made of, if it is not there yet.
    source: Option<CheckpointSource>,
}

impl AdaptRun {
    /// Runs all stages; returns what was measured and the folder of the finished model.
    ///
    /// # Errors
    ///
    /// The model or the data cannot be read, something is there that must not be replaced, the folder holds a run of
    /// another recipe, or the user interrupted.
    pub fn run(&self) -> Result<(AdaptedReport, PathBuf)> {
        let encoder = self.encoder_folder()?;
        let target = self.export.as_ref().unwrap_or(&encoder.path).clone();
        self.check_target(&target)?;
        self.check_recipe()?;
        let features = self.out.join("features");
        let is_embedded = features.join("features.json").exists();
        // Missing data is noticed before anything is downloaded.
        let splits = (!is_embedded).then(|| self.splits()).transpose()?;
        self.import(&encoder)?;
        files::make_folder(&self.out)?;
        files::put_json(&self.recipe_path(), &self.recipe())?;
        if let Some(splits) = splits {
            self.embed(splits, &encoder.path, &features)?;
        }
        let report = self.fit_and_measure(&features)?;
        export_fits(&ExportFits {
            model: encoder.path,
            fits: PerFamily::of(|family| self.fit_folder(family)),
            out: target.clone(),
            title: None,
            command: self.plan.command.clone(),
        })?;
        // Opened as the page opens it, with its golden values.
        bundle::open(&target, &device::cpu())?;
        files::put_json(&target.join("evaluation.json"), &report)?;
        Ok((report, target))
    }

    fn encoder_folder(&self) -> Result<EncoderFolder> {
        let given = Path::new(&self.model);
        if given.join("manifest.json").exists() {
            let has_none = self.revision.is_none();
            ensure!(
                has_none,
                "{} is a model folder, which has no revision",
                self.model
            );
            return Ok(EncoderFolder {
                path: given.to_owned(),
                source: None,
            });
        }
        let source = CheckpointSource::parse(&self.model, self.revision.as_deref())?;
        let name = if given.is_file() {
            given.file_stem()
        } else {
            given.file_name()
        };
        let path = self
            .out
            .join("model")
            .join(name.unwrap_or("model".as_ref()));
        let is_imported = path.join("manifest.json").exists();
        Ok(EncoderFolder {
            source: (!is_imported).then_some(source),
            path,
        })
    }

    fn check_target(&self, target: &Path) -> Result<()> {
        if self.export.is_some() {
            return refuse_to_overwrite(&target.join("manifest.json"), self.replace);
        }
        if target.join("manifest.json").exists() {
            let has_adapters = files::read_manifest(target)?.adapters.is_some();
            ensure!(
                self.replace || !has_adapters,
                "{} has adapters already; --force puts others in their place, --export makes another model folder",
                target.display()
            );
        }
        Ok(())
    }

    fn recipe_path(&self) -> PathBuf {
        self.out.join("recipe.json")
    }

    /// Options that decide the features and the fits.
    fn recipe(&self) -> Value {
        let DatasetChoice {
            dataset,
            root,
            captions,
            limit,
            seed,
            ..
        } = &self.data;
        json!({
            "model": self.model,
            "revision": self.revision,
            "data": dataset.slug(),
            "root": root,
            "captions": captions,
            "limit": limit,
            "seed": seed,
            "batch": self.plan.batch,
            "epochs": self.plan.epochs,
            "rate-factor": self.plan.rate_factor,
            "hidden-width": self.plan.hidden_width,
        })
    }

    /// Refuses a folder that holds a run of another recipe.
    fn check_recipe(&self) -> Result<()> {
        let Some(there) = files::find_json::<Value>(&self.recipe_path())? else {
            return Ok(());
        };
        let recipe = self.recipe();
        let keys = recipe.as_object().into_iter().flat_map(|keys| keys.keys());
        let other: Vec<&str> = keys
            .filter(|key| there[key.as_str()] != recipe[key.as_str()])
            .map(String::as_str)
            .collect();
        ensure!(
            other.is_empty(),
            "{} holds a run of another recipe, which differs in {}; choose another folder with --out, or delete it",
            self.out.display(),
            other.join(", ")
        );
        Ok(())
    }

    fn splits(&self) -> Result<Splits> {
        let DatasetChoice {
            root, limit, seed, ..
        } = &self.data;
        let mut splits = self.data.splits()?;
        splits.test = take(splits.test, *limit, *seed);
        for (listing, purpose) in [(&splits.train, "train"), (&splits.test, "measure")] {
            let has_pictures = !listing.items.is_empty();
            ensure!(
                has_pictures,
                "{}: no pictures to {purpose} on",
                root.display()
            );
        }
        for note in &splits.notes {
            eprintln!("{note}");
        }
        Ok(splits)
    }

    fn import(&self, encoder: &EncoderFolder) -> Result<()> {
        let Some(source) = &encoder.source else {
            return Ok(());
        };
        let imported = import(&Import {
            source: source.clone(),
            out: encoder.path.clone(),
            precision: Precision::F16,
            tokenizer: None,
            golden_picture: None,
            replace: false,
            command: self.plan.command.clone(),
        })?;
        let origin = imported.manifest.provenance.origin;
        let revision = origin.and_then(|origin| origin.revision);
        let at = revision.map_or_else(String::new, |commit| format!(" at {commit}"));
        eprintln!(
            "{}{at} imported into {}",
            self.model,
            encoder.path.display()
        );
        eprintln!("{}", imported.verdict);
        Ok(())
    }

    fn embed(&self, splits: Splits, model: &Path, features: &Path) -> Result<()> {
        let sources = Sources {
            dataset: self.data.dataset.slug(),
            splits,
            tasks: Vec::new(),
            templates: Vec::new(),
            dummies: Vec::new(),
            noise: Corruptions::default(),
            views: 0,
            seed: self.data.seed,
        };
        let (part, precision) = (PartOf::WHOLE, Precision::F32);
        embed_pieces(&sources, model, features, part, precision, &self.device)?;
        let merged = merge(features, self.plan.command.clone())?;
        for line in merged.lines() {
            eprintln!("{line}");
        }
        Ok(())
    }

    fn fit_folder(&self, family: Family) -> PathBuf {
        self.out.join(match family {
            Family::VonMisesFisher => "vmf",
            Family::PowerSpherical => "power_spherical",
        })
    }

    fn fit_and_measure(&self, features: &Path) -> Result<AdaptedReport> {
        let data = EvaluationData::new(Cache::read(features)?, Vec::new())?;
        let evaluator = Evaluator::new(&data, &self.device);
        let seed = self.data.seed;
        let fit = |family| -> Result<FitRecord> {
            let folder = self.fit_folder(family);
            if let Some(there) = files::find_json(&FitRecord::path(&folder))? {
                return Ok(there);
            }
            let name = match family {
                Family::VonMisesFisher => MethodName::AsymvlmVmf,
                Family::PowerSpherical => MethodName::AsymvlmPs,
            };
            evaluator.fit_into(&folder, FitRequest { name, seed }, &self.plan, features)
        };
        let fits = PerFamily {
            vmf: fit(Family::VonMisesFisher)?,
            power_spherical: fit(Family::PowerSpherical)?,
        };
        let name = MethodName::Clip;
        let cosine = evaluator.fit(FitRequest { name, seed }, &self.plan, None)?;
        let (_, cosine) = cosine.first().context("nothing was measured")?;
        let own = |fit: &'_ FitRecord| fit.own_numbers().cloned().unwrap_or_default();
        let numbers = fits.as_ref().map(own);
        report(&data.own, seed, numbers.as_ref(), cosine)
    }
}
