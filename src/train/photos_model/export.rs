//! A trained model of photographs → a folder that the page and `train score` can open: towers and heads in eight bits,
//! adapters in sixteen.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::data::PhotosData;
use super::training::TrainedModel;
use super::unfamiliar::Unfamiliar;
use crate::device;
use crate::explorer::World;
use crate::model::adapter::{Family, PerFamily};
use crate::model::encoder::{IMAGE_EXEMPLARS, TEXT_EXEMPLARS};
use crate::model::parameters::TensorRecord;
use crate::protocol::PictureSets;
use crate::train::export::bundle::{open_untested, records};
use crate::train::export::golden::{golden_captions, golden_values, put_golden_picture};
use crate::train::export::scenes_model::{
    N_REFERENCE_CAPTIONS, adapter_part, reference_uncertainty, write_shard,
};
use crate::train::features::encoder;
use crate::train::features::rows::Rows;
use crate::train::files::{make_folder, put, put_json};
use crate::train::import::towers::write_shards;
use crate::train::provenance::commit_and_date;
use crate::weights::manifest::{EncoderConfig, Manifest, Part, Provenance};
use crate::weights::shard::{Precision, file_entry};

const TITLE: &str = "Photographs (built in)";
const LICENSE: &str = "Apache-2.0 (both towers); MIT OR Apache-2.0 (heads and adapters, trained on Flickr8k, whose \
    pictures are for research and education)";

/// Writes a model folder, its manifest last. Its golden values are those of the weights as they are stored.
///
/// # Errors
///
/// The folder cannot be written, or the exported model cannot be opened again.
pub fn export(
    command: &str,
    towers: &Path,
    (model, unfamiliar, picture_sets): (&TrainedModel, &Unfamiliar, PictureSets),
    data: &PhotosData,
    out: &Path,
) -> Result<()> {
    make_folder(out)?;
    let path = towers.join("manifest.json");
    let json = std::fs::read(&path).with_context(|| path.display().to_string())?;
    let imported = Manifest::from_json(&json)?;
    let tokenizer = std::fs::read(towers.join(&imported.tokenizer.file))?;
    put(&out.join("tokenizer.json"), &tokenizer)?;
    let mut text = with_trained(
        encoder::records(&imported, Part::Text, towers)?,
        records(&model.heads.text)?,
    );
    let mut trained_of_image = records(&model.heads.image)?;
    if let Some(stage) = &model.heads.stage {
        trained_of_image.extend(records(stage)?);
    }
    let mut image = with_trained(
        encoder::records(&imported, Part::Image, towers)?,
        trained_of_image,
    );
    text.push(exemplars(TEXT_EXEMPLARS, &unfamiliar.text));
    image.push(exemplars(IMAGE_EXEMPLARS, &unfamiliar.image));
    let mut shards = write_shards(Precision::Int8, out, text, image)?;
    for family in Family::ALL {
        let adapter = records(model.adapters.get(family))?;
        shards.push(write_shard(adapter_part(family), &adapter, out)?);
    }
    let config = &model.adapter_config;
    let mut encoder = model.towers.clone();
    encoder.exemplars = Some(unfamiliar.config());
    let manifest = Manifest {
        name: "photos".to_owned(),
        title: TITLE.to_owned(),
        license: LICENSE.to_owned(),
        encoder: EncoderConfig::Towers(encoder),
        tokenizer: file_entry("tokenizer.json", &tokenizer),
        shards,
        adapters: Some(PerFamily {
            vmf: config.clone(),
            power_spherical: config.clone(),
        }),
        unfamiliar: Some(unfamiliar.detectors.clone()),
        picture_sets: Some(picture_sets),
        golden: None,
        provenance: Provenance {
            command: command.to_owned(),
            seed: model.seed,
            origin: imported.provenance.origin.clone(),
            image_origin: imported.provenance.image_origin.clone(),
            ..commit_and_date()
        },
        ..imported
    };
    answer_golden(manifest, data, out)
}

/// The tower's tensors with trained ones in place of those that were imported.
fn with_trained(mut tower: Vec<TensorRecord>, trained: Vec<TensorRecord>) -> Vec<TensorRecord> {
    tower.retain(|tensor| trained.iter().all(|own| own.name != tensor.name));
    tower.extend(trained);
    tower
}

fn exemplars(name: &str, rows: &Rows) -> TensorRecord {
    TensorRecord {
        name: name.to_owned(),
        shape: vec![rows.n_rows(), rows.width],
        values: rows.values.clone(),
    }
}

fn answer_golden(mut manifest: Manifest, data: &PhotosData, out: &Path) -> Result<()> {
    let image = put_golden_picture(out)?;
    let session = open_untested(manifest.clone(), out, &device::cpu())?;
    let reference = reference_captions(data);
    manifest.reference_uncertainty = Some(reference_uncertainty(&session, &reference)?);
    let captions = golden_captions(World::Photographs);
    manifest.golden = Some(golden_values(&session, out, captions, image)?);
    put_json(&out.join("manifest.json"), &manifest)
}

/// Captions of development pictures and their vaguer truths, evenly chosen.
fn reference_captions(data: &PhotosData) -> Vec<String> {
    let captions = &data.dev.captions;
    let half = N_REFERENCE_CAPTIONS / 2;
    let chosen = |texts: &[String]| -> Vec<String> {
        let step = texts.len().div_ceil(half).max(1);
        texts.iter().step_by(step).cloned().collect()
    };
    [chosen(captions), chosen(&data.dev.vaguer)].concat()
}
