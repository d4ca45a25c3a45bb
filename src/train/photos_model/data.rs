//! Captioned photographs to train on, to choose by and to measure on, with the vaguer truths of their captions.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::vaguer_captions::{Step, VaguerCaptions};
use super::wordnet::WordNet;
use crate::train::data::{Item, Listing, first_of, flickr, hierarcaps};

/// Folders of the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhotosFolders {
    /// Flickr8k: its captions, lists and pictures.
    pub flickr8k: PathBuf,
    /// Folder `dict` of a `WordNet` distribution, with the database files.
    pub wordnet: PathBuf,
    /// `HierarCaps`, to measure on at the end.
    pub hierarcaps: Option<PathBuf>,
}

/// Pictures and captions that are embedded, and the dictionary of the vaguer truths.
#[derive(Debug)]
pub struct PhotosData {
    /// Flickr8k's training split, on which heads and adapters are trained.
    pub train: CaptionedListing,
    /// Flickr8k's development split, by which heads, the scale of κ and thresholds are chosen.
    pub dev: CaptionedListing,
    /// Flickr8k's test split, to measure on at the end.
    pub test: CaptionedListing,
    /// Four levels of captions a picture, to measure on.
    pub hierarcaps: Option<Listing>,
    /// Nouns and their classes.
    pub wordnet: WordNet,
}

/// Pictures, their captions, and the vaguer truths of these.
#[derive(Debug)]
pub struct CaptionedListing {
    /// Pictures with the captions that people wrote, in the order of their rows of features.
    pub items: Vec<Item>,
    /// All captions, picture by picture.
    pub captions: Vec<String>,
    /// Index of each caption's picture.
    pub picture_of: Vec<usize>,
    /// The vaguer truths, each text once.
    pub vaguer: Vec<String>,
    /// Pictures that each vaguer truth fits.
    pub vaguer_fits: Vec<Vec<usize>>,
    /// Places of each caption's vaguer truths in [`vaguer`](Self::vaguer), the least vague first.
    pub vaguer_of: Vec<Vec<usize>>,
    /// Step that made each vaguer truth.
    pub steps: Vec<Step>,
    /// Captions without their full stop and nouns without their article, of those that have a bare form.
    pub bare: Vec<String>,
    /// Place in [`bare`](Self::bare) of the bare form of each caption and, after them, of each vaguer truth.
    pub bare_of: Vec<Option<usize>>,
    /// Places in [`vaguer`](Self::vaguer) of a class and of a noun that belongs to it, by `WordNet`.
    pub classes: Vec<[usize; 2]>,
}

impl PhotosData {
    /// Reads Flickr8k's splits, the test set of `HierarCaps` where its folder is given, and `WordNet`.
    ///
    /// # Errors
    ///
    /// A file is missing or broken.
    pub fn read(folders: &PhotosFolders) -> Result<Self> {
        let wordnet = WordNet::read(&folders.wordnet)?;
        let [train, dev, test] = flickr::official_splits(&folders.flickr8k)?;
        let of = |listing: Listing| CaptionedListing::new(listing, &wordnet);
        Ok(Self {
            train: of(train),
            dev: of(dev),
            test: of(test),
            hierarcaps: folders
                .hierarcaps
                .as_deref()
                .map(read_hierarcaps)
                .transpose()?,
            wordnet,
        })
    }
}

pub(super) fn read_hierarcaps(root: &Path) -> Result<Listing> {
    let names = ["hierarcaps_test.csv", "data/hierarcaps_test.csv"];
    let csv = first_of(root, &names, "file of hierarchies")?;
    let assets = root.join("assets");
    let pictures = if assets.is_dir() { &assets } else { root };
    Ok(hierarcaps::splits(&csv, pictures)?.test)
}

impl CaptionedListing {
    fn new(listing: Listing, wordnet: &WordNet) -> Self {
        let items = listing.items;
        let texts = |item: &Item| -> Vec<String> {
            item.captions
                .iter()
                .map(|caption| caption.text.clone())
                .collect()
        };
        let captions: Vec<Vec<String>> = items.iter().map(texts).collect();
        let made = VaguerCaptions::of(&captions, wordnet);
        let (mut vaguer, mut vaguer_fits, mut vaguer_of) = (Vec::new(), Vec::new(), Vec::new());
        let mut steps = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (picture, of_one) in captions.iter().enumerate() {
            for caption in 0..of_one.len() {
                let truths = made.of_caption(picture, caption).into_iter();
                let truths = truths.map(|truth| {
                    *places.entry(truth.text.clone()).or_insert_with(|| {
                        vaguer.push(truth.text);
                        vaguer_fits.push(truth.pictures);
                        steps.push(truth.step);
                        vaguer.len() - 1
                    })
                });
                vaguer_of.push(truths.collect());
            }
        }
        let picture_of = captions.iter().enumerate();
        let picture_of = picture_of.flat_map(|(i, of_one)| vec![i; of_one.len()]);
        let picture_of = picture_of.collect();
        let captions: Vec<String> = captions.into_iter().flatten().collect();
        let (bare, bare_of) = bare_forms(&captions, &vaguer, &steps);
        Self {
            bare,
            bare_of,
            classes: classes(&vaguer, &steps, &vaguer_of, wordnet),
            steps,
            picture_of,
            captions,
            items,
            vaguer,
            vaguer_fits,
            vaguer_of,
        }
    }
}

/// Bare forms, and for each caption and each vaguer truth the place of its own.
///
/// Visitors type both; two of five captions keep their full stop, as all noun phrases and clauses their articles.
fn bare_forms(
    captions: &[String],
    vaguer: &[String],
    steps: &[Step],
) -> (Vec<String>, Vec<Option<usize>>) {
    let captions = captions.iter().enumerate();
    let captions = captions.map(|(i, text)| (i % 5 < 3).then(|| without_stop(text)));
    let truths = vaguer.iter().zip(steps).map(|(text, step)| {
        matches!(step, Step::Noun | Step::Class | Step::Anything)
            .then(|| without_article(text))
            .filter(|bare| bare != text)
    });
    let mut bare = Vec::new();
    let places = captions.chain(truths).map(|form| {
        bare.push(form?.to_owned());
        Some(bare.len() - 1)
    });
    let places = places.collect();
    (bare, places)
}

/// A caption without the full stop that Flickr8k ends most of its captions with and visitors end none.
fn without_stop(caption: &str) -> &str {
    caption.trim_end_matches(['.', ' '])
}

fn without_article(text: &str) -> &str {
    let articles = ["a ", "an ", "the "].into_iter();
    let mut rest = articles.filter_map(|article| text.strip_prefix(article));
    rest.next().unwrap_or(text)
}

/// Pairs of a class and a noun that belongs to it, of the truths of the same caption, each pair once.
fn classes(
    vaguer: &[String],
    steps: &[Step],
    vaguer_of: &[Vec<usize>],
    wordnet: &WordNet,
) -> Vec<[usize; 2]> {
    let synsets: Vec<_> = vaguer
        .iter()
        .map(|text| {
            let noun = wordnet.noun(without_article(text))?;
            Some((noun.synset, wordnet.classes(noun.synset)))
        })
        .collect();
    let is_noun = |truth: &&usize| matches!(steps[**truth], Step::Noun | Step::Class);
    let mut pairs = BTreeSet::new();
    for truths in vaguer_of {
        let nouns: Vec<usize> = truths.iter().filter(is_noun).copied().collect();
        for &class in &nouns {
            let Some((of_class, _)) = &synsets[class] else {
                continue;
            };
            let members = nouns.iter().filter(|noun| {
                let synset = synsets[**noun].as_ref();
                synset.is_some_and(|(_, classes)| classes.contains(of_class))
            });
            pairs.extend(members.map(|noun| [class, *noun]));
        }
    }
    pairs.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::{ItemCaption, Picture};
    use crate::train::photos_model::wordnet::tests::excerpt;

    #[test]
    fn vaguer_truths_are_listed_once_with_all_pictures_that_they_fit() {
        let item = |id: &str, texts: &[&str]| Item {
            id: id.to_owned(),
            picture: Picture::File(PathBuf::from(id)),
            captions: texts.iter().map(|text| ItemCaption::plain(text)).collect(),
        };
        let listing = Listing {
            items: vec![
                item("a.jpg", &["A dog runs .", "A puppy runs ."]),
                item("b.jpg", &["A dog sits ."]),
            ],
            skipped: Vec::new(),
        };
        let found = CaptionedListing::new(listing, &excerpt());
        assert_eq!(found.picture_of, [0, 0, 1], "of each caption");
        let dog = found.vaguer.iter().position(|text| text == "a dog");
        let dog = dog.expect("a truth of all three");
        assert_eq!(found.vaguer_fits[dog], [0, 1], "both pictures");
        assert!(
            found.vaguer_of.iter().all(|truths| truths.contains(&dog)),
            "{found:?}"
        );
        let place = |text: &str| found.vaguer.iter().position(|truth| truth == text);
        for pair in [["an animal", "a dog"], ["a dog", "a puppy"]] {
            let [class, noun] = pair.map(|text| place(text).expect("a truth"));
            assert!(
                found.classes.contains(&[class, noun]),
                "{pair:?}: {found:?}"
            );
            assert!(!found.classes.contains(&[noun, class]), "turned: {found:?}");
        }
    }

    #[test]
    fn full_stops_and_articles_are_dropped() {
        assert_eq!(without_stop("A dog runs ."), "A dog runs", "with a space");
        assert_eq!(without_article("an animal"), "animal", "an article");
        assert_eq!(without_article("another animal"), "another animal", "none");
    }
}
