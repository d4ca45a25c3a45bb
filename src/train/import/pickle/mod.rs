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

pub(super) use leaves::PickleLeaves;
pub(super) use objects::PickledTensor;

use crate::error::{Error, Result};
use machine::Machine;
use objects::{Node, Value};

/// Characters of an error that are shown; what it quotes may be as long as the pickle.
const MAX_MESSAGE: usize = 300;

/// Reads a pickle of tensors in dictionaries or in `TorchScript` modules.
///
/// # Errors
///
/// A pickle that is cut short, holds two tensors under one name, or does anything but name tensors.
pub(super) fn read(bytes: &[u8]) -> Result<PickleLeaves> {
    Ok(read_first(bytes)?.0)
}

/// Reads a pickle as [`read`] does, from bytes that may go on after it, and returns how many bytes it takes.
///
/// # Errors
///
/// As [`read`].
pub(super) fn read_first(bytes: &[u8]) -> Result<(PickleLeaves, usize)> {
    let mut machine = Machine::new(bytes);
    let root = run(&mut machine)?;
    let mut leaves = PickleLeaves::default();
    let collected = leaves.collect(&machine.objects, &root, String::new(), 0);
    collected.map_err(Error::Weights)?;
    Ok((leaves, bytes.len() - machine.n_left()))
}

/// The texts of a pickled list, and the number of bytes that it takes.
///
/// # Errors
///
/// A pickle that is cut short or is not a list of texts.
pub(super) fn read_texts(bytes: &[u8]) -> Result<(Vec<String>, usize)> {
    let mut machine = Machine::new(bytes);
    let root = run(&mut machine)?;
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.to_string()),
        _ => None,
    };
    let texts = match machine.objects.get(&root) {
        Some(Node::Sequence(values)) => values.iter().map(text).collect(),
        _ => None,
    };
    let texts =
        texts.ok_or_else(|| Error::Weights("the pickle is not a list of texts".to_owned()))?;
    Ok((texts, bytes.len() - machine.n_left()))
}

fn run(machine: &mut Machine<'_>) -> Result<Value> {
    machine.run().map_err(|reason| {
        let message = format!("{}{reason}", machine.place());
        Error::Weights(message.chars().take(MAX_MESSAGE).collect())
    })
}
