//! Search for scenes that fit a caption, by proposing and rejecting.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use crate::explorer::views::studio::drawing::Drawing;
use crate::scenes::description::{Claim, Mask, ObjectDescription, has};
use crate::scenes::scene::{
    Colour, Ground, Light, MAX_OBJECTS, N_CELLS, Shape, Size, Texture, jittered_centre,
    sample_index,
};
use crate::scenes::{Compositions, Description, Object, Scene, parse};

/// Scenes that a search stops at.
pub const N_WANTED: usize = 10;
/// Scenes tried before a search gives up: some captions fit none, such as five stars.
const MAX_TRIES: u32 = 40_000;

/// Search for scenes that fit a caption, a few proposals at a time, so that the page goes on responding.
#[derive(Debug)]
pub struct SceneSearch {
    description: Description,
    rng: ChaCha8Rng,
    n_tried: u32,
    /// Scenes found so far that fit the caption, at most [`N_WANTED`].
    pub found: Vec<Drawing>,
}

impl SceneSearch {
    /// A search for scenes that fit a caption; `None` where the world of drawn scenes does not understand it.
    pub fn new(caption: &str, seed: u64) -> Option<Self> {
        Some(Self {
            description: parse(caption)?,
            rng: ChaCha8Rng::seed_from_u64(seed),
            n_tried: 0,
            found: Vec::new(),
        })
    }

    /// Proposes up to `n_tries` more scenes, and keeps those that fit.
    pub fn step(&mut self, n_tries: u32) {
        for _ in 0..n_tries {
            if self.is_done() {
                return;
            }
            self.n_tried += 1;
            let scene = propose(&self.description, &mut self.rng);
            if stands_apart(&scene) && self.description.fits(&scene) {
                let drawing = Drawing::of(&scene);
                // Rounding may carry an object over the edge of its cell.
                if self.description.fits(&drawing.scene()) {
                    self.found.push(drawing);
                }
            }
        }
    }

    /// Whether enough scenes were found, or proposed.
    pub fn is_done(&self) -> bool {
        self.found.len() >= N_WANTED || self.n_tried >= MAX_TRIES
    }
}

/// A random scene, with objects, ground and light changed where they contradict the description.
fn propose(description: &Description, rng: &mut ChaCha8Rng) -> Scene {
    let needs = needs(description, rng);
    let mut scene = Scene::sample(Compositions::All, rng);
    if scene.objects.len() < needs.len() {
        scene = Scene::sample_with_count(needs.len(), Compositions::All, rng);
    }
    for (object, need) in scene.objects.iter_mut().zip(&needs) {
        bend(object, need, rng);
    }
    let (grounds, lights) = (description.grounds, description.lights);
    scene.ground = allowed(Ground::ALL, Ground::WEIGHTS, grounds, scene.ground, rng);
    scene.light = allowed(Light::ALL, Light::WEIGHTS, lights, scene.light, rng);
    scene
}

/// Whether each object has a cell of its own, as in every scene of the world.
pub(super) fn stands_apart(scene: &Scene) -> bool {
    let cells: Vec<usize> = scene.objects.iter().map(Object::cell).collect();
    (0..cells.len()).all(|i| !cells[..i].contains(&cells[i]))
}

/// The objects that a scene must hold for the claim to be true.
fn needs(description: &Description, rng: &mut ChaCha8Rng) -> Vec<ObjectDescription> {
    match &description.claim {
        Claim::Exists(objects) => objects.iter().copied().take(MAX_OBJECTS).collect(),
        Claim::Related(first, _, second) => vec![*first, *second],
        Claim::Count(object, range) => {
            let most = range.most.min(MAX_OBJECTS);
            let n_objects = rng.random_range(range.least.min(most)..=most);
            vec![*object; n_objects]
        }
    }
}

/// Replaces the attributes of an object that are not allowed.
fn bend(object: &mut Object, need: &ObjectDescription, rng: &mut ChaCha8Rng) {
    let own = *object;
    object.shape = allowed(Shape::ALL, Shape::WEIGHTS, need.shapes, own.shape, rng);
    object.colour = allowed(Colour::ALL, Colour::WEIGHTS, need.colours, own.colour, rng);
    object.size = allowed(Size::ALL, Size::WEIGHTS, need.sizes, own.size, rng);
    object.texture = allowed(
        Texture::ALL,
        Texture::WEIGHTS,
        need.textures,
        own.texture,
        rng,
    );
    let cells: Vec<usize> = (0..N_CELLS).collect();
    let cell = allowed(&cells, &[1.0; N_CELLS], need.cells, own.cell(), rng);
    if cell != own.cell() {
        (object.x, object.y) = jittered_centre(cell, rng);
    }
}

/// The value itself if the mask allows it, or else one that it allows, drawn from the prior.
fn allowed<T: Copy + PartialEq>(
    all: &[T],
    weights: &[f64],
    mask: Mask,
    value: T,
    rng: &mut ChaCha8Rng,
) -> T {
    let is_allowed = |i: usize| has(mask, i);
    let has_value = |i: usize| all[i] == value && is_allowed(i);
    if (0..all.len()).any(has_value) || !(0..all.len()).any(is_allowed) {
        return value;
    }
    let masked: Vec<f64> = (0..all.len())
        .map(|i| if is_allowed(i) { weights[i] } else { 0.0 })
        .collect();
    all[sample_index(&masked, rng)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::views::ladder::BUILT_IN_LADDERS;
    use crate::explorer::world::World;

    #[test]
    fn ten_scenes_are_found_for_every_rung_about_drawn_scenes() {
        let ladders = BUILT_IN_LADDERS.iter();
        for caption in ladders
            .filter(|ladder| ladder.world == World::Scenes)
            .flat_map(|ladder| ladder.rungs)
        {
            let mut search = SceneSearch::new(caption, 7).expect("the world understands it");
            search.step(MAX_TRIES);
            assert_eq!(search.found.len(), N_WANTED, "for {caption:?}");
            let description = parse(caption).expect("the world understands it");
            for drawing in &search.found {
                let fits = description.fits(&drawing.scene());
                assert!(fits, "{caption:?}: {drawing:?}");
            }
            let n_different = search.found.iter().filter(|one| **one != search.found[0]);
            assert!(n_different.count() >= 8, "they differ, for {caption:?}");
        }
    }

    #[test]
    fn a_search_without_an_end_gives_up() {
        let mut search = SceneSearch::new("a red star", 1).expect("it parses");
        search.description.grounds = 0;
        search.step(u32::MAX);
        let found_nothing = search.is_done() && search.found.is_empty();
        assert!(found_nothing, "no ground is allowed");
    }

    #[test]
    fn words_from_elsewhere_start_no_search() {
        let search = SceneSearch::new("a golden retriever", 1);
        assert!(search.is_none(), "no such thing here");
    }
}
