//! `train merge`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use crate::train::features::cache::Cache;
use crate::train::features::merge::merge;
use crate::train::provenance::command_line;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  train merge runs/coco")]
pub(super) struct MergeArgs {
    /// The folder that all shards of `train embed` wrote to.
    pub(super) folder: PathBuf,
}

pub(super) fn run(args: &MergeArgs) -> Result<()> {
    let merged = merge(&args.folder, command_line())?;
    print_summary(&args.folder, &merged.cache);
    for line in merged.lines() {
        println!("{line}");
    }
    if merged
        .skipped
        .iter()
        .any(|(_, skipped)| !skipped.is_empty())
    {
        let path = args.folder.join("skipped.json");
        println!("{}: each of them", path.display());
    }
    Ok(())
}

pub(super) fn print_summary(folder: &Path, cache: &Cache) {
    println!(
        "{}: {} captions of {} pictures to train on, {} of {} to measure on",
        folder.display(),
        cache.train.ids.captions.len(),
        cache.train.ids.images.len(),
        cache.test.ids.captions.len(),
        cache.test.ids.images.len()
    );
    for task in &cache.tasks {
        println!(
            "{}: {} pictures, {} classes",
            task.ids.name,
            task.ids.labels.len(),
            task.ids.classes.len()
        );
    }
}
