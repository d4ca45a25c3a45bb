//! The state of an unfinished training: a folder for a step, `step-N`, with `module.bpk` and `optimizer.bpk`, and
//! `checkpoint.json`, which names the valid one and the SHA-256 of its files.
//!
//! A folder is written beside the others, synced and renamed before the pointer names it, so that a process that is
//! killed at any moment leaves a whole state behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use burn::module::Module;
use burn::optim::ModuleOptimizer;
use burn::store::ModuleRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::train::files::{self, remove_folder, sync, sync_folder};
use crate::weights::shard::sha256;

/// Number of this format, which is written into each checkpoint.
const FORMAT: u32 = 3;
const POINTER: &str = "checkpoint.json";
const MODULE: &str = "module.bpk";
const OPTIMIZER: &str = "optimizer.bpk";
/// Prefix of the names of the steps' folders.
const STEP: &str = "step-";
/// The folder of a step that is being written.
const UNFINISHED: &str = "unfinished";
/// Time between two checkpoints, if nothing else is said.
const INTERVAL: Duration = Duration::from_mins(2);

/// The folder in which a training keeps its state.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    folder: PathBuf,
    training: Value,
    /// Time between two checkpoints; none after each step.
    pub interval: Duration,
}

#[derive(Serialize, Deserialize)]
struct Pointer {
    /// Number of the format; absent from checkpoints of earlier versions, which are refused.
    #[serde(default)]
    format: u32,
    step: usize,
    training: Value,
    /// SHA-256 of each file in the folder of the step.
    #[serde(default)]
    sha256: BTreeMap<String, String>,
}

impl Checkpoint {
    /// A folder for the state of the training that `training` describes.
    ///
    /// # Errors
    ///
    /// The description cannot be written as JSON.
    pub fn new(folder: &Path, training: &impl Serialize) -> Result<Self> {
        Ok(Self {
            folder: folder.to_owned(),
            training: serde_json::to_value(training)?,
            interval: INTERVAL,
        })
    }

    /// Number of steps that were taken; 0 where there is no checkpoint yet.
    ///
    /// # Errors
    ///
    /// The checkpoint cannot be read, is of another training or of an earlier version of this program.
    pub fn n_steps(&self) -> Result<usize> {
        Ok(self.pointer()?.map_or(0, |pointer| pointer.step))
    }

    fn pointer(&self) -> Result<Option<Pointer>> {
        let Some(pointer) = files::find_json::<Pointer>(&self.folder.join(POINTER))? else {
            return Ok(None);
        };
        let of = match &pointer {
            old if old.format != FORMAT => "an earlier version of this program",
            other if other.training != self.training => "another training",
            _ => return Ok(Some(pointer)),
        };
        let folder = self.folder.display();
        bail!("{folder} holds a checkpoint of {of}; choose another folder or delete it");
    }

    /// Saves the state after `n_steps` steps.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn save(
        &self,
        n_steps: usize,
        module: impl Module,
        optimizer: &ModuleOptimizer,
    ) -> Result<()> {
        let new = self.folder.join(UNFINISHED);
        let save = || {
            remove_folder(&new)?;
            files::make_folder(&new)?;
            module.into_record().save(new.join(MODULE))?;
            optimizer.save(new.join(OPTIMIZER))?;
            let mut hashes = BTreeMap::new();
            for name in [MODULE, OPTIMIZER] {
                sync(&new.join(name))?;
                hashes.insert(name.to_owned(), sha256(&std::fs::read(new.join(name))?));
            }
            sync_folder(&new)?;
            self.point_at(n_steps, &new, hashes)
        };
        let outcome = save();
        if outcome.is_err() {
            // Half a checkpoint is of no use, and its space may be needed.
            std::fs::remove_dir_all(&new).ok();
        }
        outcome.with_context(|| format!("saving a checkpoint in {}", self.folder.display()))
    }

    /// Gives a finished folder its name, and then has the pointer name it.
    fn point_at(&self, step: usize, new: &Path, sha256: BTreeMap<String, String>) -> Result<()> {
        let name = step_folder(step);
        let folder = self.folder.join(&name);
        // A run that was killed between the two renames left it, and nothing points at it.
        remove_folder(&folder)?;
        std::fs::rename(new, &folder)?;
        sync_folder(&self.folder)?;
        let pointer = Pointer {
            format: FORMAT,
            step,
            training: self.training.clone(),
            sha256,
        };
        files::put(&self.folder.join(POINTER), serde_json::to_vec(&pointer)?)?;
        remove_steps(&self.folder, Some(&name))
    }

    /// The module as it was saved.
    ///
    /// # Errors
    ///
    /// The file is missing or damaged.
    pub fn module<M: Module>(&self, fresh: M) -> Result<M> {
        Ok(fresh.load_record(ModuleRecord::load(self.verified(MODULE)?)?))
    }

    /// The optimiser's moments as they were saved.
    ///
    /// # Errors
    ///
    /// The file is missing or damaged.
    pub fn optimizer(&self, fresh: ModuleOptimizer) -> Result<ModuleOptimizer> {
        Ok(fresh.load(self.verified(OPTIMIZER)?)?)
    }

    /// Path of a file of the checkpoint, if its hash is that with which it was written.
    fn verified(&self, name: &str) -> Result<PathBuf> {
        let pointer = self.pointer()?;
        let pointer =
            pointer.with_context(|| format!("{}: no checkpoint", self.folder.display()))?;
        let path = self.folder.join(step_folder(pointer.step)).join(name);
        let shown = path.display();
        let found = sha256(&std::fs::read(&path).with_context(|| shown.to_string())?);
        let expected = pointer.sha256.get(name).map_or("", String::as_str);
        ensure!(
            found == expected,
            "{shown}: sha256 is {found}, {POINTER} says {expected}; the checkpoint is damaged, and this training begins \
             anew once {} is deleted",
            self.folder.display()
        );
        Ok(path)
    }

    /// Deletes the checkpoint of a folder, if there is one, and leaves everything else.
    ///
    /// # Errors
    ///
    /// It is there and cannot be deleted.
    pub fn delete(folder: &Path) -> Result<()> {
        if folder.join(POINTER).exists() {
            std::fs::remove_file(folder.join(POINTER))?;
            sync_folder(folder)?;
        }
        remove_steps(folder, None)
    }
}

fn step_folder(step: usize) -> String {
    format!("{STEP}{step}")
}

/// Deletes the folders of all steps but one.
fn remove_steps(folder: &Path, but: Option<&str>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(STEP) && Some(&*name) != but {
            remove_folder(&folder.join(&*name))?;
        }
    }
    Ok(())
}
