//! Arguments of `train import`, and the call into `train::import`, which writes the model folder.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::train::import::towers::{Vocabulary, import_towers};
use crate::train::import::{CheckpointSource, Import, Imported, import};
use crate::train::provenance::command_line;
use crate::train::run_lock::RunLock;
use crate::weights::shard::Precision;

/// Examples, printed below the command's help.
const EXAMPLES: &str = "Examples:
  train import openai/clip-vit-base-patch32 --out public/models/clip-vit-b-32
  train import ViT-B-32.pt --tokenizer tokenizer.json --out public/models/clip-vit-b-32 --dtype int8
  train import sentence-transformers/all-MiniLM-L6-v2 --image-tower timm/tf_efficientnet_lite0.in1k --out runs/towers
  train import --random 1 --out /tmp/random-clip";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// A checkpoint, a folder that holds one, or an id at the model hub.
    #[arg(required_unless_present = "random", conflicts_with = "random")]
    source: Option<String>,
    /// Model folder to make.
    #[arg(long)]
    out: PathBuf,
    /// The image tower, where the source is a text tower alone: a file, a folder, or an id at the model hub.
    #[arg(long, conflicts_with = "random", requires = "source")]
    image_tower: Option<String>,
    #[command(flatten)]
    vocabulary: Vocabulary,
    /// Precision in which weights are stored.
    #[arg(long, default_value = "f16", value_parser = PossibleValuesParser::new(["f16", "f32", "int8"]))]
    dtype: String,
    /// Make a model of ViT-B/32's shapes with random weights of this seed.
    #[arg(long, value_name = "SEED")]
    random: Option<u64>,
    /// Branch, tag or commit at the hub, if not the pinned one.
    #[arg(long, conflicts_with = "random")]
    revision: Option<String>,
    /// The `tokenizer.json`, where none lies beside the checkpoint.
    #[arg(long)]
    tokenizer: Option<PathBuf>,
    /// `CLIP.png` of the repository openai/CLIP, by which genuine weights are recognised.
    #[arg(long)]
    golden_picture: Option<PathBuf>,
    /// Replace the folder if it is there.
    #[arg(long)]
    force: bool,
}

impl ImportArgs {
    fn import(&self) -> Result<Import> {
        let seed = self.random.unwrap_or_default();
        let source = match &self.source {
            Some(source) => CheckpointSource::parse(source, self.revision.as_deref())?,
            None => CheckpointSource::Random { seed },
        };
        Ok(Import {
            source,
            out: self.out.clone(),
            precision: match &*self.dtype {
                "f32" => Precision::F32,
                "int8" => Precision::Int8,
                _ => Precision::F16,
            },
            tokenizer: self.tokenizer.clone(),
            golden_picture: self.golden_picture.clone(),
            replace: self.force,
            command: command_line(),
        })
    }
}

pub(super) fn run(args: &ImportArgs) -> Result<()> {
    let job = args.import()?;
    let _lock = RunLock::take_beside(&args.out)?;
    let (manifest, verdict) = if let Some(image) = &args.image_tower {
        let image = CheckpointSource::parse(image, None)?;
        (import_towers(&job, &image, &args.vocabulary)?, None)
    } else {
        let Imported { manifest, verdict } = import(&job)?;
        (manifest, Some(verdict))
    };
    for shard in &manifest.shards {
        let megabytes = shard.entry.bytes as f64 / 1e6;
        println!("{:28} {megabytes:7.1} MB", shard.entry.file);
    }
    let megabytes = manifest.weights_bytes() as f64 / 1e6;
    let (title, out) = (&manifest.title, args.out.display());
    println!("{title} in {out}: {megabytes:.1} MB");
    if let Some(verdict) = verdict {
        println!("{verdict}");
    }
    Ok(())
}
