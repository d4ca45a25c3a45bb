//! The tensors of a foreign file, taken one at a time.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use crate::error::{Error, refuse};
use crate::model::parameters::TensorRecord;
use crate::train::import::tensor_file::TensorFile;

/// The tensors of a foreign file, each of which must be taken or be known not to matter.
pub(super) struct UnclaimedTensors<'a> {
    checkpoint: &'a mut dyn TensorFile,
    left: BTreeMap<String, Vec<usize>>,
}

impl<'a> UnclaimedTensors<'a> {
    pub(super) fn new(checkpoint: &'a mut dyn TensorFile) -> Self {
        let entries = checkpoint.entries().iter();
        let left = entries.map(|(name, entry)| (name.clone(), entry.shape.clone()));
        Self {
            left: left.collect(),
            checkpoint,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.left.contains_key(name)
    }

    /// The shape of a tensor that has so many sizes, none of them 0.
    pub(super) fn dims<const N: usize>(&self, name: &str) -> crate::error::Result<[usize; N]> {
        let Some(shape) = self.left.get(name) else {
            refuse!("{name}: missing");
        };
        match <[usize; N]>::try_from(&**shape) {
            Ok(sizes) if !sizes.contains(&0) => Ok(sizes),
            _ => Err(Error::Weights(format!(
                "{name}: shape is {shape:?}, expected {N} sizes above 0"
            ))),
        }
    }

    pub(super) fn take(&mut self, name: &str) -> crate::error::Result<TensorRecord> {
        let Some(shape) = self.left.remove(name) else {
            refuse!("{name}: missing");
        };
        let values = self.checkpoint.read(name)?;
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            refuse!("{name}: holds {value}");
        }
        let name = name.to_owned();
        Ok(TensorRecord {
            name,
            shape,
            values,
        })
    }

    /// Refuses a file that holds anything else but what `matters_not` knows.
    pub(super) fn finish(self, kind: &str, matters_not: impl Fn(&str) -> bool) -> Result<()> {
        let left = self.left.keys().find(|name| !matters_not(name));
        ensure!(
            left.is_none(),
            "{}: no part of {kind}",
            left.map_or("", |name| name)
        );
        Ok(())
    }
}
