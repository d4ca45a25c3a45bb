//! `BertModel` of `transformers` as a sentence encoder.

use anyhow::{Result, ensure};
use serde_json::Value;

use super::unclaimed_tensors::UnclaimedTensors;
use crate::model::bert::BertConfig;
use crate::model::parameters::TensorRecord;
use crate::preprocess::TextPreprocess;
use crate::train::import::tensor_file::TensorFile;

/// Attention heads where `config.json` does not say: those of `BertConfig`.
const DEFAULT_HEADS: u64 = 12;

/// Keys and values that `config.json` must have, if it has the keys: no shape shows them.
const EXPECTED: [(&str, &str); 3] = [
    ("model_type", "\"bert\""),
    ("hidden_act", "\"gelu\""),
    ("position_embedding_type", "\"absolute\""),
];

/// Sizes and tensors of the tower in a checkpoint.
pub(super) fn read(
    checkpoint: &mut dyn TensorFile,
    config: Option<&Value>,
    tokenizer: &[u8],
) -> Result<(BertConfig, Vec<TensorRecord>)> {
    let mut unclaimed = UnclaimedTensors::new(checkpoint);
    check(config)?;
    let bert = sizes(&unclaimed, config, tokenizer)?;
    let tensors = take_all(&mut unclaimed, &bert)?;
    let is_unused = |name: &str| name.starts_with("pooler.") || name.ends_with("position_ids");
    unclaimed.finish("a BERT", is_unused)?;
    Ok((bert, tensors))
}

fn check(config: Option<&Value>) -> Result<()> {
    let Some(config) = config else { return Ok(()) };
    for (name, expected) in EXPECTED {
        let found = config.get(name).map(Value::to_string);
        ensure!(
            found.as_deref().is_none_or(|found| found == expected),
            "config.json: {name} is {}, expected {expected}",
            found.unwrap_or_default()
        );
    }
    let epsilon = config.get("layer_norm_eps").and_then(Value::as_f64);
    ensure!(
        epsilon.is_none_or(|epsilon| epsilon <= 1e-12),
        "config.json: layer_norm_eps is {epsilon:?}, expected 1e-12"
    );
    Ok(())
}

fn sizes(
    unclaimed: &UnclaimedTensors<'_>,
    config: Option<&Value>,
    tokenizer: &[u8],
) -> Result<BertConfig> {
    let [vocab_size, width] = unclaimed.dims("embeddings.word_embeddings.weight")?;
    let [n_positions, _] = unclaimed.dims("embeddings.position_embeddings.weight")?;
    let block = |i_block: usize| format!("encoder.layer.{i_block}");
    let is_there = |i: &usize| unclaimed.has(&format!("{}.output.dense.weight", block(*i)));
    let layers = (0..).take_while(is_there).count();
    let [mlp_width, _] = unclaimed.dims(&format!("{}.intermediate.dense.weight", block(0)))?;
    let heads = config.and_then(|config| config.get("num_attention_heads"));
    let heads = usize::try_from(heads.and_then(Value::as_u64).unwrap_or(DEFAULT_HEADS))?;
    ensure!(
        heads > 0 && width.is_multiple_of(heads),
        "{heads} attention heads for a width of {width}, expected a divisor"
    );
    let context_length = n_positions.min(truncation(tokenizer)?.unwrap_or(n_positions));
    let ids = TextPreprocess::from_tokenizer_json(tokenizer, context_length)?;
    let start = ids.start_token_id();
    ensure!(start.is_some(), "the tokenizer has no [CLS]");
    Ok(BertConfig {
        context_length,
        vocab_size,
        width,
        heads,
        layers,
        mlp_ratio: mlp_width as f64 / width as f64,
        start_token_id: start.unwrap_or_default(),
        end_token_id: ids.end_token_id(),
    })
}

/// The number of tokens to which a `tokenizer.json` cuts captions, if it does.
fn truncation(tokenizer: &[u8]) -> Result<Option<usize>> {
    let json: Value = serde_json::from_slice(tokenizer)?;
    let length = json
        .pointer("/truncation/max_length")
        .and_then(Value::as_u64);
    Ok(length.map(usize::try_from).transpose()?)
}

fn take_all(unclaimed: &mut UnclaimedTensors<'_>, bert: &BertConfig) -> Result<Vec<TensorRecord>> {
    const PARTS: [&str; 8] = [
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "attention.output.LayerNorm",
        "intermediate.dense",
        "output.dense",
        "output.LayerNorm",
    ];
    let mut tensors = vec![ours(unclaimed.take("embeddings.word_embeddings.weight")?)];
    tensors.push(ours(positions(unclaimed, bert)?));
    let of_block = |i| PARTS.map(|part| format!("encoder.layer.{i}.{part}"));
    let layers = ["embeddings.LayerNorm".to_owned()].into_iter();
    for layer in layers.chain((0..bert.layers).flat_map(of_block)) {
        for kind in ["weight", "bias"] {
            tensors.push(ours(unclaimed.take(&format!("{layer}.{kind}"))?));
        }
    }
    Ok(tensors)
}

/// The positions that captions reach, each with the first token type added.
fn positions(unclaimed: &mut UnclaimedTensors<'_>, bert: &BertConfig) -> Result<TensorRecord> {
    let mut positions = unclaimed.take("embeddings.position_embeddings.weight")?;
    let types = unclaimed.take("embeddings.token_type_embeddings.weight")?;
    let (name, shape, width) = (&types.name, &types.shape, bert.width);
    let has_rows = shape.len() == 2 && shape[1] == width;
    ensure!(
        has_rows,
        "{name}: shape is {shape:?}, expected rows of {width}"
    );
    positions.values.truncate(bert.context_length * bert.width);
    positions.shape[0] = bert.context_length;
    for row in positions.values.chunks_mut(bert.width) {
        for (value, of_type) in row.iter_mut().zip(&types.values) {
            *value += of_type;
        }
    }
    Ok(positions)
}

fn ours(record: TensorRecord) -> TensorRecord {
    let name = format!("text_model.{}", record.name);
    TensorRecord { name, ..record }
}
