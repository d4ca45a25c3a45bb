//! `train export`: two fits on an encoder's features → a model folder with adapters, which page and `train score` can
//! open, and in it a file of the adapters alone, which the page can give to an encoder that came without.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

use super::bundle::open_untested;
use super::golden::golden_values;
use super::scenes_model::{N_REFERENCE_CAPTIONS, adapter_part, reference_uncertainty, write_shard};
use crate::device;
use crate::model::adapter::{AdapterConfig, Family, PerFamily};
use crate::model::parameters::TensorRecord;
use crate::train::features::cache::{CacheConfig, IdMap};
use crate::train::files;
use crate::train::methods::MethodName;
use crate::weights::adapter_file::{self, About, AdapterFile};
use crate::weights::manifest::{Manifest, Part, Shard};
use crate::weights::shard::{read, verify};

/// An encoder and two fits, and the model folder that is made of them.
#[derive(Debug, Clone)]
pub struct ExportFits {
    /// The encoder's model folder.
    pub model: PathBuf,
    /// Folders of the fits.
    pub fits: PerFamily<PathBuf>,
    /// The folder to make; the encoder's own to put the adapters beside it.
    pub out: PathBuf,
    /// Title for people; the encoder's if not given.
    pub title: Option<String>,
    /// The command, for the record.
    pub command: String,
}

/// `numbers.json`, which `train fit` writes beside the weights.
#[derive(Debug, Deserialize)]
struct Fit {
    method: MethodName,
    seed: u64,
    sizes: AdapterConfig,
    features: CacheConfig,
    features_folder: PathBuf,
}

impl Fit {
    fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("numbers.json");
        files::find_json(&path)?.with_context(|| {
            let path = path.display();
            format!("{path}: the folder of a finished `train fit` was expected")
        })
    }

    fn check(&self, family: Family, manifest: &Manifest) -> Result<()> {
        let [expected, sigmoid] = match family {
            Family::VonMisesFisher => [MethodName::AsymvlmVmf, MethodName::AsymvlmVmfSigmoid],
            Family::PowerSpherical => [MethodName::AsymvlmPs, MethodName::AsymvlmPsSigmoid],
        };
        let (is_it, found) = (
            [expected, sigmoid].contains(&self.method),
            self.method.slug(),
        );
        ensure!(
            is_it,
            "a fit of {found}, one of {} was expected",
            expected.slug()
        );
        let is_encoder = |shard: &&Shard| matches!(shard.part, Part::Text | Part::Image);
        let shards = manifest.shards.iter().filter(is_encoder);
        let weights: Vec<&String> = shards.map(|shard| &shard.entry.sha256).collect();
        ensure!(
            self.features.weights.iter().collect::<Vec<_>>() == weights,
            "the fit is on features of {} with other weights than the model folder's",
            self.features.model
        );
        Ok(())
    }

    /// Captions of the test split, evenly chosen.
    fn reference_captions(&self) -> Result<Vec<String>> {
        let path = self.features_folder.join("test.json");
        let ids: IdMap = files::find_json(&path)?.with_context(|| {
            format!("{}: the fit's features were expected there", path.display())
        })?;
        let step = ids.captions.len().div_ceil(N_REFERENCE_CAPTIONS).max(1);
        let chosen = ids.captions.into_iter().step_by(step);
        Ok(chosen.map(|caption| caption.text).collect())
    }
}

/// Writes the folder: the encoder as it is, the adapters, and last the manifest, with what both answer to the encoder's
/// golden inputs.
///
/// # Errors
///
/// A folder is not what it should be, the fits are of another encoder, or the folder cannot be written.
pub fn export_fits(job: &ExportFits) -> Result<()> {
    let mut manifest = files::read_manifest(&job.model)?;
    let fits = PerFamily {
        vmf: Fit::read(&job.fits.vmf)?,
        power_spherical: Fit::read(&job.fits.power_spherical)?,
    };
    for family in [Family::VonMisesFisher, Family::PowerSpherical] {
        let checked = fits.get(family).check(family, &manifest);
        checked.with_context(|| job.fits.get(family).display().to_string())?;
    }
    files::make_folder(&job.out)?;
    copy_encoder(job, &mut manifest)?;
    let records = PerFamily {
        vmf: adapter_records(job, Family::VonMisesFisher)?,
        power_spherical: adapter_records(job, Family::PowerSpherical)?,
    };
    for family in [Family::VonMisesFisher, Family::PowerSpherical] {
        let shard = write_shard(adapter_part(family), records.get(family), &job.out)?;
        manifest.shards.push(shard);
    }
    manifest.adapters = Some(PerFamily {
        vmf: fits.vmf.sizes.clone(),
        power_spherical: fits.power_spherical.sizes.clone(),
    });
    if let Some(title) = &job.title {
        manifest.title.clone_from(title);
    }
    manifest.provenance.command.clone_from(&job.command);
    manifest.provenance.seed = fits.vmf.seed;
    answer_golden(&mut manifest, &job.out, &fits.vmf)?;
    let alone = adapter_file(manifest.clone(), records)?.write()?;
    files::put(&job.out.join(adapter_file::FILE), alone)?;
    files::put_json(&job.out.join("manifest.json"), &manifest)
}

/// Copies the encoder's files if the folder is another one, and removes the adapters that the manifest listed, with the
/// sets by their κ.
fn copy_encoder(job: &ExportFits, manifest: &mut Manifest) -> Result<()> {
    let is_encoders = |shard: &Shard| matches!(shard.part, Part::Text | Part::Image);
    manifest.shards.retain(is_encoders);
    manifest.picture_sets = None;
    if job.out.canonicalize()? == job.model.canonicalize()? {
        return Ok(());
    }
    let shards = manifest.shards.iter().map(|shard| &shard.entry);
    let golden = manifest.golden.iter().map(|golden| &golden.image);
    for entry in shards.chain([&manifest.tokenizer]).chain(golden) {
        let path = job.model.join(&entry.file);
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        verify(&bytes, entry)?;
        files::put(&job.out.join(&entry.file), bytes)?;
    }
    Ok(())
}

fn adapter_records(job: &ExportFits, family: Family) -> Result<Vec<TensorRecord>> {
    let path = job.fits.get(family).join("method.safetensors");
    let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
    let mut records = read(&bytes).with_context(|| path.display().to_string())?;
    // The bias of the logistic loss moves no likelihood.
    records.retain(|record| record.name != "bias");
    Ok(records)
}

/// The adapters of a whole model, without its encoder.
fn adapter_file(manifest: Manifest, records: PerFamily<Vec<TensorRecord>>) -> Result<AdapterFile> {
    let (Some(adapters), Some(reference_uncertainty), Some(golden)) = (
        manifest.adapters,
        manifest.reference_uncertainty,
        manifest.golden,
    ) else {
        bail!("the model has no adapters");
    };
    Ok(AdapterFile {
        about: About {
            format: adapter_file::FORMAT,
            title: manifest.title,
            adapters,
            reference_uncertainty,
            concentration: golden.concentration.context("golden values without κ")?,
            captions: golden.captions,
            provenance: manifest.provenance,
        },
        records,
    })
}

/// Computes the new model's golden values, and the reference uncertainty of captions.
fn answer_golden(manifest: &mut Manifest, out: &Path, fit: &Fit) -> Result<()> {
    let Some(golden) = manifest.golden.take() else {
        bail!("the encoder's manifest holds no golden inputs");
    };
    manifest.reference_uncertainty = None;
    let session = open_untested(manifest.clone(), out, &device::cpu())?;
    let captions = fit.reference_captions()?;
    manifest.reference_uncertainty = Some(reference_uncertainty(&session, &captions)?);
    let (captions, image) = (golden.captions, golden.image);
    manifest.golden = Some(golden_values(&session, out, captions, image)?);
    Ok(())
}
