//! The state of an unfinished training as a folder: `checkpoint.json`, `module.bpk`, `optimizer.bpk`.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use burn::module::Module;
use burn::optim::ModuleOptimizer;
use burn::store::ModuleRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::train::files;

/// Number of this format, which is written into each checkpoint.
const FORMAT: u32 = 2;
const POSITION: &str = "checkpoint.json";
const MODULE: &str = "module.bpk";
const OPTIMIZER: &str = "optimizer.bpk";

/// The folder in which a training keeps its state.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    folder: PathBuf,
    training: Value,
}

#[derive(Serialize, Deserialize)]
struct Position {
    /// Absent from what earlier versions wrote.
    #[serde(default)]
    format: u32,
    step: usize,
    training: Value,
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
        })
    }

    /// Number of steps that were taken; 0 where there is no checkpoint yet.
    ///
    /// # Errors
    ///
    /// The checkpoint cannot be read, is of another training or of an earlier version of this program.
    pub fn n_steps(&self) -> Result<usize> {
        let Some(position) = files::find_json::<Position>(&self.folder.join(POSITION))? else {
            return Ok(0);
        };
        let of = match &position {
            old if old.format != FORMAT => "an earlier version of this program",
            other if other.training != self.training => "another training",
            Position { step, .. } => return Ok(*step),
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
        files::make_folder(&self.folder)?;
        let at = |name: &str| self.folder.join(name);
        module.into_record().save(at("module.new"))?;
        optimizer.save(at("optimizer.new"))?;
        std::fs::rename(at("module.new"), at(MODULE))?;
        std::fs::rename(at("optimizer.new"), at(OPTIMIZER))?;
        let position = Position {
            format: FORMAT,
            step: n_steps,
            training: self.training.clone(),
        };
        files::put(&at(POSITION), serde_json::to_vec(&position)?)
    }

    /// The module as it was saved.
    ///
    /// # Errors
    ///
    /// The file is missing or broken.
    pub fn module<M: Module>(&self, fresh: M) -> Result<M> {
        Ok(fresh.load_record(ModuleRecord::load(self.folder.join(MODULE))?))
    }

    /// The optimiser's moments as they were saved.
    ///
    /// # Errors
    ///
    /// The file is missing or broken.
    pub fn optimizer(&self, fresh: ModuleOptimizer) -> Result<ModuleOptimizer> {
        Ok(fresh.load(self.folder.join(OPTIMIZER))?)
    }

    /// Deletes the checkpoint of a folder, if there is one, and leaves everything else.
    pub fn delete(folder: &Path) {
        for name in [POSITION, MODULE, OPTIMIZER] {
            // What is not there need not be deleted.
            std::fs::remove_file(folder.join(name)).ok();
        }
    }
}
