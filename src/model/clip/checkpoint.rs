//! Hugging Face's names for our parameters (`openai/clip-vit-base-patch32` and its kin).

use crate::error::Result;
use crate::model::parameters::{Layout, ParameterVisitor, Parameters};

use super::transformer::{Block, Transformer};
use super::{Clip, TextTower, VisionTower};

impl Parameters for Clip {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        self.text.visit_parameters(visitor)?;
        self.vision.visit_parameters(visitor)?;
        visitor.visit("logit_scale", Layout::Scalar, &mut self.log_logit_scale)
    }
}

impl Parameters for TextTower {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        let name = |rest: &str| format!("text_model.{rest}");
        visitor.visit(
            &name("embeddings.token_embedding.weight"),
            Layout::Same,
            &mut self.token_embedding,
        )?;
        visitor.visit(
            &name("embeddings.position_embedding.weight"),
            Layout::Same,
            &mut self.position_embedding,
        )?;
        visit_transformer(visitor, "text_model", &mut self.transformer)?;
        visitor.visit_layer_norm(&name("final_layer_norm"), &mut self.final_norm)?;
        visitor.visit_linear("text_projection", &mut self.projection)
    }
}

impl Parameters for VisionTower {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        let name = |rest: &str| format!("vision_model.{rest}");
        visitor.visit(
            &name("embeddings.class_embedding"),
            Layout::Same,
            &mut self.class_embedding,
        )?;
        visitor.visit(
            &name("embeddings.patch_embedding.weight"),
            Layout::Patches {
                size: self.patch_size,
            },
            &mut self.patch_embedding.weight,
        )?;
        visitor.visit(
            &name("embeddings.position_embedding.weight"),
            Layout::Same,
            &mut self.position_embedding,
        )?;
        // The missing "e" is Hugging Face's.
        visitor.visit_layer_norm(&name("pre_layrnorm"), &mut self.pre_norm)?;
        visit_transformer(visitor, "vision_model", &mut self.transformer)?;
        visitor.visit_layer_norm(&name("post_layernorm"), &mut self.post_norm)?;
        visitor.visit_linear("visual_projection", &mut self.projection)
    }
}

fn visit_transformer<V: ParameterVisitor>(
    visitor: &mut V,
    tower: &str,
    transformer: &mut Transformer,
) -> Result<()> {
    for (i_block, block) in transformer.blocks.iter_mut().enumerate() {
        visit_block(visitor, &format!("{tower}.encoder.layers.{i_block}"), block)?;
    }
    Ok(())
}

fn visit_block<V: ParameterVisitor>(visitor: &mut V, layer: &str, block: &mut Block) -> Result<()> {
    let name = |rest: &str| format!("{layer}.{rest}");
    let attention = &mut block.attention;
    visitor.visit_linear(&name("self_attn.q_proj"), &mut attention.query)?;
    visitor.visit_linear(&name("self_attn.k_proj"), &mut attention.key)?;
    visitor.visit_linear(&name("self_attn.v_proj"), &mut attention.value)?;
    visitor.visit_linear(&name("self_attn.out_proj"), &mut attention.output)?;
    visitor.visit_layer_norm(&name("layer_norm1"), &mut block.attention_norm)?;
    visitor.visit_linear(&name("mlp.fc1"), &mut block.mlp.expand)?;
    visitor.visit_linear(&name("mlp.fc2"), &mut block.mlp.contract)?;
    visitor.visit_layer_norm(&name("layer_norm2"), &mut block.mlp_norm)
}
