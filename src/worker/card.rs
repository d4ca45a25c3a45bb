//! Card of a loaded model, which its engine sends to the page.

use super::model::Model;
use crate::answer;
use crate::error::Result;
use crate::inference::{SelfTest, WeightFormat};
use crate::protocol::Response;

impl Model {
    /// The model's card, with the time of its load.
    pub(super) async fn model_card(
        &self,
        self_test: Option<SelfTest>,
        load_millis: f64,
    ) -> Result<Response> {
        let session = self.session();
        let device = &self.loaded.device_text;
        let card = answer::EngineFacts {
            name: self.loaded.name.to_owned(),
            device: match session.format() {
                WeightFormat::Tensor | WeightFormat::Packed(_) => device.clone(),
                WeightFormat::PackedInt8(_) => format!("{device}, weights in eight bits"),
            },
            weights_bytes: self.weights.weights_bytes(session.manifest()),
            from_cache: self.weights.was_cached(),
            load_millis,
        };
        Ok(match (self_test, session.logit_scale()) {
            (Some(self_test), Some(_)) => {
                let card = answer::model_card(&session, self_test, card)?;
                Response::Loaded(Box::new(card))
            }
            _ => {
                let is_vit_b_32 = self.is_vit_b_32().await?;
                let probe = self.probe().await?;
                let card = answer::bare_card(&session, self_test, is_vit_b_32, probe, card);
                Response::LoadedBare(Box::new(card))
            }
        })
    }
}
