//! The tensors of a pickle under the names that lead to them.

use std::collections::BTreeMap;

use super::objects::{Node, Objects, PickledTensor, Unpickled, Value};

/// Deepest nesting of modules and dictionaries; a tensor of `OpenAI`'s lies a dozen deep, its modules counted.
const MAX_DEPTH: usize = 32;

/// Longest path of names, in bytes.
const MAX_PATH_BYTES: usize = 1024;

/// Greatest number of names; ViT-B/32 has some 2,000 with all of its attributes.
const MAX_NAMES: usize = 100_000;

/// Tensors and whole numbers in a pickle, by the path of names that leads there, joined with dots.
#[derive(Debug, Default)]
pub(crate) struct PickleLeaves {
    pub(crate) tensors: BTreeMap<String, PickledTensor>,
    pub(crate) integers: BTreeMap<String, i64>,
    n_names: usize,
}

impl PickleLeaves {
    /// Collects the tensors and whole numbers that `value` leads to, below `path`.
    pub(super) fn collect(
        &mut self,
        objects: &Objects,
        value: &Value,
        path: String,
        depth: usize,
    ) -> Unpickled<()> {
        self.n_names += 1;
        if depth > MAX_DEPTH || self.n_names > MAX_NAMES || path.len() > MAX_PATH_BYTES {
            let start: String = path.chars().take(64).collect();
            return Err(format!(
                "{start}: the pickle has too many or too long names"
            ));
        }
        if let Value::Integer(number) = value {
            self.integers.insert(path, *number);
            return Ok(());
        }
        match objects.get(value) {
            Some(Node::Tensor(tensor)) => match self.tensors.insert(path.clone(), tensor.clone()) {
                Some(_) => Err(format!("{path}: given twice")),
                None => Ok(()),
            },
            Some(Node::Module(attributes)) => self.collect(objects, attributes, path, depth + 1),
            Some(Node::Dictionary(members)) => members.iter().try_for_each(|(key, value)| {
                let Value::Text(key) = key else { return Ok(()) };
                let path = if path.is_empty() {
                    key.to_string()
                } else {
                    format!("{path}.{key}")
                };
                self.collect(objects, value, path, depth + 1)
            }),
            _ => Ok(()),
        }
    }
}
