//! Drawn scenes with captions of all levels, and their features.

use std::collections::HashMap;

use anyhow::Result;
use rand::rngs::ChaCha8Rng;
use rayon::prelude::*;

use super::encode::{embed_images, embed_texts};
use crate::scenes::grammar::{hierarchy, random_part, single_attribute};
use crate::scenes::{Compositions, Description, Scene, Wording, information, say};
use crate::train::data::corruption::Corruptions;
use crate::train::features::cache::{CaptionRow, IdMap, Split, Truths};
use crate::train::features::encoder::Encoder;

/// Kinds of captions that a scene gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaptionKinds {
    /// All levels, one attribute, a random part: as the shipped adapters were trained.
    Train,
    /// All levels and a random part, with their information and the scenes that they fit.
    Test,
}

/// Drawn scenes with captions.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) scenes: Vec<Scene>,
    pub(super) captions: Vec<DrawnCaption>,
    which: CaptionKinds,
}

impl Drawn {
    /// Draws scenes, then captions of each.
    pub(super) fn new(
        n_scenes: usize,
        compositions: Compositions,
        which: CaptionKinds,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let scenes = (0..n_scenes).map(|_| Scene::sample(compositions, rng));
        let scenes: Vec<Scene> = scenes.collect();
        let mut captions = Vec::new();
        for (image, scene) in scenes.iter().enumerate() {
            let levels = hierarchy(scene, rng).into_iter().enumerate();
            let mut said: Vec<_> = levels.map(|(level, d)| (Some(level), d)).collect();
            if which == CaptionKinds::Train {
                said.push((None, single_attribute(scene, rng)));
            }
            said.push((None, random_part(scene, rng)));
            captions.extend(said.into_iter().map(|(level, description)| DrawnCaption {
                text: say(&description, Wording::Varied, rng),
                image,
                level,
                description,
            }));
        }
        Self {
            scenes,
            captions,
            which,
        }
    }

    /// Features of the scenes, with noise and augmented views, and of their captions; test captions come with their
    /// information and truths.
    pub(super) fn embed(
        &self,
        encoder: &Encoder,
        names: [&'static str; 2],
        noise: Corruptions,
        n_views: usize,
    ) -> Result<Split> {
        let texts: Vec<&str> = self.captions.iter().map(|c| c.text.as_str()).collect();
        let tokens = encoder.tokens(&texts)?;
        let is_test = self.which == CaptionKinds::Test;
        let rows = self.captions.par_iter().zip(&tokens);
        let captions = rows
            .map(|(caption, tokens)| CaptionRow {
                text: caption.text.clone(),
                image: caption.image,
                n_tokens: tokens.n_tokens,
                level: caption.level,
                bits: is_test.then(|| information(&caption.description).bits),
            })
            .collect();
        Ok(Split {
            images: embed_images(encoder, names[0], &self.scenes, noise, n_views)?,
            texts: embed_texts(encoder, names[1], &tokens)?,
            ids: IdMap {
                images: (0..self.scenes.len()).map(|i| i.to_string()).collect(),
                captions,
                truths: is_test.then(|| self.truths()),
            },
        })
    }

    /// Scenes that each caption fits, its own and others.
    fn truths(&self) -> Truths {
        let mut known: HashMap<&Description, usize> = HashMap::new();
        let mut different = Vec::new();
        let meanings = self.captions.iter().map(|caption| {
            *known.entry(&caption.description).or_insert_with(|| {
                different.push(&caption.description);
                different.len() - 1
            })
        });
        let meanings = meanings.collect();
        let fitting = |description: &&Description| {
            let scenes = self.scenes.iter().enumerate();
            let fitting = scenes.filter(|(_, scene)| description.fits(scene));
            fitting.map(|(i, _)| i).collect()
        };
        Truths {
            pictures: different.par_iter().map(fitting).collect(),
            meanings,
        }
    }
}

#[derive(Debug)]
pub(super) struct DrawnCaption {
    /// Index of its scene.
    pub(super) image: usize,
    level: Option<usize>,
    description: Description,
    pub(super) text: String,
}
