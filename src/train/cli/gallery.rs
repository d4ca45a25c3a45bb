//! `train gallery`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::device;
use crate::train::export::bundle;
use crate::train::files::refuse_to_overwrite;
use crate::train::gallery::{pictures, recorded};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  train gallery --model public/models/scenes --force")]
pub(super) struct GalleryArgs {
    /// Folder of the pictures.
    #[arg(long, default_value = "public/gallery")]
    out: PathBuf,
    /// Model folder.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// File of the tour and the lessons, whose captions are answered, too.
    #[arg(long, default_value = "public/lessons.json")]
    lessons: PathBuf,
    /// Folder of the recorded answers.
    #[arg(long, default_value = "public/examples")]
    examples: PathBuf,
    /// Write over pictures and answers that are there.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &GalleryArgs) -> Result<()> {
    refuse_to_overwrite(&args.out.join("gallery.json"), args.force)?;
    pictures::write(&args.out)?;
    let (session, self_test) = bundle::open_tested(&args.model, &device::cpu())?;
    recorded::write(&session, self_test, &args.examples, &args.lessons)
}
