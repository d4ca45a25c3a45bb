//! A data set by its name and folder, as lists of pictures and captions.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use clap::ValueEnum;

use super::coco::{self, Year};
use super::flickr::{self, Division, FlickrDataset};
use super::{
    Labelled, Listing, Splits, captions_csv, cifar, conceptual, first_of, hierarcaps, hold_out,
    image_folder, karpathy, stl10, take, webdataset,
};

/// Source of pictures and captions, and its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Dataset {
    /// Drawn scenes; nothing is read.
    Scenes,
    /// COCO 2017: `annotations/captions_{train,val}2017.json`, `train2017/`, `val2017/`.
    Coco,
    /// COCO 2014, the same with 2014.
    #[value(name = "coco-2014")]
    Coco2014,
    /// COCO by Karpathy's splits: `dataset_coco.json`, `train2014/`, `val2014/`.
    CocoKarpathy,
    /// Flickr30k: `results_20130124.token` or `dataset_flickr30k.json`, `flickr30k-images/`.
    #[value(name = "flickr30k")]
    Flickr30k,
    /// Flickr8k: `Flickr8k.token.txt` with its lists or `dataset_flickr8k.json`, `Flicker8k_Dataset/`.
    #[value(name = "flickr8k")]
    Flickr8k,
    /// Conceptual Captions: a TSV file and pictures named by the number of their line.
    Cc,
    /// Tar archives of pictures with .txt or .json.
    Webdataset,
    /// `HierarCaps`, to measure on: its CSV file and COCO's val2014.
    Hierarcaps,
    /// A folder with `captions.csv`: columns image, caption, and split and level if you like.
    Captions,
}

/// Division of Flickr30k and Flickr8k into pictures to train and to measure on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FlickrSplit {
    /// The published lists: 1,000 pictures to measure on.
    Karpathy,
    /// A tenth of the pictures held out by the seed, closest to the paper's numbers.
    Holdout10,
}

/// A data set with its folder, its limits and its division into splits.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetChoice {
    /// The data set, whose format is known.
    pub dataset: Dataset,
    /// Folder in which the data set was unpacked.
    pub root: PathBuf,
    /// File of captions, if it is not where the data set usually has it.
    pub captions: Option<PathBuf>,
    /// Greatest number of pictures to train on; of all pictures where there is no split.
    pub limit: Option<usize>,
    /// Share of the pictures to measure on, where there is no split.
    pub hold_out: f64,
    /// Division of Flickr30k and Flickr8k.
    pub flickr_split: FlickrSplit,
    /// Seed of the choices: pictures under a limit, and pictures held out.
    pub seed: u64,
}

impl Dataset {
    /// The name on the command line and in results.
    #[must_use]
    pub fn slug(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl DatasetChoice {
    /// Share of the pictures that is held out where there is no split and nothing else is said.
    pub const HOLD_OUT: f64 = 0.1;

    /// Lists the pictures and captions.
    ///
    /// # Errors
    ///
    /// Files are missing or broken, the data set is drawn, or nothing is left.
    pub fn splits(&self) -> Result<Splits> {
        let (share, is_share) = (self.hold_out, (0.0..1.0).contains(&self.hold_out));
        ensure!(
            is_share,
            "--hold-out is {share}, a share from 0 to below 1 was expected"
        );
        let splits = self.listed()?;
        let n = splits.train.items.len() + splits.test.items.len();
        ensure!(n > 0, "{}: no pictures", self.root.display());
        Ok(splits)
    }

    fn listed(&self) -> Result<Splits> {
        let root = self.root.as_path();
        let flickr = |which| flickr::splits(root, which, self.division());
        Ok(match self.dataset {
            Dataset::Scenes => bail!("scenes are drawn, not read"),
            Dataset::Coco => self.limited(coco::splits(root, Year::Year2017)?),
            Dataset::Coco2014 => self.limited(coco::splits(root, Year::Year2014)?),
            Dataset::CocoKarpathy => {
                let json = self.file(&["dataset_coco.json"])?;
                self.limited(karpathy::splits(&json, root)?)
            }
            Dataset::Flickr30k => self.limited(flickr(FlickrDataset::Flickr30k)?),
            Dataset::Flickr8k => self.limited(flickr(FlickrDataset::Flickr8k)?),
            Dataset::Cc => {
                let names = ["Train_GCC-training.tsv", "train.tsv", "captions.tsv"];
                self.divided(conceptual::captions_of(&self.file(&names)?, root)?)
            }
            Dataset::Webdataset => self.divided(webdataset::listing(root)?),
            Dataset::Hierarcaps => {
                let names = ["hierarcaps_test.csv", "hierarcaps_test_expanded.csv"];
                hierarcaps::splits(&self.file(&names)?, root)?
            }
            Dataset::Captions => {
                let csv = self.file(&["captions.csv"])?;
                let splits = captions_csv::splits(&csv, root, self.hold_out, self.seed)?;
                self.limited(splits)
            }
        })
    }

    const fn division(&self) -> Division {
        match self.flickr_split {
            FlickrSplit::Karpathy => Division::Lists,
            FlickrSplit::Holdout10 => Division::HoldOut { seed: self.seed },
        }
    }

    /// The file of captions: the given one, or where it usually is.
    fn file(&self, names: &[&str]) -> Result<PathBuf> {
        match &self.captions {
            Some(path) => Ok(path.clone()),
            None => first_of(&self.root, names, "file of captions"),
        }
    }

    fn limited(&self, mut splits: Splits) -> Splits {
        splits.train = take(splits.train, self.limit, self.seed);
        splits
    }

    fn divided(&self, listing: Listing) -> Splits {
        let chosen = take(listing, self.limit, self.seed);
        hold_out(chosen, self.hold_out, self.seed)
    }
}

/// Reads the labelled pictures of `--task NAME=FOLDER`.
///
/// # Errors
///
/// Another form or name, or files that are missing or broken.
pub fn task(text: &str) -> Result<Labelled> {
    let example = "cifar10=cifar-10-batches-bin";
    let expected = || format!("--task is {text:?}, NAME=FOLDER was expected, such as {example}");
    let (name, folder) = text.split_once('=').with_context(expected)?;
    let folder = Path::new(folder);
    match name {
        "cifar10" => cifar::cifar_10(folder),
        "cifar100" => cifar::cifar_100(folder),
        "stl10" => stl10::labelled(folder),
        "folder" => image_folder::labelled(folder),
        _ => bail!("--task {name}: cifar10, cifar100, stl10 or folder was expected"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(dataset: Dataset) -> DatasetChoice {
        DatasetChoice {
            dataset,
            root: PathBuf::from("nowhere"),
            captions: None,
            limit: None,
            hold_out: 0.1,
            flickr_split: FlickrSplit::Karpathy,
            seed: 0,
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named_with_what_was_looked_for() {
        for (dataset, part) in [
            (Dataset::Coco, "captions_train2017.json"),
            (Dataset::Coco2014, "captions_train2014.json"),
            (Dataset::CocoKarpathy, "dataset_coco.json"),
            (Dataset::Flickr30k, "train.txt"),
            (Dataset::Flickr8k, "Flickr_8k.trainImages.txt"),
            (Dataset::Cc, "Train_GCC-training.tsv"),
            (Dataset::Webdataset, "nowhere"),
            (Dataset::Hierarcaps, "hierarcaps_test.csv"),
            (Dataset::Captions, "captions.csv"),
        ] {
            let error = choice(dataset).splits().expect_err("it is not there");
            let text = format!("{error:#}");
            assert!(text.contains(part), "{dataset:?}: {text}");
        }
    }

    #[test]
    fn tasks_are_asked_for_by_name_and_folder() {
        for (text, part) in [
            ("cifar10", "NAME=FOLDER"),
            ("mnist=there", "cifar10, cifar100, stl10 or folder"),
            ("stl10=nowhere", "test_X.bin"),
        ] {
            let error = task(text).expect_err("not to be had");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
