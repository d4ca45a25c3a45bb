//! `train export`: a trained run → a folder that page and `train score` can open.

use std::path::Path;

use anyhow::Result;
use rand::{Rng, SeedableRng as _, rngs::ChaCha8Rng};

use super::bundle::{open_untested, records};
use super::golden::{golden_captions, golden_values, put_golden_picture};
use super::out_of_distribution::calibrate;
use super::scene_sets::{self, captions_of, scene_sets};
use crate::device;
use crate::explorer::World;
use crate::inference::Session;
use crate::metrics::quantile;
use crate::model::adapter::{Family, PerFamily};
use crate::model::clip::Clip;
use crate::model::encoder::EncoderConfig;
use crate::model::parameters::TensorRecord;
use crate::preprocess::ImagePreprocess;
use crate::scenes::{Compositions, Scene};
use crate::train::files::{make_folder, put, put_json};
use crate::train::provenance::commit_and_date;
use crate::train::scenes_model::recipe::{ScenesRecipe, tokenizer_json};
use crate::train::scenes_model::training::Trained;
use crate::weights::manifest::{FORMAT, Logits, Manifest, Part, Provenance, Shard};
use crate::weights::shard::{Precision, describe, file_entry, write};

/// Captions whose 1/κ are the reference for percentiles, and how many quantiles of them are kept.
pub(in crate::train) const N_REFERENCE_CAPTIONS: usize = 4000;
const N_QUANTILES: usize = 201;
/// Seed of those captions; the test set of `evaluate` has another one.
const REFERENCE_SEED: u64 = 3_000_000;

/// Writes a model folder, its manifest last. Its golden values are computed on the CPU, whatever the model was trained
/// on.
///
/// # Errors
///
/// The folder cannot be written, or the exported model cannot be opened again.
pub fn export(recipe: &ScenesRecipe, trained: &Trained, command: &str, out: &Path) -> Result<()> {
    let device = &device::cpu();
    make_folder(out)?;
    let shards = write_shards(trained, out)?;
    let tokenizer = tokenizer_json();
    put(&out.join("tokenizer.json"), &tokenizer)?;
    let image = put_golden_picture(out)?;
    let mut manifest = Manifest {
        format: FORMAT,
        name: "scenes".to_owned(),
        title: "Scenes (built in)".to_owned(),
        license: "MIT OR Apache-2.0".to_owned(),
        encoder: EncoderConfig::Clip(recipe.model.clone()),
        logits: Some(logits(&trained.clip)),
        preprocess: ImagePreprocess::clip(recipe.model.vision_cfg.image_size),
        tokenizer: file_entry("tokenizer.json", tokenizer.as_bytes()),
        shards,
        adapters: Some(PerFamily {
            vmf: recipe.adapter.clone(),
            power_spherical: recipe.adapter.clone(),
        }),
        reference_uncertainty: None,
        out_of_distribution: Some(calibrate()),
        unfamiliar: None,
        picture_sets: None,
        golden: None,
        provenance: Provenance {
            command: command.to_owned(),
            seed: recipe.clip.seed,
            metrics: trained.metrics.clone(),
            ..commit_and_date()
        },
    };
    let session = open_untested(manifest.clone(), out, device)?;
    let reference = reference_captions(&mut ChaCha8Rng::seed_from_u64(REFERENCE_SEED));
    manifest.reference_uncertainty = Some(reference_uncertainty(&session, &reference)?);
    let (n_scenes, seed) = (scene_sets::N_SCENES, scene_sets::SEED);
    manifest.picture_sets = Some(scene_sets(&session, n_scenes, seed)?);
    let captions = golden_captions(World::Scenes);
    manifest.golden = Some(golden_values(&session, out, captions, image)?);
    put_json(&out.join("manifest.json"), &manifest)
}

fn logits(clip: &Clip) -> Logits {
    let scale = clip.log_logit_scale.val().without_autodiff().exp();
    Logits {
        scale: f64::from(scale.into_scalar::<f32>()),
        bias: None,
    }
}

fn write_shards(trained: &Trained, out: &Path) -> Result<Vec<Shard>> {
    let (clip, adapters) = (&trained.clip, &trained.adapters);
    let shards = [
        (Part::Text, records(&clip.text)?),
        (Part::Image, records(&clip.vision)?),
        (Part::AdapterVmf, records(&adapters.vmf)?),
        (
            Part::AdapterPowerSpherical,
            records(&adapters.power_spherical)?,
        ),
    ];
    let shards = shards.into_iter();
    shards
        .map(|(part, records)| write_shard(part, &records, out))
        .collect()
}

/// The part of a model that is the adapter of a family.
pub(in crate::train) const fn adapter_part(family: Family) -> Part {
    match family {
        Family::VonMisesFisher => Part::AdapterVmf,
        Family::PowerSpherical => Part::AdapterPowerSpherical,
    }
}

pub(in crate::train) fn write_shard(
    part: Part,
    records: &[TensorRecord],
    out: &Path,
) -> Result<Shard> {
    let file = match part {
        Part::Text => "text.safetensors",
        Part::Image => "image.safetensors",
        Part::AdapterVmf => "adapter_vmf.safetensors",
        Part::AdapterPowerSpherical => "adapter_power_spherical.safetensors",
    };
    let bytes = write(records, Precision::F16)?;
    put(&out.join(file), &bytes)?;
    Ok(Shard {
        part,
        entry: file_entry(file, &bytes),
        tensors: describe(&bytes)?,
    })
}

/// Captions of all levels in equal parts.
fn reference_captions<R: Rng>(rng: &mut R) -> Vec<String> {
    let mut captions = Vec::with_capacity(N_REFERENCE_CAPTIONS);
    while captions.len() < N_REFERENCE_CAPTIONS {
        let scene = Scene::sample(Compositions::All, rng);
        captions.extend(captions_of(&scene, rng));
    }
    captions
}

/// Quantiles of 1/κ among captions.
pub(in crate::train) fn reference_uncertainty(
    session: &Session,
    captions: &[String],
) -> Result<PerFamily<Vec<f64>>> {
    let encodings = pollster::block_on(session.encode_text(captions))?;
    let quantiles = |family| {
        let distributions = encodings.iter().filter_map(|e| e.distributions.as_ref());
        let uncertainty = distributions.map(|both| 1.0 / both.get(family).concentration);
        let mut uncertainty: Vec<f64> = uncertainty.collect();
        uncertainty.sort_by(f64::total_cmp);
        let share = |i| i as f64 / (N_QUANTILES - 1) as f64;
        (0..N_QUANTILES)
            .filter_map(|i| quantile(&uncertainty, share(i)))
            .collect()
    };
    Ok(PerFamily {
        vmf: quantiles(Family::VonMisesFisher),
        power_spherical: quantiles(Family::PowerSpherical),
    })
}
