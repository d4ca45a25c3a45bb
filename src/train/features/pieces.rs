//! The work of embedding cut into pieces, each a file of its own, so that it can be interrupted, be shared among
//! processes, and resume.

use std::path::Path;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::cache::{CacheConfig, CaptionRow};
use super::encoder::Encoder;
use super::probes::PHOTOGRAPH_SENTENCES;
use crate::train::data::corruption::Corruptions;
use crate::train::data::{Item, ItemCaption, Labelled, Listing, Skipped, Splits};
use crate::train::files;
use crate::weights::shard::Precision;

/// Pictures in a piece.
const PICTURES_PER_PIECE: usize = 1024;
/// The piece of the probe sentences.
pub(super) const PROBES: &str = "probes";
/// The folder of the pieces, beside the finished cache.
pub(super) const FOLDER: &str = "pieces";

/// Pictures, captions and tasks to embed.
#[derive(Debug)]
pub struct Sources {
    /// Data set, as results name it.
    pub dataset: String,
    /// Pictures with captions, to train and to measure on.
    pub splits: Splits,
    /// Pictures to be classified.
    pub tasks: Vec<Labelled>,
    /// Templates of the captions of a class; `{}` stands for its name.
    pub templates: Vec<String>,
    /// Captions that stand for "none of them".
    pub dummies: Vec<String>,
    /// Corruption of the pictures and captions that are measured on.
    pub noise: Corruptions,
    /// Augmented views of each picture that is measured on.
    pub views: usize,
    /// Seed of the data set's choices.
    pub seed: u64,
}

/// A task's name and classes, of which its captions are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TaskPlan {
    pub(super) name: String,
    pub(super) classes: Vec<String>,
}

/// The plan that all processes share that embed into a folder; `plan.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WorkPlan {
    pub(super) config: CacheConfig,
    /// Whether numbers take 16 bits.
    pub(super) f16: bool,
    /// Names of the pieces, in order.
    pub(super) pieces: Vec<String>,
    /// SHA-256 of all names and captions.
    pub(super) fingerprint: String,
    pub(super) tasks: Vec<TaskPlan>,
    pub(super) templates: Vec<String>,
    pub(super) dummies: Vec<String>,
    /// Entries that were left out while listing, by split.
    pub(super) skipped: Vec<(String, Vec<Skipped>)>,
}

impl WorkPlan {
    /// This plan without its computed numbers, which JSON and devices round differently.
    fn without_norms(mut self) -> Self {
        self.config.squared_text_norm = 0.0;
        self.config.squared_image_norm = 0.0;
        self
    }
}

/// The pictures and captions of a piece's rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PieceIds {
    pub(super) images: Vec<String>,
    /// Captions; their pictures are counted within the piece.
    pub(super) captions: Vec<CaptionRow>,
    /// The class of each picture of a task.
    pub(super) labels: Vec<usize>,
    pub(super) skipped: Vec<Skipped>,
}

impl PieceIds {
    /// Adds a picture that was embedded, with its captions.
    pub(super) fn keep(&mut self, item: &Item, label: Option<usize>, noise: Corruptions) {
        let image = self.images.len();
        self.images.push(item.id.clone());
        self.labels.extend(label);
        let row = |caption: &ItemCaption| CaptionRow {
            level: caption.level,
            ..row(&noise.caption(&caption.text, &item.id), image)
        };
        self.captions.extend(item.captions.iter().map(row));
    }

    /// Adds captions that belong to no picture.
    pub(super) fn keep_prompts(&mut self, prompts: &[String]) {
        self.captions
            .extend(prompts.iter().map(|text| row(text, 0)));
    }
}

/// A caption whose tokens are not counted yet.
fn row(text: &str, image: usize) -> CaptionRow {
    CaptionRow {
        text: text.to_owned(),
        image,
        n_tokens: 0,
        level: None,
        bits: None,
    }
}

/// A piece of the work.
pub(super) struct WorkPiece<'a> {
    pub(super) name: String,
    pub(super) items: &'a [Item],
    /// The class of each picture of a task.
    pub(super) labels: &'a [usize],
    /// Captions without a picture.
    pub(super) prompts: Vec<String>,
    /// Corruption of its pictures and captions.
    pub(super) noise: Corruptions,
    /// Augmented views of each picture.
    pub(super) views: usize,
}

impl WorkPiece<'_> {
    /// Pictures and captions without one.
    pub(super) const fn n_rows(&self) -> usize {
        self.items.len() + self.prompts.len()
    }
}

/// The name of the piece with a task's captions.
pub(super) fn prompts_name(task: &str) -> String {
    format!("{task}-captions")
}

impl Sources {
    /// Captions of a task: each class in each template, then the dummies.
    fn prompts(&self, task: &Labelled) -> Vec<String> {
        let classes = task.classes.iter();
        let prompts =
            classes.flat_map(|class| self.templates.iter().map(move |t| t.replace("{}", class)));
        prompts.chain(self.dummies.iter().cloned()).collect()
    }

    pub(super) fn pieces(&self) -> Vec<WorkPiece<'_>> {
        let mut pieces = cut("train", &self.splits.train, &[]);
        let tested = cut("test", &self.splits.test, &[]).into_iter();
        let (noise, views) = (self.noise, self.views);
        pieces.extend(tested.map(|piece| WorkPiece {
            noise,
            views,
            ..piece
        }));
        for task in &self.tasks {
            pieces.extend(cut(&task.name, &task.listing, &task.labels));
            pieces.push(WorkPiece {
                name: prompts_name(&task.name),
                items: &[],
                labels: &[],
                prompts: self.prompts(task),
                noise: Corruptions::default(),
                views: 0,
            });
        }
        pieces.push(WorkPiece {
            name: PROBES.to_owned(),
            items: &[],
            labels: &[],
            prompts: PHOTOGRAPH_SENTENCES.map(str::to_owned).to_vec(),
            noise: Corruptions::default(),
            views: 0,
        });
        pieces
    }

    fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for piece in self.pieces() {
            for item in piece.items {
                let captions = item.captions.iter().map(|caption| caption.text.as_str());
                let words: Vec<&str> = std::iter::once(item.id.as_str()).chain(captions).collect();
                hash.update(words.join("\0"));
                hash.update([1]);
            }
            hash.update(piece.prompts.join("\0"));
        }
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }

    pub(super) fn plan(&self, encoder: &Encoder, precision: Precision) -> WorkPlan {
        let listings = [("train", &self.splits.train), ("test", &self.splits.test)].into_iter();
        let listings = listings.chain(self.tasks.iter().map(|t| (t.name.as_str(), &t.listing)));
        let noise = self.noise.to_string();
        let task = |task: &Labelled| TaskPlan {
            name: task.name.clone(),
            classes: task.classes.clone(),
        };
        WorkPlan {
            // The command differs between the processes of a job array.
            config: CacheConfig {
                views: self.views,
                ..encoder.cache_config(&self.dataset, noise, self.seed, String::new())
            },
            f16: precision == Precision::F16,
            pieces: self.pieces().into_iter().map(|piece| piece.name).collect(),
            fingerprint: self.fingerprint(),
            tasks: self.tasks.iter().map(task).collect(),
            templates: self.templates.clone(),
            dummies: self.dummies.clone(),
            skipped: listings
                .map(|(name, list)| (name.to_owned(), list.skipped.clone()))
                .collect(),
        }
    }
}

fn cut<'a>(of: &str, listing: &'a Listing, labels: &'a [usize]) -> Vec<WorkPiece<'a>> {
    let piece = |(i, items): (usize, &'a [Item])| {
        let start = i * PICTURES_PER_PIECE;
        WorkPiece {
            name: format!("{of}-{i:05}"),
            items,
            labels: labels.get(start..start + items.len()).unwrap_or(&[]),
            prompts: Vec::new(),
            noise: Corruptions::default(),
            views: 0,
        }
    };
    let chunks = listing.items.chunks(PICTURES_PER_PIECE).enumerate();
    chunks.map(piece).collect()
}

/// Writes the plan, or checks that the one there is the same.
pub(super) fn claim(plan: &WorkPlan, folder: &Path) -> Result<()> {
    let path = folder.join("plan.json");
    let Some(there) = files::find_json::<WorkPlan>(&path)? else {
        return files::put(&path, serde_json::to_vec(plan)?);
    };
    let (is_same, folder) = (
        there.without_norms() == plan.clone().without_norms(),
        folder.display(),
    );
    ensure!(
        is_same,
        "{folder} holds pieces of other work; choose another folder, or delete it"
    );
    Ok(())
}

pub(super) fn read_plan(folder: &Path) -> Result<WorkPlan> {
    files::read_json(&folder.join("plan.json"))
}
