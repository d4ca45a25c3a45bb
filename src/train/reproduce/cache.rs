//! Embedded pictures and captions as a folder: `features.json`, and for each split a safetensors file of un-normalised
//! features with a JSON file that says what each row is.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::model::parameters::TensorRecord;
use crate::train::files;
use crate::train::fit::Features;
use crate::train::methods::Activations;
use crate::weights::shard::{Precision, read, write};

/// What a cache was made of; `features.json`.
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
    /// What was done to the pictures and captions that are measured on; nothing if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub noise: String,
    /// Seed of the data.
    pub seed: u64,
    /// The command that made it.
    pub command: String,
}

/// What a row of text features is.
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

/// What the rows of a split are.
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

/// A matrix on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Row by row.
    pub values: Vec<f32>,
    /// Numbers in a row.
    pub width: usize,
}

impl Rows {
    /// How many rows there are.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        // A matrix without columns has no rows that could be told apart.
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Brings rows that were computed in another order, row `i` being that of `order[i]`, into their own.
    pub(super) fn put_back(&mut self, order: &[usize]) {
        let mut values = vec![0.0; self.values.len()];
        for (row, &at) in self.values.chunks_exact(self.width.max(1)).zip(order) {
            values[at * self.width..][..self.width].copy_from_slice(row);
        }
        self.values = values;
    }

    /// A matrix from its device.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn from_device(tensor: Tensor<2>) -> Result<Self> {
        let [_, width] = tensor.dims();
        Ok(Self {
            values: tensor.into_data().try_into_vec()?,
            width,
        })
    }

    /// The matrix on a device.
    #[must_use]
    pub fn to_device(&self, device: &Device) -> Tensor<2> {
        Tensor::from_data(
            TensorData::new(self.values.clone(), [self.n_rows(), self.width]),
            device,
        )
    }

    pub(in crate::train) fn record(&self, name: &str) -> TensorRecord {
        TensorRecord {
            name: name.to_owned(),
            shape: vec![self.n_rows(), self.width],
            values: self.values.clone(),
        }
    }
}

/// Pictures with their captions.
#[derive(Debug, Clone)]
pub struct Split {
    /// What the rows are.
    pub ids: IdMap,
    /// Features of captions.
    pub texts: Rows,
    /// Features of pictures.
    pub images: Rows,
    /// What the projection of captions was fed.
    pub text_activations: Rows,
    /// What the projection of pictures was fed.
    pub image_activations: Rows,
}

/// Pictures to be given to captions.
#[derive(Debug, Clone)]
pub struct Task {
    /// What the rows are.
    pub ids: TaskIds,
    /// Features of captions.
    pub texts: Rows,
    /// Features of pictures.
    pub images: Rows,
    /// What the projection of captions was fed.
    pub text_activations: Rows,
    /// What the projection of pictures was fed.
    pub image_activations: Rows,
}

/// What the rows of a task are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskIds {
    /// Name of the task.
    pub name: String,
    /// What the classes are called.
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
    /// As the training loop takes it.
    #[must_use]
    pub fn features(&self, device: &Device) -> Features {
        Features {
            texts: self.texts.to_device(device),
            images: self.images.to_device(device),
            image_of_text: self.image_of_text(),
        }
    }

    /// Row of each caption's picture.
    #[must_use]
    pub fn image_of_text(&self) -> Vec<i64> {
        let captions = self.ids.captions.iter();
        captions.map(|caption| caption.image as i64).collect()
    }

    /// What the projections were fed, captions first.
    #[must_use]
    pub fn activations(&self, config: &CacheConfig, device: &Device) -> (Activations, Activations) {
        let of = |rows: &Rows, squared_weight_norm| Activations {
            rows: rows.to_device(device),
            squared_weight_norm,
        };
        (
            of(&self.text_activations, config.squared_text_norm),
            of(&self.image_activations, config.squared_image_norm),
        )
    }

    fn check(&self, config: &CacheConfig, name: &str) -> Result<()> {
        let (n_texts, n_images) = (self.ids.captions.len(), self.ids.images.len());
        check_rows(&self.texts, n_texts, config.embed_dim, name, "text")?;
        check_rows(&self.images, n_images, config.embed_dim, name, "image")?;
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
    /// What it was made of.
    pub config: CacheConfig,
    /// To train on.
    pub train: Split,
    /// To measure on.
    pub test: Split,
    /// To classify.
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
            let records = [
                split.texts.record("text.features"),
                split.images.record("image.features"),
                split.text_activations.record("text.activations"),
                split.image_activations.record("image.activations"),
            ];
            put(folder, name, &records, precision, &split.ids)?;
        }
        let records: Vec<TensorRecord> = self.tasks.iter().flat_map(task_records).collect();
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

fn task_records(task: &Task) -> [TensorRecord; 4] {
    let of = |rows: &Rows, what: &str| rows.record(&format!("{}.{what}", task.ids.name));
    [
        of(&task.texts, "text.features"),
        of(&task.images, "image.features"),
        of(&task.text_activations, "text.activations"),
        of(&task.image_activations, "image.activations"),
    ]
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
    let [texts, images, text_activations, image_activations] = read_rows(folder, name)?;
    Ok(Split {
        ids: read_ids(folder, name)?,
        texts,
        images,
        text_activations,
        image_activations,
    })
}

/// Features of captions and of pictures, then what the projections were fed of them.
///
/// # Errors
///
/// The file is missing or broken.
pub(super) fn read_rows(folder: &Path, name: &str) -> Result<[Rows; 4]> {
    let mut tensors = Tensors::read(folder, name)?;
    Ok([
        tensors.take("text.features")?,
        tensors.take("image.features")?,
        tensors.take("text.activations")?,
        tensors.take("image.activations")?,
    ])
}

fn read_tasks(folder: &Path) -> Result<Vec<Task>> {
    let mut tensors = Tensors::read(folder, "tasks")?;
    let all: Vec<TaskIds> = read_ids(folder, "tasks")?;
    all.into_iter()
        .map(|ids| {
            let mut of = |what: &str| tensors.take(&format!("{}.{what}", ids.name));
            let (texts, images) = (of("text.features")?, of("image.features")?);
            let (text_activations, image_activations) =
                (of("text.activations")?, of("image.activations")?);
            Ok(Task {
                ids,
                texts,
                images,
                text_activations,
                image_activations,
            })
        })
        .collect()
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
            texts: rows(3, 4),
            images: rows(2, 4),
            text_activations: rows(3, 5),
            image_activations: rows(2, 6),
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
        assert_eq!(read.train.texts, cache.train.texts, "features");
        assert_eq!(
            read.train.image_activations, cache.train.image_activations,
            "activations"
        );
    }

    #[test]
    fn rows_come_back_into_their_order() {
        let mut rows = Rows {
            values: vec![20.0, 21.0, 0.0, 1.0, 10.0, 11.0],
            width: 2,
        };
        rows.put_back(&[2, 0, 1]);
        assert_eq!(rows.values, [0.0, 1.0, 10.0, 11.0, 20.0, 21.0], "in order");
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
