//! The little of Python's pickle that a file of tensors needs. Nothing is ever called: what a pickle may name is
//! listed in `objects::Global`, and anything else ends the reading.
//!
//! Objects lie in one list and refer to each other by index, so that no file can make them too deep to drop.
//!
//! The opcodes: `pickletools.py` of Python; the persistent ids: `torch/serialization.py` and, for `TorchScript`,
//! `torch/csrc/jit/serialization/pickler.cpp`.

mod leaves;
mod machine;
mod objects;

pub(super) use leaves::Leaves;
pub(super) use objects::PickledTensor;

use crate::error::{Error, Result};
use machine::Machine;

/// Characters of an error that are shown; what it quotes may be as long as the pickle.
const MAX_MESSAGE: usize = 300;

/// Reads a pickle of tensors in dictionaries or in `TorchScript` modules.
///
/// # Errors
///
/// A pickle that is cut short, holds two tensors under one name, or does anything but name tensors.
pub(super) fn read(bytes: &[u8]) -> Result<Leaves> {
    let mut machine = Machine::new(bytes);
    let root = machine.run().map_err(|reason| {
        let message = format!("{}{reason}", machine.place());
        Error::Weights(message.chars().take(MAX_MESSAGE).collect())
    })?;
    let mut leaves = Leaves::default();
    leaves
        .collect(&machine.objects, &root, String::new(), 0)
        .map_err(Error::Weights)?;
    Ok(leaves)
}
