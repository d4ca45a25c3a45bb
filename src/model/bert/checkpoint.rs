//! Names of BERT's parameters: those of `transformers`' `BertModel` under `text_model.`.

use crate::error::Result;
use crate::model::clip::transformer::Block;
use crate::model::parameters::{Layout, ParameterVisitor, Parameters};

use super::Bert;

impl Parameters for Bert {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        let name = |rest: &str| format!("text_model.embeddings.{rest}");
        visitor.visit_table(&name("word_embeddings.weight"), &mut self.token_embedding)?;
        visitor.visit(
            &name("position_embeddings.weight"),
            Layout::Same,
            &mut self.position_embedding,
        )?;
        visitor.visit_layer_norm(&name("LayerNorm"), &mut self.embedding_norm)?;
        for (i_block, block) in self.transformer.blocks.iter_mut().enumerate() {
            visit_block(
                visitor,
                &format!("text_model.encoder.layer.{i_block}"),
                block,
            )?;
        }
        Ok(())
    }
}

fn visit_block<V: ParameterVisitor>(visitor: &mut V, layer: &str, block: &mut Block) -> Result<()> {
    let name = |rest: &str| format!("{layer}.{rest}");
    let attention = &mut block.attention;
    visitor.visit_dense(&name("attention.self.query"), &mut attention.query)?;
    visitor.visit_dense(&name("attention.self.key"), &mut attention.key)?;
    visitor.visit_dense(&name("attention.self.value"), &mut attention.value)?;
    visitor.visit_dense(&name("attention.output.dense"), &mut attention.output)?;
    visitor.visit_layer_norm(
        &name("attention.output.LayerNorm"),
        &mut block.attention_norm,
    )?;
    visitor.visit_dense(&name("intermediate.dense"), &mut block.mlp.expand)?;
    visitor.visit_dense(&name("output.dense"), &mut block.mlp.contract)?;
    visitor.visit_layer_norm(&name("output.LayerNorm"), &mut block.mlp_norm)
}
