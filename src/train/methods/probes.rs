//! The course of a fit as a few sentences show it: κ of each every ten epochs, as the released code of `AsymVLM` prints
//! its reciprocal.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::method::{Method, Side};
use crate::train::files;
use crate::train::progress::print_line;

/// Epochs between two readings, as in the released code.
pub(super) const EPOCHS_PER_READING: usize = 10;

/// Concentration of one sentence after some steps; an entry of `probes.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeReading {
    /// Steps that were taken before it.
    pub step: usize,
    /// The sentence that κ is of, as it was embedded.
    pub sentence: String,
    /// Concentration κ of the sentence's distribution, greater for fuller sentences.
    pub kappa: f64,
    /// 1/κ, the method's uncertainty.
    pub uncertainty: f64,
    /// τκ, the concentration of a likelihood that the fitted scale has tempered.
    pub scaled: f64,
}

/// Sentences whose κ is read during a fit, and the file of the readings.
#[derive(Debug, Clone)]
pub struct ProbeLog {
    /// The sentences, in the order of the rows.
    pub sentences: Vec<String>,
    /// Features of the sentences, `[n_sentences, embed_dim]`, not normalised.
    pub features: Tensor<2>,
    /// File of the readings, as JSON.
    pub path: PathBuf,
}

impl ProbeLog {
    /// Deletes the readings of an earlier fit.
    pub(super) fn clear(&self) -> Result<()> {
        if self.path.exists() {
            std::fs::remove_file(&self.path)?;
        }
        Ok(())
    }

    /// Reads κ of each sentence after `n_steps` steps and adds it to the file, in place of what a run wrote there that
    /// was interrupted later than its last checkpoint; nothing for a method without κ of captions.
    ///
    /// # Errors
    ///
    /// The device fails, or the file cannot be read or written.
    pub(super) fn record<M: Method>(&self, name: &str, method: &M, n_steps: usize) -> Result<()> {
        let Some(now) = self.read(method, n_steps)? else {
            return Ok(());
        };
        print_line(&line(name, n_steps, &now));
        let mut readings: Vec<ProbeReading> = files::find_json(&self.path)?.unwrap_or_default();
        readings.retain(|reading| reading.step < n_steps);
        readings.extend(now);
        files::put_json(&self.path, &readings)
    }

    /// `None` for a method without κ of captions.
    fn read<M: Method>(&self, method: &M, step: usize) -> Result<Option<Vec<ProbeReading>>> {
        if method.uncertain_side() != Side::Text {
            return Ok(None);
        }
        let Some(found) = method.concentration(method.of_texts(self.features.clone())) else {
            return Ok(None);
        };
        let found: Vec<f32> = found.into_data().try_into_vec()?;
        let scale = method.logit_scale().map(Tensor::try_into_scalar::<f32>);
        let scale = scale.transpose()?.map_or(1.0, f64::from);
        let reading = |(sentence, kappa): (&String, f64)| ProbeReading {
            step,
            sentence: sentence.clone(),
            kappa,
            uncertainty: 1.0 / kappa,
            scaled: scale * kappa,
        };
        let found = found.into_iter().map(f64::from);
        Ok(Some(
            self.sentences.iter().zip(found).map(reading).collect(),
        ))
    }
}

fn line(name: &str, n_steps: usize, readings: &[ProbeReading]) -> String {
    let mut line = format!("{name}, step {n_steps}: 1/κ");
    for ProbeReading {
        sentence,
        uncertainty,
        ..
    } in readings
    {
        write!(line, " {uncertainty:.3} {sentence:?}").ok();
    }
    line
}
