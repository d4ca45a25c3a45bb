//! `OpenAI`'s `clip`: its names for our tensors. Query, key and value are one matrix, and the two projections stand
//! the other way round.

use super::place::{ForeignPlace, TensorCut};
use super::sizes::Hints;

/// Place of one of our tensors.
pub(super) fn place(ours: &str) -> Option<ForeignPlace> {
    let (name, cut) = match ours {
        "logit_scale" => ("logit_scale", TensorCut::Whole),
        "text_model.embeddings.token_embedding.weight" => {
            ("token_embedding.weight", TensorCut::Whole)
        }
        "text_model.embeddings.position_embedding.weight" => {
            ("positional_embedding", TensorCut::Whole)
        }
        "text_model.final_layer_norm.weight" => ("ln_final.weight", TensorCut::Whole),
        "text_model.final_layer_norm.bias" => ("ln_final.bias", TensorCut::Whole),
        "text_projection.weight" => ("text_projection", TensorCut::Transposed),
        "vision_model.embeddings.class_embedding" => ("visual.class_embedding", TensorCut::Whole),
        "vision_model.embeddings.patch_embedding.weight" => {
            ("visual.conv1.weight", TensorCut::Whole)
        }
        "vision_model.embeddings.position_embedding.weight" => {
            ("visual.positional_embedding", TensorCut::Whole)
        }
        "vision_model.pre_layrnorm.weight" => ("visual.ln_pre.weight", TensorCut::Whole),
        "vision_model.pre_layrnorm.bias" => ("visual.ln_pre.bias", TensorCut::Whole),
        "vision_model.post_layernorm.weight" => ("visual.ln_post.weight", TensorCut::Whole),
        "vision_model.post_layernorm.bias" => ("visual.ln_post.bias", TensorCut::Whole),
        "visual_projection.weight" => ("visual.proj", TensorCut::Transposed),
        _ => return in_block(ours),
    };
    let name = name.to_owned();
    Some(ForeignPlace { name, cut })
}

/// A block's tensor: `text_model.encoder.layers.3.mlp.fc1.bias` → `transformer.resblocks.3.mlp.c_fc.bias`.
fn in_block(ours: &str) -> Option<ForeignPlace> {
    let (blocks, rest) = if let Some(rest) = ours.strip_prefix("text_model.encoder.layers.") {
        ("transformer.resblocks", rest)
    } else {
        let rest = ours.strip_prefix("vision_model.encoder.layers.")?;
        ("visual.transformer.resblocks", rest)
    };
    let (i_block, rest) = rest.split_once('.')?;
    let (layer, kind) = rest.rsplit_once('.')?;
    let (foreign, cut) = match layer {
        "self_attn.q_proj" => ("attn.in_proj_", TensorCut::Third(0)),
        "self_attn.k_proj" => ("attn.in_proj_", TensorCut::Third(1)),
        "self_attn.v_proj" => ("attn.in_proj_", TensorCut::Third(2)),
        "self_attn.out_proj" => ("attn.out_proj.", TensorCut::Whole),
        "layer_norm1" => ("ln_1.", TensorCut::Whole),
        "mlp.fc1" => ("mlp.c_fc.", TensorCut::Whole),
        "mlp.fc2" => ("mlp.c_proj.", TensorCut::Whole),
        "layer_norm2" => ("ln_2.", TensorCut::Whole),
        _ => return None,
    };
    let name = format!("{blocks}.{i_block}.{foreign}{kind}");
    Some(ForeignPlace { name, cut })
}

/// Numbers of heads in a file of `OpenAI`'s, where it holds them. All of their models use the quick GELU.
pub(super) fn hints(integer: impl Fn(&str) -> Option<usize>) -> Hints {
    Hints {
        text_heads: integer("transformer.resblocks.0.attn.num_heads"),
        vision_heads: integer("visual.transformer.resblocks.0.attn.num_heads"),
        quick_gelu: true,
    }
}
