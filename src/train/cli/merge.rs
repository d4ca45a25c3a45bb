//! Arguments of `train merge`, the call that merges the pieces of `train embed`, and the summary that it prints.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use crate::train::features::cache::{Cache, IdMap, TaskIds};
use crate::train::features::merge::merge;
use crate::train::provenance::command_line;
use crate::train::run_lock::RunLock;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  train merge runs/coco")]
pub(super) struct MergeArgs {
    /// The folder that all shards of `train embed` wrote to.
    folder: PathBuf,
}

pub(super) fn run(args: &MergeArgs) -> Result<()> {
    // A folder that is missing is reported below, and not created by the lock.
    let lock = args.folder.exists().then(|| RunLock::take(&args.folder));
    let _lock = lock.transpose()?;
    merge_and_print(&args.folder)
}

/// Merges the pieces of a folder that is locked already.
pub(super) fn merge_and_print(folder: &Path) -> Result<()> {
    let merged = merge(folder, command_line())?;
    print_summary(folder, &merged.cache);
    for line in merged.lines() {
        println!("{line}");
    }
    let mut skipped = merged.skipped.iter();
    if skipped.any(|(_, skipped)| !skipped.is_empty()) {
        let path = folder.join("skipped.json");
        println!("{}: each of them", path.display());
    }
    Ok(())
}

pub(super) fn print_summary(folder: &Path, cache: &Cache) {
    let of = |ids: &IdMap| (ids.captions.len(), ids.images.len());
    let (folder, train, test) = (folder.display(), of(&cache.train.ids), of(&cache.test.ids));
    let (n_train, n_images, n_test, n_test_images) = (train.0, train.1, test.0, test.1);
    println!(
        "{folder}: {n_train} captions of {n_images} pictures to train on, {n_test} of {n_test_images} to measure on"
    );
    for TaskIds {
        name,
        labels,
        classes,
        ..
    } in cache.tasks.iter().map(|task| &task.ids)
    {
        println!(
            "{name}: {} pictures, {} classes",
            labels.len(),
            classes.len()
        );
    }
}
