//! Zero-shot classification of scenes by each attribute, as a measure of the encoder.

use std::collections::BTreeMap;

use anyhow::Result;
use burn::tensor::Device;
use rand::{Rng, SeedableRng as _, rngs::ChaCha8Rng};

use super::encode::{embed_images, embed_texts};
use crate::model::clip::normalize;
use crate::scenes::scene::{Compositions, MAX_OBJECTS, Scene};
use crate::scenes::vocabulary::{Attribute, is_adjective, plural, terms};
use crate::train::data::corruption::Corruptions;
use crate::train::features::encoder::Encoder;
use crate::train::features::rows::Embedded;

/// One classification task: captions, and how to read the right one off a scene.
pub(in crate::train) struct AttributeTask {
    pub(in crate::train) name: &'static str,
    pub(in crate::train) captions: Vec<String>,
    pub(in crate::train) label: fn(&Scene) -> usize,
    pub(in crate::train) scenes: fn(&mut ChaCha8Rng, usize) -> Scene,
}

/// Share of right answers for each attribute, over freshly drawn scenes.
///
/// Scenes hold one object and any composition, held-out ones included; for `count` they hold one to four.
///
/// # Errors
///
/// The device fails.
pub fn attribute_accuracy(
    encoder: &Encoder,
    n_scenes: usize,
    seed: u64,
) -> Result<BTreeMap<String, f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut accuracy = BTreeMap::new();
    for task in tasks() {
        let scenes: Vec<Scene> = (0..n_scenes).map(|i| (task.scenes)(&mut rng, i)).collect();
        let tokens = encoder.tokens(&task.captions)?;
        let texts = embed_texts(encoder, "task captions", &tokens)?;
        let images = embed_images(encoder, "task scenes", &scenes, Corruptions::default(), 0)?;
        let predicted = predictions(&images, &texts, encoder.device())?;
        let pairs = predicted.into_iter().zip(&scenes);
        let right = pairs
            .filter(|(found, scene)| *found == (task.label)(scene))
            .count();
        accuracy.insert(task.name.to_owned(), right as f64 / n_scenes as f64);
    }
    Ok(accuracy)
}

/// The index of the most similar text for each image.
fn predictions(images: &Embedded, texts: &Embedded, device: &Device) -> Result<Vec<usize>> {
    let unit = |embedded: &Embedded| normalize(embedded.features.to_device(device));
    let cosines = unit(images).matmul(unit(texts).transpose());
    let [_, n_texts] = cosines.dims();
    let values: Vec<f32> = cosines.into_data().try_into_vec()?;
    let best = |row: &[f32]| {
        let best = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        best.map_or(0, |best| best.0)
    };
    Ok(values.chunks_exact(n_texts).map(best).collect())
}

pub(in crate::train) fn tasks() -> Vec<AttributeTask> {
    let one = |rng: &mut ChaCha8Rng, _| Scene::sample_with_count(1, Compositions::All, rng);
    let of_one = |name, attribute, caption: &str, label| AttributeTask {
        name,
        captions: exact_terms(attribute)
            .into_iter()
            .map(|word| caption.replace("{}", word))
            .collect(),
        label,
        scenes: one,
    };
    vec![
        of_one("shape", Attribute::Shape, "a {}", |scene: &Scene| {
            scene.objects[0].shape.index()
        }),
        of_one("colour", Attribute::Colour, "a {} shape", |scene| {
            scene.objects[0].colour.index()
        }),
        of_one("size", Attribute::Size, "a {} shape", |scene| {
            scene.objects[0].size.index()
        }),
        of_one("texture", Attribute::Texture, "a {} shape", |scene| {
            scene.objects[0].texture.index()
        }),
        of_one("place", Attribute::Cell, "a shape {}", |scene| {
            scene.objects[0].cell()
        }),
        AttributeTask {
            name: "count",
            captions: counts(),
            label: |scene| scene.objects.len() - 1,
            scenes: any_count,
        },
    ]
}

fn any_count<R: Rng>(rng: &mut R, i: usize) -> Scene {
    Scene::sample_with_count(1 + i % MAX_OBJECTS, Compositions::All, rng)
}

fn counts() -> Vec<String> {
    let words = ["two", "three", "four"].map(|count| format!("{count} {}", plural("shape")));
    std::iter::once("one shape".to_owned())
        .chain(words)
        .collect()
}

/// The plainest word for each single value, in the order of the values.
fn exact_terms(attribute: Attribute) -> Vec<&'static str> {
    let exact = terms(attribute).filter(|term| term.mask.count_ones() == 1);
    let mut exact: Vec<_> = exact.collect();
    debug_assert!(
        attribute != Attribute::Shape || exact.iter().all(|term| !is_adjective(term)),
        "shapes are nouns"
    );
    exact.sort_by_key(|term| term.mask);
    exact.iter().map(|term| term.words[0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenes::parse;

    #[test]
    fn the_caption_that_a_label_names_is_the_only_one_of_the_task_that_fits() {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for task in tasks() {
            let parsed = |caption: &String| parse(caption).expect("a caption of the world");
            let descriptions: Vec<_> = task.captions.iter().map(parsed).collect();
            for i in 0..200 {
                let scene = (task.scenes)(&mut rng, i);
                let fits = |&caption: &usize| descriptions[caption].fits(&scene);
                let fitting: Vec<usize> = (0..descriptions.len()).filter(fits).collect();
                let (label, name) = ((task.label)(&scene), task.name);
                assert_eq!(fitting, [label], "captions of {name} for {scene:?}");
            }
        }
    }

    #[test]
    fn every_answer_of_a_task_occurs() {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for task in tasks() {
            let mut seen = vec![false; task.captions.len()];
            for i in 0..400 {
                seen[(task.label)(&(task.scenes)(&mut rng, i))] = true;
            }
            let all = seen.iter().all(|&seen| seen);
            assert!(all, "answers of {}: {seen:?}", task.name);
        }
    }
}
