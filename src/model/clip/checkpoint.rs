//! Hugging Face's names for our parameters (`openai/clip-vit-base-patch32`, `google/siglip-base-patch16-224` and
//! models like them).

use crate::error::Result;
use crate::model::parameters::{Layout, ParameterVisitor, Parameters};

use super::pooling::{AttentionPool, Pooling};
use super::transformer::{Block, Mlp, Transformer};
use super::{Architecture, Clip, TextTower, VisionTower};

impl Parameters for Clip {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        self.text.visit_parameters(visitor)?;
        self.vision.visit_parameters(visitor)?;
        match &mut self.logit_bias {
            None => visitor.visit("logit_scale", Layout::Scalar, &mut self.log_logit_scale),
            Some(bias) => {
                visitor.visit("logit_scale", Layout::Same, &mut self.log_logit_scale)?;
                visitor.visit("logit_bias", Layout::Same, bias)
            }
        }
    }
}

impl Parameters for TextTower {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        let name = |rest: &str| format!("text_model.{rest}");
        visitor.visit_table(
            &name("embeddings.token_embedding.weight"),
            &mut self.token_embedding,
        )?;
        visitor.visit(
            &name("embeddings.position_embedding.weight"),
            Layout::Same,
            &mut self.position_embedding,
        )?;
        visit_transformer(visitor, "text_model", &mut self.transformer)?;
        visitor.visit_layer_norm(&name("final_layer_norm"), &mut self.final_norm)?;
        let projection = match self.architecture {
            Architecture::Clip => "text_projection",
            Architecture::SigLip => "text_model.head",
        };
        visitor.visit_linear(projection, &mut self.projection)
    }
}

impl Parameters for VisionTower {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        let name = |rest: &str| format!("vision_model.{rest}");
        if let Pooling::ClassToken(class) = &mut self.pooling {
            let class = &mut class.class_embedding;
            visitor.visit(&name("embeddings.class_embedding"), Layout::Same, class)?;
        }
        visitor.visit(
            &name("embeddings.patch_embedding.weight"),
            Layout::Patches {
                size: self.patch_size,
            },
            &mut self.patch_embedding.weight,
        )?;
        if let Some(bias) = &mut self.patch_embedding.bias {
            visitor.visit(&name("embeddings.patch_embedding.bias"), Layout::Same, bias)?;
        }
        visitor.visit(
            &name("embeddings.position_embedding.weight"),
            Layout::Same,
            &mut self.position_embedding,
        )?;
        if let Pooling::ClassToken(class) = &mut self.pooling {
            // The missing "e" is Hugging Face's.
            visitor.visit_layer_norm(&name("pre_layrnorm"), &mut class.pre_norm)?;
        }
        visit_transformer(visitor, "vision_model", &mut self.transformer)?;
        visitor.visit_layer_norm(&name("post_layernorm"), &mut self.post_norm)?;
        match &mut self.pooling {
            Pooling::ClassToken(class) => {
                visitor.visit_linear("visual_projection", &mut class.projection)
            }
            Pooling::Attention(pool) => visit_pool(visitor, &name("head"), pool),
        }
    }
}

fn visit_pool<V: ParameterVisitor>(
    visitor: &mut V,
    head: &str,
    pool: &mut AttentionPool,
) -> Result<()> {
    let name = |rest: &str| format!("{head}.{rest}");
    visitor.visit(&name("probe"), Layout::Same, &mut pool.probe)?;
    let in_weight = &mut pool.in_weight;
    visitor.visit(&name("attention.in_proj_weight"), Layout::OutIn, in_weight)?;
    let in_bias = &mut pool.in_bias;
    visitor.visit(&name("attention.in_proj_bias"), Layout::Same, in_bias)?;
    visitor.visit_linear(&name("attention.out_proj"), &mut pool.output)?;
    visitor.visit_layer_norm(&name("layernorm"), &mut pool.norm)?;
    visit_mlp(visitor, &name("mlp"), &mut pool.mlp)
}

fn visit_mlp<V: ParameterVisitor>(visitor: &mut V, name: &str, mlp: &mut Mlp) -> Result<()> {
    visitor.visit_dense(&format!("{name}.fc1"), &mut mlp.expand)?;
    visitor.visit_dense(&format!("{name}.fc2"), &mut mlp.contract)
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
    visitor.visit_dense(&name("self_attn.q_proj"), &mut attention.query)?;
    visitor.visit_dense(&name("self_attn.k_proj"), &mut attention.key)?;
    visitor.visit_dense(&name("self_attn.v_proj"), &mut attention.value)?;
    visitor.visit_dense(&name("self_attn.out_proj"), &mut attention.output)?;
    visitor.visit_layer_norm(&name("layer_norm1"), &mut block.attention_norm)?;
    visit_mlp(visitor, &name("mlp"), &mut block.mlp)?;
    visitor.visit_layer_norm(&name("layer_norm2"), &mut block.mlp_norm)
}
