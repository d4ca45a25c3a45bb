//! `manifest.json`: a model's configuration, the files of its weights, and the golden values that it must reproduce.

use serde::{Deserialize, Serialize};

use crate::model::adapter::{AdapterConfig, PerFamily};
pub use crate::model::encoder::EncoderConfig;
use crate::preprocess::ImagePreprocess;
use crate::protocol::PictureSets;

/// The version of the format that this code reads and writes.
pub const FORMAT: u32 = 1;

/// One model as a folder of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this format, [`FORMAT`].
    pub format: u32,
    /// Short name, such as `scenes`.
    pub name: String,
    /// Title of the model, which the page shows.
    pub title: String,
    /// Licence of the weights.
    pub license: String,
    /// The dual encoder, under the key `clip` or `towers`.
    #[serde(flatten)]
    pub encoder: EncoderConfig,
    /// Scale and bias of the encoder's own contrastive loss, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logits: Option<Logits>,
    /// Preprocessing of pictures: side in pixels, mean and deviation of each channel, way to a square.
    pub preprocess: ImagePreprocess,
    /// Name, size and hash of the tokenizer's file.
    pub tokenizer: FileEntry,
    /// Safetensors files, each with one part of the model; none for a model that is read out of another program's file.
    pub shards: Vec<Shard>,
    /// The adapters, if any were trained for this encoder.
    pub adapters: Option<PerFamily<AdapterConfig>>,
    /// 1/κ of the reference captions, ascending.
    pub reference_uncertainty: Option<PerFamily<Vec<f64>>>,
    /// Detector of pictures that are out of the distribution of the model's training.
    #[serde(rename = "outside")]
    pub out_of_distribution: Option<OutOfDistributionDetector>,
    /// Detectors of captions and pictures that are too far from the encoder's exemplars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfamiliar: Option<UnfamiliarDetectors>,
    /// Thresholds for the set of pictures that a caption could mean, with a stated coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture_sets: Option<PictureSets>,
    /// Golden values, which every engine must reproduce before it answers anything; none for another program's file.
    pub golden: Option<Golden>,
    /// Origin of the weights.
    pub provenance: Provenance,
}

impl Manifest {
    /// The files that hold one part of the model, in order; large parts are cut into several.
    pub fn shards(&self, part: Part) -> impl Iterator<Item = &Shard> {
        self.shards.iter().filter(move |shard| shard.part == part)
    }

    /// SHA-256 of each shard of the image encoder, which identify it.
    #[must_use]
    pub fn image_encoder(&self) -> Vec<String> {
        let shards = self.shards(Part::Image);
        shards.map(|shard| shard.entry.sha256.clone()).collect()
    }

    /// Eight hexadecimal digits that identify the weights, the first ones of each shard's SHA-256 combined by exclusive
    /// or; empty where no shard is listed.
    #[must_use]
    pub fn weights(&self) -> String {
        let first = |shard: &Shard| {
            let digits = shard.entry.sha256.get(..8);
            digits.map_or(0, |digits| {
                u32::from_str_radix(digits, 16).unwrap_or_default()
            })
        };
        let combined = self.shards.iter().map(first).reduce(|all, one| all ^ one);
        combined.map_or_else(String::new, |combined| format!("{combined:08x}"))
    }

    /// Sum of everything that has to be read before the model can answer.
    #[must_use]
    pub fn weights_bytes(&self) -> u64 {
        let shards: u64 = self.shards.iter().map(|shard| shard.entry.bytes).sum();
        shards + self.tokenizer.bytes
    }
}

/// Logit of a contrastive loss at a cosine: `scale·cos`, in a sigmoid loss such as `SigLIP`'s `scale·cos + bias`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Logits {
    /// The factor, which models store as its logarithm.
    pub scale: f64,
    /// Bias added to the scaled cosine, in a sigmoid loss alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<f64>,
}

impl Logits {
    /// Greatest scale that CLIP was allowed to learn, which the released models have.
    pub const CLIP: Self = Self {
        scale: 100.0,
        bias: None,
    };
}

/// A file beside the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path relative to the manifest.
    pub file: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
}

/// Safetensors file with one part of the model, or with a piece of that part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The part of the model in it.
    pub part: Part,
    /// Name, size and hash of the file.
    #[serde(flatten)]
    pub entry: FileEntry,
    /// Each tensor's name, dtype and shape, as in the file's own header.
    pub tensors: Vec<TensorEntry>,
}

/// A part of the model that can be loaded by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text tower, with its head and exemplars where it has them.
    Text,
    /// Image tower, with its head and exemplars where it has them.
    Image,
    /// Adapter that gives a caption its von Mises–Fisher distribution.
    AdapterVmf,
    /// Adapter that gives a caption its power-spherical distribution.
    AdapterPowerSpherical,
}

/// One tensor of a shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorEntry {
    /// Name in Hugging Face's layout; a tensor that is cut by rows has the same name in several shards.
    pub name: String,
    /// `F32`, `F16`, or `I8` with the scale of each row in the tensor `NAME.scale`.
    pub dtype: String,
    /// Number of rows, columns and so on.
    pub shape: Vec<usize>,
}

/// A picture is out of distribution where no ground of the model's world covers enough of it.
///
/// The model's own likelihoods do not show it: they notice 15 % of photographs where they call 2 % of scenes foreign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutOfDistributionDetector {
    /// Colours that the world's grounds can have.
    pub grounds: Vec<[u8; 3]>,
    /// Greatest difference of a pixel's channel from its ground's.
    pub tolerance: u8,
    /// Least share of the pixels that have a ground's colour.
    pub threshold: f64,
    /// Share of the world's own held-out pictures below it.
    pub false_alarms: f64,
    /// Share of foreign pictures below it, by kind of picture.
    pub detected: Vec<(String, f64)>,
}

/// Captions and pictures are out of distribution where their mean cosine with the nearest exemplars is small.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnfamiliarDetectors {
    /// Detector of captions that are unlike those of the training.
    pub text: UnfamiliarDetector,
    /// Detector of pictures that are unlike those of the training.
    pub image: UnfamiliarDetector,
}

/// Threshold of one side, with the shares of false alarms and of detections that were measured with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UnfamiliarDetector {
    /// Mean cosine with the nearest exemplars below which a caption or picture is out of distribution.
    pub threshold: f64,
    /// Share of held-out captions or pictures below it, by data set.
    pub false_alarms: Vec<(String, f64)>,
    /// Share of captions or pictures that the model cannot judge below it, by kind.
    pub detected: Vec<(String, f64)>,
}

/// Inputs and outputs that an engine must reproduce.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Golden {
    /// Captions whose readings are known.
    pub captions: Vec<String>,
    /// A picture beside the manifest.
    pub image: FileEntry,
    /// κ of each caption.
    pub concentration: Option<PerFamily<Vec<f64>>>,
    /// Log-likelihood ratio to uniform of the picture under each caption, in nats.
    pub nats: Option<PerFamily<Vec<f64>>>,
    /// CLIP's cosine of each caption with the picture.
    pub cosine: Vec<f64>,
    /// Length of each caption's features, which needs no picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features_norm: Option<Vec<f64>>,
}

/// Origin of weights: command, seed, commit, date and, of an import, the checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The command that made them.
    pub command: String,
    /// Seed of the training data.
    pub seed: u64,
    /// The commit of this repository.
    pub commit: String,
    /// Date of the training, as YYYY-MM-DD.
    pub date: String,
    /// Measures on held-out data, by name.
    pub metrics: std::collections::BTreeMap<String, f64>,
    /// The file that the weights were imported from, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<CheckpointOrigin>,
    /// The file of the image tower, where that was imported apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_origin: Option<CheckpointOrigin>,
}

/// The checkpoint that a model was imported from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointOrigin {
    /// Id at the model hub, or the file's name.
    pub source: String,
    /// Commit at the model hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Name, size and hash of the checkpoint file.
    pub checkpoint: FileEntry,
    /// Names, sizes and hashes of the small files beside it: configuration and tokenizer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<FileEntry>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::RecordedAnswer;

    const FILES: [[&str; 2]; 2] = [
        [
            include_str!("../../public/models/photos/manifest.json"),
            include_str!("../../public/examples/photos/start.json"),
        ],
        [
            include_str!("../../public/models/scenes/manifest.json"),
            include_str!("../../public/examples/scenes/start.json"),
        ],
    ];

    #[test]
    fn recorded_answers_name_the_weights_of_their_model_and_a_changed_shard_changes_them() {
        let mut all = Vec::new();
        for [manifest, recorded] in FILES {
            let mut manifest: Manifest = serde_json::from_str(manifest).expect("it is one");
            let recorded: RecordedAnswer = serde_json::from_str(recorded).expect("it is one");
            assert_eq!(
                recorded.card.weights,
                manifest.weights(),
                "{}",
                manifest.name
            );
            all.push(manifest.weights());
            let hash = &mut manifest.shards[0].entry.sha256;
            let other = if hash.starts_with('0') { "1" } else { "0" };
            hash.replace_range(..1, other);
            all.push(manifest.weights());
            manifest.shards.clear();
            assert_eq!(manifest.weights(), "", "of another program's file");
        }
        let n_all = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), n_all, "{all:?}");
        assert!(all.iter().all(|weights| weights.len() == 8), "{all:?}");
    }
}
