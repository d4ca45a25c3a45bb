//! Checkpoints of other programs for the tests of `train import`, and folders that go away by themselves.

use std::path::{Path, PathBuf};

use kappascope::inference::{ImageEncoding, TextEncoding};
use kappascope::model::parameters::TensorRecord;
use kappascope::preprocess::Tokens;
use kappascope::train::import::tokenizer::byte_level_json;
use kappascope::train::import::{CheckpointSource, Import, Imported, import};
use kappascope::weights::shard::Precision;

use crate::shared::shared;

/// A folder for one test.
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the test"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Names in a folder below, in order; hidden ones too.
    pub(crate) fn names(&self, below: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(below)).expect("the folder is there");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(name)
}

pub(crate) fn put(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::create_dir_all(folder).expect("a folder for the test");
    std::fs::write(folder.join(name), bytes).expect("a file for the test");
}

/// The tokenizer of the tiny models.
pub(crate) fn put_tokenizer(folder: &Path) {
    put(folder, "tokenizer.json", byte_level_json(512).as_bytes());
}

/// A copy of some files of the fixture, with a tokenizer.
pub(crate) fn tiny_folder(scratch: &Scratch, name: &str, files: &[&str]) -> PathBuf {
    let folder = scratch.path(name);
    for file in files {
        let bytes = std::fs::read(fixture(file)).expect("the fixture");
        put(&folder, file, &bytes);
    }
    put_tokenizer(&folder);
    folder
}

pub(crate) fn job(source: &Path, out: &Path, precision: Precision) -> Import {
    Import {
        source: CheckpointSource::Local(source.to_owned()),
        out: out.to_owned(),
        precision,
        tokenizer: None,
        golden_picture: None,
        replace: false,
        command: "a test".to_owned(),
    }
}

pub(crate) fn import_into(
    source: &Path,
    out: &Path,
    precision: Precision,
) -> anyhow::Result<Imported> {
    import(&job(source, out, precision))
}

/// Tensors in Hugging Face's layout as `OpenAI` and `open_clip` name and cut them, written down independently of the
/// importer: by what each tensor becomes, not by where each comes from.
pub(crate) fn fused(records: &[TensorRecord], text_prefix: &str) -> Vec<TensorRecord> {
    let mut fused: Vec<TensorRecord> = Vec::new();
    for record in records {
        let (name, is_part) = open_clip_name(&record.name);
        let is_text = !name.starts_with("visual.") && name != "logit_scale";
        let name = if is_text {
            format!("{text_prefix}{name}")
        } else {
            name
        };
        let mut record = if matches!(
            &*record.name,
            "text_projection.weight" | "visual_projection.weight"
        ) {
            transposed(record)
        } else {
            record.clone()
        };
        record.name = name;
        match fused.iter_mut().find(|other| other.name == record.name) {
            // Sorted by name, k comes before q and v.
            Some(keys) if is_part => add_part(keys, &record),
            _ => fused.push(record),
        }
    }
    fused
}

/// Query or value joins what is there: the key alone, or query and key.
fn add_part(there: &mut TensorRecord, record: &TensorRecord) {
    let is_query = there.shape[0] == record.shape[0];
    there.values = if is_query {
        [&record.values[..], &there.values].concat()
    } else {
        [&there.values[..], &record.values].concat()
    };
    there.shape[0] += record.shape[0];
}

fn open_clip_name(name: &str) -> (String, bool) {
    let is_part = ["q_proj", "k_proj", "v_proj"]
        .iter()
        .any(|part| name.contains(part));
    let replacements = [
        ("text_model.embeddings.token_embedding", "token_embedding"),
        (
            "text_model.embeddings.position_embedding.weight",
            "positional_embedding",
        ),
        ("text_model.encoder.layers", "transformer.resblocks"),
        ("text_model.final_layer_norm", "ln_final"),
        ("text_projection.weight", "text_projection"),
        (
            "vision_model.embeddings.class_embedding",
            "visual.class_embedding",
        ),
        ("vision_model.embeddings.patch_embedding", "visual.conv1"),
        (
            "vision_model.embeddings.position_embedding.weight",
            "visual.positional_embedding",
        ),
        (
            "vision_model.encoder.layers",
            "visual.transformer.resblocks",
        ),
        ("vision_model.pre_layrnorm", "visual.ln_pre"),
        ("vision_model.post_layernorm", "visual.ln_post"),
        ("visual_projection.weight", "visual.proj"),
        ("self_attn.q_proj.", "attn.in_proj_"),
        ("self_attn.k_proj.", "attn.in_proj_"),
        ("self_attn.v_proj.", "attn.in_proj_"),
        ("self_attn.out_proj", "attn.out_proj"),
        ("layer_norm1", "ln_1"),
        ("layer_norm2", "ln_2"),
        ("mlp.fc1", "mlp.c_fc"),
        ("mlp.fc2", "mlp.c_proj"),
    ];
    let name = replacements
        .iter()
        .fold(name.to_owned(), |name, (from, to)| name.replace(from, to));
    (name, is_part)
}

fn transposed(record: &TensorRecord) -> TensorRecord {
    let [rows, columns] = record.shape[..] else {
        panic!("{}: not a matrix", record.name);
    };
    let values = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
    TensorRecord {
        name: record.name.clone(),
        shape: vec![columns, rows],
        values: values
            .map(|(row, column)| record.values[row * columns + column])
            .collect(),
    }
}

/// What the original program makes of three captions and `CLIP.png`.
pub(crate) fn reference_vectors() -> (Vec<TextEncoding>, ImageEncoding) {
    let rows = |file: &str| {
        let bytes = std::fs::read(shared("clip_reference/data").join(file)).expect("the vectors");
        let array = crate::npy::read(&bytes).expect("a NumPy file");
        let width = *array.shape.last().expect("a matrix");
        let rows = array.values.chunks(width).map(<[f32]>::to_vec);
        rows.collect::<Vec<_>>()
    };
    let texts = rows("text_features.npy");
    let picture = rows("image_features.npy").remove(0);
    let unit = |features: &[f32]| {
        let norm = features.iter().map(|x| x * x).sum::<f32>().sqrt();
        let embedding: Vec<f32> = features.iter().map(|x| x / norm).collect();
        (embedding, f64::from(norm))
    };
    let texts = texts.iter().map(|features| {
        let (embedding, features_norm) = unit(features);
        let tokens = Tokens {
            ids: vec![],
            n_tokens: 0,
            truncated: false,
            unknown_words: vec![],
            respellings: Vec::new(),
        };
        TextEncoding {
            tokens,
            embedding,
            features_norm,
            distributions: None,
            familiarity: None,
        }
    });
    let embedding = unit(&picture).0;
    let familiarity = None;
    (
        texts.collect(),
        ImageEncoding {
            embedding,
            familiarity,
        },
    )
}
