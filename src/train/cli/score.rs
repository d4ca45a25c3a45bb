//! `train score`: captions × pictures → the numbers that the page shows.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;

use crate::device;
use crate::family::{Family, PerFamily};
use crate::inference::{ImageEncoding, Session, TextEncoding};
use crate::metrics::percentile_of;
use crate::preprocess::decode;
use crate::protocol::MAX_CAPTION_CHARACTERS;
use crate::train::export::bundle;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train score --caption 'a red star' --caption 'a picture' --image public/gallery/lone-red-star.png"
)]
pub(super) struct ScoreArgs {
    /// Folder of the model that scores.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// Distribution on the sphere.
    #[arg(long, value_enum, default_value = "vmf")]
    family: FamilyName,
    /// A caption of at most 2,000 characters; may be given several times.
    #[arg(long = "caption", required = true, value_parser = caption)]
    captions: Vec<String>,
    /// A picture file; may be given several times.
    #[arg(long = "image")]
    images: Vec<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FamilyName {
    Vmf,
    PowerSpherical,
}

impl From<FamilyName> for Family {
    fn from(name: FamilyName) -> Self {
        match name {
            FamilyName::Vmf => Self::VonMisesFisher,
            FamilyName::PowerSpherical => Self::PowerSpherical,
        }
    }
}

/// A caption as it was typed, unless it is too long.
fn caption(typed: &str) -> Result<String, String> {
    match typed.chars().count() {
        0..=MAX_CAPTION_CHARACTERS => Ok(typed.to_owned()),
        n => Err(format!(
            "it has {n} characters, expected at most {MAX_CAPTION_CHARACTERS}"
        )),
    }
}

pub(super) fn run(args: &ScoreArgs) -> Result<()> {
    let session = bundle::open(&args.model, &device::cpu())?;
    let images: Vec<&Path> = args.images.iter().map(PathBuf::as_path).collect();
    let table = score(&session, args.family.into(), &args.captions, &images)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&table)?);
    } else {
        print!("{table}");
    }
    Ok(())
}

/// The answer of `train score`.
#[derive(Debug, Serialize)]
struct ScoreTable {
    /// One for each caption.
    captions: Vec<ScoredCaption>,
    /// One for each caption × picture, captions outermost.
    pairs: Vec<ScoredPair>,
}

/// Distribution of one caption: κ, 1/κ, and the percentile of 1/κ among the reference captions.
#[derive(Debug, Serialize)]
struct ScoredCaption {
    caption: String,
    kappa: f64,
    uncertainty: f64,
    percentile: f64,
}

/// A caption against a picture.
#[derive(Debug, Serialize)]
struct ScoredPair {
    caption: String,
    image: String,
    nats: f64,
    log_likelihood: f64,
    cosine: f64,
}

/// What is of no family where a model has no adapters.
fn of_family<T>(both: Option<&PerFamily<T>>, family: Family) -> Result<&T> {
    Ok(both.context("the model has no adapters")?.get(family))
}

/// Scores captions against picture files.
fn score(
    session: &Session,
    family: Family,
    captions: &[String],
    images: &[&Path],
) -> Result<ScoreTable> {
    let texts = pollster::block_on(session.encode_text(captions))?;
    let pictures = images.iter().map(|path| encode(session, path));
    let pictures: Vec<ImageEncoding> = pictures.collect::<Result<_>>()?;
    let reference = of_family(session.manifest().reference_uncertainty.as_ref(), family)?;
    let (mut scored, mut pairs) = (Vec::new(), Vec::new());
    for (caption, text) in captions.iter().zip(&texts) {
        let kappa = of_family(text.distributions.as_ref(), family)?.concentration;
        let uncertainty = 1.0 / kappa;
        scored.push(ScoredCaption {
            caption: caption.clone(),
            kappa,
            uncertainty,
            percentile: percentile_of(reference, uncertainty),
        });
        for (path, picture) in images.iter().zip(&pictures) {
            let image = path.display().to_string();
            pairs.push(pair(family, kappa, (caption, text), (image, picture))?);
        }
    }
    let captions = scored;
    Ok(ScoreTable { captions, pairs })
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
) -> Result<ScoredPair> {
    let pair = text.compare(picture);
    let t = *of_family(pair.mean_direction_cosine.as_ref(), family)?;
    let d = picture.embedding.len();
    Ok(ScoredPair {
        caption: caption.to_owned(),
        image,
        nats: family.log_likelihood_ratio(d, kappa, t),
        log_likelihood: family.log_likelihood(d, kappa, t),
        cosine: pair.cosine,
    })
}

impl std::fmt::Display for ScoreTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:>10} {:>10} {:>10}  caption", "κ", "1/κ", "percentile")?;
        for row in &self.captions {
            let (kappa, uncertainty, percentile) = (row.kappa, row.uncertainty, row.percentile);
            writeln!(
                f,
                "{kappa:>10.4} {uncertainty:>10.5} {percentile:>10.1}  {}",
                row.caption
            )?;
        }
        if !self.pairs.is_empty() {
            let (nats, density, cosine) = ("nats", "log-density", "cosine");
            writeln!(
                f,
                "\n{nats:>10} {density:>14} {cosine:>10}  picture | caption"
            )?;
        }
        for row in &self.pairs {
            let (nats, density, cosine) = (row.nats, row.log_likelihood, row.cosine);
            let (image, caption) = (&row.image, &row.caption);
            writeln!(
                f,
                "{nats:>10.4} {density:>14.4} {cosine:>10.4}  {image} | {caption}"
            )?;
        }
        Ok(())
    }
}
