//! Names of the tower's parameters: those of `timm` under `vision_model.`, with a bias where it has a batch norm.

use std::sync::Arc;

use crate::error::Result;
use crate::host::gemm::Kernel;
use crate::model::parameters::{Layout, ParameterVisitor, Parameters};

use super::convolution::Convolution;
use super::host::HostTower;
use super::{EfficientNet, InvertedResidual, LastStage};

/// Name of the last convolution.
const HEAD: &str = "vision_model.conv_head";

impl Parameters for EfficientNet {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        visit_convolution(visitor, "vision_model.conv_stem", &mut self.stem)?;
        for (i_stage, stage) in self.stages.iter_mut().enumerate() {
            for (i_block, block) in stage.iter_mut().enumerate() {
                visit_block(visitor, [i_stage, i_block], block)?;
            }
        }
        visit_convolution(visitor, HEAD, &mut self.head)
    }

    fn pack(&mut self, kernel: Kernel) {
        let blocks = self.stages.iter().flatten();
        let blocks = blocks.map(|block| (block.expand.as_ref(), &block.depthwise, &block.project));
        let packed = HostTower::pack(&self.stem, blocks, &self.head, kernel);
        self.host = packed.map(Arc::new);
    }
}

impl Parameters for LastStage {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        visit_block(visitor, self.place, &mut self.block)?;
        visit_convolution(visitor, HEAD, &mut self.head)
    }
}

/// `timm` calls the last convolution of a block `conv_pw` where there is no first one.
fn visit_block<V: ParameterVisitor>(
    visitor: &mut V,
    [i_stage, i_block]: [usize; 2],
    block: &mut InvertedResidual,
) -> Result<()> {
    let name = format!("vision_model.blocks.{i_stage}.{i_block}");
    let last = match &mut block.expand {
        Some(expand) => {
            visit_convolution(visitor, &format!("{name}.conv_pw"), expand)?;
            "conv_pwl"
        }
        None => "conv_pw",
    };
    visit_convolution(visitor, &format!("{name}.conv_dw"), &mut block.depthwise)?;
    visit_convolution(visitor, &format!("{name}.{last}"), &mut block.project)
}

fn visit_convolution<V: ParameterVisitor>(
    visitor: &mut V,
    name: &str,
    convolution: &mut Convolution,
) -> Result<()> {
    let weight = &mut convolution.weight;
    visitor.visit(&format!("{name}.weight"), Layout::Same, weight)?;
    visitor.visit(&format!("{name}.bias"), Layout::Same, &mut convolution.bias)
}
