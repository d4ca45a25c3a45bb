//! `train score`: captions × pictures → the numbers that the page shows.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde::Serialize;

use super::captions::{CaptionArgs, CaptionNote, write_notes};
use crate::family::Family;
use crate::inference::{ImageEncoding, Session, TextEncoding};
use crate::metrics::percentile_of;
use crate::preprocess::{DecodeBudget, decode_on_white};
use crate::train::files::read_limited;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train score --caption 'a red star' --caption 'a picture' --image public/gallery/lone-red-star.png"
)]
pub(super) struct ScoreArgs {
    #[command(flatten)]
    captions: CaptionArgs,
    /// A picture file; may be given several times.
    #[arg(long = "image")]
    images: Vec<PathBuf>,
}

pub(super) fn run(args: &ScoreArgs) -> Result<()> {
    let session = args.captions.open()?;
    let images: Vec<&Path> = args.images.iter().map(PathBuf::as_path).collect();
    let (family, captions) = (args.captions.family(), &args.captions.captions);
    args.captions
        .print(&score(&session, family, captions, &images)?)
}

/// The answer of `train score`.
#[derive(Debug, Serialize)]
struct ScoreTable {
    /// One for each caption.
    captions: Vec<ScoredCaption>,
    /// One for each caption × picture, captions outermost.
    pairs: Vec<ScoredPair>,
}

/// Numbers of one caption, as JSON.
#[derive(Debug, Serialize)]
struct ScoredCaption {
    caption: String,
    /// `None` where the model has no adapters.
    #[serde(flatten)]
    distribution: Option<Vagueness>,
    #[serde(flatten)]
    note: CaptionNote,
}

/// Concentration of a caption: κ, 1/κ, and the percentile of 1/κ among the reference captions.
#[derive(Debug, Clone, Copy, Serialize)]
struct Vagueness {
    kappa: f64,
    uncertainty: f64,
    percentile: f64,
}

/// A caption against a picture.
#[derive(Debug, Serialize)]
struct ScoredPair {
    caption: String,
    image: String,
    /// `None` where the model has no adapters.
    #[serde(flatten)]
    likelihood: Option<Likelihood>,
    cosine: f64,
}

/// Likelihood of a picture under a caption.
#[derive(Debug, Clone, Copy, Serialize)]
struct Likelihood {
    nats: f64,
    log_likelihood: f64,
}

/// Scores captions against picture files; without adapters by cosine alone.
fn score(
    session: &Session,
    family: Family,
    captions: &[String],
    images: &[&Path],
) -> Result<ScoreTable> {
    let texts = pollster::block_on(session.encode_text(captions))?;
    let pictures = images.iter().map(|path| encode(session, path));
    let pictures: Vec<ImageEncoding> = pictures.collect::<Result<_>>()?;
    let reference = session.manifest().reference_uncertainty.as_ref();
    let reference = reference.map(|both| both.get(family));
    let (mut scored, mut pairs) = (Vec::new(), Vec::new());
    for (caption, text) in captions.iter().zip(&texts) {
        let kappa = text.distributions.as_ref();
        let kappa = kappa.map(|both| both.get(family).concentration);
        ensure!(
            kappa.is_some() || !images.is_empty(),
            "the model has no adapters: it only compares captions with pictures, of which --image gives some"
        );
        let vagueness = |(kappa, reference): (f64, &Vec<f64>)| Vagueness {
            kappa,
            uncertainty: 1.0 / kappa,
            percentile: percentile_of(reference, 1.0 / kappa),
        };
        scored.push(ScoredCaption {
            caption: caption.clone(),
            distribution: kappa.zip(reference).map(vagueness),
            note: CaptionNote::of(caption, text),
        });
        for (path, picture) in images.iter().zip(&pictures) {
            let image = path.display().to_string();
            pairs.push(pair(family, kappa, (caption, text), (image, picture)));
        }
    }
    let captions = scored;
    Ok(ScoreTable { captions, pairs })
}

fn encode(session: &Session, path: &Path) -> Result<ImageEncoding> {
    let bytes = read_limited(path)?;
    let picture = decode_on_white(&DecodeBudget::FULL, &bytes);
    let picture = picture.with_context(|| path.display().to_string())?;
    Ok(pollster::block_on(session.encode_image(&picture.rgb))?)
}

fn pair(
    family: Family,
    kappa: Option<f64>,
    (caption, text): (&str, &TextEncoding),
    (image, picture): (String, &ImageEncoding),
) -> ScoredPair {
    let pair = text.compare(picture);
    let cosine = pair.mean_direction_cosine.as_ref();
    let cosine = cosine.map(|both| *both.get(family));
    let d = picture.embedding.len();
    let likelihood = |(kappa, t)| Likelihood {
        nats: family.log_likelihood_ratio(d, kappa, t),
        log_likelihood: family.log_likelihood(d, kappa, t),
    };
    ScoredPair {
        caption: caption.to_owned(),
        image,
        likelihood: kappa.zip(cosine).map(likelihood),
        cosine: pair.cosine,
    }
}

impl fmt::Display for ScoreTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.captions.iter().all(|row| row.distribution.is_none()) {
            self.cosines(f)?;
        } else {
            self.distributions(f)?;
            self.likelihoods(f)?;
        }
        let notes = self
            .captions
            .iter()
            .map(|row| (row.caption.as_str(), &row.note));
        write_notes(f, notes)
    }
}

impl ScoreTable {
    /// Table of concentrations. What the model cannot read has no percentile, as on the page.
    fn distributions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>10} {:>10} {:>10}  caption", "κ", "1/κ", "percentile")?;
        for row in &self.captions {
            if let Some(Vagueness {
                kappa,
                uncertainty,
                percentile,
            }) = row.distribution
            {
                let percentile = match row.note.is_unread {
                    true => "–".to_owned(),
                    false => format!("{percentile:.1}"),
                };
                let caption = &row.caption;
                writeln!(
                    f,
                    "{kappa:>10.4} {uncertainty:>10.5} {percentile:>10}  {caption}"
                )?;
            }
        }
        Ok(())
    }

    /// Table of pictures' likelihoods, if there are any pictures.
    fn likelihoods(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pairs.is_empty() {
            let (nats, density, cosine) = ("nats", "log-density", "cosine");
            writeln!(
                f,
                "\n{nats:>10} {density:>14} {cosine:>10}  picture | caption"
            )?;
        }
        for row in &self.pairs {
            if let Some(Likelihood {
                nats,
                log_likelihood,
            }) = row.likelihood
            {
                let (cosine, image, caption) = (row.cosine, &row.image, &row.caption);
                writeln!(
                    f,
                    "{nats:>10.4} {log_likelihood:>14.4} {cosine:>10.4}  {image} | {caption}"
                )?;
            }
        }
        Ok(())
    }

    /// Table of cosines, for a model without adapters.
    fn cosines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "The model has no adapters, so it compares by cosine alone.\n"
        )?;
        writeln!(f, "{:>10}  picture | caption", "cosine")?;
        for row in &self.pairs {
            let (cosine, image, caption) = (row.cosine, &row.image, &row.caption);
            writeln!(f, "{cosine:>10.4}  {image} | {caption}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(captions: &[&str]) -> ScoreTable {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = root.join("public/models/scenes");
        let session = crate::train::export::bundle::open(&folder, &crate::device::cpu());
        let captions: Vec<String> = captions.iter().map(|&caption| caption.to_owned()).collect();
        let session = session.expect("the shipped model");
        score(&session, Family::VonMisesFisher, &captions, &[]).expect("scored")
    }

    #[test]
    fn what_the_model_cannot_read_has_no_percentile_and_a_note() {
        let table = scored(&["a red star", "a golden retriever"]);
        let unread: Vec<bool> = table
            .captions
            .iter()
            .map(|row| row.note.is_unread)
            .collect();
        assert_eq!(unread, [false, true], "{table}");
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[2].contains(" –  a golden retriever"), "{text}");
        let note = "“a golden retriever”: The model cannot read this: it has never met";
        assert!(lines[4].starts_with(note), "{text}");
        assert_eq!(lines.len(), 5, "nothing is said of what was read: {text}");
        let json = serde_json::to_value(&table).expect("plain data");
        assert_eq!(json["captions"][0]["is_unread"], false, "{json}");
        assert!(json["captions"][0].get("note").is_none(), "{json}");
        assert_eq!(json["captions"][1]["is_unread"], true, "{json}");
    }
}
