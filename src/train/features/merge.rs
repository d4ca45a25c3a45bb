//! Merges the pieces of `train embed` into one cache, if none is missing.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::cache::{Cache, IdMap, Split, Task, TaskIds, Tensors};
use super::pieces::{FOLDER, PROBES, PieceIds, TaskPlan, WorkPlan, prompts_name, read_plan};
use super::probes::ProbeSentences;
use super::rows::Embedded;
use crate::train::data::{Listing, Skipped};
use crate::train::files;
use crate::weights::shard::Precision;

/// Most names that a message lists.
const MAX_NAMES: usize = 5;
/// The task of which CIFAR-10's classes are asked and CIFAR-100's pictures are of none.
const NONE_OF_THE_ABOVE: &str = "none_of_the_above";

/// A merged cache with the entries that were left out of it.
#[derive(Debug)]
pub struct Merged {
    /// The cache, which is written already.
    pub cache: Cache,
    /// Everything that was left out, by split.
    pub skipped: Vec<(String, Vec<Skipped>)>,
}

impl Merged {
    /// A line for each reason for which entries of a split were left out.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let of_split = |(name, skipped): &(String, Vec<Skipped>)| {
            let (items, skipped) = (Vec::new(), skipped.clone());
            let listing = Listing { items, skipped };
            let line = |(why, n): (String, usize)| format!("{name}: {n} left out: {why}");
            listing.reasons().into_iter().map(line).collect::<Vec<_>>()
        };
        self.skipped.iter().flat_map(of_split).collect()
    }
}

/// Merges the pieces of a folder into the cache beside them, and removes them.
///
/// # Errors
///
/// Pieces are missing or broken, or the cache cannot be written.
pub fn merge(folder: &Path, command: String) -> Result<Merged> {
    let pieces = folder.join(FOLDER);
    let mut plan = read_plan(&pieces).with_context(|| {
        let folder = folder.display();
        format!("{folder}: a folder that `train embed --shard` wrote to was expected")
    })?;
    check_complete(&plan, &pieces)?;
    plan.config.command = command;
    let mut merger = Merger {
        skipped: std::mem::take(&mut plan.skipped),
        plan: &plan,
        pieces: &pieces,
    };
    let cache = Cache {
        config: plan.config.clone(),
        train: merger.split("train")?.0,
        test: merger.split("test")?.0,
        tasks: merger.tasks()?,
        probes: merger.probes()?,
    };
    let skipped = merger.skipped;
    let by_split: BTreeMap<_, _> = skipped.iter().cloned().collect();
    files::put_json(&folder.join("skipped.json"), &by_split)?;
    let precision = if plan.f16 {
        Precision::F16
    } else {
        Precision::F32
    };
    cache.write(folder, precision)?;
    std::fs::remove_dir_all(&pieces).with_context(|| pieces.display().to_string())?;
    Ok(Merged { cache, skipped })
}

fn check_complete(plan: &WorkPlan, pieces: &Path) -> Result<()> {
    let is_missing = |name: &&String| !pieces.join(format!("{name}.json")).exists();
    let missing: Vec<&String> = plan.pieces.iter().filter(is_missing).collect();
    let names: Vec<&str> = missing.iter().take(MAX_NAMES).map(|n| n.as_str()).collect();
    let (n, n_all, names) = (missing.len(), plan.pieces.len(), names.join(", "));
    let more = if n > MAX_NAMES { ", …" } else { "" };
    ensure!(
        n == 0,
        "{}: {n} of {n_all} pieces are missing, {names}{more}; run their shards again, then merge",
        pieces.display()
    );
    Ok(())
}

struct Merger<'a> {
    plan: &'a WorkPlan,
    pieces: &'a Path,
    skipped: Vec<(String, Vec<Skipped>)>,
}

impl Merger<'_> {
    /// All pieces of a split or of a task's pictures, with the labels of a task.
    fn split(&mut self, of: &str) -> Result<(Split, Vec<usize>)> {
        let is_of = |name: &&String| {
            let parts = name.rsplit_once('-');
            parts.is_some_and(|(split, i)| split == of && i.parse::<usize>().is_ok())
        };
        let width = self.plan.config.embed_dim;
        let mut merged = Split {
            ids: IdMap::default(),
            texts: Embedded::empty(width, width),
            images: Embedded::empty(width, width),
        };
        let mut labels = Vec::new();
        for name in self.plan.pieces.iter().filter(is_of) {
            let (split, ids) = read_piece(self.pieces, name)?;
            labels.extend(ids.labels);
            append(&mut merged, split);
            match self.skipped.iter_mut().find(|(known, _)| known == of) {
                Some((_, skipped)) => skipped.extend(ids.skipped),
                None => self.skipped.push((of.to_owned(), ids.skipped)),
            }
        }
        Ok((merged, labels))
    }

    fn tasks(&mut self) -> Result<Vec<Task>> {
        let plans = self.plan.tasks.iter();
        let mut tasks = plans
            .map(|plan| self.task(plan))
            .collect::<Result<Vec<Task>>>()?;
        let find = |name: &str| tasks.iter().find(|task| task.ids.name == name);
        if let (Some(positive), Some(negative)) = (find("cifar10"), find("cifar100")) {
            let task = none_of_the_above(positive, negative);
            tasks.push(task);
        }
        // Dummies are for pictures of none alone.
        for task in &mut tasks {
            if task.ids.name != NONE_OF_THE_ABOVE {
                drop_dummies(task);
            }
        }
        Ok(tasks)
    }

    fn probes(&self) -> Result<Option<ProbeSentences>> {
        // Folders of an earlier version have no probes.
        if !self.plan.pieces.iter().any(|name| name == PROBES) {
            return Ok(None);
        }
        let (found, _) = read_piece(self.pieces, PROBES)?;
        let said = found.ids.captions.into_iter();
        Ok(Some(ProbeSentences {
            sentences: said.map(|caption| caption.text).collect(),
            features: found.texts.features,
        }))
    }

    fn task(&mut self, task: &TaskPlan) -> Result<Task> {
        let (pictures, labels) = self.split(&task.name)?;
        let (captions, _) = read_piece(self.pieces, &prompts_name(&task.name))?;
        Ok(Task {
            ids: TaskIds {
                name: task.name.clone(),
                classes: task.classes.clone(),
                n_templates: self.plan.templates.len(),
                dummies: self.plan.dummies.clone(),
                labels: labels.into_iter().map(Some).collect(),
            },
            texts: captions.texts,
            images: pictures.images,
        })
    }
}

fn read_piece(pieces: &Path, name: &str) -> Result<(Split, PieceIds)> {
    let mut ids: PieceIds = files::read_json(&pieces.join(format!("{name}.json")))?;
    let mut tensors = Tensors::read(pieces, name)?;
    let split = Split {
        ids: IdMap {
            images: std::mem::take(&mut ids.images),
            captions: std::mem::take(&mut ids.captions),
            truths: None,
        },
        texts: tensors.embedded("text")?,
        images: tensors.embedded("image")?,
    };
    Ok((split, ids))
}

/// Puts the rows of a piece behind those that are there.
fn append(split: &mut Split, more: Split) {
    let n_images = split.ids.images.len();
    split.ids.images.extend(more.ids.images);
    let captions = more.ids.captions.into_iter();
    split.ids.captions.extend(captions.map(|mut caption| {
        caption.image += n_images;
        caption
    }));
    split.texts.append(more.texts);
    split.images.append(more.images);
}

/// One task's classes and pictures, with another's pictures that belong to none of them.
fn none_of_the_above(positive: &Task, negative: &Task) -> Task {
    let mut task = positive.clone();
    NONE_OF_THE_ABOVE.clone_into(&mut task.ids.name);
    let none = negative.ids.labels.iter().map(|_| None);
    task.ids.labels.extend(none);
    task.images.append(negative.images.clone());
    task
}

fn drop_dummies(task: &mut Task) {
    let n_captions = task.ids.classes.len() * task.ids.n_templates;
    task.ids.dummies.clear();
    for rows in [&mut task.texts.features, &mut task.texts.activations] {
        rows.values.truncate(n_captions * rows.width);
    }
}
