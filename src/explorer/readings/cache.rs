//! Cache of engines' answers about captions that views ask about, in rows of the matrix or not.

use std::collections::HashMap;

use super::caption_view::CaptionView;
use super::pair_view::PairView;
use super::request::ReadingRequest;
use crate::numerics::Family;
use crate::protocol::{Answer, CaptionReading, ModelCard, PairReading};

/// Captions kept; an answer that would exceed them empties the cache first.
const CAPACITY: usize = 2000;

/// Readings by caption, of captions with pictures, and of captions with each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadingCache {
    card: Option<ModelCard>,
    captions: HashMap<String, CachedCaption>,
}

/// Source of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerSource {
    /// The engine at work.
    Engine,
    /// A recording or an engine that was replaced: its numbers are shown, and asked for again.
    Past,
}

#[derive(Debug, Clone, PartialEq)]
struct CachedCaption {
    source: AnswerSource,
    reading: CaptionReading,
    /// Readings against pictures, by the page's name for the picture.
    pairs: HashMap<String, PairReading>,
    /// Comparisons with other captions, by the text of the other.
    relations: HashMap<String, PairReading>,
}

impl ReadingCache {
    /// The model whose readings these are.
    pub fn card(&self) -> Option<&ModelCard> {
        self.card.as_ref()
    }

    /// Adds the readings of an answer, caption by caption; a cache that would overflow is emptied first.
    pub fn learn(&mut self, card: &ModelCard, answer: &Answer, source: AnswerSource) {
        if self.captions.len() + answer.captions.len() > CAPACITY {
            self.captions.clear();
        }
        self.card = Some(card.clone());
        let n_images = answer.images.len();
        for (i_text, reading) in answer.captions.iter().enumerate() {
            let fresh = || CachedCaption {
                source,
                reading: reading.clone(),
                pairs: HashMap::new(),
                relations: HashMap::new(),
            };
            let entry = self
                .captions
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

    /// Marks all answers as past: another engine answers from now on.
    pub fn outdate(&mut self) {
        for entry in self.captions.values_mut() {
            entry.source = AnswerSource::Past;
        }
    }

    /// The part of a request that the engine at work has not answered.
    pub fn missing(&self, request: &ReadingRequest) -> ReadingRequest {
        let is_answered = |caption: &String| {
            let cached = self.captions.get(caption);
            cached.is_some_and(|cached| cached.answers(request))
        };
        let mut missing = request.clone();
        missing.captions.retain(|caption| !is_answered(caption));
        if missing.captions.is_empty() {
            return ReadingRequest::default();
        }
        // A new caption is compared with all others, those already known included.
        if request.relates {
            missing.captions.clone_from(&request.captions);
        }
        missing
    }

    /// A caption's numbers under one family, where they are known.
    pub fn caption(&self, caption: &str, family: Family) -> Option<CaptionView> {
        let (card, cached) = (self.card()?, self.captions.get(caption)?);
        Some(CaptionView::new(card, &cached.reading, family))
    }

    /// A caption's numbers for a picture under one family, where they are known; its posterior is not.
    pub fn pair(&self, caption: &str, image: &str, family: Family) -> Option<PairView> {
        let (card, cached) = (self.card()?, self.captions.get(caption)?);
        let pair = cached.pairs.get(image)?;
        Some(PairView::new(card, &cached.reading, pair, family))
    }

    /// A caption's cosines to another one, where they are known.
    pub fn relation(&self, caption: &str, other: &str) -> Option<PairReading> {
        self.captions.get(caption)?.relations.get(other).copied()
    }
}

impl CachedCaption {
    /// Whether the engine at work has answered all that a request asks of this caption.
    fn answers(&self, request: &ReadingRequest) -> bool {
        let mut images = request.images.iter();
        let mut others = request.captions.iter().filter(|_| request.relates);
        self.source == AnswerSource::Engine
            && images.all(|image| self.pairs.contains_key(image))
            && others.all(|other| self.relations.contains_key(other))
    }
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
            logit_scale: PerFamily::of(|_| 2.5),
            reference_uncertainty: PerFamily {
                vmf: vec![0.05, 0.1, 0.2, 0.4],
                power_spherical: vec![0.01, 0.02],
            },
            picture_sets: None,
            squashes_pictures: false,
            provenance: String::new(),
            weights: String::new(),
            image_encoder: Vec::new(),
            engine: "cpu".into(),
            device: String::new(),
            self_test: SelfTest::default(),
            weights_bytes: 0,
            from_cache: false,
            load_millis: 0.0,
        }
    }

    fn reading(caption: &str, kappa: f64) -> CaptionReading {
        CaptionReading {
            caption: caption.into(),
            concentration: PerFamily::of(|_| kappa),
            ..CaptionReading::default()
        }
    }

    /// A cache that knows these captions with their κ.
    pub(crate) fn cache_of(captions: &[(&str, f64)]) -> ReadingCache {
        cache_with(&answer_of(captions, &[], &[]))
    }

    /// A cache that knows this answer of an engine.
    pub(crate) fn cache_with(answer: &Answer) -> ReadingCache {
        let mut cache = ReadingCache::default();
        cache.learn(&card(), answer, AnswerSource::Engine);
        cache
    }

    /// An answer for captions with κ against pictures, with the same cosine for both families and for CLIP.
    pub(crate) fn answer_of(captions: &[(&str, f64)], images: &[&str], cosines: &[f64]) -> Answer {
        let pair = |&cosine: &f64| PairReading {
            cosine,
            mean_direction_cosine: PerFamily::of(|_| cosine),
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

    fn request(captions: &[&str], images: &[&str]) -> ReadingRequest {
        let owned = |&text: &&str| text.to_owned();
        ReadingRequest::of(
            captions.iter().map(owned),
            images.iter().map(owned).collect(),
        )
    }

    #[test]
    fn only_what_is_not_known_is_asked_for() {
        let cache = cache_of(&[("a", 1.0), ("b", 2.0)]);
        let missing = cache.missing(&request(&["a", "c", " ", "c"], &[]));
        assert_eq!(missing.captions, ["c"], "words only, and each once");
        let missing = cache.missing(&request(&["a", "b"], &[]));
        assert_eq!(missing, ReadingRequest::default(), "all is known");
    }

    #[test]
    fn a_caption_is_asked_again_for_a_new_picture() {
        let mut cache = cache_of(&[("a", 1.0)]);
        let answer = answer_of(&[("a", 1.0)], &["x"], &[0.3]);
        cache.learn(&card(), &answer, AnswerSource::Engine);
        let missing = cache.missing(&request(&["a"], &["x"]));
        assert_eq!(missing, ReadingRequest::default(), "x was compared");
        let missing = cache.missing(&request(&["a"], &["x", "y"]));
        assert_eq!(missing.captions, ["a"], "y was not");
        let pair = cache.pair("a", "x", Family::VonMisesFisher);
        let cosine = pair.map(|pair| pair.cosine);
        assert_eq!(cosine, Some(0.3), "what is known is there meanwhile");
    }

    #[test]
    fn answers_of_a_replaced_engine_are_shown_and_asked_for_again() {
        let mut cache = cache_of(&[("a", 4.0)]);
        cache.outdate();
        let missing = cache.missing(&request(&["a"], &[]));
        assert_eq!(missing.captions, ["a"], "the new engine is asked");
        let view = cache.caption("a", Family::VonMisesFisher);
        let percentile = view.and_then(|view| view.percentile);
        assert_eq!(percentile, Some(75.0), "1/4 lies above three of four");
    }

    #[test]
    fn an_answer_without_its_pairs_gives_none() {
        let cache = cache_with(&answer_of(&[("a", 1.0), ("b", 2.0)], &["x"], &[0.3]));
        let pair = cache.pair("b", "x", Family::VonMisesFisher);
        assert_eq!(pair, None, "nothing is made up");
    }
}
