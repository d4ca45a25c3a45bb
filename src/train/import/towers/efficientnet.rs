//! EfficientNet-Lite under the names of `timm` or of `efficientnet_lite_pytorch`, whose blocks are numbered through.
//! Batch norms are folded into the convolutions before them.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::unclaimed_tensors::UnclaimedTensors;
use crate::model::efficientnet::{EfficientNetConfig, StageConfig};
use crate::model::parameters::TensorRecord;
use crate::preprocess::{ImagePreprocess, ResizeMode};
use crate::train::import::tensor_file::TensorFile;

/// Epsilon of `TensorFlow`'s batch norms, with which the weights were trained.
const NORM_EPSILON: f64 = 1e-3;

/// Stride of each stage's first block, which no shape shows; the same in all of the family.
const STRIDES: [usize; 7] = [1, 2, 2, 2, 1, 2, 1];

/// Blocks, width of the last stage and side of pictures of EfficientNet-Lite0 to Lite4.
const PUBLISHED_SIDES: [(usize, usize, usize); 5] = [
    (16, 320, 224),
    (21, 320, 240),
    (21, 352, 260),
    (24, 384, 280),
    (30, 448, 300),
];

/// Mean that the original program subtracts from a channel's value of 0–255, and the number by which it divides the
/// rest.
const ORIGINAL_MEAN_AND_SCALE: (f32, f32) = (127.0, 128.0);

/// Names of a convolution and of the batch norm after it.
type Names = (String, String);

/// The convolutions of one block in a foreign file.
struct ForeignBlock {
    expand: Option<Names>,
    depthwise: Names,
    project: Names,
}

/// Sizes and tensors of the tower in a checkpoint.
pub(super) fn read(
    checkpoint: &mut dyn TensorFile,
    card: Option<&Value>,
) -> Result<(EfficientNetConfig, Vec<TensorRecord>)> {
    let mut unclaimed = UnclaimedTensors::new(checkpoint);
    let is_flat = unclaimed.has("_conv_stem.weight");
    let (stages, outer) = if is_flat {
        (
            flat_stages(&unclaimed)?,
            [("_conv_stem", "_bn0"), ("_conv_head", "_bn1")],
        )
    } else {
        (
            timm_stages(&unclaimed),
            [("conv_stem", "bn1"), ("conv_head", "bn2")],
        )
    };
    let (n_stages, expected) = (stages.len(), STRIDES.len());
    ensure!(
        n_stages == expected,
        "{n_stages} stages of blocks, an EfficientNet-Lite has {expected}"
    );
    let [stem, head] = outer.map(|(convolution, norm)| (convolution.to_owned(), norm.to_owned()));
    let config = sizes(&unclaimed, &stages, (&stem, &head), card)?;
    let mut tensors = fold(&mut unclaimed, &stem, "conv_stem")?;
    for (i_stage, blocks) in stages.iter().enumerate() {
        for (i_block, block) in blocks.iter().enumerate() {
            let name = |part: &str| format!("blocks.{i_stage}.{i_block}.{part}");
            let last = match &block.expand {
                Some(expand) => {
                    tensors.extend(fold(&mut unclaimed, expand, &name("conv_pw"))?);
                    "conv_pwl"
                }
                None => "conv_pw",
            };
            tensors.extend(fold(&mut unclaimed, &block.depthwise, &name("conv_dw"))?);
            tensors.extend(fold(&mut unclaimed, &block.project, &name(last))?);
        }
    }
    tensors.extend(fold(&mut unclaimed, &head, "conv_head")?);
    unclaimed.finish("an EfficientNet-Lite", |name| {
        let is_classifier = name.starts_with("classifier.") || name.starts_with("_fc.");
        is_classifier || name.ends_with("num_batches_tracked")
    })?;
    Ok((config, tensors))
}

/// Preprocessing of pictures: squashed, whatever their shape, with the card's statistics or the original program's.
pub(super) fn preprocess(card: Option<&Value>, image_size: usize) -> Result<ImagePreprocess> {
    let channels = |name: &str, default: f32| -> Result<[f32; 3]> {
        let value = card.and_then(|card| card.pointer(&format!("/pretrained_cfg/{name}")));
        let parsed = value.map_or(Ok([default; 3]), |value| {
            serde_json::from_value(value.clone())
        });
        parsed.with_context(|| format!("config.json: pretrained_cfg.{name}"))
    };
    let (mean, scale) = ORIGINAL_MEAN_AND_SCALE;
    Ok(ImagePreprocess {
        image_size,
        mean: channels("mean", mean / 255.0)?,
        std: channels("std", scale / 255.0)?,
        resize_mode: ResizeMode::Squash,
    })
}

fn timm_stages(unclaimed: &UnclaimedTensors<'_>) -> Vec<Vec<ForeignBlock>> {
    let block = |name: String| {
        let pair = |conv: &str, norm: &str| (format!("{name}.{conv}"), format!("{name}.{norm}"));
        let expands = unclaimed.has(&format!("{name}.conv_pwl.weight"));
        let [depthwise, project] = match expands {
            true => [pair("conv_dw", "bn2"), pair("conv_pwl", "bn3")],
            false => [pair("conv_dw", "bn1"), pair("conv_pw", "bn2")],
        };
        let expand = expands.then(|| pair("conv_pw", "bn1"));
        ForeignBlock {
            expand,
            depthwise,
            project,
        }
    };
    let is_there = |name: &String| unclaimed.has(&format!("{name}.conv_dw.weight"));
    let blocks = |i_stage: usize| {
        let names = (0..).map(move |i_block| format!("blocks.{i_stage}.{i_block}"));
        names.take_while(is_there).map(block).collect::<Vec<_>>()
    };
    (0..)
        .map(blocks)
        .take_while(|blocks| !blocks.is_empty())
        .collect()
}

/// A stage ends where the width changes, as it does between all stages of the family.
fn flat_stages(unclaimed: &UnclaimedTensors<'_>) -> Result<Vec<Vec<ForeignBlock>>> {
    let mut stages: Vec<Vec<ForeignBlock>> = Vec::new();
    let mut last_width = 0;
    for i_block in 0.. {
        let name = format!("_blocks.{i_block}");
        if !unclaimed.has(&format!("{name}._depthwise_conv.weight")) {
            break;
        }
        let pair = |conv: &str, norm: &str| (format!("{name}.{conv}"), format!("{name}.{norm}"));
        let expand = pair("_expand_conv", "_bn0");
        let block = ForeignBlock {
            expand: unclaimed
                .has(&format!("{}.weight", expand.0))
                .then_some(expand),
            depthwise: pair("_depthwise_conv", "_bn1"),
            project: pair("_project_conv", "_bn2"),
        };
        let [width, ..] = unclaimed.dims::<4>(&format!("{}.weight", block.project.0))?;
        if width == last_width {
            stages.last_mut().context("no stage before")?.push(block);
        } else {
            stages.push(vec![block]);
        }
        last_width = width;
    }
    Ok(stages)
}

fn sizes(
    unclaimed: &UnclaimedTensors<'_>,
    stages: &[Vec<ForeignBlock>],
    (stem, head): (&Names, &Names),
    card: Option<&Value>,
) -> Result<EfficientNetConfig> {
    let dims = |names: &Names| unclaimed.dims::<4>(&format!("{}.weight", names.0));
    let stage = |(blocks, stride): (&Vec<ForeignBlock>, usize)| -> Result<StageConfig> {
        let block = blocks.first().context("a stage without blocks")?;
        let [inner, _, kernel_size, _] = dims(&block.depthwise)?;
        let [width, ..] = dims(&block.project)?;
        let expand = block.expand.as_ref();
        Ok(StageConfig {
            kernel_size,
            stride,
            expansion: expand.map_or(Ok(1), |expand| {
                dims(expand).map(|[_, width, ..]| inner / width)
            })?,
            width,
            layers: blocks.len(),
        })
    };
    let image_size = card.and_then(|card| card.pointer("/pretrained_cfg/input_size/1"));
    let image_size = image_size.and_then(Value::as_u64).map(usize::try_from);
    let stages = stages.iter().zip(STRIDES).map(stage);
    let stages = stages.collect::<Result<Vec<StageConfig>>>()?;
    Ok(EfficientNetConfig {
        image_size: image_size.transpose()?.unwrap_or(published_side(&stages)),
        stem_width: dims(stem)?[0],
        stages,
        width: dims(head)?[0],
    })
}

/// Side of the pictures that a tower with these stages was trained on; the smallest for one that was not published.
fn published_side(stages: &[StageConfig]) -> usize {
    let n_blocks: usize = stages.iter().map(|stage| stage.layers).sum();
    let width = stages.last().map_or(0, |stage| stage.width);
    let known = PUBLISHED_SIDES.into_iter();
    let mut own = known.filter(|(blocks, last, _)| (*blocks, *last) == (n_blocks, width));
    own.next().unwrap_or(PUBLISHED_SIDES[0]).2
}

/// A convolution with its batch norm, `w γ / √(σ² + ε)` and `β − μ γ / √(σ² + ε)`, under our name.
fn fold(
    unclaimed: &mut UnclaimedTensors<'_>,
    names: &Names,
    ours: &str,
) -> Result<Vec<TensorRecord>> {
    let (convolution, norm) = names;
    let kernels = unclaimed.take(&format!("{convolution}.weight"))?;
    let n_outputs = kernels.shape.first().copied().unwrap_or_default();
    let mut of_norm = |rest: &str| -> Result<Vec<f64>> {
        let record = unclaimed.take(&format!("{norm}.{rest}"))?;
        let TensorRecord {
            name,
            shape,
            values,
        } = record;
        ensure!(
            shape == [n_outputs],
            "{name}: shape is {shape:?}, expected [{n_outputs}]"
        );
        Ok(values.into_iter().map(f64::from).collect())
    };
    let (gamma, beta) = (of_norm("weight")?, of_norm("bias")?);
    let (mean, variance) = (of_norm("running_mean")?, of_norm("running_var")?);
    let scales = gamma.iter().zip(&variance);
    let scales = scales.map(|(gamma, variance)| gamma / (variance + NORM_EPSILON).sqrt());
    let scales: Vec<f64> = scales.collect();
    let per_output = kernels.values.len() / n_outputs.max(1);
    let weights = kernels.values.chunks(per_output.max(1)).zip(&scales);
    let weights =
        weights.flat_map(|(kernel, scale)| kernel.iter().map(move |w| f64::from(*w) * scale));
    let biases = beta.iter().zip(&mean).zip(&scales);
    let biases = biases.map(|((beta, mean), scale)| beta - mean * scale);
    Ok(vec![
        record(ours, "weight", kernels.shape.clone(), weights),
        record(ours, "bias", vec![n_outputs], biases),
    ])
}

#[expect(clippy::cast_possible_truncation, reason = "weights are used in f32")]
fn record(
    ours: &str,
    kind: &str,
    shape: Vec<usize>,
    values: impl Iterator<Item = f64>,
) -> TensorRecord {
    TensorRecord {
        name: format!("vision_model.{ours}.{kind}"),
        shape,
        values: values.map(|value| value as f32).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tower_without_a_card_sees_pictures_of_its_published_size() {
        let lite0 = EfficientNetConfig::lite0();
        assert_eq!(published_side(&lite0.stages), lite0.image_size, "Lite0");
        // Lite2 is a tenth wider and a fifth deeper, but for its first and last stage.
        let mut lite2 = lite0.stages;
        for (stage, (width, layers)) in lite2.iter_mut().zip([
            (16, 1),
            (24, 3),
            (48, 3),
            (88, 4),
            (120, 4),
            (208, 5),
            (352, 1),
        ]) {
            (stage.width, stage.layers) = (width, layers);
        }
        assert_eq!(published_side(&lite2), 260, "Lite2");
        lite2[6].width = 360;
        assert_eq!(published_side(&lite2), 224, "no published tower");
    }
}
