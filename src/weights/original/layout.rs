//! Mapping from our tensors to those of a foreign file, or to parts of them.

use std::collections::{BTreeMap, BTreeSet};

use super::header::Index;
use super::place::{ForeignPlace, TensorCut};
use super::tensor::{Entry, TensorDtype};
use super::{hf, open_clip, openai};
use crate::error::{Result, refuse, refuse_if};
use crate::model::parameters::TensorRecord;
use crate::weights::f16_stream::StoragePrecision;
use crate::weights::plan::Plan;

/// Names and cuts of a CLIP's tensors, by the foreign program that has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointLayout {
    /// `transformers`, whose names are our own.
    HuggingFace,
    /// `OpenAI`'s own program `clip`.
    OpenAi,
    /// `open_clip`, whose names are `OpenAI`'s; the text tower may lie in a module of its own.
    OpenClip {
        /// Prefix of the text tower's names: nothing or `text.`.
        text_prefix: &'static str,
    },
}

/// The tensors of a foreign file under our names.
#[derive(Debug, Clone)]
pub struct Mapping {
    layout: CheckpointLayout,
    entries: BTreeMap<String, Entry>,
}

/// A foreign tensor that one of ours is, or is cut from.
#[derive(Debug, Clone)]
pub struct SourceTensor {
    ours: String,
    foreign: String,
    foreign_shape: Vec<usize>,
    shape: Vec<usize>,
    cut: TensorCut,
}

impl CheckpointLayout {
    /// The layout that the names in a file belong to.
    fn of(entries: &BTreeMap<String, Entry>) -> Result<Self> {
        let has = |name: &str| entries.contains_key(name);
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
            let first = entries.keys().next();
            refuse!(
                "{}: no CLIP with a vision transformer, as transformers, OpenAI or open_clip name its tensors",
                first.map_or("the file holds no tensor", |name| name)
            )
        }
    }

    fn place(self, ours: &str) -> Option<ForeignPlace> {
        match self {
            Self::HuggingFace => hf::place(ours),
            Self::OpenAi => openai::place(ours),
            Self::OpenClip { text_prefix } => open_clip::place(ours, text_prefix),
        }
    }
}

impl Mapping {
    /// Mapping of a file, whose layout is recognised by its names.
    ///
    /// # Errors
    ///
    /// Names of no known layout.
    pub fn of(entries: &BTreeMap<String, Entry>) -> Result<Self> {
        Ok(Self {
            layout: CheckpointLayout::of(entries)?,
            entries: entries.clone(),
        })
    }

    /// The program whose names the tensors have.
    #[must_use]
    pub fn layout(&self) -> CheckpointLayout {
        self.layout
    }

    /// The shape that one of our tensors has in this file, if the file has it.
    #[must_use]
    pub fn shape(&self, ours: &str) -> Option<Vec<usize>> {
        let place = self.layout.place(ours)?;
        let shape = &self.entries.get(&place.name)?.shape;
        place.cut.shape(shape)
    }

    /// Source of one of our tensors.
    ///
    /// # Errors
    ///
    /// The file does not hold it, or in another shape. The message says the name in the file, and ours where it
    /// differs.
    pub fn find(&self, ours: &str, expected: &[usize]) -> Result<SourceTensor> {
        let Some(ForeignPlace { name, cut }) = self.layout.place(ours) else {
            refuse!("{ours}: not known in this layout");
        };
        let entry = self.entries.get(&name);
        let piece = SourceTensor {
            ours: ours.to_owned(),
            foreign_shape: entry.map(|entry| entry.shape.clone()).unwrap_or_default(),
            shape: expected.to_vec(),
            foreign: name,
            cut,
        };
        refuse_if!(
            !self.entries.contains_key(&piece.foreign),
            "{}: missing",
            piece.label()
        );
        refuse_if!(
            cut.shape(&piece.foreign_shape).as_deref() != Some(expected),
            "{}: shape is {:?}, expected {:?}",
            piece.label(),
            piece.foreign_shape,
            cut.foreign_shape(expected)
        );
        Ok(piece)
    }

    /// The bytes of the file that these tensors of ours need.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn plan(&self, index: &Index, shapes: &[(String, Vec<usize>)]) -> Result<Plan> {
        let ranges = shapes.iter().map(|(ours, expected)| {
            let piece = self.find(ours, expected)?;
            index.range(piece.foreign())
        });
        Ok(Plan::of(ranges.collect::<Result<Vec<_>>>()?))
    }

    /// Precision in which the plan's bytes can be kept: halved, where these tensors of ours are floats of four bytes
    /// throughout.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn kept(
        &self,
        index: &Index,
        shapes: &[(String, Vec<usize>)],
        plan: &Plan,
    ) -> Result<StoragePrecision> {
        const FLOAT_BYTES: u64 = 4;
        let mut is_halved = plan.bytes().is_multiple_of(FLOAT_BYTES);
        for (ours, expected) in shapes {
            let piece = self.find(ours, expected)?;
            let place = plan.locate(&index.range(piece.foreign())?);
            let is_whole = place.is_some_and(|place| place.start.is_multiple_of(FLOAT_BYTES));
            is_halved &= is_whole && index.entries[piece.foreign()].dtype == TensorDtype::F32;
        }
        Ok(if is_halved {
            StoragePrecision::F16
        } else {
            StoragePrecision::AsSent
        })
    }

    /// Checks that the file holds nothing but these tensors of ours and known buffers, which are not parameters.
    ///
    /// # Errors
    ///
    /// A tensor that none of ours is taken from.
    pub fn check_nothing_is_left(&self, ours: impl IntoIterator<Item = String>) -> Result<()> {
        let places = ours.into_iter().filter_map(|name| self.layout.place(&name));
        let taken: BTreeSet<String> = places.map(|place| place.name).collect();
        let is_left = |name: &&String| !taken.contains(*name) && !is_no_parameter(name);
        match self.entries.keys().find(is_left) {
            Some(name) => refuse!("{name}: no part of a CLIP of this layout"),
            None => Ok(()),
        }
    }
}

impl SourceTensor {
    /// Name of the tensor in the foreign file.
    #[must_use]
    pub fn foreign(&self) -> &str {
        &self.foreign
    }

    /// Our tensor, from the values of the foreign one.
    ///
    /// # Errors
    ///
    /// A value that is not finite.
    pub fn record(self, values: Vec<f32>) -> Result<TensorRecord> {
        let values = self.cut.apply(values, &self.foreign_shape);
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            refuse!("{}: holds {value}", self.label());
        }
        let (name, shape) = (self.ours, self.shape);
        Ok(TensorRecord {
            name,
            shape,
            values,
        })
    }

    fn label(&self) -> String {
        if self.foreign == self.ours {
            self.ours.clone()
        } else {
            format!("{} ({})", self.foreign, self.ours)
        }
    }
}

/// Buffers and sizes that files carry beside the parameters.
fn is_no_parameter(name: &str) -> bool {
    const NAMES: [&str; 5] = [
        "position_ids",
        "attn_mask",
        "input_resolution",
        "context_length",
        "vocab_size",
    ];
    name.rsplit('.')
        .next()
        .is_some_and(|last| NAMES.contains(&last))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use super::super::sizes::infer;
    use super::super::tensor::TensorDtype;
    use super::*;
    use crate::device::cpu;
    use crate::model::clip::ClipConfig;
    use crate::model::parameters::Parameters as _;

    /// Header of `OpenAI`'s own file: types and shapes of its tensors, and the whole numbers beside them.
    #[derive(Debug)]
    struct Described {
        entries: BTreeMap<String, Entry>,
        integers: BTreeMap<String, usize>,
    }

    fn openais_file() -> Described {
        let folder = std::env::var_os("KAPPASCOPE_SHARED_DATA").expect("the variable is set");
        let path = Path::new(&folder).join("clip_reference/data/ViT-B-32.json");
        let json = std::fs::read(path).expect("the description of OpenAI's file");
        let described: BTreeMap<String, Value> =
            serde_json::from_slice(&json).expect("a description");
        let (mut entries, mut integers) = (BTreeMap::new(), BTreeMap::new());
        for (name, tensor) in described {
            if let Some(value) = tensor["value"].as_u64() {
                integers.insert(name, usize::try_from(value).expect("a small number"));
                continue;
            }
            let dtype = match tensor["dtype"].as_str() {
                Some("float16") => TensorDtype::F16,
                Some("float32") => TensorDtype::F32,
                _ => TensorDtype::Other { bytes: 8 },
            };
            let shape = serde_json::from_value(tensor["shape"].clone()).expect("a shape");
            entries.insert(name, Entry { dtype, shape });
        }
        Described { entries, integers }
    }

    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn every_tensor_of_openais_own_file_in_shared_data_becomes_one_of_ours() {
        let file = openais_file();
        let weights = Mapping::of(&file.entries).expect("a known layout");
        let layout = weights.layout();
        assert_eq!(layout, CheckpointLayout::OpenAi, "told by its names");
        let hints = openai::hints(|name| file.integers.get(name).copied());
        let found = infer(|name| weights.shape(name), hints, (Some(49_406), 49_407));
        let expected = ClipConfig::vit_b_32();
        assert_eq!(found.as_ref(), Ok(&expected), "sizes told by the shapes");
        let shapes = expected.init(&cpu()).named_shapes();
        for (name, shape) in &shapes {
            assert_eq!(weights.shape(name).as_ref(), Some(shape), "{name}");
        }
        let names = shapes.into_iter().map(|(name, _)| name);
        let left = weights.check_nothing_is_left(names);
        assert_eq!(left, Ok(()), "nothing is left over");
    }
}
