//! What engines have said so far about captions that stand in no row of the matrix.

use std::collections::HashMap;

use crate::explorer::readings::pair::{CaptionView, PairView, read_caption, read_pair};
use crate::explorer::readings::request::ReadingRequest;
use crate::numerics::Family;
use crate::protocol::{Answer, CaptionReading, ModelCard, PairReading};

/// Captions kept; when there are more, only those of the last answer are.
const CAPACITY: usize = 2000;

/// Readings by caption, and by picture for those compared with one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadingCache {
    card: Option<ModelCard>,
    entries: HashMap<String, Entry>,
}

/// Where a reading came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerSource {
    /// The engine at work.
    Engine,
    /// A recording, or an engine that was replaced; good to look at, and asked about again.
    Past,
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    source: AnswerSource,
    reading: CaptionReading,
    pairs: HashMap<String, PairReading>,
    /// This caption against others.
    relations: HashMap<String, PairReading>,
}

impl ReadingCache {
    /// The model whose readings these are.
    pub fn card(&self) -> Option<&ModelCard> {
        self.card.as_ref()
    }

    /// Writes an answer down.
    pub fn learn(&mut self, card: &ModelCard, answer: &Answer, source: AnswerSource) {
        if self.entries.len() + answer.captions.len() > CAPACITY {
            self.entries.clear();
        }
        self.card = Some(card.clone());
        let n_images = answer.images.len();
        for (i_text, reading) in answer.captions.iter().enumerate() {
            let fresh = || Entry {
                source,
                reading: reading.clone(),
                pairs: HashMap::new(),
                relations: HashMap::new(),
            };
            let entry = self
                .entries
                .entry(reading.caption.clone())
                .or_insert_with(fresh);
            if entry.source != source {
                *entry = fresh();
            }
            for (i_image, image) in answer.images.iter().enumerate() {
                if let Some(pair) = answer.pairs.get(i_text * n_images + i_image) {
                    entry.pairs.insert(image.clone(), *pair);
                }
            }
            let related = answer.captions.iter().map(|other| other.caption.clone());
            let relations = answer.relations.iter().skip(i_text * answer.captions.len());
            entry.relations.extend(related.zip(relations.copied()));
        }
    }

    /// Takes note that another engine answers from now on.
    pub fn outdate(&mut self) {
        for entry in self.entries.values_mut() {
            entry.source = AnswerSource::Past;
        }
    }

    /// The part of a wish that the engine at work has not answered.
    pub fn missing(&self, want: &ReadingRequest) -> ReadingRequest {
        let is_missing = |caption: &&String| {
            self.entries.get(*caption).is_none_or(|entry| {
                entry.source != AnswerSource::Engine
                    || !want
                        .images
                        .iter()
                        .all(|image| entry.pairs.contains_key(image))
                    || (want.relates && !is_related(entry, want))
            })
        };
        let missing: Vec<String> = want.captions.iter().filter(is_missing).cloned().collect();
        if missing.is_empty() {
            return ReadingRequest::default();
        }
        // A caption is related to all others, the known ones too.
        let captions = if want.relates {
            want.captions.clone()
        } else {
            missing
        };
        ReadingRequest {
            captions,
            ..want.clone()
        }
    }

    /// A caption's numbers under one law, where they are known.
    pub fn caption(&self, caption: &str, family: Family) -> Option<CaptionView> {
        let entry = self.entries.get(caption)?;
        Some(read_caption(self.card.as_ref()?, &entry.reading, family))
    }

    /// A caption's numbers against a picture under one law, where they are known; its posterior is not.
    pub fn pair(&self, caption: &str, image: &str, family: Family) -> Option<PairView> {
        let entry = self.entries.get(caption)?;
        let pair = entry.pairs.get(image)?;
        Some(read_pair(self.card.as_ref()?, &entry.reading, pair, family))
    }

    /// A caption's cosines to another one, where they are known.
    pub fn relation(&self, caption: &str, other: &str) -> Option<PairReading> {
        self.entries.get(caption)?.relations.get(other).copied()
    }
}

fn is_related(entry: &Entry, want: &ReadingRequest) -> bool {
    let mut others = want.captions.iter();
    others.all(|other| entry.relations.contains_key(other))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::protocol::{PerFamily, SelfTest};

    /// A model of 128 dimensions whose reference captions have 1/κ from 0.05 to 0.4.
    pub(crate) fn card() -> ModelCard {
        ModelCard {
            name: "test".into(),
            title: "Test".into(),
            embed_dim: 128,
            logit_scale: PerFamily {
                vmf: 2.5,
                power_spherical: 2.5,
            },
            reference_uncertainty: PerFamily {
                vmf: vec![0.05, 0.1, 0.2, 0.4],
                power_spherical: vec![0.01, 0.02],
            },
            provenance: String::new(),
            engine: "cpu".into(),
            device: String::new(),
            self_test: SelfTest::default(),
            weights_bytes: 0,
            from_cache: false,
            load_millis: 0.0,
            warm_millis: 0.0,
        }
    }

    fn reading(caption: &str, kappa: f64) -> CaptionReading {
        CaptionReading {
            caption: caption.into(),
            concentration: PerFamily {
                vmf: kappa,
                power_spherical: kappa,
            },
            ..CaptionReading::default()
        }
    }

    /// A cache that knows these captions with their κ.
    pub(crate) fn cache_of(captions: &[(&str, f64)]) -> ReadingCache {
        let mut cache = ReadingCache::default();
        let answer = Answer {
            captions: captions
                .iter()
                .map(|&(caption, kappa)| reading(caption, kappa))
                .collect(),
            ..Answer::default()
        };
        cache.learn(&card(), &answer, AnswerSource::Engine);
        cache
    }

    /// An answer for captions with κ against pictures, with the same cosine for both laws and for CLIP.
    pub(crate) fn answer_of(captions: &[(&str, f64)], images: &[&str], cosines: &[f64]) -> Answer {
        let pair = |&cosine: &f64| PairReading {
            cosine,
            mean_direction_cosine: PerFamily {
                vmf: cosine,
                power_spherical: cosine,
            },
        };
        Answer {
            captions: captions
                .iter()
                .map(|&(caption, kappa)| reading(caption, kappa))
                .collect(),
            images: images.iter().map(|&image| image.to_owned()).collect(),
            pairs: cosines.iter().map(pair).collect(),
            ..Answer::default()
        }
    }

    fn want(captions: &[&str], images: &[&str]) -> ReadingRequest {
        let owned = |&text: &&str| text.to_owned();
        ReadingRequest::of(
            captions.iter().map(owned),
            images.iter().map(owned).collect(),
        )
    }

    #[test]
    fn only_what_is_not_known_is_asked_for() {
        let cache = cache_of(&[("a", 1.0), ("b", 2.0)]);
        let missing = cache.missing(&want(&["a", "c", " ", "c"], &[]));
        assert_eq!(missing.captions, ["c"], "words only, and each once");
        assert_eq!(
            cache.missing(&want(&["a", "b"], &[])),
            ReadingRequest::default(),
            "all is known"
        );
    }

    #[test]
    fn a_caption_is_asked_again_for_a_new_picture() {
        let mut cache = cache_of(&[("a", 1.0)]);
        let answer = answer_of(&[("a", 1.0)], &["x"], &[0.3]);
        cache.learn(&card(), &answer, AnswerSource::Engine);
        assert_eq!(
            cache.missing(&want(&["a"], &["x"])),
            ReadingRequest::default(),
            "x was compared"
        );
        let missing = cache.missing(&want(&["a"], &["x", "y"]));
        assert_eq!(missing.captions, ["a"], "y was not");
        assert_eq!(
            cache
                .pair("a", "x", Family::VonMisesFisher)
                .map(|pair| pair.cosine),
            Some(0.3),
            "what is known is there meanwhile"
        );
    }

    #[test]
    fn the_words_of_a_replaced_engine_are_shown_and_asked_again() {
        let mut cache = cache_of(&[("a", 4.0)]);
        cache.outdate();
        assert_eq!(
            cache.missing(&want(&["a"], &[])).captions,
            ["a"],
            "the new engine is asked"
        );
        let view = cache.caption("a", Family::VonMisesFisher);
        assert_eq!(
            view.map(|view| view.percentile),
            Some(75.0),
            "1/4 lies above three of four references"
        );
    }

    #[test]
    fn an_answer_without_its_pairs_gives_none() {
        let mut cache = ReadingCache::default();
        let answer = answer_of(&[("a", 1.0), ("b", 2.0)], &["x"], &[0.3]);
        cache.learn(&card(), &answer, AnswerSource::Engine);
        assert_eq!(
            cache.pair("b", "x", Family::VonMisesFisher),
            None,
            "nothing is made up"
        );
    }
}
