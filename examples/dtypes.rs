//! What it does to a model's answers to store its towers in f32, f16 or int8.
//!
//! ```text
//! cargo run --release --example dtypes -- public/models/scenes --scenes 500
//! ```
#![expect(clippy::print_stdout, reason = "an example answers on standard output")]

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use serde::Deserialize;

use kappascope::device;
use kappascope::error::Error;
use kappascope::inference::{ImageEncoding, Session, Source, TextEncoding};
use kappascope::metrics::{first_hit_rank, quantile, recall_at_k};
use kappascope::numerics::Family;
use kappascope::preprocess::{RgbPixels, decode};
use kappascope::scenes::grammar::full_description;
use kappascope::scenes::{Compositions, Scene, Wording, say};
use kappascope::train::gallery::png::picture;
use kappascope::weights::manifest::{FileEntry, Manifest, Part};
use kappascope::weights::shard::{Precision, describe, file_entry, join, read, write};

/// Seed of the scenes, other than those of training and evaluation.
const SCENES_SEED: u64 = 4_000_000;

/// The precisions that are compared; the first is what the others are held against.
const PRECISIONS: [Precision; 3] = [Precision::F32, Precision::F16, Precision::Int8];

/// How a model's answers change when its towers are stored in f32, f16 or int8.
#[derive(Debug, Parser)]
struct Args {
    /// Folder of the model to compare.
    #[arg(default_value = "public/models/scenes")]
    model: PathBuf,
    /// Folder of photographs whose `manifest.json` lists `file` and `captions`; drawn scenes if not given.
    #[arg(long)]
    photos: Option<PathBuf>,
    /// Number of drawn scenes.
    #[arg(long, default_value_t = 500)]
    scenes: usize,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let pairs = match &args.photos {
        Some(folder) => Pairs::photos(folder)?,
        None => Pairs::scenes(args.scenes),
    };
    println!("{TABLE_HEAD}");
    for row in measure(&args.model, &pairs)? {
        println!("{row}");
    }
    Ok(())
}

/// Pictures, each with a caption of its own.
#[derive(Debug)]
pub(crate) struct Pairs {
    captions: Vec<String>,
    pictures: Vec<RgbPixels>,
}

/// One precision's answers beside those of f32.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// How the towers are stored.
    pub(crate) precision: Precision,
    /// Bytes of both towers.
    pub(crate) towers_bytes: u64,
    /// Cosine of captions' embeddings with those of f32.
    pub(crate) text_cosine: Spread,
    /// Cosine of pictures' embeddings with those of f32.
    pub(crate) image_cosine: Spread,
    /// Share of captions that find the same picture first, by cosine.
    pub(crate) same_first: f64,
    /// Recall@1 by cosine, caption to picture and picture to caption.
    pub(crate) recall: (f64, f64),
    /// Change of ln κ, which is the relative change of κ, von Mises–Fisher.
    pub(crate) concentration_change: Option<Spread>,
    /// Change of the nats of each caption's own picture, von Mises–Fisher.
    pub(crate) nats_change: Option<Spread>,
}

/// The middle of some numbers and the worst of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// Median of the cosines or of the changes.
    pub(crate) median: f64,
    /// The least cosine or the greatest change.
    pub(crate) worst: f64,
}

/// One entry of a folder's `manifest.json`.
#[derive(Debug, Deserialize)]
struct Photo {
    file: String,
    captions: Vec<String>,
}

impl Pairs {
    /// Drawn scenes with a full caption each.
    #[must_use]
    pub(crate) fn scenes(n_scenes: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(SCENES_SEED);
        let (captions, pictures) = (0..n_scenes)
            .map(|_| {
                let scene = Scene::sample(Compositions::All, &mut rng);
                let description = full_description(&scene, &mut rng);
                let caption = say(&description, Wording::Varied, &mut rng);
                (caption, picture(&scene))
            })
            .unzip();
        Self { captions, pictures }
    }

    /// Photographs with the first of their captions, from a folder whose `manifest.json` lists `file` and `captions`.
    ///
    /// # Errors
    ///
    /// The list or a photograph cannot be read.
    pub(crate) fn photos(folder: &Path) -> Result<Self> {
        let photos: Vec<Photo> =
            serde_json::from_slice(&std::fs::read(folder.join("manifest.json"))?)?;
        let mut pairs = Self {
            captions: Vec::new(),
            pictures: Vec::new(),
        };
        for photo in photos {
            let path = folder.join(&photo.file);
            let Some(caption) = photo.captions.into_iter().next() else {
                continue;
            };
            let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
            let decoded = decode(&bytes).with_context(|| path.display().to_string())?;
            pairs.captions.push(caption);
            pairs.pictures.push(decoded.rgb);
        }
        Ok(pairs)
    }

    /// Number of pairs of a caption and a picture.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.captions.len()
    }
}

/// Measures every precision on a model folder.
///
/// # Errors
///
/// The folder holds no model, or there are no pairs.
pub(crate) fn measure(folder: &Path, pairs: &Pairs) -> Result<Vec<Row>> {
    ensure!(pairs.len() > 0, "no pictures to compare on");
    let json = std::fs::read(folder.join("manifest.json"))
        .with_context(|| format!("{}: a model folder was expected", folder.display()))?;
    let manifest = Manifest::from_json(&json)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut reference = None;
    for precision in PRECISIONS {
        let stored = Stored::new(&manifest, folder, precision)?;
        let towers_bytes = stored.towers_bytes();
        let answers = Answers::of(&stored.open()?, pairs)?;
        let reference = reference.get_or_insert_with(|| answers.clone());
        rows.push(answers.row(precision, towers_bytes, reference));
    }
    Ok(rows)
}

/// A model whose towers are stored in one precision, in memory.
struct Stored {
    manifest: Manifest,
    files: HashMap<String, Vec<u8>>,
}

impl Stored {
    fn new(manifest: &Manifest, folder: &Path, precision: Precision) -> Result<Self> {
        let mut manifest = manifest.clone();
        let mut files = HashMap::new();
        let read_file = |entry: &FileEntry| {
            let path = folder.join(&entry.file);
            std::fs::read(&path).with_context(|| path.display().to_string())
        };
        for shard in &mut manifest.shards {
            let mut bytes = read_file(&shard.entry)?;
            if matches!(shard.part, Part::Text | Part::Image) {
                bytes = write(&join(read(&bytes)?)?, precision)?;
                shard.entry = file_entry(&shard.entry.file, &bytes);
                shard.tensors = describe(&bytes)?;
            }
            files.insert(shard.entry.file.clone(), bytes);
        }
        let tokenizer = &manifest.tokenizer;
        files.insert(tokenizer.file.clone(), read_file(tokenizer)?);
        Ok(Self { manifest, files })
    }

    fn towers_bytes(&self) -> u64 {
        let parts = [Part::Text, Part::Image].into_iter();
        let shards = parts.flat_map(|part| self.manifest.shards(part));
        shards.map(|shard| shard.entry.bytes).sum()
    }

    fn open(self) -> Result<Session> {
        let (manifest, device) = (self.manifest.clone(), device::cpu());
        let session = Session::open(manifest, &self, &device, |_, _, _| {});
        Ok(pollster::block_on(session)?)
    }
}

impl Source for Stored {
    async fn read(&self, entry: &FileEntry) -> kappascope::error::Result<Vec<u8>> {
        self.files
            .get(&entry.file)
            .cloned()
            .ok_or_else(|| Error::Io {
                path: entry.file.clone(),
                reason: "not found".to_owned(),
            })
    }
}

#[derive(Clone)]
struct Answers {
    texts: Vec<TextEncoding>,
    images: Vec<ImageEncoding>,
}

impl Answers {
    fn of(session: &Session, pairs: &Pairs) -> Result<Self> {
        Ok(Self {
            texts: pollster::block_on(session.encode_text(&pairs.captions))?,
            images: pollster::block_on(session.encode_images(&pairs.pictures))?,
        })
    }

    fn row(&self, precision: Precision, towers_bytes: u64, reference: &Self) -> Row {
        let (firsts, reference_firsts) = (self.firsts(), reference.firsts());
        let same = firsts.iter().zip(&reference_firsts);
        let n_same = same.filter(|(found, expected)| found == expected).count();
        let cosines = |found: &mut dyn Iterator<Item = (&[f32], &[f32])>| {
            Spread::least(found.map(|(a, b)| cosine(a, b)).collect())
        };
        let texts = self.texts.iter().zip(&reference.texts);
        let images = self.images.iter().zip(&reference.images);
        Row {
            precision,
            towers_bytes,
            text_cosine: cosines(&mut texts.map(|(a, b)| (&a.embedding[..], &b.embedding[..]))),
            image_cosine: cosines(&mut images.map(|(a, b)| (&a.embedding[..], &b.embedding[..]))),
            same_first: n_same as f64 / firsts.len() as f64,
            recall: self.recall(),
            concentration_change: self.change(reference, |answers, i| {
                Some(
                    answers.texts[i]
                        .distributions
                        .as_ref()?
                        .vmf
                        .concentration
                        .ln(),
                )
            }),
            nats_change: self.change(reference, |answers, i| {
                answers.texts[i].nats(Family::VonMisesFisher, &answers.images[i])
            }),
        }
    }

    /// The picture that each caption finds first.
    fn firsts(&self) -> Vec<usize> {
        let first = |text: &TextEncoding| {
            let cosines = self.images.iter().map(|image| text.compare(image).cosine);
            let best = cosines.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
            best.map_or(0, |(i_image, _)| i_image)
        };
        self.texts.iter().map(first).collect()
    }

    fn recall(&self) -> (f64, f64) {
        let ranks = |score: &dyn Fn(usize, usize) -> f64| {
            let rank = |i: usize| {
                let scores: Vec<f64> = (0..self.texts.len()).map(|j| score(i, j)).collect();
                first_hit_rank(&scores, [i])
            };
            let ranks: Vec<usize> = (0..self.texts.len()).filter_map(rank).collect();
            recall_at_k(&ranks, 1)
        };
        let cosine =
            |text: usize, image: usize| self.texts[text].compare(&self.images[image]).cosine;
        (ranks(&cosine), ranks(&|image, text| cosine(text, image)))
    }

    fn change(
        &self,
        reference: &Self,
        number: impl Fn(&Self, usize) -> Option<f64>,
    ) -> Option<Spread> {
        let change = |i| Some((number(self, i)? - number(reference, i)?).abs());
        let changes: Option<Vec<f64>> = (0..self.texts.len()).map(change).collect();
        changes.map(Spread::greatest)
    }
}

impl Spread {
    fn least(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self {
            median: quantile(&values, 0.5).unwrap_or(f64::NAN),
            worst: values.first().copied().unwrap_or(f64::NAN),
        }
    }

    fn greatest(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self {
            median: quantile(&values, 0.5).unwrap_or(f64::NAN),
            worst: values.last().copied().unwrap_or(f64::NAN),
        }
    }
}

/// The heading of a table of rows.
pub(crate) const TABLE_HEAD: &str = "| towers stored as | MB \
    | cosine with f32, captions: median, least | pictures | same first picture | R@1 text→image | image→text \
    | κ changes by: median, most | nats change by: median, most |\n|---|---|---|---|---|---|---|---|---|";

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = |spread: Option<Spread>, scale: f64, unit: &str| {
            spread.map_or("no adapter".to_owned(), |Spread { median, worst }| {
                format!("{:.3}{unit}, {:.3}{unit}", scale * median, scale * worst)
            })
        };
        write!(
            formatter,
            "| {:?} | {:.1} | {} | {} | {:.3} | {:.3} | {:.3} | {} | {} |",
            self.precision,
            self.towers_bytes as f64 / 1e6,
            self.text_cosine,
            self.image_cosine,
            self.same_first,
            self.recall.0,
            self.recall.1,
            change(self.concentration_change, 100.0, " %"),
            change(self.nats_change, 1.0, ""),
        )
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.6}, {:.6}", self.median, self.worst)
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let products = a.iter().zip(b);
    products.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}
