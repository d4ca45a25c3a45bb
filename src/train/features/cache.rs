//! Embedded pictures and captions as a folder: `features.json`, and for each split a safetensors file of un-normalised
//! features with a JSON file that names each row.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::rows::{Embedded, Rows};
use crate::model::parameters::TensorRecord;
use crate::train::files;
use crate::train::methods::{Activations, Features};
use crate::weights::shard::{Precision, read, write};

/// Encoder, data set and command of a cache; `features.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheConfig {
    /// Data set, as results name it.
    pub dataset: String,
    /// The encoder's name.
    pub model: String,
    /// SHA-256 of each of the encoder's files.
    pub weights: Vec<String>,
    /// Width of the features.
    pub embed_dim: usize,
    /// Squared Frobenius norm of the projection of captions.
    pub squared_text_norm: f64,
    /// Squared Frobenius norm of the projection of pictures; 0 where there is none.
    pub squared_image_norm: f64,
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
    /// The caption.
    pub text: String,
    /// Row of its picture.
    pub image: usize,
    /// Tokens without start and end.
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
    /// Which pictures each caption is true of, where that is known; else its own alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truths: Option<Truths>,
}

/// Which pictures captions are true of. Captions of one meaning share a list: "a picture" fits them all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truths {
    /// The meaning of each caption.
    pub meanings: Vec<usize>,
    /// The pictures that each meaning is true of.
    pub pictures: Vec<Vec<usize>>,
}

/// Embedded captions and pictures.
#[derive(Debug, Clone)]
pub struct EmbeddedSet<Ids> {
    /// What each row is.
    pub ids: Ids,
    /// Captions.
    pub texts: Embedded,
    /// Pictures.
    pub images: Embedded,
}

/// Pictures with their captions, to train or to measure on.
pub type Split = EmbeddedSet<IdMap>;

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
    /// The class of each picture, or none.
    pub labels: Vec<Option<usize>>,
}

const fn one() -> usize {
    1
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
        (
            of(&self.texts.activations, config.squared_text_norm),
            of(&self.images.activations, config.squared_image_norm),
        )
    }

    fn check(&self, config: &CacheConfig, name: &str) -> Result<()> {
        let (n_texts, n_images) = (self.ids.captions.len(), self.ids.images.len());
        check_rows(
            &self.texts.features,
            n_texts,
            config.embed_dim,
            name,
            "text",
        )?;
        check_rows(
            &self.images.features,
            n_images,
            config.embed_dim,
            name,
            "image",
        )?;
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
        if let Some(caption) = stray {
            anyhow::bail!(
                "{name}.json: {:?} belongs to picture {}, there are {n_images}",
                caption.text,
                caption.image
            );
        }
        Ok(())
    }
}

fn check_rows(rows: &Rows, n: usize, width: usize, name: &str, side: &str) -> Result<()> {
    let found = rows.n_rows();
    ensure!(
        found == n && rows.width == width,
        "{name}.safetensors: {found} {side} features of {} numbers, expected {n} of {width}",
        rows.width
    );
    Ok(())
}

/// A folder of embedded data.
#[derive(Debug, Clone)]
pub struct Cache {
    /// Encoder, data set and command.
    pub config: CacheConfig,
    /// The training split.
    pub train: Split,
    /// The test split.
    pub test: Split,
    /// Classification tasks.
    pub tasks: Vec<Task>,
}

impl Cache {
    /// Writes the folder.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self, folder: &Path, precision: Precision) -> Result<()> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("creating {}", folder.display()))?;
        for (name, split) in [("train", &self.train), ("test", &self.test)] {
            let records = [split.texts.records("text"), split.images.records("image")].concat();
            put(folder, name, &records, precision, &split.ids)?;
        }
        let tasks = self.tasks.iter();
        let records: Vec<TensorRecord> = tasks.flat_map(task_records).collect();
        let ids: Vec<&TaskIds> = self.tasks.iter().map(|task| &task.ids).collect();
        put(folder, "tasks", &records, precision, &ids)?;
        // Last, so that a folder with it is whole.
        let config = serde_json::to_string_pretty(&self.config)?;
        std::fs::write(folder.join("features.json"), config)?;
        Ok(())
    }

    /// Reads a folder.
    ///
    /// # Errors
    ///
    /// A file is missing or broken, or files do not belong together.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("features.json");
        let config: CacheConfig = files::find_json(&path)?.with_context(|| {
            format!(
                "{}: a folder that `train embed` wrote was expected",
                path.display()
            )
        })?;
        let cache = Self {
            train: read_split(folder, "train")?,
            test: read_split(folder, "test")?,
            tasks: read_tasks(folder)?,
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

fn put(
    folder: &Path,
    name: &str,
    records: &[TensorRecord],
    precision: Precision,
    ids: &impl Serialize,
) -> Result<()> {
    std::fs::write(
        folder.join(format!("{name}.safetensors")),
        write(records, precision)?,
    )?;
    std::fs::write(
        folder.join(format!("{name}.json")),
        serde_json::to_vec(ids)?,
    )?;
    Ok(())
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

    /// The features and activations of one side.
    pub(super) fn embedded(&mut self, side: &str) -> Result<Embedded> {
        Ok(Embedded {
            features: self.take(&format!("{side}.features"))?,
            activations: self.take(&format!("{side}.activations"))?,
        })
    }

    pub(in crate::train) fn take(&mut self, name: &str) -> Result<Rows> {
        let at = self.records.iter().position(|record| record.name == name);
        let at = at.with_context(|| format!("{}: no tensor {name}", self.file))?;
        let record = self.records.swap_remove(at);
        let &[_, width] = record.shape.as_slice() else {
            anyhow::bail!(
                "{}: {name} has shape {:?}, a matrix was expected",
                self.file,
                record.shape
            );
        };
        Ok(Rows {
            values: record.values,
            width,
        })
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
        Rows {
            values: (0_u8..).map(f32::from).take(n * width).collect(),
            width,
        }
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
            texts: Embedded {
                features: rows(3, 4),
                activations: rows(3, 5),
            },
            images: Embedded {
                features: rows(2, 4),
                activations: rows(2, 6),
            },
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
                noise: String::new(),
                seed: 0,
                command: String::new(),
            },
            train: split(0),
            test: split(owner),
            tasks: Vec::new(),
        }
    }

    fn written_and_read(name: &str, cache: &Cache) -> Result<Cache> {
        let folder = std::env::temp_dir().join(format!("kappascope-{name}-{}", std::process::id()));
        cache.write(&folder, Precision::F32)?;
        let read = Cache::read(&folder);
        std::fs::remove_dir_all(&folder)?;
        read
    }

    #[test]
    fn a_cache_is_read_as_it_was_written() {
        let (cache, read) = (
            cache(1),
            written_and_read("cache", &cache(1)).expect("whole"),
        );
        assert_eq!(read.config, cache.config, "configuration");
        assert_eq!(read.test.ids, cache.test.ids, "ids");
        assert_eq!(read.train.texts, cache.train.texts, "captions");
        assert_eq!(read.train.images, cache.train.images, "pictures");
    }

    #[test]
    fn a_caption_of_no_picture_is_named() {
        let error = written_and_read("stray", &cache(7)).expect_err("there is no picture 7");
        assert!(
            error.to_string().contains("belongs to picture 7"),
            "{error}"
        );
    }
}
