//! Which tensor of a foreign file, or which part of it, is one of ours.

use std::collections::BTreeSet;

use super::checkpoint::Checkpoint;
use super::{hf, open_clip, openai};
use crate::error::{Error, Result};
use crate::model::parameters::TensorRecord;

/// How a foreign program names and cuts a CLIP's tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// `transformers`; our own.
    HuggingFace,
    /// `OpenAI`'s `clip`.
    OpenAi,
    /// `open_clip`, whose names are `OpenAI`'s; the text tower may lie in a module of its own.
    OpenClip {
        /// What stands before the text tower's names: nothing or `text.`.
        text_prefix: &'static str,
    },
}

/// Where one of our tensors lies in a foreign file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) cut: Cut,
}

/// What has to be done to the foreign tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Nothing.
    Whole,
    /// Rows and columns change places.
    Transposed,
    /// Of three parts one above the other (query, key, value), the one with this index.
    Third(usize),
}

/// A checkpoint under our names.
#[derive(Debug)]
pub(super) struct Weights {
    checkpoint: Box<dyn Checkpoint>,
    layout: Layout,
    /// Foreign tensors that one of ours was taken from.
    taken: BTreeSet<String>,
}

impl Layout {
    /// The layout that the names in a file belong to.
    pub(super) fn of(checkpoint: &dyn Checkpoint) -> Result<Self> {
        let has = |name: &str| checkpoint.entries().contains_key(name);
        if has("text_model.embeddings.token_embedding.weight") {
            Ok(Self::HuggingFace)
        } else if has("visual.conv1.weight") && has("input_resolution") {
            Ok(Self::OpenAi)
        } else if has("visual.conv1.weight") && has("token_embedding.weight") {
            Ok(Self::OpenClip { text_prefix: "" })
        } else if has("visual.conv1.weight") && has("text.token_embedding.weight") {
            Ok(Self::OpenClip {
                text_prefix: "text.",
            })
        } else {
            let first = checkpoint.entries().keys().next();
            Err(Error::Weights(format!(
                "{}: no CLIP with a vision transformer, as transformers, OpenAI or open_clip name its tensors",
                first.map_or("the file holds no tensor", |name| name)
            )))
        }
    }

    fn place(self, ours: &str) -> Option<Place> {
        match self {
            Self::HuggingFace => hf::place(ours),
            Self::OpenAi => openai::place(ours),
            Self::OpenClip { text_prefix } => open_clip::place(ours, text_prefix),
        }
    }
}

impl Weights {
    pub(super) fn new(checkpoint: Box<dyn Checkpoint>, layout: Layout) -> Self {
        Self {
            checkpoint,
            layout,
            taken: BTreeSet::new(),
        }
    }

    /// The shape that one of our tensors has in this file, if the file has it.
    pub(super) fn shape(&self, ours: &str) -> Option<Vec<usize>> {
        let place = self.layout.place(ours)?;
        let shape = &self.checkpoint.entries().get(&place.name)?.shape;
        place.cut.shape(shape)
    }

    /// A whole number that the file holds beside its tensors, by its foreign name.
    pub(super) fn integer(&self, foreign: &str) -> Option<usize> {
        self.checkpoint.integer(foreign)
    }

    /// One of our tensors.
    ///
    /// # Errors
    ///
    /// The file does not hold it, or in another shape, or with values that are no numbers. The message says the
    /// name in the file, and ours where it differs.
    pub(super) fn read(&mut self, ours: &str, expected: &[usize]) -> Result<TensorRecord> {
        let Some(Place { name, cut }) = self.layout.place(ours) else {
            return Err(Error::Weights(format!("{ours}: not known in this layout")));
        };
        let label = if name == ours {
            ours.to_owned()
        } else {
            format!("{name} ({ours})")
        };
        let Some(entry) = self.checkpoint.entries().get(&name) else {
            return Err(Error::Weights(format!("{label}: missing")));
        };
        let foreign = entry.shape.clone();
        if cut.shape(&foreign).as_deref() != Some(expected) {
            return Err(Error::Weights(format!(
                "{label}: shape is {foreign:?}, expected {:?}",
                cut.foreign_shape(expected)
            )));
        }
        let values = cut.apply(self.checkpoint.read(&name)?, &foreign);
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(Error::Weights(format!("{label}: holds {value}")));
        }
        self.taken.insert(name);
        Ok(TensorRecord {
            name: ours.to_owned(),
            shape: expected.to_vec(),
            values,
        })
    }

    /// Checks that nothing was left over but what is known to be no parameter.
    ///
    /// # Errors
    ///
    /// A tensor that no parameter of ours was taken from.
    pub(super) fn finish(&self) -> Result<()> {
        let is_left = |name: &&String| !self.taken.contains(*name) && !is_no_parameter(name);
        match self.checkpoint.entries().keys().find(is_left) {
            Some(name) => Err(Error::Weights(format!(
                "{name}: no part of a CLIP of this layout"
            ))),
            None => Ok(()),
        }
    }
}

/// Buffers and sizes that files carry beside the parameters.
fn is_no_parameter(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(
        last,
        "position_ids" | "attn_mask" | "input_resolution" | "context_length" | "vocab_size"
    )
}

impl Cut {
    /// The shape of our tensor, if the foreign one can be cut this way.
    fn shape(self, foreign: &[usize]) -> Option<Vec<usize>> {
        match (self, foreign) {
            (Self::Whole, _) => Some(foreign.to_vec()),
            (Self::Transposed, &[rows, columns]) => Some(vec![columns, rows]),
            (Self::Third(_), [rows, rest @ ..]) if rows % 3 == 0 => {
                Some([&[rows / 3], rest].concat())
            }
            _ => None,
        }
    }

    /// The shape of the foreign tensor that ours is cut from.
    fn foreign_shape(self, ours: &[usize]) -> Vec<usize> {
        match (self, ours) {
            (Self::Transposed, &[rows, columns]) => vec![columns, rows],
            (Self::Third(_), [rows, rest @ ..]) => [&[rows * 3], rest].concat(),
            _ => ours.to_vec(),
        }
    }

    fn apply(self, values: Vec<f32>, foreign: &[usize]) -> Vec<f32> {
        match (self, foreign) {
            (Self::Transposed, &[_, columns]) => (0..columns)
                .flat_map(|column| values[column..].iter().step_by(columns).copied())
                .collect(),
            (Self::Third(index), _) => {
                let third = values.len() / 3;
                values[index * third..(index + 1) * third].to_vec()
            }
            _ => values,
        }
    }
}

impl Place {
    pub(super) fn whole(name: impl Into<String>) -> Self {
        let cut = Cut::Whole;
        Self {
            name: name.into(),
            cut,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use serde_json::Value;

    use super::super::checkpoint::{Dtype, Entry};
    use super::super::sizes::infer;
    use super::*;
    use crate::device::cpu;
    use crate::model::clip::ClipConfig;
    use crate::model::parameters::Parameters as _;

    /// What the header of `OpenAI`'s own file says, without the values.
    #[derive(Debug)]
    struct Described {
        entries: BTreeMap<String, Entry>,
        integers: BTreeMap<String, usize>,
    }

    impl Checkpoint for Described {
        fn entries(&self) -> &BTreeMap<String, Entry> {
            &self.entries
        }

        fn read(&mut self, name: &str) -> Result<Vec<f32>> {
            Err(Error::Weights(format!("{name}: only described")))
        }

        fn integer(&self, name: &str) -> Option<usize> {
            self.integers.get(name).copied()
        }
    }

    #[expect(clippy::print_stdout, reason = "a skipped test says so")]
    fn openais_file() -> Option<Described> {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
        let folder = std::env::var_os("KAPPASCOPE_SHARED_DATA").map_or(beside, PathBuf::from);
        let Ok(json) = std::fs::read(folder.join("clip_reference/data/ViT-B-32.json")) else {
            println!("skipped: no shared data with clip_reference/data/ViT-B-32.json");
            return None;
        };
        let described: BTreeMap<String, Value> =
            serde_json::from_slice(&json).expect("a description");
        let (mut entries, mut integers) = (BTreeMap::new(), BTreeMap::new());
        for (name, tensor) in described {
            if let Some(value) = tensor["value"].as_u64() {
                integers.insert(name, usize::try_from(value).expect("a small number"));
                continue;
            }
            let dtype = match tensor["dtype"].as_str() {
                Some("float16") => Dtype::F16,
                Some("float32") => Dtype::F32,
                _ => Dtype::Other { bytes: 8 },
            };
            let shape = serde_json::from_value(tensor["shape"].clone()).expect("a shape");
            entries.insert(name, Entry { dtype, shape });
        }
        Some(Described { entries, integers })
    }

    #[test]
    fn every_tensor_of_openais_own_file_becomes_one_of_ours() {
        let Some(file) = openais_file() else { return };
        let layout = Layout::of(&file).expect("a known layout");
        assert_eq!(layout, Layout::OpenAi, "told by its names");
        let mut weights = Weights::new(Box::new(file), layout);
        let hints = openai::hints(&weights);
        let found = infer(|name| weights.shape(name), hints, (Some(49_406), 49_407));
        let expected = ClipConfig::vit_b_32();
        assert_eq!(found.as_ref(), Ok(&expected), "sizes told by the shapes");
        for (name, shape) in expected.init(&cpu()).named_shapes() {
            assert_eq!(weights.shape(&name), Some(shape), "{name}");
            let place = layout.place(&name).expect("a place");
            weights.taken.insert(place.name);
        }
        assert_eq!(weights.finish(), Ok(()), "nothing is left over");
    }

    #[test]
    fn a_third_and_a_transposed_matrix_are_cut_as_their_shapes_say() {
        let values: Vec<f32> = (0..6_u8).map(f32::from).collect();
        let middle = Cut::Third(1).apply(values.clone(), &[3, 2]);
        assert_eq!(middle, [2.0, 3.0], "the second row");
        assert_eq!(Cut::Third(1).shape(&[3, 2]), Some(vec![1, 2]), "one row");
        assert_eq!(
            Cut::Third(1).shape(&[4, 2]),
            None,
            "four rows have no third"
        );
        let turned = Cut::Transposed.apply(values, &[3, 2]);
        assert_eq!(turned, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0], "columns");
        assert_eq!(Cut::Transposed.shape(&[3, 2]), Some(vec![2, 3]), "turned");
        assert_eq!(Cut::Transposed.shape(&[3]), None, "a vector does not turn");
    }
}
