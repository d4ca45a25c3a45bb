//! `train score`: captions × pictures → the numbers that the page shows.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::inference::{ImageEncoding, Session, TextEncoding};
use crate::metrics::percentile_of;
use crate::model::adapter::Family;
use crate::preprocess::decode;

/// The answer of `train score`.
#[derive(Debug, Serialize)]
pub struct Table {
    /// One for each caption.
    pub captions: Vec<CaptionRow>,
    /// One for each caption × picture, captions outermost.
    pub pairs: Vec<PairRow>,
}

/// A caption's distribution.
#[derive(Debug, Serialize)]
pub struct CaptionRow {
    caption: String,
    kappa: f64,
    uncertainty: f64,
    percentile: f64,
}

/// A caption against a picture.
#[derive(Debug, Serialize)]
pub struct PairRow {
    caption: String,
    image: String,
    nats: f64,
    log_likelihood: f64,
    cosine: f64,
}

/// Scores captions against picture files.
///
/// # Errors
///
/// A picture cannot be read, or the model has no adapters.
pub fn score(
    session: &Session,
    family: Family,
    captions: &[String],
    images: &[&Path],
) -> Result<Table> {
    let texts = pollster::block_on(session.encode_text(captions))?;
    let pictures: Vec<ImageEncoding> = images
        .iter()
        .map(|path| encode(session, path))
        .collect::<Result<_>>()?;
    let reference = session
        .manifest()
        .reference_uncertainty
        .as_ref()
        .context("the model has no adapters")?
        .get(family);
    let mut table = Table {
        captions: Vec::new(),
        pairs: Vec::new(),
    };
    for (caption, text) in captions.iter().zip(&texts) {
        let kappa = text
            .distributions
            .as_ref()
            .context("the model has no adapters")?
            .get(family)
            .concentration;
        let uncertainty = 1.0 / kappa;
        let percentile = percentile_of(reference, uncertainty);
        table.captions.push(CaptionRow {
            caption: caption.clone(),
            kappa,
            uncertainty,
            percentile,
        });
        for (path, picture) in images.iter().zip(&pictures) {
            let image = path.display().to_string();
            table
                .pairs
                .push(pair(family, kappa, (caption, text), (image, picture))?);
        }
    }
    Ok(table)
}

fn encode(session: &Session, path: &Path) -> Result<ImageEncoding> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let picture = decode(&bytes).with_context(|| path.display().to_string())?;
    Ok(pollster::block_on(session.encode_image(&picture.rgb))?)
}

fn pair(
    family: Family,
    kappa: f64,
    (caption, text): (&str, &TextEncoding),
    (image, picture): (String, &ImageEncoding),
) -> Result<PairRow> {
    let pair = text.compare(picture);
    let t = *pair
        .mean_direction_cosine
        .as_ref()
        .context("the model has no adapters")?
        .get(family);
    let d = picture.embedding.len();
    Ok(PairRow {
        caption: caption.to_owned(),
        image,
        nats: family.log_likelihood_ratio(d, kappa, t),
        log_likelihood: family.log_likelihood(d, kappa, t),
        cosine: pair.cosine,
    })
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:>10} {:>10} {:>10}  caption", "κ", "1/κ", "percentile")?;
        for row in &self.captions {
            writeln!(
                f,
                "{:>10.4} {:>10.5} {:>10.1}  {}",
                row.kappa, row.uncertainty, row.percentile, row.caption
            )?;
        }
        if !self.pairs.is_empty() {
            writeln!(
                f,
                "\n{:>10} {:>14} {:>10}  picture | caption",
                "nats", "log-density", "cosine"
            )?;
        }
        for row in &self.pairs {
            let (nats, density, cosine) = (row.nats, row.log_likelihood, row.cosine);
            writeln!(
                f,
                "{nats:>10.4} {density:>14.4} {cosine:>10.4}  {} | {}",
                row.image, row.caption
            )?;
        }
        Ok(())
    }
}
