//! Embedded pictures and captions as a folder: `features.json`, and for each split a safetensors file of un-normalised
//! features with a JSON file that names each row.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::probes::ProbeSentences;
use super::rows::{Embedded, Rows};
use crate::model::parameters::TensorRecord;
use crate::train::files;
use crate::train::methods::{Activations, Features};
use crate::weights::manifest::Logits;
use crate::weights::shard::{Precision, read, write};

/// Encoder, data set and command of a cache; `features.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheConfig {
    /// Data set, as results name it.
    pub dataset: String,
    /// The encoder's name in its manifest.
    pub model: String,
    /// SHA-256 of each of the encoder's files.
    pub weights: Vec<String>,
    /// Width of the features: the dimension of the encoder's common space.
    pub embed_dim: usize,
    /// Squared Frobenius norm of the projection of captions.
    pub squared_text_norm: f64,
    /// Squared Frobenius norm of the projection of pictures; 0 where there is none.
    pub squared_image_norm: f64,
    /// Scale and bias of the encoder's own loss, where its folder holds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logits: Option<Logits>,
    /// Augmented views of each picture that is measured on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub views: usize,
    /// Corruption of the pictures and captions that are measured on; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub noise: String,
    /// Seed of the data.
    pub seed: u64,
    /// The command that made it.
    pub command: String,
}

/// The caption of a row of text features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaptionRow {
    /// The caption as it was embedded.
    pub text: String,
    /// Row of its picture.
    pub image: usize,
    /// Number of tokens between start and end.
    pub n_tokens: usize,
    /// Level in a hierarchy of captions of one picture, the vaguest 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<usize>,
    /// Information in bits, where the truth is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<f64>,
}

/// The pictures and captions of a split's rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IdMap {
    /// Name of each picture, in order of its row.
    pub images: Vec<String>,
    /// Each caption, in order of its row.
    pub captions: Vec<CaptionRow>,
    /// Pictures that each caption is true of; `None` where only its own is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truths: Option<Truths>,
}

/// Pictures that captions are true of. Captions of one meaning share a list: "a picture" fits them all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truths {
    /// Index of each caption's meaning in `pictures`.
    pub meanings: Vec<usize>,
    /// Rows of the pictures that each meaning is true of.
    pub pictures: Vec<Vec<usize>>,
}

/// Embedded captions and pictures.
#[derive(Debug, Clone)]
pub struct EmbeddedSet<Ids> {
    /// Identity of each row: its picture, caption or class.
    pub ids: Ids,
    /// Features and activations of the captions.
    pub texts: Embedded,
    /// Features and activations of the pictures.
    pub images: Embedded,
}

/// Pictures with their captions, to train or to measure on.
pub type Split = EmbeddedSet<IdMap>;

impl Split {
    /// A split without pictures and captions.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            ids: IdMap::default(),
            texts: Embedded::empty(0, 0),
            images: Embedded::empty(0, 0),
        }
    }
}

/// Pictures to classify, and captions of the classes.
pub type Task = EmbeddedSet<TaskIds>;

/// The classes, captions and pictures of a task's rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskIds {
    /// Name of the task.
    pub name: String,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Captions of each class, one after the other, in order of the classes.
    #[serde(default = "one")]
    pub n_templates: usize,
    /// Captions that stand for "none of them", tried one at a time; they follow the classes.
    pub dummies: Vec<String>,
    /// Index of each picture's class; `None` for a picture of no class.
    pub labels: Vec<Option<usize>>,
}

const fn one() -> usize {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
const fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Split {
    /// Features on a device, to train or to measure on.
    #[must_use]
    pub fn features(&self, device: &Device) -> Features {
        Features {
            texts: self.texts.features.to_device(device),
            images: self.images.features.to_device(device),
            image_of_text: self.image_of_text(),
        }
    }

    /// Row of each caption's picture.
    #[must_use]
    pub fn image_of_text(&self) -> Vec<i64> {
        let captions = self.ids.captions.iter();
        captions.map(|caption| caption.image as i64).collect()
    }

    /// Activations before the projections on a device, captions first.
    #[must_use]
    pub fn activations(&self, config: &CacheConfig, device: &Device) -> (Activations, Activations) {
        let of = |rows: &Rows, squared_weight_norm| Activations {
            rows: rows.to_device(device),
            squared_weight_norm,
        };
        let texts = of(&self.texts.activations, config.squared_text_norm);
        (
            texts,
            of(&self.images.activations, config.squared_image_norm),
        )
    }

    fn check(&self, config: &CacheConfig, name: &str) -> Result<()> {
        let (n_texts, n_images) = (self.ids.captions.len(), self.ids.images.len());
        for (side, rows, n) in [
            ("text", &self.texts.features, n_texts),
            ("image", &self.images.features, n_images),
        ] {
            let (found, found_width, width) = (rows.n_rows(), rows.width, config.embed_dim);
            ensure!(
                found == n && found_width == width,
                "{name}.safetensors: {found} {side} features of {found_width} numbers, expected {n} of {width}"
            );
        }
        let n_spread = self.images.view_spread.n_rows();
        ensure!(
            n_spread == 0 || n_spread == n_images,
            "{name}.safetensors: {n_spread} spreads of views, expected {n_images}"
        );
        if let Some(truths) = &self.ids.truths {
            let pictures = truths.pictures.iter().flatten();
            ensure!(
                truths.meanings.len() == n_texts
                    && truths.meanings.iter().all(|&m| m < truths.pictures.len())
                    && pictures.clone().all(|&picture| picture < n_images),
                "{name}.json: truths of other captions or pictures than these"
            );
        }
        let stray = self.ids.captions.iter().find(|c| c.image >= n_images);
        if let Some(CaptionRow { text, image, .. }) = stray {
            bail!("{name}.json: {text:?} belongs to picture {image}, there are {n_images}");
        }
        Ok(())
    }
}

/// A folder of embedded data.
#[derive(Debug, Clone)]
pub struct Cache {
    /// Encoder, data set and command.
    pub config: CacheConfig,
    /// Pictures and captions to train on.
    pub train: Split,
    /// Pictures and captions to measure on.
    pub test: Split,
    /// Pictures to classify by captions, one task a data set.
    pub tasks: Vec<Task>,
    /// Probe sentences whose κ fits report while they are under way; none in folders of earlier versions.
    pub probes: Option<ProbeSentences>,
}

/// Name of the files of the probe sentences.
const PROBES: &str = "probes";

impl Cache {
    /// Writes the features, identities, tasks and description of the data into a folder.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self, folder: &Path, precision: Precision) -> Result<()> {
        files::make_folder(folder)?;
        for (name, split) in [("train", &self.train), ("test", &self.test)] {
            let records = [split.texts.records("text"), split.images.records("image")].concat();
            put(folder, name, &records, precision, &split.ids)?;
        }
        let tasks = self.tasks.iter();
        let records: Vec<TensorRecord> = tasks.flat_map(task_records).collect();
        let ids: Vec<&TaskIds> = self.tasks.iter().map(|task| &task.ids).collect();
        put(folder, "tasks", &records, precision, &ids)?;
        if let Some(probes) = &self.probes {
            let records = [probes.features.record("features")];
            put(folder, PROBES, &records, precision, &probes.sentences)?;
        }
        // Written last, so that a folder that holds it is complete.
        files::put_json(&folder.join("features.json"), &self.config)
    }

    /// Reads the features and their description from a folder that [`write`](Self::write) made.
    ///
    /// # Errors
    ///
    /// A file is missing or broken, or files do not belong together.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("features.json");
        let config: CacheConfig = files::find_json(&path)?.with_context(|| {
            let path = path.display();
            format!("{path}: a folder that `train embed` wrote was expected")
        })?;
        let cache = Self {
            train: read_split(folder, "train")?,
            test: read_split(folder, "test")?,
            tasks: read_tasks(folder)?,
            probes: read_probes(folder, config.embed_dim)?,
            config,
        };
        cache.train.check(&cache.config, "train")?;
        cache.test.check(&cache.config, "test")?;
        Ok(cache)
    }
}

fn task_records(task: &Task) -> Vec<TensorRecord> {
    let name = &task.ids.name;
    let texts = task.texts.records(&format!("{name}.text"));
    [texts, task.images.records(&format!("{name}.image"))].concat()
}

/// Writes tensors and, last, the identities of their rows: where that file is there, both are.
pub(super) fn put(
    folder: &Path,
    name: &str,
    records: &[TensorRecord],
    precision: Precision,
    ids: &impl Serialize,
) -> Result<()> {
    let tensors = folder.join(format!("{name}.safetensors"));
    files::put(&tensors, write(records, precision)?)?;
    files::put(
        &folder.join(format!("{name}.json")),
        serde_json::to_vec(ids)?,
    )
}

/// The tensors of a file, handed out by name.
pub(in crate::train) struct Tensors {
    file: String,
    records: Vec<TensorRecord>,
}

impl Tensors {
    pub(in crate::train) fn read(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(format!("{name}.safetensors"));
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        Ok(Self {
            records: read(&bytes).with_context(|| path.display().to_string())?,
            file: path.display().to_string(),
        })
    }

    /// The features and activations of one side, with the spread of views where it was embedded.
    pub(super) fn embedded(&mut self, side: &str) -> Result<Embedded> {
        let features = self.take(&format!("{side}.features"))?;
        let mut embedded = Embedded::new(features, self.take(&format!("{side}.activations"))?);
        let spread = format!("{side}.view_spread");
        if self.records.iter().any(|record| record.name == spread) {
            embedded.view_spread = self.take(&spread)?;
        }
        Ok(embedded)
    }

    pub(in crate::train) fn take(&mut self, name: &str) -> Result<Rows> {
        let at = self.records.iter().position(|record| record.name == name);
        let at = at.with_context(|| format!("{}: no tensor {name}", self.file))?;
        let TensorRecord { shape, values, .. } = self.records.swap_remove(at);
        let &[_, width] = shape.as_slice() else {
            let file = &self.file;
            bail!("{file}: {name} has shape {shape:?}, a matrix was expected");
        };
        Ok(Rows { values, width })
    }
}

fn read_ids<T: serde::de::DeserializeOwned>(folder: &Path, name: &str) -> Result<T> {
    files::read_json(&folder.join(format!("{name}.json")))
}

fn read_split(folder: &Path, name: &str) -> Result<Split> {
    let mut tensors = Tensors::read(folder, name)?;
    Ok(Split {
        ids: read_ids(folder, name)?,
        texts: tensors.embedded("text")?,
        images: tensors.embedded("image")?,
    })
}

/// None where a folder holds none.
fn read_probes(folder: &Path, embed_dim: usize) -> Result<Option<ProbeSentences>> {
    let path = folder.join(format!("{PROBES}.json"));
    let Some(sentences) = files::find_json::<Vec<String>>(&path)? else {
        return Ok(None);
    };
    let features = Tensors::read(folder, PROBES)?.take("features")?;
    let (found, expected) = (
        (features.n_rows(), features.width),
        (sentences.len(), embed_dim),
    );
    ensure!(
        found == expected,
        "{PROBES}.safetensors: {} features of {} numbers, expected {} of {}",
        found.0,
        found.1,
        expected.0,
        expected.1
    );
    Ok(Some(ProbeSentences {
        sentences,
        features,
    }))
}

fn read_tasks(folder: &Path) -> Result<Vec<Task>> {
    let mut tensors = Tensors::read(folder, "tasks")?;
    let all: Vec<TaskIds> = read_ids(folder, "tasks")?;
    let read = |ids: TaskIds| {
        Ok(Task {
            texts: tensors.embedded(&format!("{}.text", ids.name))?,
            images: tensors.embedded(&format!("{}.image", ids.name))?,
            ids,
        })
    };
    all.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize, width: usize) -> Rows {
        let values = (0_u8..).map(f32::from).take(n * width).collect();
        Rows { values, width }
    }

    fn embedded(n: usize, tower_width: usize) -> Embedded {
        Embedded::new(rows(n, 4), rows(n, tower_width))
    }

    fn with_views(mut split: Split) -> Split {
        split.images.view_spread = rows(split.ids.images.len(), 1);
        split
    }

    fn split(owner: usize) -> Split {
        let caption = |image| CaptionRow {
            text: "a star".to_owned(),
            image,
            n_tokens: 2,
            level: Some(1),
            bits: None,
        };
        Split {
            ids: IdMap {
                images: vec!["0".to_owned(), "1".to_owned()],
                captions: vec![caption(0), caption(1), caption(owner)],
                truths: Some(Truths {
                    meanings: vec![0, 1, 1],
                    pictures: vec![vec![0], vec![0, 1]],
                }),
            },
            texts: embedded(3, 5),
            images: embedded(2, 6),
        }
    }

    fn cache(owner: usize) -> Cache {
        Cache {
            config: CacheConfig {
                dataset: "scenes".to_owned(),
                model: "scenes".to_owned(),
                weights: Vec::new(),
                embed_dim: 4,
                squared_text_norm: 1.0,
                squared_image_norm: 2.0,
                logits: Some(Logits {
                    scale: 90.0,
                    bias: Some(-10.0),
                }),
                views: 2,
                noise: String::new(),
                seed: 0,
                command: String::new(),
            },
            train: split(0),
            test: with_views(split(owner)),
            tasks: Vec::new(),
            probes: Some(ProbeSentences {
                sentences: vec!["a picture".to_owned(), "a red star".to_owned()],
                features: rows(2, 4),
            }),
        }
    }

    fn written_and_read(cache: &Cache) -> Result<Cache> {
        let folder = tempfile::tempdir()?;
        cache.write(folder.path(), Precision::F32)?;
        Cache::read(folder.path())
    }

    #[test]
    fn a_cache_is_read_as_it_was_written() {
        let (cache, read) = (cache(1), written_and_read(&cache(1)).expect("whole"));
        assert_eq!(read.config, cache.config, "configuration");
        assert_eq!(read.test.ids, cache.test.ids, "ids");
        assert_eq!(read.train.texts, cache.train.texts, "captions");
        assert_eq!(read.train.images, cache.train.images, "pictures");
        assert_eq!(read.test.images, cache.test.images, "pictures with views");
        assert_eq!(read.probes, cache.probes, "probe sentences");
    }

    #[test]
    fn a_caption_of_no_picture_is_named() {
        let error = written_and_read(&cache(7)).expect_err("there is no picture 7");
        let is_named = error.to_string().contains("belongs to picture 7");
        assert!(is_named, "{error}");
    }
}
